/// @file
/// @brief Study language-orders: a transformer that learns a text by masking; which orders of
/// interaction does it learn, and when?

#include "attica/sim/language/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/sim/language/masked.hpp"
#include "attica/studies/language/orders.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/language/floors.hpp"

namespace attica::language_orders {
namespace {

/// Nats of context that a pair share of the blurred end needs, which has less of them.
constexpr double kBlurContext = 0.03;

/// 0, 2, 4, 6, then thirds of octaves; the last one, and those that are asked for.
std::vector<std::uint64_t> records(std::uint64_t length, const std::vector<std::int64_t>& more) {
  constexpr double kFirst = 8;
  std::vector<std::uint64_t> steps = {0, 2, 4, 6};
  for (int k = 0;; ++k) {
    const auto step = static_cast<std::uint64_t>(std::llround(kFirst * std::exp2(k / 3.0)));
    if (step > length) break;
    steps.push_back(step);
  }
  for (const std::int64_t step : more) steps.push_back(static_cast<std::uint64_t>(step));
  steps.push_back(length);
  std::erase_if(steps, [&](std::uint64_t step) { return step > length; });
  return ascending(steps);
}

/// Standard deviations that the matrices of a network start from, as the docs state them.
std::vector<std::pair<std::string, double>> start_scales(const MaskedTraining& training,
                                                         Eigen::Index sites) {
  const double width = std::sqrt(training.width);
  if (training.factored) {
    return {{"W_E", 2 / width},
            {"W_P", 0.2 / width},
            {"A", 1 / std::sqrt(static_cast<double>(sites))},
            {"W_V", 1 / width},
            {"W_O", 1 / width},
            {"W_1", 1 / width},
            {"W_2", 0.3 / std::sqrt(training.mlp_width)},
            {"W_dec", 0.3 / width}};
  }
  std::vector<std::pair<std::string, double>> all;
  for (const char* name : {"W_E", "W_P", "W_Q", "W_K", "W_V", "W_1", "W_dec"}) {
    all.emplace_back(name, training.deviation);
  }
  for (const char* name : {"W_O", "W_2"}) {
    all.emplace_back(name, training.deviation / std::sqrt(2 * training.layers));
  }
  return all;
}

Point of_start(const MaskedTraining& training, const std::string& matrix) {
  return {{"network", training.factored ? "factored" : "transformer"}, {"matrix", matrix}};
}

class Orders : public PointwiseExperiment {
 public:
  explicit Orders(const Configuration& c)
      : problem_(c),
        training_{.layers = c.integer<int>("sim.layers"),
                  .width = c.integer<int>("sim.width"),
                  .heads = c.integer<int>("sim.heads"),
                  .mlp_width = c.integer<int>("sim.mlp_width"),
                  .deviation = c.real("sim.deviation"),
                  .eta = c.real("sim.eta"),
                  .batch = c.integer("sim.batch"),
                  .recorded = records(c.integer<std::uint64_t>("sim.length"),
                                      c.integers("sim.share_steps"))},
        planted_(planted_order(c)),
        configuration_(c),
        share_steps_(c.integers("sim.share_steps")),
        share_fit_({.steps = c.integer("sim.share_fit_length"), .penalty = kSharePenalty}),
        factored_training_(factored_clone(c.integer("sim.factored_length"))),
        material_([this] { return Material(configuration_, problem_); }) {
    require(training_.width % training_.heads == 0,
            "sim.heads",
            training_.heads,
            "a divisor of sim.width");
    for (const std::int64_t step : share_steps_) {
      require(step <= c.integer("sim.length"),
              "sim.share_steps",
              static_cast<double>(step),
              fmt::format("steps up to sim.length = {}", c.integer("sim.length")));
    }
    share_steps_.push_back(c.integer("sim.length"));
    share_steps_ = ascending(share_steps_);
    const auto side =
        static_cast<double>(problem_.sites()) * static_cast<double>(problem_.symbols());
    require(side * side <= PairModel::kMostWeights,
            "model.vocabulary",
            static_cast<double>(problem_.symbols()),
            "symbols with (L C)^2 <= 2^24 couplings of pairs");
    for (const int n : problem_.orders()) {
      require(planted_ == 0 || n <= planted_,
              "model.chain_orders",
              n,
              fmt::format("orders up to model.planted_order = {}", planted_));
    }
    require(planted_ == 0 || planted_ == problem_.orders().back(),
            "model.planted_order",
            planted_,
            "the largest of model.chain_orders");
    diagnostics_ = problem_.diagnostics();
    warnings_ = problem_.warnings();
    if (planted_ > 0) return;
    if (c.flag("model.pairs")) problem_.warn_of_pairs(warnings_);
    problem_.warn_of_repetition(training_.recorded.back(), training_.batch, warnings_);
  }

  void require_simulable() const override {
    // Tables of laws that a run holds.
    for (const auto& [key, tables] :
         {std::pair{"sim.share_windows", 2}, {"sim.test_windows", 4}, {"sim.clone_windows", 8}}) {
      require_laws(configuration_.integer(key), tables, problem_.symbols(), key);
    }
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    const Windows held = problem_.held_out();
    for (const int n : problem_.orders()) {
      const MarkovClone chain = problem_.chain(n);
      const Point point{{"clone", chain_name(n)}};
      if (floor_is_exact(problem_.symbols(), n)) {
        add_constant(result, "floor", masked_floor(chain, problem_.sites()), point);
      }
      if (planted_ > 0) continue;
      add_constant(result, "plateau", masked_plateau(chain, held), point);
    }
    for (const MaskedTraining* training : {&training_, &factored_training_}) {
      for (const auto& [name, scale] : start_scales(*training, problem_.sites())) {
        add_constant(result, "start_scale", scale, of_start(*training, name));
      }
    }
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const Material& m = material_.get();
    History history(m.clones.size());
    std::map<std::uint64_t, PairShare> shares;
    std::uint64_t broken = 0;  // the record at which the network was no longer finite
    Laws end;
    Described end_training{.masked = m.share_training, .laws = {}};
    Described end_test{.masked = m.share_test, .laws = {}};
    // The loss; D_n and X_n of every clone; at some steps K_1 and K_2.
    const auto measure = [&](std::uint64_t step, MaskedNetwork& network) {
      end = network_laws(network, m.test);
      std::vector<double> values = {mean_loss(end, m.test)};
      if (!std::isfinite(values.front())) return values;
      for (const Clone& clone : m.clones) {
        values.push_back(mean_cross_entropy(clone.text_laws, end) - clone.text_entropy());
        values.push_back(mean_cross_entropy(clone.laws, network_laws(network, clone.windows)));
      }
      if (std::ranges::binary_search(share_steps_, static_cast<std::int64_t>(step))) {
        end_training.laws = network_laws(network, m.share_training);
        end_test.laws = network_laws(network, m.share_test);
        PairModel pairs(problem_.sites(), problem_.symbols());
        const PairShare share =
            share_of(pairs, end_training, end_test, share_fit_, replicate, step);
        values.insert(values.end(), {share.context, share.remainder});
      }
      return values;
    };
    const auto tell = [&](std::uint64_t step, const std::vector<double>& values) {
      if (broken > 0) return;
      if (!std::isfinite(values.front())) {
        broken = step;
        return;
      }
      auto value = values.begin();
      history.steps.push_back(static_cast<double>(step));
      history.test_loss.push_back(*value++);
      for (std::size_t n = 0; n < m.clones.size(); ++n) {
        history.divergence[n].push_back(*value++);
        history.clone_loss[n].push_back(*value++);
      }
      if (value != values.end()) shares[step] = {.context = *value, .remainder = *(value + 1)};
    };
    MaskedNetwork network =
        masked_network(training_, problem_.sites(), problem_.symbols(), replicate.address());
    const networks::TrainingResult result = train_masked(
        network,
        training_,
        windows_of(problem_, planted_, problem_.text().training),
        replicate.address(),
        {.measure = measure, .tell = tell},
        [&] { return broken > 0 || replicate.stopped(); },
        replicate.state_file());
    Outcome outcome;
    for (const MaskedTraining* training : {&training_, &factored_training_}) {
      starts_into(*training, replicate, outcome);
    }
    history.into(m, outcome);
    if (broken > 0) {
      mark_end(outcome, {.status = networks::TrainingStatus::diverged, .step = broken});
      return outcome;
    }
    if (result.status == networks::TrainingStatus::finished) {
      history.times_into(m, problem_.orders(), end, outcome);
      add_constant(outcome, "training_loss", mean_loss(end_training.laws, m.share_training));
      shares_into(m, history, shares, end, end_training, end_test, replicate, outcome);
    }
    mark_end(outcome, result);
    return outcome;
  }

 private:
  static constexpr double kSharePenalty = 2e-6;

  void starts_into(const MaskedTraining& training,
                   const Replicate& replicate,
                   Outcome& outcome) const {
    std::vector<std::string> names;
    for (const auto& [name, scale] : start_scales(training, problem_.sites())) {
      names.push_back(name);
    }
    const auto found = measured_start_scales(
        training, problem_.sites(), problem_.symbols(), names, replicate.address());
    for (const auto& [name, scale] : found) {
      add_constant(outcome, "start_scale", scale, of_start(training, name));
    }
  }

  PairShare share_of(PairModel& pairs,
                     const Described& training,
                     const Described& test,
                     const PairFit& fit,
                     const Replicate& replicate,
                     std::uint64_t step) const {
    StreamAddress address = replicate.address(StreamId::selection);
    address.step = step;
    return pair_share(pairs, training, test, fit, kPairBatch, address);
  }

  void shares_into(const Material& m,
                   const History& h,
                   const std::map<std::uint64_t, PairShare>& shares,
                   const Laws& end,
                   const Described& end_training,
                   const Described& end_test,
                   const Replicate& replicate,
                   Outcome& outcome) const {
    Curves network({}, "step", {"pair_share", "context_divergence", "pair_remainder"});
    Curves blur({}, "step", {"blur_share"});
    // Pairs of the blurred end are close to the blurred pairs of the end: their fits start there.
    PairModel end_pairs(problem_.sites(), problem_.symbols());
    share_of(end_pairs, end_training, end_test, share_fit_, replicate, training_.recorded.back());
    PairFit rest = share_fit_;
    rest.steps = std::max<std::int64_t>(1, share_fit_.steps / 3);
    rest.eta /= 3;
    for (const auto& [step, share] : shares) {
      if (replicate.stopped()) return;
      if (share.context < kContext) continue;
      network.add(static_cast<double>(step), {share.share(), share.context, share.remainder});
      const auto at = static_cast<std::size_t>(
          std::find(h.steps.begin(), h.steps.end(), static_cast<double>(step)) - h.steps.begin());
      const double alpha = blur_of_loss(end, m.unigram, m.test, h.test_loss[at]);
      const Described training{end_training.masked, blurred(end_training.laws, m.unigram, alpha)};
      const Described test{end_test.masked, blurred(end_test.laws, m.unigram, alpha)};
      PairModel pairs = end_pairs;
      pairs.blur(m.unigram, alpha);
      const PairShare other = share_of(pairs, training, test, rest, replicate, step);
      if (other.context < kBlurContext) continue;
      blur.add(static_cast<double>(step), {other.share()});
    }
    if (!network.empty()) network.into(outcome);
    if (!blur.empty()) blur.into(outcome);
  }

  LanguageProblem problem_;
  MaskedTraining training_;
  int planted_;
  Configuration configuration_;
  std::vector<std::int64_t> share_steps_;
  PairFit share_fit_;
  MaskedTraining factored_training_;
  Lazy<Material> material_;
};

Figure figure(const Configuration& c) {
  std::vector<std::string> clones;
  for (const std::int64_t n : ascending(c.integers("model.chain_orders"))) {
    clones.push_back(chain_name(static_cast<int>(n)));
  }
  if (c.flag("model.pairs")) clones.push_back(kPairs);
  if (c.flag("model.factored")) clones.push_back(kFactored);
  const Axis step{.label = "step", .scale = AxisScale::log};
  Panel losses{
      .x = step, .y = {.label = "loss (nats)", .low = 0.0}, .layers = {}, .x_name = "step"};
  Panel divergences{
      .x = step,
      .y = {.label = "divergence {/:Italic D_n} (nats)"},
      .layers = {},
      .x_name = "step",
      .title = "dotted: nearest, {/:Italic t_n}; dash-dotted: overtaken, {/:Italic s_n}",
      .recorded_marks = {"nearest_time", "crossing_time"}};
  for (const std::string& clone : clones) {
    losses.layers.push_back({.series = "clone_loss",
                             .label = clone_label(clone),
                             .theory = false,
                             .only = {{"clone", clone}}});
    divergences.layers.push_back({.series = "divergence",
                                  .label = clone_label(clone),
                                  .theory = false,
                                  .only = {{"clone", clone}}});
  }
  losses.layers.push_back({.series = "test_loss", .label = "held-out text", .theory = false});
  losses.layers.push_back({.series = "floor",
                           .label = "floors {/:Italic H_n} of chains",
                           .simulation = false,
                           .reference = true});
  const Panel share{.x = step,
                    .y = {.label = "pair share"},
                    .layers = {{.series = "pair_share", .label = "network", .theory = false},
                               {.series = "blur_share",
                                .label = "its end, blurred to equal loss",
                                .theory = false,
                                .hollow = true}},
                    .x_name = "step"};
  const Panel nearest{.x = step,
                      .y = {.label = "nearest order {/:Italic n}"},
                      .layers = {{.series = "nearest", .label = "chains", .theory = false}},
                      .x_name = "step"};
  const Panel amounts{.x = step,
                      .y = {.label = "{/:Italic K} (nats)", .scale = AxisScale::log},
                      .layers = {{.series = "context_divergence",
                                  .label = "{/:Italic K}_1, from laws without context",
                                  .theory = false},
                                 {.series = "pair_remainder",
                                  .label = "{/:Italic K}_2, from pairs",
                                  .theory = false,
                                  .hollow = true}},
                      .x_name = "step"};
  const Panel remaining{
      .x = {.label = "order {/:Italic n}", .low = 0.8},
      .y = {.label = "{/:Italic X_n} − {/:Italic X_n}(end) (nats)"},
      .layers = {{.series = "remaining_loss", .label = "step {at_step}", .theory = false}},
      .x_name = "order"};
  return {
      .name = "language-orders",
      .panels = {losses, divergences, share, amounts, nearest, remaining},
      .columns = 2,
      .caption = fmt::format(
          "A transformer of {} layer{} trained by masking on {}. Losses on the held-out text "
          "and on clones of order n; mean divergence of the clones' conditionals from the "
          "network's on the text, with the mean steps t_n at which a clone is nearest and s_n at "
          "which the chain of the next order becomes nearer; share of the network's conditionals "
          "that pairs explain, next to that of the trained network blurred to the same loss; how "
          "far the "
          "network is from laws without context and from pairs; order of the chain that is "
          "nearest; how far the losses on chains still are from their ends. Mean and standard "
          "error over {} starts and orders of the data.",
          c.integer("sim.layers"),
          c.integer("sim.layers") == 1 ? "" : "s",
          c.text("model.file"),
          c.integer("sim.replicates"))};
}

}  // namespace

Study study() {
  return described(
      {.name = "language-orders", .make = make<Orders>, .figure = figure, .claims = claims});
}

}  // namespace attica::language_orders

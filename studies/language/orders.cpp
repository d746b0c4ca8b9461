/// @file
/// @brief Study language-orders: a transformer that learns a text by masking; which orders of
/// interaction does it learn, and when?

#include "attica/sim/language/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "attica/sim/language/masked.hpp"
#include "attica/studies/language/model.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/language/floors.hpp"

namespace attica::language_orders {
namespace {

using Eigen::Index;

constexpr double kSaturated = 0.05;    ///< of the way to the minimum is left
constexpr double kContext = 0.3;       ///< nats of context that a pair share needs to say anything
constexpr double kBlurContext = 0.03;  ///< the same of the blurred end, which has less of them
/// Of the training: early, in between, late.
constexpr std::array kSnapshots = {1.0 / 32, 1.0 / 8, 1.0 / 2};
const std::string kPairs = "pairs";
const std::string kFactored = "factored";

/// A clone, windows drawn from it, and what it says of them and of the held-out text.
struct Clone {
  std::string name;
  MaskedWindows windows;
  Laws laws;
  Laws text_laws;
  double entropy = 0;  ///< H_n on these windows
};

/// Drawn once from the master seed; serves all replicates.
struct Material {
  std::vector<Clone> clones;  ///< chains by order, then pairs, then factored
  MaskedWindows test;
  MaskedWindows share_training;
  MaskedWindows share_test;
  Eigen::VectorXd unigram;
};

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
                                                         Index sites) {
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

/// 0: none, the text itself is learnt.
int planted_order(const Configuration& c) {
  return c.has("model.planted_order") ? static_cast<int>(c.integer("model.planted_order")) : 0;
}

class Orders : public PointwiseExperiment {
 public:
  explicit Orders(const Configuration& c)
      : problem_(c),
        training_{.layers = static_cast<int>(c.integer("sim.layers")),
                  .width = static_cast<int>(c.integer("sim.width")),
                  .heads = static_cast<int>(c.integer("sim.heads")),
                  .mlp_width = static_cast<int>(c.integer("sim.mlp_width")),
                  .deviation = c.real("sim.deviation"),
                  .eta = c.real("sim.eta"),
                  .batch = c.integer("sim.batch"),
                  .recorded = records(static_cast<std::uint64_t>(c.integer("sim.length")),
                                      c.integers("sim.share_steps"))},
        planted_(planted_order(c)),
        clone_windows_(c.integer("sim.clone_windows")),
        test_windows_(c.integer("sim.test_windows")),
        share_windows_(c.integer("sim.share_windows")),
        share_steps_(c.integers("sim.share_steps")),
        share_fit_({.steps = c.integer("sim.share_fit_length"), .penalty = kSharePenalty}),
        pairs_(c.flag("model.pairs")),
        pair_fit_({.steps = c.integer("sim.clone_length")}),
        factored_(c.flag("model.factored")),
        factored_training_(factored_clone(c.integer("sim.factored_length"))),
        sweeps_(static_cast<int>(c.integer("sim.gibbs_sweeps"))),
        seed_(static_cast<std::uint64_t>(c.integer("sim.seed"))),
        material_([this] { return make_material(); }) {
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
    if (pairs_) problem_.warn_of_pairs(warnings_);
    problem_.warn_of_repetition(training_.recorded.back(), training_.batch, warnings_);
  }

  void require_simulable() const override {
    require_laws(share_windows_, 2, problem_.symbols(), "sim.share_windows");
    require_laws(test_windows_, 4, problem_.symbols(), "sim.test_windows");
    require_laws(clone_windows_, 8, problem_.symbols(), "sim.clone_windows");
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
        values.push_back(mean_cross_entropy(clone.text_laws, end) - text_entropy(clone));
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
        source(problem_.text().training),
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
      times_into(m, history, end, outcome);
      add_constant(outcome, "training_loss", mean_loss(end_training.laws, m.share_training));
      shares_into(m, history, shares, end, end_training, end_test, replicate, outcome);
    }
    mark_end(outcome, result);
    return outcome;
  }

 private:
  static constexpr Index kPairBatch = 1024;
  static constexpr double kSharePenalty = 2e-6;

  /// What one training recorded; curves of clones in the order of the material.
  struct History {
    explicit History(std::size_t clones) : clone_loss(clones), divergence(clones) {}
    std::vector<double> steps;
    std::vector<double> test_loss;
    std::vector<std::vector<double>> clone_loss;
    std::vector<std::vector<double>> divergence;

    /// Without the start, where all laws are uniform and a logarithmic axis has no place.
    void into(const Material& m, Outcome& outcome) const {
      Curves loss({}, "step", {"test_loss"});
      for (std::size_t k = 1; k < steps.size(); ++k) loss.add(steps[k], {test_loss[k]});
      if (loss.empty()) return;
      loss.into(outcome);
      for (std::size_t n = 0; n < m.clones.size(); ++n) {
        const Point point{{"clone", m.clones[n].name}};
        Curves curves(point, "step", {"clone_loss", "divergence"});
        for (std::size_t k = 1; k < steps.size(); ++k) {
          curves.add(steps[k], {clone_loss[n][k], divergence[n][k]});
        }
        curves.into(outcome);
        add_constant(outcome, "clone_entropy", m.clones[n].entropy, point);
        if (m.clones[n].name == kPairs || m.clones[n].name == kFactored) {
          add_constant(
              outcome, m.clones[n].name + "_loss", mean_loss(m.clones[n].text_laws, m.test), point);
        }
      }
    }
  };

  /// Root mean squares of the matrices of some starts.
  void starts_into(const MaskedTraining& training,
                   const Replicate& replicate,
                   Outcome& outcome) const {
    constexpr std::uint64_t kStarts = 16;
    StreamAddress own = replicate.address();
    std::map<std::string, double> squares;
    for (std::uint64_t k = 0; k < kStarts; ++k) {
      own.point = ~k;  // no start of a training
      const MaskedNetwork network =
          masked_network(training, problem_.sites(), problem_.symbols(), own);
      for (const auto& [name, scale] : start_scales(training, problem_.sites())) {
        const std::vector<const networks::Block*> blocks = network.parameters().matching(name);
        for (const networks::Block* block : blocks) {
          squares[name] += network.parameters().matrix(block->name).map().squaredNorm() /
                           static_cast<double>(block->size() * std::ssize(blocks) * kStarts);
        }
      }
    }
    for (const auto& [name, square] : squares) {
      add_constant(outcome, "start_scale", std::sqrt(square), of_start(training, name));
    }
  }

  /// Windows of a part of the text, or of the planted chain.
  WindowSource source(const std::vector<Symbol>& part) const {
    if (planted_ > 0) return chain_source(problem_.chain(planted_), problem_.sites());
    return text_source(part, problem_.sites());
  }

  static double text_entropy(const Clone& clone) { return mean_entropy(clone.text_laws); }

  Material make_material() const {
    const Index sites = problem_.sites();
    RandomStream stream({.seed = seed_, .id = StreamId::test_data});
    const WindowSource training = source(problem_.text().training);
    const WindowSource held = source(problem_.text().held_out);
    Material m;
    m.test = hide_one(held(test_windows_, stream), stream);
    m.share_training = hide_one(training(share_windows_, stream), stream);
    m.share_test = hide_one(held(std::max<Index>(1, share_windows_ / 4), stream), stream);
    for (const int n : problem_.orders()) {
      const MarkovClone chain = problem_.chain(n);
      add_clone(
          chain_name(n),
          chain_source(chain, sites)(clone_windows_, stream),
          [&](const MaskedWindows& w) { return chain_laws(chain, w); },
          m,
          stream);
    }
    const MarkovClone single = problem_.chain(1);
    const double* u = single.frequencies().row(1, 0);
    m.unigram = Eigen::Map<const Eigen::VectorXd>(u, problem_.symbols());
    RandomStream sampler({.seed = seed_, .id = StreamId::sampler});
    const auto independent = [&] { return chain_source(single, sites)(clone_windows_, sampler); };
    if (pairs_) {
      const PairModel pairs = fitted_pairs(
          problem_, training, pair_fit_, kPairBatch, {.seed = seed_, .id = StreamId::model});
      const Windows windows = gibbs_windows(pairs, independent(), sweeps_, sampler);
      add_clone(
          kPairs, windows, [&](const MaskedWindows& w) { return pairs.laws(w); }, m, sampler);
    }
    if (factored_) {
      MaskedNetwork network =
          fitted_factored(problem_, training, factored_training_, {.seed = seed_});
      const Windows windows = gibbs_windows(network, independent(), sweeps_, sampler);
      add_clone(
          kFactored,
          windows,
          [&](const MaskedWindows& w) { return network_laws(network, w); },
          m,
          sampler);
    }
    return m;
  }

  static void add_clone(const std::string& name,
                        Windows windows,
                        const std::function<Laws(const MaskedWindows&)>& laws,
                        Material& m,
                        RandomStream& stream) {
    Clone clone{.name = name,
                .windows = hide_one(std::move(windows), stream),
                .laws = {},
                .text_laws = laws(m.test)};
    clone.laws = laws(clone.windows);
    clone.entropy = mean_entropy(clone.laws);
    m.clones.push_back(std::move(clone));
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

  /// Saturation, crossings and minima; what the network unlearns; the blurred end of equal loss.
  void times_into(const Material& m, const History& h, const Laws& end, Outcome& outcome) const {
    const std::size_t chains = problem_.orders().size();
    std::vector<double> nearest;
    for (std::size_t k = 0; k < h.steps.size(); ++k) {
      std::size_t best = 0;
      for (std::size_t n = 1; n < chains; ++n) {
        if (h.divergence[n][k] < h.divergence[best][k]) best = n;
      }
      nearest.push_back(problem_.orders()[best]);
    }
    Curves staircase({}, "step", {"nearest"});
    for (std::size_t k = 1; k < h.steps.size(); ++k) staircase.add(h.steps[k], {nearest[k]});
    staircase.into(outcome);
    snapshots_into(h, outcome);
    for (std::size_t n = 0; n < m.clones.size(); ++n) {
      const Point point{{"clone", m.clones[n].name}};
      const std::vector<double>& x = h.clone_loss[n];
      const std::vector<double>& d = h.divergence[n];
      add_constant(outcome, "saturation_time", h.steps[saturation(x, kSaturated)], point);
      add_constant(outcome, "clone_rise", x.back() - *std::min_element(x.begin(), x.end()), point);
      const auto t = static_cast<std::size_t>(std::min_element(d.begin(), d.end()) - d.begin());
      const double alpha = blur_of_loss(end, m.unigram, m.test, h.test_loss[t]);
      const Laws blur = blurred(end, m.unigram, alpha);
      const double blur_divergence =
          mean_cross_entropy(m.clones[n].text_laws, blur) - text_entropy(m.clones[n]);
      Curves(point, "none", {"nearest_time", "blur_gap"})
          .add(0, {h.steps[t], blur_divergence - d[t]})
          .into(outcome);
      if (n + 1 >= chains) continue;
      const auto crossed = crossing(d, h.divergence[n + 1]);
      if (crossed) add_constant(outcome, "crossing_time", h.steps[*crossed], point);
    }
  }

  /// How far each chain's loss still is from where it ends, at three records.
  void snapshots_into(const History& h, Outcome& outcome) const {
    for (const double share : kSnapshots) {
      const auto after = std::upper_bound(h.steps.begin(), h.steps.end(), share * h.steps.back());
      const auto k = static_cast<std::size_t>(after - h.steps.begin()) - 1;
      Curves remaining({{"at_step", h.steps[k]}}, "order", {"remaining_loss"});
      for (std::size_t n = 0; n < problem_.orders().size(); ++n) {
        remaining.add(problem_.orders()[n], {h.clone_loss[n][k] - h.clone_loss[n].back()});
      }
      remaining.into(outcome);
    }
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
  Index clone_windows_;
  Index test_windows_;
  Index share_windows_;
  std::vector<std::int64_t> share_steps_;
  PairFit share_fit_;
  bool pairs_;
  PairFit pair_fit_;
  bool factored_;
  MaskedTraining factored_training_;
  int sweeps_;
  std::uint64_t seed_;
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
          "that pairs explain, beside that of the trained network blurred to the same loss; how "
          "far the "
          "network is from laws without context and from pairs; order of the chain that is "
          "nearest; how far the losses on chains still are from their ends. Mean and standard "
          "error over {} starts and orders of the data.",
          c.integer("sim.layers"),
          c.integer("sim.layers") == 1 ? "" : "s",
          c.text("model.file"),
          c.integer("sim.replicates"))};
}

/// A quantity of every replicate that has it.
using ByReplicate = std::map<std::uint64_t, double>;

/// A constant, or a curve at one x.
ByReplicate values_at(const Observed& observed,
                      const std::string& series,
                      const Point& point,
                      double x) {
  ByReplicate values;
  const ObservedCurve* curve = observed.curve(series, point);
  if (curve == nullptr) return values;
  for (std::size_t k = 0; k < curve->mean.x.size(); ++k) {
    if (curve->mean.x[k] != x) continue;
    for (std::size_t r = 0; r < curve->values[k].size(); ++r) {
      values[curve->replicates[k][r]] = curve->values[k][r];
    }
  }
  return values;
}

ByReplicate constant_of(const Observed& observed,
                        const std::string& series,
                        const std::string& clone) {
  return values_at(observed, series, {{"clone", clone}}, 0);
}

std::string listed(const ByReplicate& values) {
  std::string text;
  for (const auto& [replicate, value] : values) {
    text += fmt::format("{}{:.4g}", text.empty() ? "" : " ", value);
  }
  return text;
}

/// Whether `second` is at least `ratio` times `first` in every replicate that has both.
std::vector<bool> follows(const ByReplicate& first, const ByReplicate& second, double ratio) {
  std::vector<bool> holds;
  for (const auto& [replicate, early] : first) {
    const auto late = second.find(replicate);
    if (late != second.end()) holds.push_back(late->second >= ratio * early);
  }
  return holds;
}

void saturation_claim(const Observed& observed, std::vector<ClaimResult>& results) {
  constexpr double kRatio = 2;
  const auto one = constant_of(observed, "saturation_time", chain_name(1));
  const auto two = constant_of(observed, "saturation_time", chain_name(2));
  const auto three = constant_of(observed, "saturation_time", chain_name(3));
  if (one.empty() || two.empty() || three.empty()) return;
  const std::vector<bool> first = follows(one, two, kRatio);
  const std::vector<bool> second = follows(two, three, kRatio);
  std::vector<bool> both;
  for (std::size_t r = 0; r < first.size(); ++r) both.push_back(first[r] && second[r]);
  results.push_back(claim_rate(
      "saturation",
      fmt::format("the loss on clones of order 1, 2, 3 saturates in this order, each at {} times "
                  "the step of the one before or later",
                  kRatio),
      both,
      fmt::format("steps {}; {}; {}; chance 1/6 each if all orders were alike",
                  listed(one),
                  listed(two),
                  listed(three)),
      kHalf));
}

/// The same of clones that see all distances.
void fitted_saturation_claim(const Observed& observed, std::vector<ClaimResult>& results) {
  constexpr double kRatio = 2;
  const auto one = constant_of(observed, "saturation_time", chain_name(1));
  const auto two = constant_of(observed, "saturation_time", kPairs);
  const auto three = constant_of(observed, "saturation_time", kFactored);
  if (one.empty() || two.empty() || three.empty()) return;
  const std::vector<bool> first = follows(one, two, kRatio);
  const std::vector<bool> second = follows(two, three, kRatio);
  std::vector<bool> both;
  for (std::size_t r = 0; r < first.size(); ++r) both.push_back(first[r] && second[r]);
  const std::string statement = fmt::format(
      "the loss on single symbols, pairs and the factored clone of order 3 saturates in this "
      "order, "
      "each at {} times the step of the one before or later",
      kRatio);
  const auto pairs_loss = constant_of(observed, "pairs_loss", kPairs);
  const auto factored_loss = constant_of(observed, "factored_loss", kFactored);
  if (!pairs_loss.empty() && !factored_loss.empty() &&
      factored_loss.begin()->second >= pairs_loss.begin()->second) {
    results.push_back(claim_open("saturation-fitted", statement, kNoClone));
    return;
  }
  results.push_back(
      claim_rate("saturation-fitted",
                 statement,
                 both,
                 fmt::format("steps {}; {}; {}", listed(one), listed(two), listed(three)),
                 kHalf));
}

void crossing_claim(const Configuration& c,
                    const Observed& observed,
                    std::vector<ClaimResult>& results) {
  constexpr double kRatio = 3;
  const std::string statement = fmt::format(
      "the network is nearer to order 3 than to order 2 only after {} times the steps after which "
      "it is nearer to order 2 than to order 1",
      kRatio);
  const auto one = constant_of(observed, "crossing_time", chain_name(1));
  const auto two = constant_of(observed, "crossing_time", chain_name(2));
  if (constant_of(observed, "saturation_time", chain_name(3)).empty()) return;
  if (two.size() < constant_of(observed, "saturation_time", chain_name(2)).size()) {
    results.push_back(claim_open("crossings",
                                 statement,
                                 fmt::format("the crossing to order 3 is not within sim.length = "
                                             "{} in every replicate: more steps are needed",
                                             c.integer("sim.length"))));
    return;
  }
  results.push_back(claim_rate("crossings",
                               statement,
                               follows(one, two, kRatio),
                               fmt::format("steps {}; {}", listed(one), listed(two)),
                               kHalf));
}

void unlearning_claim(const Observed& observed, std::vector<ClaimResult>& results) {
  constexpr double kRise = 0.1;
  const auto one = constant_of(observed, "clone_rise", chain_name(1));
  const auto two = constant_of(observed, "clone_rise", chain_name(2));
  if (one.empty() || two.empty()) return;
  std::vector<bool> holds;
  for (const auto& [replicate, rise] : one) {
    holds.push_back(rise >= kRise && two.at(replicate) >= kRise);
  }
  results.push_back(
      claim_rate("unlearns",
                 fmt::format("losses on clones of order 1 and 2 end {} nats or more above their "
                             "minimum",
                             kRise),
                 holds,
                 fmt::format("rises {}; {}", listed(one), listed(two)),
                 kHalf));
}

void pair_claims(const Configuration& c, const Observed& observed, std::vector<ClaimResult>& out) {
  constexpr double kFirst = 0.9;
  constexpr double kApart = 0.1;
  const ObservedCurve* share = observed.curve("pair_share");
  const std::string statement = fmt::format(
      "the pair share is {} or more at the first record, falls from record to record, by {} or "
      "more in all",
      kFirst,
      kApart);
  const std::vector<std::vector<double>> paths = observed.paths("pair_share");
  if (share == nullptr || share->mean.x.size() < 2) {
    out.push_back(claim_open(
        "pairs-first",
        statement,
        fmt::format("fewer than two of the share steps up to sim.length = {} have {} nats of "
                    "context",
                    c.integer("sim.length"),
                    kContext)));
    return;
  }
  std::vector<bool> first;
  for (const std::vector<double>& path : paths) {
    const bool falls = std::is_sorted(path.rbegin(), path.rend());
    first.push_back(path.size() > 1 && path.front() >= kFirst && falls &&
                    path.front() - path.back() >= kApart);
  }
  std::string detail = "means";
  for (std::size_t k = 0; k < share->mean.x.size(); ++k) {
    detail += fmt::format(" {:.3f} at {:g}", share->mean.y[k], share->mean.x[k]);
  }
  out.push_back(claim_rate("pairs-first", statement, first, detail, kHalf));

  // The first record at which both have something to say.
  ByReplicate network;
  ByReplicate blur;
  double early = 0;
  for (const double step : share->mean.x) {
    early = step;
    network = values_at(observed, "pair_share", {}, step);
    blur = values_at(observed, "blur_share", {}, step);
    if (!blur.empty() && blur.size() == network.size()) break;
  }
  std::vector<bool> beyond;
  for (const auto& [replicate, value] : network) {
    const auto other = blur.find(replicate);
    if (other != blur.end()) beyond.push_back(value >= other->second + kApart);
  }
  if (beyond.empty()) return;
  out.push_back(claim_rate(
      "beyond-blur-share",
      fmt::format("at step {:g} the pair share is {} or more above that of the trained network "
                  "blurred to the same loss",
                  early,
                  kApart),
      beyond,
      fmt::format("network {}; blur {}", listed(network), listed(blur)),
      kHalf));
}

void blur_claim(const Observed& observed, std::vector<ClaimResult>& out) {
  constexpr double kGap = 0.03;
  const ByReplicate gap = constant_of(observed, "blur_gap", chain_name(2));
  if (gap.empty()) return;
  std::vector<bool> holds;
  for (const auto& [replicate, value] : gap) holds.push_back(value >= kGap);
  out.push_back(claim_rate(
      "beyond-blur-2",
      fmt::format("when it is nearest to order 2 the network is nearer to it, by {} nats or more, "
                  "than the trained network blurred to the same loss",
                  kGap),
      holds,
      "gaps in nats " + listed(gap),
      kHalf));
}

void bound_claim(const Observed& observed, std::vector<ClaimResult>& out) {
  constexpr double kRounding = 1e-6;  // probabilities of single precision
  double least = INFINITY;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "clone_loss") continue;
    const std::vector<double> floor = observed.last("clone_entropy", curve.mean.point);
    if (floor.empty()) continue;
    for (const std::vector<double>& values : curve.values) {
      for (const double x : values) least = std::min(least, x - floor.front());
    }
  }
  if (!std::isfinite(least)) return;
  out.push_back(claim_certain("bound",
                              "no loss on a clone is below the clone's entropy on the same windows",
                              least >= -kRounding,
                              fmt::format("smallest difference {:.4f} nats", least)));
}

void training_claim(const Observed& observed, std::vector<ClaimResult>& out) {
  const ByReplicate pairs = constant_of(observed, "pairs_loss", kPairs);
  if (pairs.empty()) return;
  std::vector<double> below;
  const std::vector<double> ends = observed.last("test_loss");
  for (const double end : ends) below.push_back(end - pairs.begin()->second);
  if (below.empty()) return;
  std::vector<bool> holds;
  for (const double difference : below) holds.push_back(difference < 0);
  out.push_back(claim_rate(
      "beats-pairs",
      fmt::format("the held-out loss ends below that of pairs at all distances, {:.3f} nats",
                  pairs.begin()->second),
      holds,
      fmt::format(
          "mean {:.3f}",
          std::accumulate(ends.begin(), ends.end(), 0.0) / static_cast<double>(ends.size())),
      kHalf));
}

/// A text whose order is known: the network must come to it, and stay pairs where it is 2.
void hidden_order_claims(const Configuration& c,
                         const Observed& observed,
                         std::vector<ClaimResult>& out) {
  constexpr double kAll = 0.9;
  const int order = planted_order(c);
  std::vector<bool> nearest;
  for (const double n : observed.last("nearest")) nearest.push_back(n == order);
  out.push_back(claim_rate("planted-order",
                           fmt::format("the network ends nearest to the planted order {}", order),
                           nearest,
                           {},
                           kHalf));
  if (order > 2) return;
  std::vector<bool> pairs;
  double least = 1;
  for (const std::vector<double>& path : observed.paths("pair_share")) {
    pairs.push_back(std::ranges::min(path) >= kAll);
    least = std::min(least, std::ranges::min(path));
  }
  out.push_back(claim_rate("pairs-only",
                           fmt::format("the pair share stays {} or more", kAll),
                           pairs,
                           fmt::format("smallest {:.3f}", least),
                           kHalf));
}

/// Every matrix of a network starts from the scale that the docs state: what is claimed of training
/// is claimed of training from there.
void start_claim(const Observed& observed, std::vector<ClaimResult>& results) {
  constexpr double kScatter = 0.05;  // 1.5 % of the smallest, 2000 normal numbers in all
  std::vector<bool> as_stated;
  double worst = 0;
  for (const Prediction& stated : observed.theory) {
    if (stated.series.name != "start_scale") continue;
    const std::vector<double> scales = observed.last("start_scale", stated.series.point);
    as_stated.resize(std::max(as_stated.size(), scales.size()), true);
    for (std::size_t r = 0; r < scales.size(); ++r) {
      const double off = std::abs(scales[r] / stated.series.y[0] - 1);
      as_stated[r] = as_stated[r] && off < kScatter;
      worst = std::max(worst, off);
    }
  }
  if (as_stated.empty()) return;
  results.push_back(claim_rate("start",
                               "every matrix starts from the stated scale within 5 %",
                               as_stated,
                               fmt::format("farthest {:.2g} %", 100 * worst),
                               kHalf));
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> results;
  start_claim(observed, results);
  if (planted_order(c) > 0) {
    hidden_order_claims(c, observed, results);
    saturation_claim(observed, results);
    fitted_saturation_claim(observed, results);
    crossing_claim(c, observed, results);
    bound_claim(observed, results);
    return results;
  }
  training_claim(observed, results);
  saturation_claim(observed, results);
  fitted_saturation_claim(observed, results);
  crossing_claim(c, observed, results);
  unlearning_claim(observed, results);
  pair_claims(c, observed, results);
  blur_claim(observed, results);
  bound_claim(observed, results);
  return results;
}

}  // namespace

Study study() {
  return described(
      {.name = "language-orders", .make = make<Orders>, .figure = figure, .claims = claims});
}

}  // namespace attica::language_orders

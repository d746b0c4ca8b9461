/// @file
/// @brief Study language-clones: copies of a text with interactions of at most n symbols; are they
/// what they should be, and what can be learnt on them?

#include <fmt/format.h>

#include <algorithm>

#include "attica/sim/language/pairs.hpp"
#include "attica/studies/language/model.hpp"
#include "attica/theory/language/floors.hpp"
#include "attica/theory/language/variation.hpp"

namespace attica::language_clones {
namespace {

using Eigen::Index;

/// Sites of a window whose symbols are looked at together.
struct Pattern {
  std::vector<Index> sites;
  int neighbours;  ///< sites side by side; 0: with gaps
};

/// Number k + 1 is the x of the figure.
const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = {{{0}, 1},
                                           {{0, 1}, 2},
                                           {{0, 2}, 0},
                                           {{0, 4}, 0},
                                           {{0, 1, 2}, 3},
                                           {{0, 1, 3}, 0},
                                           {{0, 1, 2, 3}, 4}};
  return all;
}

/// Students are the closest networks of order 2: on clones up to it they can reach the floor.
constexpr int kStudentOrder = 2;
constexpr int kHighestStudent = 3;
int factored_order(const Configuration& c) { return (1 << c.integer("model.factored_layers")) + 1; }
const std::string kPairs = "pairs";
const std::string kFactored = "factored";

class Clones : public PointwiseExperiment {
 public:
  explicit Clones(const Configuration& c)
      : problem_(c),
        fit_({.steps = c.integer("sim.clone_length"), .eta = c.real("sim.clone_eta")}),
        batch_(c.integer("sim.clone_batch")),
        count_(c.integer("sim.clone_windows")),
        factored_(c.flag("model.factored")),
        factored_training_(factored_clone(c.integer("sim.factored_length"),
                                          c.integer<int>("model.factored_layers"))),
        sweeps_(c.integer<int>("sim.gibbs_sweeps")) {
    const auto side =
        static_cast<double>(problem_.sites()) * static_cast<double>(problem_.symbols());
    require(side * side <= PairModel::kMostWeights,
            "model.vocabulary",
            static_cast<double>(problem_.symbols()),
            "symbols with (L C)^2 <= 2^24 couplings of pairs");
    diagnostics_ = problem_.diagnostics();
    warnings_ = problem_.warnings();
    problem_.warn_of_pairs(warnings_);
  }

  void require_simulable() const override {
    require_laws(kHeldOut * count_, 2, problem_.symbols(), "sim.clone_windows");
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result = problem_.theory();
    Curves student({}, "order", {"student_loss"});
    // Of w weights and N examples: w / 2N is the excess of the best fit, the same again Adam's.
    const double excess = pair_weights(problem_.sites(), problem_.symbols()) /
                          (static_cast<double>(fit_.steps) * static_cast<double>(batch_));
    const Series floor = result.predictions.front().series;
    for (std::size_t k = 0; floor.name == "floor" && k < floor.x.size(); ++k) {
      if (floor.x[k] > kHighestStudent) continue;
      student.add(floor.x[k], {PredictedValue(floor.y[k], excess, floor.x[k] <= kStudentOrder)});
    }
    if (!student.empty()) student.into(result);
    if (problem_.orders().front() == 1) {
      Curves({{"clone", chain_name(1)}}, "pattern", {"variation"})
          .add(kPairPattern,
               {independent_pair_variation(problem_.text().training,
                                           problem_.chain(1).frequencies().row(1, 0),
                                           problem_.symbols(),
                                           static_cast<double>(count_ * (problem_.sites() - 1)))})
          .into(result);
    }
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    Outcome outcome;
    RandomStream test = replicate.stream(StreamId::test_data);
    const Windows text = text_source(problem_.text().training, problem_.sites())(count_, test);
    const Windows whole = even_windows(problem_.text().training, problem_.sites(), kReference);
    variations("text", text, whole, outcome);
    const Windows held =
        text_source(problem_.text().held_out, problem_.sites())(kHeldOut * count_, test);
    Curves floors({}, "order", {"floor"});
    Curves losses({}, "order", {"plateau", "clone_entropy"});
    Curves students({}, "order", {"student_loss"});
    for (const int n : problem_.orders()) {
      const MarkovClone chain = problem_.chain(n);
      const WindowSource source = chain_source(chain, problem_.sites());
      const Windows windows = source(count_, test);
      variations(chain_name(n), windows, whole, outcome);
      if (floor_is_exact(problem_.symbols(), n))
        floors.add(n, {mean_over_sites(windows, [&](const MaskedWindows& m) {
                     return mean_loss(chain_laws(chain, m), m);
                   })});
      losses.add(
          n,
          {mean_over_sites(
               held, [&](const MaskedWindows& m) { return mean_loss(chain_laws(chain, m), m); }),
           mean_over_sites(windows, [&](const MaskedWindows& m) {
             return mean_entropy(chain_laws(chain, m));
           })});
      if (n > kHighestStudent) continue;
      const PairModel student =
          fitted(source, replicate, StreamId::data, static_cast<std::uint64_t>(n));
      students.add(n, {mean_over_sites(windows, [&](const MaskedWindows& m) {
                     return mean_cross_entropy(chain_laws(chain, m), student.laws(m));
                   })});
      if (replicate.stopped()) return outcome;
    }
    if (!floors.empty()) floors.into(outcome);
    losses.into(outcome);
    if (!students.empty()) students.into(outcome);
    RandomStream sampler = replicate.stream(StreamId::sampler);
    const auto independent = [&] {
      return chain_source(problem_.chain(1), problem_.sites())(count_, sampler);
    };
    const WindowSource training = text_source(problem_.text().training, problem_.sites());
    const PairModel pairs = fitted(training, replicate, StreamId::minibatch, 0);
    variations(kPairs, gibbs_windows(pairs, independent(), sweeps_, sampler), whole, outcome);
    add_constant(outcome, "pairs_plateau", mean_over_sites(held, [&](const MaskedWindows& m) {
                   return mean_loss(pairs.laws(m), m);
                 }));
    if (!factored_ || replicate.stopped()) return outcome;
    std::vector<MaskedNetwork> networks =
        fitted_factored(problem_, training, factored_training_, replicate.address(), [&] {
          return replicate.stopped();
        });
    if (replicate.stopped()) return outcome;
    variations(
        kFactored, gibbs_windows(networks.back(), independent(), sweeps_, sampler), whole, outcome);
    const auto plateau = [&](const char* name, MaskedNetwork& network) {
      add_constant(outcome, name, mean_over_sites(held, [&](const MaskedWindows& m) {
                     return mean_loss(network_laws(network, m), m);
                   }));
    };
    plateau("factored_plateau", networks.back());
    if (networks.size() > 1) plateau("fewer_layers_plateau", networks[networks.size() - 2]);
    return outcome;
  }

 private:
  static constexpr double kPairPattern = 2;

  static constexpr Index kReference = 200000;
  /// A held-out tenth is small, and its windows overlap: so many times as many of them.
  static constexpr Index kHeldOut = 4;

  PairModel fitted(const WindowSource& source,
                   const Replicate& replicate,
                   StreamId id,
                   std::uint64_t which) const {
    StreamAddress address = replicate.address(id);
    address.step = which;
    constexpr std::uint64_t kFits = 64;  // streams of different fits are told apart by the step
    return fitted_pairs(
        problem_, source, fit_, batch_, address, kFits, [&] { return replicate.stopped(); });
  }

  void variations(const std::string& clone,
                  const Windows& windows,
                  const Windows& whole,
                  Outcome& outcome) const {
    Curves curve({{"clone", clone}}, "pattern", {"variation"});
    for (std::size_t k = 0; k < patterns().size(); ++k) {
      if (patterns()[k].sites.back() >= problem_.sites()) continue;
      curve.add(static_cast<double>(k + 1),
                {pattern_variation(windows, whole, problem_.symbols(), patterns()[k].sites)});
    }
    curve.into(outcome);
  }

  LanguageProblem problem_;
  PairFit fit_;
  Index batch_;
  Index count_;
  bool factored_;
  MaskedTraining factored_training_;
  int sweeps_;
};

Figure figure(const Configuration& c) {
  const std::vector<std::int64_t> orders = ascending(c.integers("model.chain_orders"));
  Panel distances{
      .kind = PanelKind::scatter,
      .x = {.label = "pattern of sites: 1: 0; 2: 0, 1; 3: 0, 2; 4: 0, 4; 5: 0, 1, 2; 6: 0, "
                     "1, 3; 7: 0, 1, 2, 3",
            .low = 0.5,
            .high = 7.5},
      .y = {.label = "total variation", .scale = AxisScale::log},
      .layers = {},
      .x_name = "pattern"};
  const auto add = [&](const std::string& clone, const std::string& label, bool fitted) {
    distances.layers.push_back({.series = "variation",
                                .label = label,
                                .theory = false,
                                .hollow = fitted,
                                .only = {{"clone", clone}}});
  };
  add("text", "the text itself", false);
  for (const std::int64_t n : orders) {
    const std::string chain = chain_name(static_cast<int>(n));
    add(chain, clone_label(chain), false);
  }
  add(kPairs, "pairs", true);
  if (c.flag("model.factored"))
    add(kFactored, fmt::format("factored, order {}", factored_order(c)), true);
  Panel losses{
      .x = {.label = "order {/:Italic n}",
            .low = static_cast<double>(orders.front()) - 0.2,
            .high = static_cast<double>(orders.back()) + 0.2},
      .y = {.label = "loss (nats)", .low = 0.0},
      .layers = {{.series = "plateau", .label = "{/:Italic ε_n}, held-out text"},
                 {.series = "floor", .label = "{/:Italic H_n}, floor on the clone"},
                 {.series = "clone_entropy",
                  .label = "{/:Italic H_n}, sampled",
                  .theory = false,
                  .hollow = true},
                 {.series = "student_loss",
                  .label = "pairs trained on the clone",
                  .theory = false,
                  .hollow = true},
                 {.series = "pairs_plateau", .label = "pairs, held-out text", .theory = false}},
      .x_name = {}};
  if (c.flag("model.factored"))
    losses.layers.push_back(
        {.series = "factored_plateau", .label = "factored, held-out text", .theory = false});
  return {
      .name = "language-clones",
      .panels = {distances, losses},
      .columns = 1,
      .caption = fmt::format(
          "Clones of {} with interactions of n neighbouring {} (chains) and of pairs{} at all "
          "distances. Top: total variation to the text of the tuples at sites 1: 0; 2: 0, 1; 3: "
          "0, 2; 4: 0, 4; 5: 0, 1, 2; 6: 0, 1, 3; 7: 0, 1, 2, 3, in {} windows; a sample of "
          "the text is the floor of sampling. Bottom: losses of predicting one hidden symbol "
          "of {}. Lines: exact; points: mean and standard error over replicates; at the right "
          "edge, clones that are fitted.",
          c.text("model.file"),
          c.text("model.symbols"),
          c.flag("model.factored") ? fmt::format(" or {}", factored_order(c)) : "",
          c.integer("sim.clone_windows"),
          c.integer("model.sites"))};
}

/// How much farther each replicate's clone is from the text than a sample of it, at a pattern.
std::vector<double> beyond_text(const Observed& observed, const std::string& clone, std::size_t k) {
  const auto at = [&](const std::string& name) {
    return ObservedAt("variation", {{"clone", name}}, static_cast<double>(k + 1));
  };
  return by_replicate(observed, {at(clone), at("text")}).of([](double own, double text) {
    return own - text;
  });
}

/// The clone has the text's tuples of up to n symbols, and lacks those of n + 1 neighbours.
/// Variations are sums over thousands of tuples: near normal.
void add_clone_claims(const Observed& observed,
                      const std::string& clone,
                      const std::function<bool(const Pattern&)>& has,
                      int lacks,
                      std::vector<ClaimResult>& results,
                      double close = 0.05) {
  constexpr double kFar = 0.1;
  std::vector<double> worst;
  for (std::size_t k = 0; k < patterns().size(); ++k) {
    const std::vector<double> beyond = beyond_text(observed, clone, k);
    if (beyond.empty()) continue;
    if (has(patterns()[k])) {
      if (worst.empty()) worst = beyond;
      for (std::size_t r = 0; r < beyond.size(); ++r) worst[r] = std::max(worst[r], beyond[r]);
    }
    if (patterns()[k].neighbours == lacks) {
      const ClaimTest test = mean_above(beyond, kFar, Tails::normal);
      results.push_back(claim_tested(
          fmt::format("{}-lacks-{}", clone, lacks),
          fmt::format("{}: tuples of {} neighbours are farther from the text than a sample of it, "
                      "by {} in total variation or more",
                      clone,
                      lacks,
                      kFar),
          test,
          fmt::format("mean {:.4f}", test.estimate)));
    }
  }
  if (worst.empty()) return;
  const ClaimTest test = mean_below(worst, close, Tails::normal);
  results.push_back(claim_tested(
      fmt::format("{}-has", clone),
      fmt::format("{}: no tuple of its order is farther from the text than a sample of it by more "
                  "than {} in total variation",
                  clone,
                  close),
      test,
      fmt::format("the worst tuple, mean {:.4f}", test.estimate)));
}

/// If it predicts better than pairs, and than one layer fewer: else it is no clone of its order.
void factored_claims(const Observed& observed, int order, std::vector<ClaimResult>& results) {
  constexpr double kClose = 0.08;  // trained, and sampled: a residue over the noise of sampling
  bool better = true;
  const auto gain_over = [&](const char* rival, const char* name, const char* statement) {
    const std::vector<double> gains =
        by_replicate(observed, {rival, "factored_plateau"}).of([](double above, double factored) {
          return above - factored;
        });
    if (gains.empty()) return false;
    results.push_back(claim_above(name, statement, gains, 0));
    better = better && std::ranges::min(gains) > 0;
    return true;
  };
  if (!gain_over("pairs_plateau",
                 "factored-beats-pairs",
                 "the factored network predicts the held-out text better than pairs"))
    return;
  gain_over("fewer_layers_plateau",
            "factored-beats-fewer-layers",
            "the factored network predicts the held-out text better than with one layer fewer");
  if (!better) {
    results.push_back(
        claim_open("factored-has", fmt::format("factored: a clone of order {}", order), kNoClone));
    return;
  }
  add_clone_claims(
      observed,
      kFactored,
      [order](const Pattern& p) { return std::ssize(p.sites) <= order; },
      order + 1,
      results,
      kClose);
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> results;
  for (const std::int64_t n : ascending(c.integers("model.chain_orders"))) {
    add_clone_claims(
        observed,
        chain_name(static_cast<int>(n)),
        [n](const Pattern& p) { return p.neighbours > 0 && p.neighbours <= n; },
        static_cast<int>(n) + 1,
        results);
  }
  add_clone_claims(
      observed,
      kPairs,
      [](const Pattern& p) { return std::ssize(p.sites) <= kStudentOrder; },
      kStudentOrder + 1,
      results);
  factored_claims(observed, factored_order(c), results);
  // What order 2 cannot represent.
  constexpr double kMissed = 0.1;
  const std::vector<double> losses =
      by_replicate(observed, {ObservedAt("student_loss", {}, kHighestStudent)}).column();
  for (const Prediction& p : observed.theory) {
    if (p.series.name != "floor" || losses.empty()) continue;
    const auto place = std::ranges::find(p.series.x, kHighestStudent);
    if (place == p.series.x.end()) continue;
    const double floor = p.series.y[static_cast<std::size_t>(place - p.series.x.begin())];
    results.push_back(
        claim_above("pairs-miss-order-3",
                    fmt::format("pairs trained on the chain of order 3 stay above its floor {:.4f} "
                                "by {} nats or more",
                                floor,
                                kMissed),
                    losses,
                    floor + kMissed));
  }
  return results;
}

/// Windows of every clone; what is fitted is fitted once more, from the master seed.
std::vector<TextFile> files(const Configuration& c, const Observed& /*observed*/) {
  constexpr Index kLength = 60;
  constexpr Index kLines = 3;
  const LanguageProblem problem(c);
  const Index sites = problem.sites();
  const StreamAddress address{.seed = c.seed(), .id = StreamId::self_test};
  RandomStream stream(address);
  std::string samples;
  const auto add = [&](const std::string& clone, const Windows& windows) {
    for (Index k = 0; k < windows.rows(); ++k) {
      samples +=
          fmt::format("{:9} {}\n",
                      clone,
                      spell(problem.text(), problem.kind(), windows.row(k).data(), windows.cols()));
    }
  };
  for (const int n : problem.orders())
    add(chain_name(n), chain_source(problem.chain(n), kLength)(kLines, stream));
  // These know windows of L symbols only: more of them.
  constexpr Index kWindows = 8;
  const WindowSource training = text_source(problem.text().training, sites);
  const auto sweeps = c.integer<int>("sim.gibbs_sweeps");
  const auto start = [&] { return chain_source(problem.chain(1), sites)(kWindows, stream); };
  const PairModel pairs =
      fitted_pairs(problem,
                   training,
                   {.steps = c.integer("sim.clone_length"), .eta = c.real("sim.clone_eta")},
                   c.integer("sim.clone_batch"),
                   address);
  add(kPairs, gibbs_windows(pairs, start(), sweeps, stream));
  if (c.flag("model.factored")) {
    const MaskedTraining plan =
        factored_clone(c.integer("sim.factored_length"), c.integer<int>("model.factored_layers"));
    std::vector<MaskedNetwork> networks = fitted_factored(problem, training, plan, address);
    add(kFactored, gibbs_windows(networks.back(), start(), sweeps, stream));
  }
  add("text", training(kWindows, stream));
  return {{.name = "samples.txt", .content = samples}};
}

}  // namespace

Study study() {
  return described({.name = "language-clones",
                    .make = make<Clones>,
                    .figure = figure,
                    .claims = claims,
                    .files = files});
}

}  // namespace attica::language_clones

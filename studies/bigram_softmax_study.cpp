/// @file
/// @brief Study bigrams-softmax: softmax against linear attention; population descent of both, and
/// SGD with softmax attention to the end.

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/studies/bigram_common.hpp"
#include "attica/studies/bigram_studies.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/theory/bigram_population.hpp"
#include "attica/theory/bigram_recursion.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Rate of W in SGD: η_w = 0.003 T² η_V. At T² η_A noise makes a winner of one position per column.
constexpr double kLogitRate = 0.003;

class Softmax : public Experiment {
 public:
  explicit Softmax(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)), eta_flow_(c.real("sim.eta_flow")) {
    if (setup_.surrogate != "none") {
      throw invalid_parameter("sim.surrogate", setup_.surrogate, "\"none\"");
    }
    constexpr double kBytes = 60;  // A, W and their gradients in double precision
    require_entries(setup_.model, kBytes);
    require_rates(c);
    length_ = c.integer("sim.length");
  }

  TheoryResult theory(TheoryGrid) const override {
    // Linear attention by discrete steps of the four-variable system, standard start: d = 0.
    BigramRecursion whole(
        setup_.model, {eta_flow_, eta_flow_}, std::numeric_limits<double>::infinity());
    Prediction linear = bigram_prediction("alpha_A", {{"attention", "linear"}}, "step");
    std::int64_t step = 0;
    for (const std::int64_t next : setup_.steps) {
      for (; step < next; ++step) whole.step();
      linear.series.x.push_back(static_cast<double>(step));
      linear.series.y.push_back(whole.signals().alpha_a);
    }
    // Softmax follows it up to a relative error of α_A T/Q; twice that is allowed, while it is
    // small.
    Prediction softmax = linear;
    softmax.series.point = {{"attention", "softmax"}};
    constexpr double kEarly = 0.1;
    for (const double a : linear.series.y) {
      const double relative = a * static_cast<double>(setup_.model.context()) /
                              static_cast<double>(setup_.model.sparsity());
      softmax.finite_size.push_back(2 * relative * a);
      softmax.compared.push_back(relative <= kEarly);
    }
    return {.predictions = {linear, softmax}};
  }

  std::size_t points() const override { return 2; }
  std::uint64_t replicates_per_piece(std::size_t point) const override {
    return point == 0 ? 1000 : 1;
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    if (piece.point == 0) return std::vector<Outcome>(piece.replicates, descent());
    return each_replicate(piece,
                          [&](std::uint64_t replicate) { return training(piece, replicate); });
  }

  Table diagnostics() const override { return setup_.diagnostics; }
  std::vector<std::string> warnings() const override { return setup_.warnings; }

 private:
  /// Refuses rates at which no solution is stable: for linear descent, with both rates equal, from
  /// ω = η √(K_P K_Q) = 1 on; for V at A = Q, where steps multiply V - P by 1 - η_V ‖Q‖²_μ.
  void require_rates(const Configuration& c) const {
    const BigramModel& model = setup_.model;
    require_stable_rate("sim.eta_flow", eta_flow_, 1 / std::sqrt(model.k_p() * model.k_q()));
    require_stable_rate(c.has("sim.eta_V") ? "sim.eta_V" : "sim.eta",
                        setup_.rates.value,
                        2 / model.stationary().dot(model.attention_norm2()));
  }

  /// Descent of the population loss with both kinds of attention: nothing random.
  Outcome descent() const {
    const BigramModel& model = setup_.model;
    const double t = static_cast<double>(model.context());
    MatrixXd v_soft = stationary_value(model);
    MatrixXd w = MatrixXd::Zero(model.context(), model.tokens());
    MatrixXd v = v_soft;
    MatrixXd a = MatrixXd::Constant(model.context(), model.tokens(), 1 / t);
    Series linear{"alpha_A", {{"attention", "linear"}}, "step", as_reals(setup_.steps), {}};
    Series softmax = linear;
    softmax.point = {{"attention", "softmax"}};
    std::int64_t step = 0;
    for (const std::int64_t next : setup_.steps) {
      for (; step < next; ++step) {
        softmax_descent_step(model, eta_flow_, t * t * eta_flow_, v_soft, w);
        const BigramGradient g = population_hat_gradient(model, v, a);
        v -= eta_flow_ * g.value;
        a -= eta_flow_ * g.attention;
      }
      linear.y.push_back(bigram_state(model, v, attention_sums(model, a)).alpha_a);
      softmax.y.push_back(
          bigram_state(model, v_soft, attention_sums(model, column_softmax(w))).alpha_a);
    }
    Outcome outcome{.series = {linear, softmax}};
    append_map(outcome, "softmax flow", column_softmax(w));
    return outcome;
  }

  /// SGD with softmax attention.
  Outcome training(const Piece& piece, std::uint64_t replicate) const {
    const double t = static_cast<double>(setup_.model.context());
    BigramStepSizes sizes = setup_.sizes();
    sizes.eta_a = kLogitRate * t * t * sizes.eta_v;
    BigramSgd<float> run(setup_.model,
                         BigramAlgorithm::softmax,
                         sizes,
                         stationary_value(setup_.model),
                         {.seed = piece.seed,
                          .id = StreamId::minibatch,
                          .point = piece.stream_point,
                          .replicate = replicate});
    Series gap{"gap", {}, "step", {}, {}};
    const double start = run.state().excess_loss;
    constexpr std::int64_t kRecords = 25;
    const std::int64_t every = std::max<std::int64_t>(1, length_ / kRecords);
    for (std::int64_t n = 0; n <= length_ && !run.diverged() && !piece.stop.stop_requested(); ++n) {
      if (n % every == 0) {
        gap.x.push_back(static_cast<double>(n));
        gap.y.push_back(run.state().excess_loss / start);
      }
      if (n < length_) run.step();
    }
    Outcome outcome{.series = {gap}};
    append_map(outcome, "softmax SGD", run.attention().cast<double>());
    record_end(outcome, status_of(run), run);
    return outcome;
  }

  /// Attention of every last token at all supported positions, numbered in rising order.
  void append_map(Outcome& outcome, const char* training, const MatrixXd& attention) const {
    std::vector<Index> positions;
    for (const SparseColumn& q : setup_.model.attention()) {
      positions.insert(positions.end(), q.positions.begin(), q.positions.end());
    }
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    for (Index k = 0; k < setup_.model.tokens(); ++k) {
      Series row{"attention",
                 {{"training", training}, {"token", static_cast<double>(k)}},
                 "position",
                 {},
                 {}};
      for (std::size_t j = 0; j < positions.size(); ++j) {
        row.x.push_back(static_cast<double>(j));
        row.y.push_back(attention(positions[j], k));
      }
      outcome.series.push_back(std::move(row));
    }
  }

  BigramSetup setup_;
  double eta_flow_;
  std::int64_t length_ = 0;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<Softmax>(c); }

Figure figure(const Configuration&) {
  Panel map{.kind = PanelKind::heat_map,
            .x = {.label = "supported position"},
            .y = {.label = "last token"},
            .layers = {{.series = "attention", .only = {{"training", "softmax SGD"}}}},
            .x_name = "position",
            .y_coordinate = "token"};
  map.value = {.label = "attention"};
  return {.name = "bigrams-softmax",
          .panels = {{.x = {.label = "step of population descent"},
                      .y = {.label = "signal {/:Italic α}_A", .scale = AxisScale::log},
                      .layers = {{.series = "alpha_A",
                                  .label = "linear",
                                  .only = {{"attention", "linear"}}},
                                 {.series = "alpha_A",
                                  .label = "softmax",
                                  .theory = false,
                                  .only = {{"attention", "softmax"}}}},
                      .x_name = "step"},
                     {.x = {.label = "step of SGD"},
                      .y = {.label = "excess loss / initial", .scale = AxisScale::log},
                      .layers = {{.series = "gap", .label = "softmax SGD"}},
                      .x_name = "step"},
                     map},
          .columns = 1,
          .caption =
              "Softmax attention. Top: population descent with rates matched at the start; "
              "line: four-variable theory of linear attention. Middle: SGD on sequences, "
              "mean and standard error over runs. Bottom: attention it learns, at all "
              "positions of the support."};
}

std::vector<AgreementRule> agreement(const Configuration&) {
  constexpr double kExact = 1e-6;
  return {{.series = "alpha_A", .relative = kExact, .absolute = 1e-12, .deterministic = true}};
}

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  constexpr double kGap = 0.1;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "gap" || curve.mean.x.empty()) continue;
    std::vector<double> last = curve.values.back();
    std::sort(last.begin(), last.end());
    const double median = last[last.size() / 2];
    return {{"learned",
             "median final excess loss of softmax SGD below a tenth of the initial one",
             median < kGap ? Verdict::agree : Verdict::disagree,
             "median " + describe(CoordinateValue(median))}};
  }
  return {};
}

}  // namespace

Study bigrams_softmax() {
  std::vector<Parameter> parameters =
      bigram_parameters({.context = 200,
                         .batch = 256,
                         .steps = {25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 300, 350, 400},
                         .replicates = 8,
                         .algorithms = {"softmax"}});
  parameters.push_back(
      real_parameter("sim.eta_flow",
                     0.02,
                     "learning rate of population descent; logits take T^2 times it",
                     kPositive));
  parameters.push_back(integer_parameter("sim.length", std::int64_t{2500}, "steps of SGD"));
  std::vector<SeriesInfo> series = bigram_series({"alpha_A"});
  series.push_back(
      {"gap", "(L - L*)/(L_0 - L*)", "excess loss of softmax SGD over the initial one"});
  series.push_back({"attention", "a", "attention at the supported positions"});
  return {
      .name = "bigrams-softmax",
      .question = "What does the softmax change?",
      .neglects = "everything beyond the first order in α_A T/Q: compared while it is below 0.1",
      .parameters = std::move(parameters),
      .series = std::move(series),
      .presets = {{"quick", "the defaults: N = 3, T = 200, B = 256", {}},
                  {"paper",
                   "T = 5000, B = 512, 20000 steps",
                   {{"model.context", 5000}, {"sim.batch", 512}, {"sim.length", 20000}}}},
      .sources = {bigram_source("softmax attention as a preconditioned linear one; the public "
                                "discussion prints a(1-a) for the preconditioner's entry where "
                                "(a(1-a))^2 is meant")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims};
}

}  // namespace attica

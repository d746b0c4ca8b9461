/// @file
/// @brief Study topics-finite-length: what the length of documents does to the loss at fixed
/// weights.

#include <fmt/format.h>

#include <Eigen/LU>
#include <array>
#include <cmath>

#include "attica/sim/topics/sampling.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/exponents.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/loss.hpp"

namespace attica::topics_finite_length {
namespace {

/// What the next order may be of the first, times N. Measured with 2 % precision and better over
/// both losses, all values, weights from 0.3 to 30 and mask rates to 0.5: from -0.5 to 2.6.
constexpr double kNextOrder = 3;

constexpr std::array<TopicLoss, 2> kLosses{TopicLoss::squared, TopicLoss::cross_entropy};

/// Few enough tokens to sum over all documents, and weights that spare no term of the order 1/N.
struct SmallProblem {
  TopicModel model{{.vocabulary = {2, 2},
                    .topics_per_document = 1,
                    .mask_rate = 0.5,
                    .keep_rate = 0.2,
                    .random_rate = 0.3}};
  Commutant value{{0.1, -0.2, 0.05, 0.9, 0.4, -0.1}};
  Commutant scores{{0.1, -0.05, 0.15, 0.4, 0.25, -0.15}};
};

class FiniteLength : public PointwiseExperiment {
 public:
  explicit FiniteLength(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        loss_(attica::topic_loss(c)),
        value_(fixed_value(c)(model_)),
        scores_(scores(
            {.same_word = c.real("model.same_word"), .same_topic = c.real("model.same_topic")})),
        lengths_(ascending(c.integers("sweep.length"))),
        documents_(c.integer("sim.documents")) {
    require_population(model_);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    Curves curves({}, "length", {"loss", "gap", "infinite_loss", "gap_own_position"});
    const double limit = reduced_loss(model_, loss_, value_, scores_);
    for (const double length : line_through(as_reals(lengths_), 60, AxisScale::log, grid)) {
      const double gap = length_gap(model_, loss_, value_, scores_, length);
      const double own = reduced_loss(model_, loss_, value_, scores_, nullptr, 1 / length);
      curves.add(
          length,
          {limit + gap, {gap, kNextOrder / length * std::abs(gap)}, limit, std::abs(own - limit)});
    }
    TheoryResult result;
    curves.into(result);
    for (const TopicLoss loss : kLosses) {
      constexpr double kLong = 1e6;
      const SmallProblem small;
      add_constant(result,
                   "gap_limit",
                   kLong * length_gap(small.model, loss, small.value, small.scores, kLong),
                   point_of(loss));
    }
    result.diagnostics = {{"infinite_loss", limit}};
    return result;
  }

  /// Every length, then all documents of the small vocabulary.
  std::size_t points() const override { return lengths_.size() + 1; }

 protected:
  bool deterministic(std::size_t point) const override { return point == lengths_.size(); }

  double flops(std::size_t point) const override {
    constexpr double kEnumerated = 2e9;
    constexpr double kOfDocument = 20000;  // half a microsecond
    constexpr double kOfToken = 300;
    if (deterministic(point)) return kEnumerated;
    return static_cast<double>(documents_) *
           (kOfDocument + kOfToken * static_cast<double>(lengths_[point]));
  }

  Outcome run(const Replicate& replicate) const override {
    if (deterministic(replicate.point())) return small_limits();
    const std::int64_t n = lengths_[replicate.point()];
    RandomStream stream = replicate.stream();
    const double gap = sample_length_gap(TopicSampler(at_length(model_.settings(), n)),
                                         network_loss(loss_),
                                         algebra_.dense(value_),
                                         algebra_.dense(scores_),
                                         documents_,
                                         stream);
    const double limit = reduced_loss(model_, loss_, value_, scores_);
    Outcome outcome;
    Curves({}, "length", {"loss", "gap"})
        .add(static_cast<double>(n), {limit + gap, gap})
        .into(outcome);
    return outcome;
  }

 private:
  static Point point_of(TopicLoss loss) {
    return {{"loss", std::string(loss == TopicLoss::squared ? "squared" : "cross_entropy")}};
  }

  /// N (L_N - L_inf) of sums over all documents, as N goes to infinity.
  static Outcome small_limits() {
    const SmallProblem small;
    const CommutantAlgebra algebra(small.model.vocabulary());
    Outcome outcome;
    for (const TopicLoss loss : kLosses) {
      const double limit = reduced_loss(small.model, loss, small.value, small.scores);
      constexpr std::array<int, 4> kSizes{8, 11, 15, 20};
      Eigen::Matrix4d powers;
      Eigen::Vector4d gaps;
      for (std::size_t k = 0; k < kSizes.size(); ++k) {
        const int n = kSizes[k];
        const auto row = static_cast<Eigen::Index>(k);
        powers.row(row) << 1, 1.0 / n, 1.0 / (n * n), 1.0 / (n * n * n);
        gaps[row] = n * (enumerated_small_loss(small.model,
                                               network_loss(loss),
                                               algebra.dense(small.value),
                                               algebra.dense(small.scores),
                                               n) -
                         limit);
      }
      add_constant(outcome, "gap_limit", powers.partialPivLu().solve(gaps)[0], point_of(loss));
    }
    return outcome;
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  TopicLoss loss_;
  Commutant value_;
  Commutant scores_;
  std::vector<std::int64_t> lengths_;
  Eigen::Index documents_;
};

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  constexpr double kLow = -1.35;
  constexpr double kHigh = -0.75;
  constexpr double kFrom = 50;  // below, the next order 1/N² shows
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> error;  // of ln |gap|
  if (const ObservedCurve* gaps = observed.curve("gap")) {
    for (std::size_t k = 0; k < gaps->mean.x.size(); ++k) {
      const SampleSummary gap = summarise(gaps->values[k]);
      if (gaps->mean.x[k] < kFrom || gap.mean == 0) continue;
      x.push_back(gaps->mean.x[k]);
      y.push_back(std::abs(gap.mean));
      error.push_back(gap.sem / y.back());
    }
  }
  ClaimResult claim{
      .name = "gap-slope",
      .statement = fmt::format(
          "for N >= 50 the loss approaches that of infinite documents like N^p, {} <= p <= {}",
          kLow,
          kHigh),
      .detail = {}};
  if (x.size() < 2) {
    claim.detail = "fewer than two lengths of at least 50";
    return {claim};
  }
  // Lengths have samples of their own, so that their errors add up in squares: the slope is nearly
  // normal, and must be shown to lie inside the range, or outside.
  const double slope = log_log_line(x, y).slope;
  double centre = 0;
  for (const double n : x) centre += std::log(n) / static_cast<double>(x.size());
  double squares = 0;
  double variance = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double lever = std::log(x[k]) - centre;
    squares += lever * lever;
    variance += lever * lever * error[k] * error[k];
  }
  const double sem = std::sqrt(variance) / squares;
  const double inside = std::min(slope - kLow, kHigh - slope) / sem;
  claim.p_agree = normal_tail(inside);
  claim.p_disagree = std::min(1.0, 2 * normal_tail(-inside));
  claim.detail = fmt::format("p = {:.3f} +- {:.3f}, a standard error", slope, sem);
  return {claim};
}

}  // namespace

Study study() {
  return described({.name = "topics-finite-length", .make = make<FiniteLength>, .claims = claims});
}

}  // namespace attica::topics_finite_length

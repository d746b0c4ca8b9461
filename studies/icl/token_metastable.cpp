/// @file
/// @brief Study token-metastable: two groups of tokens under self-attention live for a time that
/// grows exponentially with the inverse temperature, then merge.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/sim/icl/tokens.hpp"
#include "attica/studies/icl/tokens.hpp"
#include "attica/theory/icl/tokens.hpp"

namespace attica::token_metastable {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Of clustering, for the lifetimes.
constexpr double kDelta = 0.05;

class TokenMetastable : public PointwiseExperiment {
 public:
  explicit TokenMetastable(const Configuration& c)
      : tokens_(c.integer("model.tokens")),
        dimension_(c.integer("model.dimension")),
        groups_({.overlap = c.real("model.overlap"), .jitter = c.real("model.jitter")}),
        betas_(ascending(c.reals("sweep.beta"))),
        step_(c.real("sim.step")),
        steps_(steps_of_times(c)) {
    require(tokens_ % 2 == 0,
            "model.tokens",
            static_cast<double>(tokens_),
            "an even number: two groups of equal size");
  }

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> times;
    for (const std::int64_t step : steps_) times.push_back(time(step));
    times = line_between(times, AxisScale::linear, grid, 8);
    TheoryResult result;
    const double allowance = groups_.jitter * groups_.jitter;
    for (const double beta : betas_) {
      // Identical tokens move as one, with the weight of all: softmax does not see their number.
      const TokenDynamics pair{.tokens = 2, .beta = beta};
      const std::vector<double> between = mean_curve(pair, times);
      Curves curves({{"beta", beta}}, "t", {"between", "within"});
      for (std::size_t k = 0; k < times.size(); ++k) {
        curves.add(
            times[k],
            {{between[k], allowance, 1 - between[k] > kMergedTokens}, {1, allowance, false}});
      }
      curves.into(result);
      if (start() < 1 - kDelta) {
        add_constant(
            result,
            "lifetime",
            at_point({{"beta", beta}}, [&] { return clustering_time(pair, start(), kDelta); }),
            {{"beta", beta}});
      }
    }
    return result;
  }

  std::size_t points() const override { return betas_.size(); }

 protected:
  bool deterministic(std::size_t) const override { return groups_.jitter == 0; }

  double flops(std::size_t) const override {
    constexpr double kExponential = 20;
    const auto n = static_cast<double>(tokens_);
    return 4 * (2 * n * n * n + kExponential * n * n) * static_cast<double>(steps_.back()) +
           2 * n * n * static_cast<double>(dimension_);
  }

  Outcome run(const Replicate& replicate) const override {
    const TokenDynamics dynamics{.tokens = tokens_, .beta = betas_[replicate.point()]};
    RandomStream stream = replicate.stream();
    MatrixXd gram = group_gram(tokens_, dimension_, groups_, stream);
    Curves curves({{"beta", dynamics.beta}}, "t", {"between", "within"});
    std::int64_t done = 0;
    for (const std::int64_t step : steps_) {
      for (; done < step && !replicate.stopped(); ++done) gram_step(gram, dynamics, step_);
      const GroupOverlaps overlaps = group_overlaps(gram);
      curves.add(time(step), {overlaps.between, overlaps.within});
    }
    Outcome outcome;
    curves.into(outcome);
    return outcome;
  }

 private:
  double time(std::int64_t step) const { return static_cast<double>(step) * step_; }
  /// Averaged over the scatter of the start, whose variance is 4 (1-r²) jitter²/(nd): by the three
  /// places and weights that are exact for normal variables up to the fifth order.
  std::vector<double> mean_curve(const TokenDynamics& pair,
                                 const std::vector<double>& times) const {
    const double r = start();
    const double spread =
        std::sqrt(4 * (1 - r * r) / static_cast<double>(tokens_ * dimension_)) * groups_.jitter;
    std::vector<double> mean(times.size(), 0.0);
    for (const auto& [place, weight] :
         {std::pair{-std::sqrt(3.0), 1 / 6.0}, {0.0, 2 / 3.0}, {std::sqrt(3.0), 1 / 6.0}}) {
      const double from = std::clamp(r + place * spread, -1.0, 1.0);
      const std::vector<double> one = overlap_curve(pair, from, times);
      for (std::size_t k = 0; k < times.size(); ++k) mean[k] += weight * one[k];
    }
    return mean;
  }
  /// Of the means of the groups, to which tokens are soon drawn: scatter is at right angles to
  /// both.
  double start() const {
    const double scatter = groups_.jitter * groups_.jitter;
    return groups_.overlap / (1 + 2 * scatter / static_cast<double>(tokens_));
  }

  Index tokens_;
  Index dimension_;
  TokenGroups groups_;
  std::vector<double> betas_;
  double step_;
  std::vector<std::int64_t> steps_;
};

/// Tokens of a group stay as near to one another as they start, and nearer.
ClaimResult stays_together(const Configuration& c, const Observed& observed) {
  const double jitter = c.real("model.jitter");
  const double bound = 1 - 2 * jitter * jitter;
  std::vector<bool> holds;
  double least = 1;
  for (const double beta : ascending(c.reals("sweep.beta"))) {
    const std::vector<std::vector<double>> paths = observed.paths("within", {{"beta", beta}});
    holds.resize(std::max(holds.size(), paths.size()), true);
    for (std::size_t r = 0; r < paths.size(); ++r) {
      for (const double q : paths[r]) {
        least = std::min(least, q);
        holds[r] = holds[r] && q >= bound - 1e-9;  // rounding
      }
    }
  }
  return claim_rate("together",
                    "the overlap within groups never falls below 1 - 2 jitter^2",
                    holds,
                    fmt::format("least {:.4f}", least));
}

/// At the largest β whose groups merge within the run: apart until half the predicted lifetime, one
/// after 1.2 of it.
std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  constexpr double kApart = 0.5;
  constexpr double kOne = 0.9;
  constexpr double kEarly = 0.5;
  constexpr double kLate = 1.2;
  const std::string name = "metastable";
  const std::string statement =
      "the overlap between groups is below 0.5 up to half the predicted lifetime and above 0.9 "
      "from 1.2 of it on";
  // Centres nearer than that are no two clusters.
  if (c.real("model.overlap") >= kApart) return {stays_together(c, observed)};
  std::vector<double> betas = ascending(c.reals("sweep.beta"));
  std::reverse(betas.begin(), betas.end());
  for (const double beta : betas) {
    const Point point = {{"beta", beta}};
    const std::optional<double> lifetime = observed.predicted("lifetime", point);
    const ObservedCurve* curve = observed.curve("between", point);
    if (!lifetime || curve == nullptr || curve->mean.x.back() < kLate * *lifetime) continue;
    const auto lives = [&](const std::vector<double>& path) {
      bool good = path.size() == curve->mean.x.size();
      for (std::size_t k = 0; k < path.size(); ++k) {
        const double age = curve->mean.x[k] / *lifetime;
        if (age <= kEarly) good = good && path[k] < kApart;
        if (age >= kLate) good = good && path[k] > kOne;
      }
      return good;
    };
    return {stays_together(c, observed),
            claim_rate(name,
                       statement,
                       by_replicate(observed.paths("between", point)).where(lives),
                       fmt::format("beta = {}, lifetime {:.4g}", beta, *lifetime))};
  }
  return {stays_together(c, observed)};
}

}  // namespace

Study study() {
  return described({.name = "token-metastable", .make = make<TokenMetastable>, .claims = claims});
}

}  // namespace attica::token_metastable

#pragma once
/// @file
/// @brief What the studies of ridge regression in context share: the experiment on a grid of ratios
/// and penalties, and the wording of their parameters and sources.

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <vector>

#include "attica/studies/icl/context_sizes.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/icl/ridge.hpp"

namespace attica {

/// What the theory is told.
enum class ContextLevel {
  pool,      ///< d, l, k, n, the pool of tasks and the law of a sequence
  gaussian,  ///< the same with Gaussian features
  limit,     ///< ratios only
};

/// Which ratio is x.
enum class ContextAxis {
  tau,    ///< curves at each of `sweep.lambda`
  kappa,  ///< one curve
  alpha,  ///< curves at each of `sweep.kappa`
};

/// @brief Theory and simulation along one ratio. All penalties of a replicate share its data set.
class ContextSweep : public PointwiseExperiment {
 public:
  ContextSweep(Configuration& configuration, ContextAxis axis);

  TheoryResult theory(TheoryGrid grid) const override;
  std::size_t points() const override { return cases_.size(); }
  void require_simulable() const override;

 protected:
  Outcome run(const Replicate& replicate) const override;
  double flops(std::size_t point) const override;

 private:
  /// A simulated point.
  struct Case {
    ContextRatios ratios;  ///< as realised, without λ
    ContextSizes sizes;
    Point point;
  };
  double x_of(const ContextRatios& ratios) const;
  ContextRatios at(double x, double outer) const;
  Point point(double outer, double lambda) const;
  /// The first of those with the most sequences: where these are looked at themselves.
  const Case& largest() const;
  const Case& middle() const { return cases_[cases_.size() / 2]; }
  /// For every λ the ICL error of the middle case given pools of fresh tasks at 40 dimensions or
  /// more and at twice as many, extrapolated in 1/d.
  std::vector<double> limits(RandomStream& stream) const;
  /// Realised where the pool is drawn, else as asked.
  ContextRatios told(const ContextRatios& asked) const;
  ContextErrors errors(const ContextRatios& ratios, double lambda) const;
  std::vector<PredictedValue> values(const ContextRatios& ratios, double lambda) const;

  ContextAxis axis_;
  Configuration configuration_;
  Eigen::Index dimension_;
  ContextRatios base_;
  ContextLevel level_;
  bool fresh_pool_;
  std::vector<double> xs_;
  std::vector<double> outers_;  ///< κ of the curves, or the only one
  std::vector<double> lambdas_;
  std::vector<Case> cases_;
  Eigen::Index most_tasks_ = 1;
  Lazy<Eigen::MatrixXd> pool_;  ///< the largest that is needed
};

/// @throws Error (input) naming theory.level where every replicate has a pool of its own and the
/// theory would be that given one
ContextLevel context_level(const Configuration& configuration);
/// @brief Parts into which a line of theory cuts what lies between two sizes: fewer where a value
/// takes some milliseconds.
int context_line_parts(ContextLevel level);
/// @throws Error (input) naming `key` for a pool of more than 1e8 numbers
void require_pool(const ContextSizes& sizes, const char* key, double kappa);

/// @brief Points with a larger share γ of variance are drawn, not compared.
inline constexpr double kLargestGamma = 0.9;

/// @brief The errors given a pool, at the levels that ask for one: for every kind of test, which
/// together take the time of one.
std::vector<ContextErrors> given_pool(ContextLevel level,
                                      const Eigen::MatrixXd& pool,
                                      const PoolSizes& sizes,
                                      const std::vector<ContextMoments>& tests);
/// @brief One of the errors with what it may be off by, relative order 1/((1 - γ) d).
PredictedValue with_allowance(double error,
                              ContextLevel level,
                              const ContextRatios& ratios,
                              double one_minus_gamma,
                              Eigen::Index dimension);

/// @name The limit of many dimensions
/// Theory given random pools at 40 dimensions or more and at twice as many, extrapolated in 1/d.
/// @{
/// Dimensions of the smaller pools, in units of the study's own.
Eigen::Index times_towards_limit(Eigen::Index dimension);
/// @param at theory at that many times the dimensions
double towards_limit(Eigen::Index dimension, const std::function<double(Eigen::Index times)>& at);
/// The limit, and what extrapolation leaves of it.
PredictedValue limit_value(const ContextErrors& limit, Eigen::Index dimension);
/// @}

/// @brief The claim that the ICL error is above the Bayes error at every point of a run.
ClaimResult above_bayes(const Observed& observed);

}  // namespace attica

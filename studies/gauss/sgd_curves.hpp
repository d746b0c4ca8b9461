#pragma once
/// @file
/// @brief What the studies of stochastic gradient descent in Gaussian masked modelling share: the
/// learning rules of the sweep, curves of the test error over steps.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/sim/gauss/sgd.hpp"
#include "attica/studies/gauss/model.hpp"
#include "attica/theory/gauss/sgd.hpp"

namespace attica {

/// A learning rule of the sweep `sweep.eta` x `sweep.batch`, as theory and simulation know it.
struct SgdRule {
  double eta = 0;            ///< as configured
  std::int64_t batch = 1;    ///< as configured
  SgdParameters parameters;  ///< in the units of the covariance
  SgdSettings settings;      ///< in the units of the covariance
};

/// @brief All combinations, in the order of `sweep.eta`, then `sweep.batch`, with the
/// `sim.mask_probability` (1/L stands for one site of every sample) and the `sim.lambda` of studies
/// that have them.
std::vector<SgdRule> sgd_rules(const Configuration& configuration, const GaussianModel& model);

/// @brief Largest learning rate, as configured, at which online SGD is stable for all sites.
double stable_eta(const OnlineSgd& sgd, const SgdRule& rule, const GaussianModel& model);

/// @brief Fresh samples of the model: Gaussian, or rows of the data with replacement.
SampleSource fresh_samples(const GaussianModel& model, RandomStream& stream);

/// @brief Work of a run.
double sgd_flops(std::int64_t steps, std::int64_t batch, Eigen::Index sites);

/// @brief Theory and simulation of the site-averaged test error at the steps `sim.steps`, one curve
/// a rule, and of its mean over the second half of the run, in which the scatter of single steps
/// averages out.
class SgdCurves : public PointwiseExperiment {
 public:
  TheoryResult theory(TheoryGrid grid) const override;
  std::size_t points() const override { return rules_.size(); }
  std::vector<std::string> warnings() const override;

 protected:
  explicit SgdCurves(Configuration& configuration);

  /// @brief Mean test error of the sites at the given steps.
  virtual std::vector<double> errors(const SgdRule& rule,
                                     const std::vector<std::int64_t>& steps) const = 0;
  /// @brief Where the error settles, if that is known.
  virtual std::optional<double> limit(const SgdRule& rule) const = 0;
  /// @brief What would be a stable learning rate; empty for a rule that is stable in mean square.
  virtual std::optional<std::string> instability(const SgdRule& rule) const = 0;
  /// @param stream of the piece's samples
  virtual SampleSource source(RandomStream& stream) const = 0;

  Outcome run(const Replicate& replicate) const override;
  double flops(std::size_t point) const override;
  const GaussianModel& model() const { return model_; }

 private:
  GaussianModel model_;
  std::vector<SgdRule> rules_;
  std::vector<std::int64_t> steps_;
  std::vector<std::int64_t> late_;  ///< of the second half, at equal distances
  std::vector<std::int64_t> all_;   ///< both
  bool allow_unstable_;
  Lazy<std::vector<std::optional<std::string>>> instabilities_;  ///< of the rules
};

}  // namespace attica

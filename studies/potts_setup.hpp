#pragma once
/// @file
/// @brief What the Potts studies share: the [model] section, and sequences to train and test on.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attica/core/potts_enumeration.hpp"
#include "attica/core/potts_model.hpp"
#include "attica/core/random.hpp"
#include "attica/sim/factored_attention.hpp"
#include "attica/sim/potts_sampler.hpp"
#include "attica/studies/gibbs_pool.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/studies/study.hpp"

namespace attica {

/// Defaults of the [model] section, which differ between studies.
struct PottsDefaults {
  int sites = 5;
  int colours = 3;
  double beta = 1.2;
  std::string couplings = "cosine";
  std::string colour_couplings = "cosine";
  bool zero_sum = false;
  double least_learnable = 0;
  double least_curvature = 0;
};

/// @brief The parameters `model.sites` ... `model.least_curvature`.
std::vector<Parameter> potts_model_parameters(const PottsDefaults& defaults);

/// @brief A checked [model] section: one model, or an ensemble of which realisations are drawn.
class PottsFamily {
 public:
  /// @brief Reads files and completes `sites` and `colours` from them.
  /// @throws Error (input) naming the parameter
  static PottsFamily from(Configuration& configuration);

  Eigen::Index sites() const { return sites_; }
  Eigen::Index colours() const { return colours_; }
  /// @brief Whether realisations differ.
  bool random() const;
  /// @throws Error (input, `model.sites`) if there are too many states to enumerate
  void require_enumerable() const;
  /// @brief A realisation, a function of (seed, realisation) alone. Ensembles with
  /// model.least_learnable or model.least_curvature > 0 are drawn again, up to 100 times, until
  /// context lowers the loss by that much and the loss is that curved at the truth.
  /// @throws Error (input) naming the one that no draw satisfies
  PottsModel model(std::uint64_t realisation) const;

 private:
  PottsModel draw(std::uint64_t realisation, std::uint64_t attempt) const;

  std::string couplings_;
  std::string colour_couplings_;
  Eigen::MatrixXd file_couplings_;
  Eigen::MatrixXd file_colour_couplings_;
  Eigen::Index sites_ = 0;
  Eigen::Index colours_ = 0;
  double beta_ = 0;
  double density_ = 0;
  bool zero_sum_ = false;
  double least_learnable_ = 0;
  double least_curvature_ = 0;
  std::uint64_t seed_ = 0;
};

/// @brief Sequences of a model: exact draws where its states can be enumerated quickly, otherwise a
/// pool of Gibbs chains, one state each.
class PottsData {
 public:
  /// @throws Error (numerical) if the sampler has not converged, unless that is allowed
  PottsData(const PottsModel& model, const GibbsPoolOptions& options, const StreamAddress& address);

  Sequences draw(Eigen::Index count, RandomStream& stream) const;
  /// @brief What is drawn from: all states, or the pool.
  const WeightedSequences& population() const { return population_; }

 private:
  WeightedSequences population_;
  std::unique_ptr<PopulationSampler> sampler_;
};

/// @brief The parameters `sim.batch` and `sim.masked`.
std::vector<Parameter> masked_batch_parameters(std::int64_t batch);
MaskedSites masked_sites(const Configuration& c);

/// Training of factored attention on fresh sequences from the best of several starts.
struct FactoredPlan {
  FactoredTraining training;
  FactoredStarts starts;

  /// @param eta_key    parameter with the learning rate
  /// @param recorded   steps
  static FactoredPlan from(const Configuration& c,
                           const std::string& eta_key,
                           std::vector<std::uint64_t> recorded);
};
/// @brief The parameters `sim.steps`, `sim.batch`, `sim.masked`, the learning rate, `sim.starts`.
std::vector<Parameter> factored_plan_parameters(std::int64_t steps, const std::string& eta_key);
/// @brief Constant for the first half of the steps, then down to 0 along a cosine.
networks::Schedule half_constant(std::uint64_t steps);

/// @brief About `count` different steps from `first` to `last` at equal ratios.
std::vector<std::uint64_t> recorded_steps(std::uint64_t first, std::uint64_t last, int count);

/// @brief The paper behind these studies.
Source potts_source(const std::string& used);

/// @brief A claim about numbers that has to hold in every replicate: AGREE if it does, DISAGREE if
/// it fails in one, INCONCLUSIVE without replicates.
ClaimResult claim_in_every(const std::string& name,
                           const std::string& statement,
                           const std::vector<bool>& holds,
                           const std::string& detail);

/// @brief The last recorded values of a simulated series, one per replicate; empty if there are
/// none.
std::vector<double> last_values(const Observed& observed,
                                const std::string& series,
                                const Point& point);

}  // namespace attica

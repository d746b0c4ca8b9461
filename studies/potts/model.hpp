#pragma once
/// @file
/// @brief What the Potts studies share: the [model] section, sequences to train and test on, and
/// the training of factored attention.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/model.hpp"
#include "attica/sim/potts/factored_attention.hpp"
#include "attica/sim/potts/sequence_data.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

class BlockRidge;

/// @brief A checked [model] section: one model, or an ensemble of which realisations are drawn.
class PottsFamily {
 public:
  /// @brief Reads files and completes `sites` and `colours` from them.
  /// @throws Error (input) naming the parameter
  explicit PottsFamily(Configuration& configuration);

  Eigen::Index sites() const { return sites_; }
  Eigen::Index colours() const { return colours_; }
  /// @brief `sim.seed`
  std::uint64_t seed() const { return seed_; }
  /// @brief The square loss of data with this covariance of the codes.
  /// @throws Error (input, `model.beta`) where a colour occurs nearly nowhere: a model too cold
  BlockRidge square_loss(const Eigen::MatrixXd& covariance) const;
  /// @brief Whether realisations differ.
  bool random() const;
  /// @brief The same. @throws Error (input, `model.sites`) if there are too many states to
  /// enumerate
  const PottsFamily& enumerable() const;
  /// @brief The same at another inverse temperature.
  PottsFamily at(double beta) const;
  /// @brief A realisation, a function of (seed, realisation) alone. Ensembles with
  /// model.least_learnable, model.least_entropy or model.least_curvature > 0 are drawn again, up to
  /// 100 times, until context lowers the loss by that many nats, the entropy of a site given the
  /// others is that share of ln C, and the loss is that curved at the truth.
  /// @throws Error (input) naming the one that no draw satisfies
  PottsModel model(std::uint64_t realisation) const { return realise(realisation).model; }

  struct Realisation {
    PottsModel model;
    std::int64_t rejected_draws = 0;                   ///< before this one: a run tells
    std::optional<PottsEnumeration> enumeration = {};  ///< where the draw was judged by it
  };
  /// @brief A realisation, and what came up on the way.
  Realisation realise(std::uint64_t realisation) const;

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
  double least_entropy_ = 0;
  double least_curvature_ = 0;
  std::uint64_t seed_ = 0;
};

/// @brief Tells how many draws of couplings were rejected: the diagnostic `rejected_draws`, and a
/// warning if there were any, since what is compared is conditional on it.
void tell_rejected(std::int64_t draws, TheoryResult& result);

GibbsPoolOptions gibbs_pool_options(const Configuration& c);

MaskedSites masked_sites(const Configuration& c);

/// Training of factored attention on fresh sequences from the best of several starts.
struct FactoredPlan {
  FactoredTraining training;
  FactoredStarts starts;

  /// @param eta_key parameter with the learning rate
  /// @param records number of recorded steps, about
  FactoredPlan(const Configuration& c, const std::string& eta_key, int records);
};
/// @brief Constant for the first half of the steps, then down to 0 along a cosine.
networks::Schedule half_constant(std::uint64_t length);

/// @brief `start_spread`, where several starts were compared.
void add_start_spread(const ChosenStart& chosen,
                      const FactoredStarts& starts,
                      const Point& point,
                      Outcome& outcome);

/// @brief What a loss falls by when parameters grow by a share of their length, over what their
/// penalty gains there: 1 at the minimum of their sum. From losses alone, by a central difference.
/// @param loss_at of the parameters times a number
/// @param gain of the penalty per relative length, λ|w|² for (λ/2)|w|²
/// @return nothing where rounding of the loss hides the gain: parameters of 0 have no balance
std::optional<double> penalty_balance(const std::function<double(double)>& loss_at, double gain);

/// @brief About `count` different steps from 10 to `sim.length` at equal ratios.
std::vector<std::uint64_t> steps_to_length(const Configuration& c, int count);

}  // namespace attica

#pragma once
/// @file
/// @brief Gibbs sampling of the Potts model: many independent chains in lock-step.
///
/// Chains run in blocks of 16 side by side, so that every operation is one over 16 numbers. Each
/// block keeps the fields f_ia = sum_j J_ij U[a, s_j] of its chains; a sweep draws the sites in
/// order from softmax(beta f_i) by inversion and adds the change of colour to the fields of the
/// site's neighbours, O(degree C) per change. Fields are rebuilt every 1000 sweeps against the
/// drift of single precision.
///
/// With a ladder of temperatures the chains of a block are replicas that exchange their
/// temperatures (Hukushima and Nemoto 1996, cond-mat/9512035); only those at the model's own
/// temperature are samples.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// Chains that run side by side.
inline constexpr Eigen::Index kChainsPerBlock = 16;

struct SamplerOptions {
  Eigen::Index chains = kChainsPerBlock;  ///< K >= 1
  /// Factors of the inverse temperature, the first one 1; its length divides kChainsPerBlock. One
  /// entry: no exchange.
  std::vector<double> ladder = {1.0};
};

/// @brief K chains. Results depend on the address and the sweeps made, not on how they are split.
class PottsSampler {
 public:
  /// @brief Starts every chain from independent uniform colours.
  /// @param address its `step` is replaced by the block's number
  /// @throws Error (input) naming `chains` or `ladder`
  PottsSampler(const PottsModel& model,
               const SamplerOptions& options,
               const StreamAddress& address);

  /// @brief `count` sweeps of all chains, each followed by attempted exchanges if there is a
  /// ladder.
  void sweep(std::int64_t count);

  /// @brief The states at the model's temperature, one a row, in the order of the chains.
  Sequences states() const;
  /// @brief beta times the energy of these states.
  Eigen::VectorXd reduced_energies() const;

 private:
  using Lanes = Eigen::Array<float, kChainsPerBlock, 1>;
  struct Neighbour {
    Eigen::Index site;
    float coupling;
  };
  struct ChainBlock {
    RandomStream stream;
    std::vector<std::int32_t> colours;  ///< L x lanes
    std::vector<Lanes> fields;          ///< L x C
    Lanes beta;                         ///< inverse temperature of every lane, times the model's
    std::vector<Eigen::Index> lane_of;  ///< lane that holds rung r of ladder g, at g * rungs + r
  };

  void rebuild_fields(ChainBlock& block) const;
  struct Scratch {
    std::vector<Lanes> cumulative, change;  ///< of every colour
    std::vector<std::uint64_t> words;       ///< random ones, for a sweep
  };
  /// Random words for so many sites.
  static std::size_t site_words(Eigen::Index sites) {
    return static_cast<std::size_t>(sites * kChainsPerBlock / 2);
  }
  void sweep_once(ChainBlock& block, Scratch& scratch) const;
  void exchange(ChainBlock& block, bool odd) const;
  Lanes energies(const ChainBlock& block) const;  ///< -1/2 sum J U, without beta
  void append_block(std::uint64_t number, const StreamAddress& address);

  Eigen::Index sites_;
  Eigen::Index colours_;
  double beta_;
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<float> colour_couplings_;  ///< U by rows
  std::vector<double> ladder_;
  Eigen::Index chains_;
  std::int64_t sweeps_ = 0;
  std::vector<ChainBlock> blocks_;
};

/// @brief Independent draws from an enumerated population, by inversion.
class PopulationSampler {
 public:
  /// @param population has to outlive this object
  explicit PopulationSampler(const WeightedSequences& population);
  PopulationSampler(const PopulationSampler&) = delete;
  PopulationSampler& operator=(const PopulationSampler&) = delete;
  Sequences draw(Eigen::Index count, RandomStream& stream) const;
  /// @brief The same draws, each state among them once and weighted by its share of them. Takes
  /// memory for as many numbers as there are states.
  WeightedSequences draw_states(Eigen::Index count, RandomStream& stream) const;

 private:
  std::size_t draw_one(RandomStream& stream) const;

  const WeightedSequences& population_;
  std::vector<double> cumulative_;
  std::vector<std::uint32_t> first_;  ///< where to start looking, by the leading part of u
};

}  // namespace attica

#pragma once
/// @file
/// @brief The first steps of transformers in potts-loss, from one start, with their training
/// theory.

#include <cstdint>
#include <memory>
#include <vector>

#include "attica/sim/potts/transformer.hpp"
#include "attica/studies/kit.hpp"

namespace attica::potts_loss {

/// A transformer whose first steps are compared.
struct CourseNetwork {
  Point name;
  std::int64_t layers = 1;
  bool blind = false;  ///< to positions
};

/// @brief Adam from a fixed start on large batches of the whole population: the mean loss over runs
/// by mirrored pairs (attica/theory/training), and SGD runs of the simulation's own networks.
class LossCourse {
 public:
  /// @param model the couplings; asked for once
  LossCourse(const Configuration& c,
             std::vector<CourseNetwork> networks,
             std::function<PottsModel()> model);

  /// Number of networks; 0 where the states are too many to enumerate at every step.
  std::size_t count() const { return networks_.size(); }
  /// @brief Series `course_loss`, a curve a network.
  void predict(TheoryResult& result) const;
  /// @brief A run of a network.
  Outcome run(std::size_t network, const Replicate& replicate) const;
  /// Operations of a replicate, roughly.
  double flops() const;

 private:
  struct Problem;

  TransformerTraining training(std::size_t network) const;

  std::vector<CourseNetwork> networks_;
  TransformerTraining plan_;
  int pairs_;
  std::uint64_t seed_;
  std::shared_ptr<const Lazy<Problem>> problem_;
};

}  // namespace attica::potts_loss

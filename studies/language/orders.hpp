#pragma once
/// @file
/// @brief Parts of study language-orders: the clones it looks at, what a training tells of them,
/// and its claims.

#include <string>
#include <vector>

#include "attica/studies/language/model.hpp"

namespace attica::language_orders {

inline const std::string kPairs = "pairs";
inline const std::string kFactored = "factored";

/// A clone, windows drawn from it, and what it says of them and of the held-out text.
struct Clone {
  std::string name;
  MaskedWindows windows;
  Laws laws;
  Laws text_laws;
  double entropy = 0;  ///< H_n on these windows

  /// Entropy of its laws on the text.
  double text_entropy() const { return mean_entropy(text_laws); }
};

/// What all replicates look at, drawn once from the master seed.
struct Material {
  std::vector<Clone> clones;  ///< chains by order, then pairs, then factored
  MaskedWindows test;
  MaskedWindows share_training;
  MaskedWindows share_test;
  Eigen::VectorXd unigram;

  Material(const Configuration& configuration, const LanguageProblem& problem);

 private:
  void add_clone(const std::string& name,
                 Windows windows,
                 const std::function<Laws(const MaskedWindows&)>& laws,
                 RandomStream& stream);
};

/// @brief model.planted_order; 0: none, the text itself is learnt.
int planted_order(const Configuration& configuration);
/// @brief Windows of a part of the text, or of the planted chain if there is one.
WindowSource windows_of(const LanguageProblem& problem,
                        int planted,
                        const std::vector<Symbol>& part);
/// @brief Examples of a step of a fit of pairs.
inline constexpr Eigen::Index kPairBatch = 1024;

/// What one training recorded; curves of clones in the order of the material.
struct History {
  explicit History(std::size_t clones) : clone_loss(clones), divergence(clones) {}
  std::vector<double> steps;
  std::vector<double> test_loss;
  std::vector<std::vector<double>> clone_loss;
  std::vector<std::vector<double>> divergence;

  /// @brief Without the start, where all laws are uniform and a logarithmic axis has no place.
  void into(const Material& material, Outcome& outcome) const;
  /// @brief Saturation, crossings and minima; what the network unlearns; the blurred end of equal
  /// loss.
  /// @param orders of the chains
  /// @param end the network's laws of the test windows in the end
  void times_into(const Material& material,
                  const std::vector<int>& orders,
                  const Laws& end,
                  Outcome& outcome) const;

 private:
  /// How far each chain's loss still is from where it ends, at three records.
  void snapshots_into(const std::vector<int>& orders, Outcome& outcome) const;
};

/// @brief Nats of context that a pair share needs to say anything.
inline constexpr double kContext = 0.3;

std::vector<ClaimResult> claims(const Configuration& configuration, const Observed& observed);

}  // namespace attica::language_orders

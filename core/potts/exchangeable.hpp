#pragma once
/// @file
/// @brief Models of p bodies whose sites are all alike, solved through counts of colours.
///
/// If all sets of p sites have one coupling, the probability of a state depends on how many sites
/// have every colour alone: binomial(L+C-1, C-1) kinds of states stand for C^L. Contexts of a
/// masked site are counted in the same way, so that losses over all of them are exact sums where
/// states cannot be enumerated (10^7 kinds at L = 20, C = 10).

#include <Eigen/Core>
#include <cstdint>
#include <optional>

#include "attica/core/potts/body_model.hpp"

namespace attica {

/// Most kinds of contexts that are enumerated.
inline constexpr double kMostCounts = 1 << 23;

/// @brief Number of vectors of C counts that add up to a total.
double count_vectors(Eigen::Index total, Eigen::Index colours);

/// @brief All of them, a row each. @shape{K x C}
/// @throws Error (input, `sites`) for more than kMostCounts
Sequences enumerate_counts(Eigen::Index total, Eigen::Index colours);

/// @brief A p-body model without its hyperedges.
class ExchangeableBody {
 public:
  /// @brief Nothing unless every set of p sites has the same coupling.
  static std::optional<ExchangeableBody> of(const BodyModel& model);

  Eigen::Index sites() const { return sites_; }
  Eigen::Index colours() const { return tensor_.colours; }

  /// @brief beta J times the sum of U over all sets of p sites with these counts of colours.
  double log_weight(const std::uint8_t* counts) const;
  /// @brief h_a of one more site. @param logits C numbers, written
  void site_logits(const std::uint8_t* others, double* logits) const;

 private:
  ExchangeableBody(Eigen::Index sites, ColourTensor tensor, double strength);

  Eigen::Index sites_;
  ColourTensor tensor_;
  double strength_;  ///< beta J
};

/// @brief Whether the kinds of contexts are at most kMostCounts.
bool has_few_counts(const ExchangeableBody& model);

/// @brief What a masked site can see, counted: the same for every site.
struct CountedContexts {
  Sequences counts;                  ///< of the other L-1 sites, @shape{K x C}
  Eigen::VectorXd weights;           ///< their probabilities
  Eigen::MatrixXd log_conditionals;  ///< ln p(s_i = a | counts), @shape{C x K}
  double bayes_loss = 0;             ///< mean entropy of the conditionals, nats
  double log_partition = 0;          ///< ln Z
};

/// @brief All kinds of contexts of a model.
/// @throws Error (input, `sites`) for more than kMostCounts
CountedContexts counted_contexts(const ExchangeableBody& model);

}  // namespace attica

#pragma once
/// @file
/// @brief The p-body Potts model: interactions of p sites at a time, on hyperedges.
///
/// P(s) = exp(beta sum_e J_e U[s_{e1}, ..., s_{ep}]) / Z with a fully symmetric tensor U, so that
/// one site given the others follows softmax_a of
///     h_ia = beta sum_{e containing i} J_e U[a, colours of the other sites of e].
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235), outlook on interactions
/// beyond pairs.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/model.hpp"

namespace attica {

/// Most entries C^p of a tensor.
inline constexpr std::int64_t kMostTensorEntries = std::int64_t{1} << 22;

/// @brief A tensor of C^p entries, the last index the fastest.
struct ColourTensor {
  int order = 0;             ///< p
  Eigen::Index colours = 0;  ///< C
  Eigen::VectorXd entries;   ///< C^p

  /// @brief Calls `visit(n, indices)` for every entry n with its p indices.
  template <class Visit>
  void for_entries(Visit&& visit) const {
    std::vector<std::int32_t> indices(static_cast<std::size_t>(order), 0);
    for (Eigen::Index n = 0; n < entries.size(); ++n) {
      visit(n, indices);
      for (std::size_t k = indices.size(); k-- > 0;) {
        if (++indices[k] < colours) break;
        indices[k] = 0;
      }
    }
  }
};

/// @brief Sets of p sites with their couplings.
struct Hyperedges {
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> sites;  ///< E x p
  Eigen::VectorXd couplings;  ///< J_e, @shape{E}
};

/// @brief The model as a value.
class BodyModel {
 public:
  /// @param sites L
  /// @param edges every edge p different sites below L; 2 <= p <= L
  /// @param tensor U, symmetric under every permutation of its indices
  /// @param beta inverse temperature, of either sign
  /// @throws Error (input) naming `sites`, `order`, `hyperedges`, `couplings`, `colour_couplings`
  /// or `beta`
  BodyModel(Eigen::Index sites, Hyperedges edges, ColourTensor tensor, double beta);

  Eigen::Index sites() const { return sites_; }
  Eigen::Index colours() const { return tensor_.colours; }
  int order() const { return tensor_.order; }
  double beta() const { return beta_; }
  const ColourTensor& tensor() const { return tensor_; }
  /// @brief beta J if all sets of p sites interact, each once and with one coupling J.
  std::optional<double> common_strength() const;

  /// @brief h_ia for one site, whatever its own colour.
  /// @param sequence L colours
  /// @param logits   C numbers, written
  void site_logits(const std::uint8_t* sequence, Eigen::Index site, double* logits) const;
  /// @brief -beta sum_e J_e U[s_e]
  double reduced_energy(const std::uint8_t* sequence) const;

 private:
  Eigen::Index sites_;
  Hyperedges edges_;
  ColourTensor tensor_;
  double beta_;
  /// For site i the numbers first_[i] to first_[i+1] of its terms: beta J_e and p-1 other sites.
  std::vector<std::size_t> first_;
  std::vector<double> strengths_;
  std::vector<std::int32_t> others_;
};

/// @brief All states with their probabilities. @throws Error (input, `sites`) if C^L > kMostStates
PottsEnumeration enumerate(const BodyModel& model);

/// @brief One site of many sequences, masked: contexts with their weights, and what the model says
/// about the site.
struct MaskedSite {
  Sequences contexts;                ///< n x L; the masked site's own entry means nothing
  Eigen::VectorXd weights;           ///< n, adding up to 1
  Eigen::MatrixXd log_conditionals;  ///< ln p(s_i = a | context), @shape{C x n}
};

/// @brief Every site of every context of a population: what losses are averaged over.
class MaskedPopulation {
 public:
  /// @brief All C^(L-1) contexts of every site.
  static MaskedPopulation enumerated(const BodyModel& model, const PottsEnumeration& all);
  /// @brief Every site of the given sequences.
  static MaskedPopulation sampled(const BodyModel& model, const Sequences& sequences);

  const std::vector<MaskedSite>& sites() const { return sites_; }
  /// @brief Mean over sites of the entropy of the conditionals, nats: the smallest possible loss.
  double bayes_loss() const { return bayes_loss_; }

 private:
  explicit MaskedPopulation(std::vector<MaskedSite> sites);
  std::vector<MaskedSite> sites_;
  double bayes_loss_ = 0;
};

}  // namespace attica

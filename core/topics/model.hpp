#pragma once
/// @file
/// @brief Documents made of topics with disjoint words, corrupted for masked language modelling.
///
/// A document has topic weights θ; each of its N tokens draws a topic from θ and then one of the
/// topic's v words uniformly. Each position is selected with probability p_m (documents without a
/// selected position are redrawn); a selected token stays itself with probability p_c, becomes a
/// uniformly random word with p_r and [MASK] with p_M = 1 - p_c - p_r.
/// @source Y. Li, Y. Li, A. Risteski, "How Do Transformers Learn Topic Structure", ICML 2023,
/// arXiv:2303.04245

#include <cstdint>
#include <optional>
#include <utility>

#include "attica/core/topics/commutant.hpp"

namespace attica {

/// What the one-layer network of topics is trained on.
enum class TopicLoss {
  squared,        ///< |F - e_x|² over all D outputs, no factor
  cross_entropy,  ///< -log softmax(F)_x, nats
};

enum class TopicPrior {
  subset,     ///< θ = 1/τ on a uniformly random set of τ topics
  dirichlet,  ///< symmetric Dirichlet(α)
};

/// @brief All that defines documents and their corruption.
struct TopicSettings {
  TopicVocabulary vocabulary;
  TopicPrior prior = TopicPrior::subset;
  Eigen::Index topics_per_document = 1;  ///< τ, subset prior
  double concentration = 1;              ///< α per topic, Dirichlet prior
  /// N uniform on [first, second]; empty: infinite documents, known by their word frequencies.
  std::optional<std::pair<std::int64_t, std::int64_t>> length = {};
  double mask_rate = 0.15;   ///< p_m
  double keep_rate = 0.1;    ///< p_c, of selected tokens
  double random_rate = 0.1;  ///< p_r, of selected tokens
};

/// @brief Validated settings and what follows from them.
class TopicModel {
 public:
  /// @throws Error (input) naming the setting that is out of its domain
  explicit TopicModel(const TopicSettings& settings);

  const TopicSettings& settings() const { return settings_; }
  const TopicVocabulary& vocabulary() const { return settings_.vocabulary; }
  double topics() const { return static_cast<double>(settings_.vocabulary.topics); }
  double words() const { return static_cast<double>(settings_.vocabulary.words); }
  double all_words() const { return topics() * words(); }
  double tau() const { return static_cast<double>(settings_.topics_per_document); }

  double mask_rate() const { return settings_.mask_rate; }
  double keep_rate() const { return settings_.keep_rate; }
  double random_rate() const { return settings_.random_rate; }
  /// p_M, share of selected tokens that show [MASK].
  double masked_share() const { return masked_share_; }
  /// κ, ρ, μ: shares of shown tokens that are the true one, a random word, [MASK] in infinite
  /// documents; they sum to 1.
  double kappa() const { return 1 - (1 - keep_rate()) * mask_rate(); }
  double rho() const { return mask_rate() * random_rate(); }
  double mu() const { return mask_rate() * masked_share_; }

  bool subset() const { return settings_.prior == TopicPrior::subset; }
  bool infinite() const { return !settings_.length; }
  /// Whether documents differ in their topics in a way that contrasts them: false for τ = T.
  bool has_topic_signal() const {
    return !subset() || settings_.topics_per_document < settings_.vocabulary.topics;
  }
  double theta_squared() const;  ///< E θ_t²
  double theta_product() const;  ///< E θ_s θ_t, s ≠ t

  /// @name Share of a shown word in infinite documents of the subset prior
  /// @{
  double shown_inside() const;   ///< of each word of the document's topics
  double shown_outside() const;  ///< of each other word
                                 /// @}

 private:
  TopicSettings settings_;
  double masked_share_;
};

}  // namespace attica

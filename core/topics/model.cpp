#include "attica/core/topics/model.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {
namespace {

/// p_M of rates that add up to 1 within rounding is exactly 0.
double masked_share_of(const TopicSettings& s) {
  constexpr double kRounding = 1e-12;
  const double share = 1 - s.keep_rate - s.random_rate;
  return std::abs(share) < kRounding ? 0 : share;
}

}  // namespace

TopicModel::TopicModel(const TopicSettings& s) : settings_(s), masked_share_(masked_share_of(s)) {
  const auto topics = static_cast<double>(s.vocabulary.topics);
  require(s.vocabulary.topics >= 1, "topics", topics, "topics >= 1");
  require(s.vocabulary.words >= 1,
          "words_per_topic",
          static_cast<double>(s.vocabulary.words),
          "words_per_topic >= 1");
  // Matrices have that many rows and columns: their sizes in bytes must not overflow.
  constexpr double kMostWords = 1e9;
  require(topics * static_cast<double>(s.vocabulary.words) <= kMostWords,
          "topics",
          topics,
          "topics x words_per_topic <= 10^9");
  if (s.prior == TopicPrior::subset) {
    require(s.topics_per_document >= 1 && s.topics_per_document <= s.vocabulary.topics,
            "topics_per_document",
            static_cast<double>(s.topics_per_document),
            "1 <= topics_per_document <= topics");
  } else {
    require(std::isfinite(s.concentration) && s.concentration > 0,
            "concentration",
            s.concentration,
            "concentration > 0");
  }
  require(s.mask_rate > 0 && s.mask_rate <= 1, "mask_rate", s.mask_rate, "0 < mask_rate <= 1");
  require(s.keep_rate >= 0 && s.keep_rate <= 1, "keep_rate", s.keep_rate, "0 <= keep_rate <= 1");
  require(
      s.random_rate >= 0 && s.random_rate <= 1, "random_rate", s.random_rate, "0 <= random_rate");
  require(masked_share_ >= 0, "random_rate", s.random_rate, "keep_rate + random_rate <= 1");
  if (s.length) {
    const auto [low, high] = *s.length;
    require(low >= 1, "length", static_cast<double>(low), "at least 1 token");
    require(low <= high, "length", static_cast<double>(high), "[lo, hi] with lo <= hi");
  }
}

double TopicModel::theta_squared() const {
  if (subset()) return 1 / (tau() * topics());
  const double alpha = settings_.concentration;
  return (alpha + 1) / (topics() * (topics() * alpha + 1));
}

double TopicModel::theta_product() const {
  if (settings_.vocabulary.topics == 1) return 0;
  if (subset()) return (tau() - 1) / (tau() * topics() * (topics() - 1));
  const double alpha = settings_.concentration;
  return alpha / (topics() * (topics() * alpha + 1));
}

double TopicModel::shown_inside() const {
  return kappa() / (tau() * words()) + rho() / all_words();
}

double TopicModel::shown_outside() const { return rho() / all_words(); }

}  // namespace attica

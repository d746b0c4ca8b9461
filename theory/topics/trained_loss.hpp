#pragma once
/// @file
/// @brief Which loss the one-layer network of topics is trained on.
/// @source Y. Li, Y. Li, A. Risteski, ICML 2023, arXiv:2303.04245, Sections 2 and 5

namespace attica {

enum class TopicLoss {
  squared,        ///< |F - e_x|² over all D outputs, no factor
  cross_entropy,  ///< -log softmax(F)_x, nats
};

}  // namespace attica

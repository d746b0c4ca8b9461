#pragma once
/// @file
/// @brief A standard transformer trained to predict one hidden symbol of a window.
///
/// Pre-LayerNorm, softmax attention over all sites, ReLU, learnt positions; the hidden symbol is
/// shown as token C. Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2410.19637).

#include <cstdint>
#include <functional>
#include <vector>

#include "attica/sim/language/windows.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica {

struct MaskedTraining {
  int layers = 1;
  int width = 64;
  int heads = 8;
  int mlp_width = 512;
  double deviation = 0.1;  ///< of the starting matrices; residual outputs over sqrt(2 layers)
  double eta = 3e-3;       ///< learning rate of Adam
  bool tail = false;       ///< the rate falls to 0, a half cosine over the last 60 % of the steps
  Eigen::Index batch = 128;
  std::vector<std::uint64_t> recorded = {};  ///< steps, the last one the length
};

using MaskedNetwork = networks::Transformer<float>;

networks::TransformerShape masked_shape(const MaskedTraining& training,
                                        Eigen::Index sites,
                                        Eigen::Index symbols);

/// @brief The network's laws of the hidden symbols.
Laws network_laws(MaskedNetwork& network, const MaskedWindows& masked);

/// @brief Trains a fresh network on fresh windows, one random hidden site in each.
/// @param observe called at every recorded step
networks::TrainingResult train_masked(
    const MaskedTraining& training,
    Eigen::Index sites,
    Eigen::Index symbols,
    const WindowSource& source,
    const StreamAddress& address,
    const std::function<void(std::uint64_t step, MaskedNetwork& network)>& observe,
    const std::function<bool()>& stop = {});

}  // namespace attica

#pragma once
/// @file
/// @brief Networks trained to predict one hidden symbol of a window: a standard transformer, and
/// the factored network that is the clone of order 3.
///
/// Standard: pre-LayerNorm, softmax attention over all sites, ReLU, learnt positions. Factored:
/// attention weights that are parameters of two positions, x^2 / 2 in the MLP, no LayerNorm. The
/// hidden symbol is shown as token C. As that and positions are constants, attention is linear and
/// every MLP doubles the degree, the logits of N factored layers are polynomials of degree 2^N in
/// the one-hot codes of the other symbols: interactions of at most 2^N + 1 of them.
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2410.19637).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "attica/sim/language/windows.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/networks/transformer.hpp"

namespace attica {

struct MaskedTraining {
  bool factored = false;  ///< the starting matrices are then the network's own, not `deviation`'s
  int layers = 1;
  int width = 64;
  int heads = 8;
  int mlp_width = 512;
  double deviation = 0.1;  ///< of the starting matrices; residual outputs over sqrt(2 layers)
  /// Gradients are clipped at norm 1, but for SGD.
  networks::OptimiserKind optimiser = networks::OptimiserKind::adam;
  double eta = 3e-3;       ///< learning rate
  bool tail = false;       ///< the rate falls to 0, a half cosine ...
  double tail_from = 0.4;  ///< ... from this share of the steps on
  Eigen::Index batch = 128;
  std::vector<std::uint64_t> recorded = {};  ///< steps, the last one the length
};

using MaskedNetwork = networks::Transformer<float>;

networks::TransformerShape masked_shape(const MaskedTraining& training,
                                        Eigen::Index sites,
                                        Eigen::Index symbols);

/// @brief The network's laws of the hidden symbols.
Laws network_laws(MaskedNetwork& network, const MaskedWindows& masked);

/// @brief What is measured of the network at the recorded steps, and what becomes of it; a run that
/// is carried on tells again what was measured before.
struct MaskedRecords {
  std::function<std::vector<double>(std::uint64_t step, MaskedNetwork& network)> measure;
  std::function<void(std::uint64_t step, const std::vector<double>& values)> tell;
};

/// @brief The network at its random start.
MaskedNetwork masked_network(const MaskedTraining& training,
                             Eigen::Index sites,
                             Eigen::Index symbols,
                             const StreamAddress& address);

/// @brief Root mean squares of matrices over sixteen starts, none of them that of a training.
/// @param names beginnings of the matrices' names, as `W_1`
/// @param address whose seed and replicate count
std::map<std::string, double> measured_start_scales(const MaskedTraining& training,
                                                    Eigen::Index sites,
                                                    Eigen::Index symbols,
                                                    const std::vector<std::string>& names,
                                                    StreamAddress address);

/// @brief Trains it on fresh windows, one random hidden site in each.
/// @param file keeps the state of the run, to be carried on; empty: nothing is kept
networks::TrainingResult train_masked(MaskedNetwork& network,
                                      const MaskedTraining& training,
                                      const WindowSource& source,
                                      const StreamAddress& address,
                                      const MaskedRecords& records,
                                      const std::function<bool()>& stop = {},
                                      const std::filesystem::path& file = {});

/// @brief Windows of the network by Gibbs sampling, all windows at once: sweeps through all sites,
/// each in a random order.
Windows gibbs_windows(MaskedNetwork& network, Windows start, int sweeps, RandomStream& stream);

}  // namespace attica

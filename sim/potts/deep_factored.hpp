#pragma once
/// @file
/// @brief A deep factored-attention network: layers of attention with fixed maps, squares between.
///
/// With site i masked, x^0_j = e_{s_j} for j != i and x^0_i = 0 (zero diagonals alone would let the
/// masked colour leak i -> j -> i), and for l = 1..N
///     z^l = A_l x^{l-1} V_l^T,   x^l = r x^{l-1} + (z^l)^2 entry by entry (l < N),
/// the logits are row i of z^N. A_l is L x L with its diagonal, V_l is C x C. Squares double the
/// order of interaction: N layers represent at most 2^(N-1) + 1 bodies.
///
/// Batches are sorted by masked site and run in blocks of 16 sequences side by side, so that every
/// operation is one over 16 numbers and the last layer computes the masked row alone.
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235), interactions beyond
/// pairs.

#include <functional>
#include <span>
#include <vector>

#include "attica/core/potts/body_model.hpp"
#include "attica/sim/networks/optimiser.hpp"
#include "attica/sim/networks/parameters.hpp"
#include "attica/sim/networks/training.hpp"
#include "attica/sim/potts/factored_attention.hpp"

namespace attica {

/// What the network is.
struct DeepFactoredShape {
  Eigen::Index sites = 2;    ///< L
  Eigen::Index colours = 2;  ///< C
  int layers = 1;            ///< N
  bool residual = true;      ///< r
};

/// @brief Parameters "A0", "V0", "A1", ... with their gradient and workspace. One object a thread.
template <class T>
class DeepFactoredNetwork {
 public:
  /// @throws Error (input) naming `sites`, `colours` or `layers`
  explicit DeepFactoredNetwork(const DeepFactoredShape& shape);

  const DeepFactoredShape& shape() const { return shape_; }
  networks::Parameters<T>& parameters() { return parameters_; }
  const networks::Parameters<T>& parameters() const { return parameters_; }
  std::span<const T> gradient() const { return gradient_; }

  /// @brief Mean of -ln softmax(logits)[s_i] over the batch, nats, and its gradient.
  /// @param masked  one site per sequence
  /// @param weights one per sequence, adding up to 1; empty: equal ones
  double loss_and_gradient(const Sequences& batch,
                           std::span<const std::int32_t> masked,
                           std::span<const double> weights = {});

  /// @brief Excess over the Bayes loss on a population: (1/L) sum_i E KL(p || softmax of the
  /// logits), nats, without sampling noise.
  double excess_loss(const MaskedPopulation& population);

 private:
  static constexpr Eigen::Index kLanes = 16;
  using Lanes = Eigen::Array<T, kLanes, 1>;

  void forward(const Sequences& sequences, std::span<const Eigen::Index> rows, Eigen::Index site);
  void backward(Eigen::Index site);
  template <class Colours>
  void pass(int layer, Eigen::Index site, Colours colours);
  template <class Colours>
  void pull(int layer, Eigen::Index site, Colours colours);
  const networks::Block& attention_block(int layer) const {
    return parameters_.blocks()[static_cast<std::size_t>(2 * layer)];
  }
  const networks::Block& value_block(int layer) const {
    return parameters_.blocks()[static_cast<std::size_t>(2 * layer + 1)];
  }
  Eigen::Index at(Eigen::Index j, Eigen::Index a) const { return j * shape_.colours + a; }
  std::vector<Lanes>& x(int layer) { return states_[static_cast<std::size_t>(layer)]; }
  std::vector<Lanes>& mixed(int layer) { return mixed_[static_cast<std::size_t>(layer)]; }
  std::vector<Lanes>& z(int layer) { return images_[static_cast<std::size_t>(layer)]; }

  DeepFactoredShape shape_;
  networks::Parameters<T> parameters_;
  std::vector<T> gradient_;
  std::vector<Lanes> gradient_lanes_;       ///< as the parameters, summed over lanes at the end
  std::vector<std::vector<Lanes>> states_;  ///< x^l, L x C
  std::vector<std::vector<Lanes>> mixed_;   ///< y^l = A_l x^{l-1}, L x C; last layer: C
  std::vector<std::vector<Lanes>> images_;  ///< z^l, L x C; last layer: the logits, C
  std::vector<Lanes> pull_x_, pull_y_;      ///< derivatives by x^l and y^l
};

extern template class DeepFactoredNetwork<float>;
extern template class DeepFactoredNetwork<double>;

/// @brief What a training run does.
struct DeepFactoredTraining {
  DeepFactoredShape shape;
  std::vector<double> initial_scale;          ///< standard deviation of the entries, one per layer
  std::vector<FactoredAttention> start = {};  ///< A_l, V_l; empty: drawn for every address
  networks::OptimiserOptions optimiser;
  Eigen::Index batch = 1;               ///< B fresh sequences a step, each with one random mask
  std::vector<std::uint64_t> recorded;  ///< steps, ascending
};

/// What is seen at a recorded step.
struct DeepFactoredRecord {
  std::uint64_t step = 0;
  double excess_loss = 0;  ///< nats
  /// MSD_l = |A_l - A_l(0)|^2 / L + |V_l - V_l(0)|^2 / C, one per layer
  std::vector<double> displacement;
};

/// @brief Independent normal entries, in single precision, as training draws them.
/// @param scales standard deviation, one per layer
/// @throws Error (input, `initial_scale`) unless there is one for every layer
std::vector<FactoredAttention> random_layers(const DeepFactoredShape& shape,
                                             const std::vector<double>& scales,
                                             const StreamAddress& address);

/// @brief Trains from the plan's start.
/// @param address seed, point and replicate; start, data and masks come from streams of their own
/// @param population where the loss is measured
/// @throws Error (input) for options out of their domain
networks::TrainingResult train_deep_factored(
    const DeepFactoredTraining& plan,
    const SequenceSource& source,
    const MaskedPopulation& population,
    const StreamAddress& address,
    const std::function<void(const DeepFactoredRecord&)>& observe,
    const std::function<bool()>& stop = {});

/// @brief The same on batches of counted states: as many sequences, each different one run once
/// for every site that is masked in it. Faster where batches are larger than the number of states.
networks::TrainingResult train_deep_factored(
    const DeepFactoredTraining& plan,
    const StateSource& source,
    const MaskedPopulation& population,
    const StreamAddress& address,
    const std::function<void(const DeepFactoredRecord&)>& observe,
    const std::function<bool()>& stop = {});

}  // namespace attica

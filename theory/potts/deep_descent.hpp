#pragma once
/// @file
/// @brief Gradient descent of deep factored attention on the whole population, and what batches of
/// finite size add to it at first order: a theory of the times at which layers learn.
///
/// The network is that of sim/potts/deep_factored.hpp: with site i masked, x^0_j = e_{s_j} for
/// j != i and 0 for i; z^l = A_l x^{l-1} V_l^T, x^l = r x^{l-1} + (z^l)^2 entry by entry, logits
/// (z^N)_i. Here every context of every site is one row of a table with its exact weight, and loss
/// and gradient g are sums over that table.
///
/// Plain SGD, x_{n+1} = x_n - eta_n (g + noise) with batches of B independent sequences, one random
/// masked site each, has noise of covariance K(x)/B, K that of one sequence's gradient. Around the
/// descent x of the population itself, which has no error of order eta, the covariance and the mean
/// of the deviations follow to first order in 1/B
///     C_{n+1} = (1 - eta H) C_n (1 - eta H) + eta^2 K/B,
///     m_{n+1} = (1 - eta H) m_n - (eta/2) grad tr(H C_n),
/// H the Hessian at x_n, and a smooth f(x) has the mean f + f' m + tr(f'' C)/2, the variance
/// f'^T C f'. This holds while eta H < 2 ("edge of stability"): beyond, deviations explode in the
/// linear theory and are held by higher orders only.
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2410.19637) for the question; the
/// expansion is that of small noise (C. W. Gardiner, Handbook of Stochastic Methods, section 6.2),
/// for a recursion.

#include <cstdint>
#include <functional>
#include <vector>

#include "attica/core/potts/body_model.hpp"

namespace attica {

/// @brief A network's maps A_l, V_l, first layer first.
using DeepLayers = std::vector<FactoredAttention>;

/// @brief All entries, layer by layer: A_l by columns, then V_l by columns.
Eigen::VectorXd packed_layers(const DeepLayers& layers);
/// @brief The reverse. @param x N (L^2 + C^2) numbers
DeepLayers unpacked_layers(const Eigen::VectorXd& x, Eigen::Index sites, Eigen::Index colours);

/// @brief Loss and gradient of deep factored networks on all contexts of a population.
class DeepPopulation {
 public:
  /// @param colours C
  /// @param residual r
  DeepPopulation(const MaskedPopulation& population, Eigen::Index colours, bool residual);

  Eigen::Index sites() const { return sites_; }
  Eigen::Index colours() const { return colours_; }

  /// @brief Loss over the Bayes loss, nats per site.
  double excess(const DeepLayers& layers) const;
  double excess(const Eigen::VectorXd& packed) const;
  /// @brief Derivative of the loss, packed. @param excess if given: set to the excess loss
  Eigen::VectorXd gradient(const DeepLayers& layers, double* excess = nullptr) const;
  Eigen::VectorXd gradient(const Eigen::VectorXd& packed, double* excess = nullptr) const;
  /// @brief Its derivative, by differences of gradients, symmetrised. @shape{P x P}
  Eigen::MatrixXd hessian(const DeepLayers& layers) const;
  /// @brief K: covariance of the gradient of one sequence with one random masked site.
  Eigen::MatrixXd gradient_covariance(const DeepLayers& layers) const;

 private:
  /// Rows: all contexts of site 0, of site 1, ...; columns: site j of colour c at j + L c.
  struct Pass {
    std::vector<Eigen::MatrixXd> x;  ///< x^{l-1}, what layer l takes in
    std::vector<Eigen::MatrixXd> y;  ///< A_l x^{l-1}; last layer: of the masked site, a column a
                                     ///< colour
    std::vector<Eigen::MatrixXd> z;  ///< y V_l^T
  };
  Pass forward(const DeepLayers& layers) const;

  static constexpr Eigen::Index kLanes = 8;
  using Lanes = Eigen::Array<double, kLanes, 1>;
  enum class Need { excess, gradient, both };
  struct Work;
  /// All contexts, forwards and backwards.
  Work pass(const Eigen::VectorXd& parameters, Need need) const;
  /// @tparam Shape L and C where they are known to the compiler, or 0
  template <class Shape>
  void pass_block(std::size_t block,
                  const Eigen::VectorXd& parameters,
                  Need need,
                  Shape shape,
                  Work& work) const;
  Eigen::VectorXd logit_gradient(const DeepLayers& layers,
                                 const Pass& pass,
                                 Eigen::Index site,
                                 Eigen::Index row,
                                 Eigen::Index colour) const;

  Eigen::Index sites_;
  Eigen::Index colours_;
  bool residual_;
  double bayes_loss_;
  std::vector<Eigen::Index> first_;        ///< row of a site's first context; last: number of rows
  Eigen::MatrixXd input_;                  ///< x^0
  Eigen::ArrayXXd targets_;                ///< weight of context and colour, adding up to 1
  std::vector<Eigen::Index> block_sites_;  ///< the masked site of every kLanes contexts
  std::vector<Lanes> lane_inputs_;         ///< their x^0, site j of colour c at j + L c
  std::vector<Lanes> lane_targets_;
};

/// What is followed.
struct DeepDescentPlan {
  DeepLayers start;
  std::function<double(std::uint64_t step)> rate;  ///< learning rate of update 0, 1, ...
  double clip_norm = 0;                 ///< longer gradients are shortened to it; 0: never
  double batch = 1;                     ///< B
  std::vector<std::uint64_t> recorded;  ///< steps, strictly ascending
};

/// A number on the population's own path, and what batches change of it at order 1/B.
struct NoisyValue {
  double value = 0;
  double shift = 0;     ///< of the mean over runs
  double variance = 0;  ///< over runs
};

/// What is known at a recorded step.
struct DeepDescentRecord {
  std::uint64_t step = 0;
  NoisyValue excess_loss;                ///< nats
  std::vector<NoisyValue> displacement;  ///< |A_l - A_l(0)|^2/L + |V_l - V_l(0)|^2/C, each layer
  double sharpness = 0;                  ///< largest eigenvalue of the Hessian just before
  double growth = 0;                     ///< minus its smallest eigenvalue: rate of escape
  /// Until now eta times the sharpness was below 2 and no gradient came within half of the clip.
  bool described = true;
};

/// @brief Follows the descent and its noise. The Hessian is taken anew whenever the path has moved
/// by 0.1 (norm of all entries), at every recorded step, and where the rate changes.
/// @return a record for every recorded step; fewer if the loss has not stayed finite up to it
/// @throws Error (input) naming `start`, `batch` or `recorded`
std::vector<DeepDescentRecord> deep_descent(const DeepPopulation& population,
                                            const DeepDescentPlan& plan);

}  // namespace attica

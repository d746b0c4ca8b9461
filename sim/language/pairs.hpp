#pragma once
/// @file
/// @brief Pairs at all distances: the largest network of order 2, fitted by pseudo-likelihood.
///
/// The law of the symbol a hidden at site i is the softmax of b_i[a] + sum_{j != i} W_ij[a, s_j]
/// with free matrices: convex in b and W. Fitted by Adam on batches of fresh windows, which no
/// stored sample bounds; with the law of a network as target in place of symbols it is the closest
/// network of order 2.
///
/// Source: R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235, arXiv:2410.19637).

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/language/windows.hpp"
#include "attica/sim/networks/parameters.hpp"

namespace attica {

struct PairFit {
  std::int64_t steps = 3000;
  double eta = 0.03;   ///< learning rate of Adam; a half cosine to 0 from 30 % of the steps on
  double penalty = 0;  ///< adds penalty sum W^2 to the loss
};

/// @brief The model; starts at uniform laws.
class PairModel {
 public:
  static constexpr double kMostWeights = 1 << 24;

  /// @throws Error (input, `sites`) unless L >= 2 and (L C)^2 <= kMostWeights
  PairModel(Eigen::Index sites, Eigen::Index symbols);

  Eigen::Index sites() const { return sites_; }
  Eigen::Index symbols() const { return symbols_; }

  Laws laws(const MaskedWindows& masked) const;
  /// @brief C rounded up to whole vectors.
  Eigen::Index padded_symbols() const { return stride_; }
  /// @brief The law of one hidden site. @param p padded_symbols() numbers: C, and zeros
  void law(const Symbol* window, Eigen::Index site, float* p) const;

  /// @brief The laws become proportional to u^(1 - alpha) times their power alpha.
  void blur(const Eigen::VectorXd& u, double alpha);

  /// @brief What a step is fitted to.
  struct Examples {
    MaskedWindows masked;
    ShortLaws targets = {};  ///< of the hidden symbols; empty: the symbols themselves
  };
  /// @brief Fits by Adam from where the model stands.
  /// @param draw the examples of a step
  /// @param stop asked before every step; true ends the fit
  void fit(const PairFit& options,
           const std::function<Examples(std::int64_t step)>& draw,
           const std::function<bool()>& stop = {});

  /// @brief The gradient of the mean of -sum_a t(a) log q(a) over the examples, in nats, laid out
  /// as the parameters.
  void gradient(const Examples& examples, std::vector<float>& gradient) const;
  networks::Parameters<float>& parameters() { return parameters_; }

 private:
  template <int Vectors>
  void set_logits(const Symbol* window, Eigen::Index site, Eigen::Index first, float* p) const;

  /// Where the weights for the symbol at site j begin; j = i holds the biases at symbol 0.
  std::size_t at(Eigen::Index i, Eigen::Index j, Eigen::Index symbol) const {
    return static_cast<std::size_t>(((i * sites_ + j) * symbols_ + symbol) * stride_);
  }

  Eigen::Index sites_;
  Eigen::Index symbols_;
  Eigen::Index stride_;  ///< padded_symbols()
  networks::Parameters<float> parameters_;
};

/// @brief Windows of the model by Gibbs sampling: chains from windows of independent symbols, each
/// sweep through all sites in random order.
Windows gibbs_windows(const PairModel& model, Windows start, int sweeps, RandomStream& stream);

}  // namespace attica

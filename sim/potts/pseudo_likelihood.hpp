#pragma once
/// @file
/// @brief Maximum pseudo-likelihood with general couplings (plmDCA): for every site an independent,
/// convex multinomial regression on the colours of the other sites.
///
/// Logits h_ia = b_ia + sum_{j != i} W_ij[a, s_j] with free matrices W_ij for ordered pairs; the
/// loss is the mean of -ln softmax(h_i)[s_i] + (lambda/2) sum |W_ij|^2 + (bias_lambda/2) |b_i|^2.
/// Factored attention is the case W_ij = A_ij V.
///
/// Sources: M. Ekeberg, C. Lovkvist, Y. Lan, M. Weigt, E. Aurell 2013 (arXiv:1211.1281); for the
/// relation to attention R. Rende, F. Gerace, A. Laio, S. Goldt 2024 (arXiv:2304.07235).

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/model.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/lbfgs.hpp"

namespace attica {

/// @brief Objective and gradient of the regressions. The parameters of site i are its C biases,
/// then for every j != i in order the C x C matrix W_ij by columns: C logits for every seen colour.
class PseudoLikelihood {
 public:
  /// @param lambda, bias_lambda penalties >= 0; with 0 the optimum may lie at infinity (separable
  /// data; a colour that a site never has)
  PseudoLikelihood(const WeightedSequences& data,
                   Eigen::Index colours,
                   double lambda,
                   double bias_lambda = 0);

  Eigen::Index sites() const { return sites_; }
  Eigen::Index colours() const { return colours_; }
  /// C (1 + (L-1) C)
  Eigen::Index site_parameters() const { return colours_ * (1 + (sites_ - 1) * colours_); }

  /// @brief Objective of one site and its gradient.
  /// @param x, gradient  site_parameters() numbers
  double site(Eigen::Index i, const double* x, double* gradient);
  /// @brief Mean over sites of the objectives, and its gradient.
  /// @param x, gradient  L * site_parameters() numbers, site by site
  double all_sites(const double* x, double* gradient);

 private:
  template <int Vectors>
  void add_logits(Eigen::Index site, Eigen::Index first, Eigen::Index count, Eigen::Index column);
  template <int Vectors>
  void add_gradient(Eigen::Index site, Eigen::Index first, Eigen::Index count, Eigen::Index column);

  Eigen::Index sites_;
  Eigen::Index colours_;
  Eigen::Index stride_;  ///< C rounded up to whole vectors
  double lambda_;
  double bias_lambda_;
  Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic> by_site_;  ///< M x L, by columns
  Eigen::VectorXd weights_;
  Eigen::ArrayXd couplings_, dcouplings_;  ///< (L-1) C rows of `stride_`
  Eigen::ArrayXd logits_;                  ///< a tile of sequences, rows of `stride_`
};

/// A fitted coupling beyond this is on its way to infinity, stopped by the tolerance of the
/// gradient: the data are separable. Nothing diverges under a penalty.
inline constexpr double kLargestLogit = 5;

/// @brief Fitted couplings of all sites.
struct PseudoLikelihoodFit {
  Eigen::Index colours = 0;
  Eigen::MatrixXd parameters;  ///< column i: those of site i
  double objective = 0;        ///< mean over sites
  bool converged = false;      ///< every site's gradient is below the tolerance, and no
                               ///< parameter without penalty is beyond kLargestLogit
  int iterations = 0;          ///< most of any site

  /// @brief Logits of all sites of a sequence, @shape{C x L}.
  void logits(const std::uint8_t* sequence, Eigen::MatrixXd& logits) const;
};

/// @brief Weighted mean over sequences and sites of -ln softmax(logits)[s_i], nats.
double pseudo_likelihood_loss(const PseudoLikelihoodFit& fit, const WeightedSequences& data);

/// @brief Minimises every site's objective from 0: by Newton's method in the zero-sum coding up to
/// a few hundred parameters per site, otherwise by L-BFGS, sites in parallel. The result does not
/// depend on the number of threads.
PseudoLikelihoodFit fit_pseudo_likelihood(
    const WeightedSequences& data,
    Eigen::Index colours,
    double lambda,
    const LbfgsOptions& options = {.gradient_tolerance = 1e-6},
    double bias_lambda = 0);

/// @brief The A and V with the smallest sum over pairs of |A_ij V - W_ij|^2, of equal norms.
FactoredAttention closest_factored(const PseudoLikelihoodFit& fit);

/// Starts and stopping of the factored fit.
struct FactoredFitOptions {
  std::optional<FactoredAttention> first = {};  ///< a start that is tried before the random ones
  int starts = 4;                               ///< random starts; the best result is kept
  double deviation = 0.1;                       ///< of the starts' entries
  double lambda = 0;                            ///< penalty (lambda/2)(|A|^2 + |V|^2)
  LbfgsOptions search = {.gradient_tolerance = 1e-6};
};

struct FactoredFit {
  FactoredAttention student;
  double objective = 0;
  double worst_objective = 0;  ///< of the starts: the loss is not convex in A and V together
  bool converged = false;      ///< of the best start, as PseudoLikelihoodFit::converged
};

/// @brief Minimises the loss of factored attention on data. @throws Error (input) for bad options
FactoredFit fit_factored(const WeightedSequences& data,
                         Eigen::Index colours,
                         const FactoredFitOptions& options,
                         RandomStream& stream);

/// @brief The distinct sequences of a sample with their frequencies.
WeightedSequences distinct(const Sequences& sample);

}  // namespace attica

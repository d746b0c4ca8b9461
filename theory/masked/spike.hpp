#pragma once
/// @file
/// @brief A spike in the covariance, as masked ridge regression and variants of PCA see it, in the
/// limit of many sites and samples.
///
/// Σ = Ψ + θ u uᵀ, Ψ diagonal, |u| = 1. Four estimators of u are the outlying eigenvectors of a
/// pencil S + diag(a) - z diag(b):
///     masked       a = λ,  b = 1/g     H⁻¹, z = 1/(1-w) with w an eigenvalue of the predictor A
///     PCA          a = 0,  b = 1       S
///     correlation  a = 0,  b = ψ       diag(S)^-½ S diag(S)^-½
///     hollow       a = -ψ, b = 1       S - diag(S)
/// with Q_k = 1/(ψ_k c + a_k - z b_k), c = 1/(1+e), e = (1/n) Σ ψ_k Q_k. The symmetric matrix has
/// eigenvector v; right and left eigenvectors are b^½ v and b^-½ v (of A: D^-½ v and D^½ v).
///
/// Setting: Wortsman Zurich, Gerace, Loureiro, Lu 2026 (arXiv:2601.23208). The formulas here are
/// derived; none is taken from that paper. For PCA at Ψ = 1 they are those of Baik, Ben Arous and
/// Péché 2005 (math/0403022) and Paul 2007.

#include <optional>
#include <vector>

namespace attica {

enum class SpikeEstimator { masked, pca, correlation, hollow };

/// Sites of equal noise variance.
struct SpikedGroup {
  double variance = 1;  ///< ψ > 0
  double share = 1;     ///< of all sites; shares sum to 1
  double weight = 1;    ///< Σ u_k² over the group; weights sum to 1
};

/// Squared cosines with the spike.
struct SpikeOverlaps {
  double symmetric = 0;
  double right = 0;
  double left = 0;
};

/// @brief A delocalised spike, max u_k² -> 0.
class DelocalisedSpike {
 public:
  /// @param lambda penalty of the masked estimator, > 0; of no meaning for the others
  /// @throws Error (input) naming the argument; (numerical) if the edge is not found
  DelocalisedSpike(SpikeEstimator estimator,
                   std::vector<SpikedGroup> groups,
                   double gamma,
                   double lambda);

  double threshold() const { return threshold_; }  ///< θ_c
  double edge() const { return edge_; }            ///< z at the upper end of the bulk
  /// @brief The largest eigenvalue z: the outlier above θ_c, the edge up to it. @param theta >= 0
  double eigenvalue(double theta) const;
  /// @brief 0 up to θ_c.
  SpikeOverlaps overlaps(double theta) const;

 private:
  struct State {
    double c = 1;
    double z = 0;
    std::vector<double> q;
    double gamma = 0;  ///< (c²/n) Σ ψ² Q²: below 1 outside the bulk
  };
  State state(double t) const;
  State outlier(double theta) const;
  double response(const State& at, double theta, double power) const;
  /// Σ u² Q^power b^exponent
  double spike_sum(const State& at, int power, double exponent) const;

  std::vector<SpikedGroup> groups_;
  double gamma_;
  std::vector<double> a_;
  std::vector<double> b_;
  double edge_t_ = 0;
  double edge_ = 0;
  double threshold_ = 0;
};

/// @brief An outlier of A at a spike on one coordinate.
struct LocalisedOutlier {
  double strength = 0;  ///< ℓ, |ℓ| > √γ: that of the delocalised spike with the same eigenvalue
  double w = 0;         ///< eigenvalue of A
  SpikeOverlaps overlaps;
};

/// @brief u = e_1, Ψ = 1: coordinate 1 is independent of the others, and what is seen is its
/// variance.
struct LocalisedSpike {
  std::optional<LocalisedOutlier> upper;
  std::optional<LocalisedOutlier> lower;
};
LocalisedSpike localised_spike(double gamma, double lambda, double theta);

/// @brief From which θ on there is an outlier above (below) the bulk; empty if never. For γ > 1
/// there is one below the atom for every θ > 0: 0.
std::optional<double> localised_threshold_upper(double gamma, double lambda);
std::optional<double> localised_threshold_lower(double gamma, double lambda);

}  // namespace attica

#pragma once
/// @file
/// @brief One site of gradient flow: its resolvents, contours and integrals. Internal to the theory
/// of flow.hpp.
///
/// The spectrum of C_i enters through Σ = Q ℓ Qᵀ. With r_k = 1/(ℓ_k+κ), w_k = Q_ik², g_p = Σ w_k
/// r_k^p (deletion of row and column i, as in the theory of ridge regression):
///   F  = Σ ℓ r - Σ w ℓ r²/g_1,     F' = -Σ ℓ r² + 2 Σ w ℓ r³/g_1 - (Σ w ℓ r²) g_2/g_1²,
///   H  = (1/g_1 - σ²)/κ - 1 = σ² Σ (w/ℓ) r/g_1 - 1,
///   H' = σ² [-Σ (w/ℓ) r²/g_1 + (Σ (w/ℓ) r) g_2/g_1²],
/// and, where the site is determined by the others (σ² = 0), H = 1/(κ g_1) - 1,
/// H' = -Σ w ℓ r²/(κ g_1)². Nothing cancels as κ → 0. z = -κ (1 - F/M).
///
/// From a start w(0), H = Σ s v²/(s+κ) with the components v of w* - w(0) along the eigenvectors of
/// C_i; with ρ = κ/(s+κ), V_1 = Σ s v² ρ², V_2 = Σ s v² ρ² (1-ρ), V_3 = Σ s v² ρ² (1-ρ)².

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "attica/theory/gauss/flow.hpp"

namespace attica {

/// F, F', H, H' at κ.
struct FlowResolvent {
  std::complex<double> f, df, h, dh;
};

/// What the terms of order 1/M add, at κ.
struct FlowFirstOrder {
  std::complex<double> h, dh_dz;  ///< -(H + U) and its derivative by z
  std::complex<double> weight;    ///< L (1-D₂)
  std::complex<double> noise;     ///< L (γ-D₂)
  std::complex<double> train;     ///< (L/κ) (V_2 - D₂ V_1 - σ² D₂)
};

/// A contour around the spectrum: a circle with real diameter [left, right] in the κ plane, its
/// nodes drawn together near `right` by the factor `clustering`.
struct FlowContour {
  double left = 0;
  double right = 0;
  double clustering = 1;
  double residue_kappa = 0;  ///< κ₀ > 0: z = 0 lies outside and its residue is to be added
};

/// A node of the upper half of a contour: κ, and dκ/2πi to be multiplied by dz/dκ.
struct FlowNode {
  std::complex<double> kappa, measure;
};
std::vector<FlowNode> flow_nodes(const FlowContour& contour, Eigen::Index count);

class GaussianFlow::SiteView {
 public:
  SiteView(const GaussianFlow& flow, Eigen::Index site, double samples);

  /// All filters, by contours of the site's own.
  std::vector<FlowPoint> solve(std::span<const ResidualFilter> filters);

  FlowResolvent resolvent(std::complex<double> kappa);
  /// @param at the resolvent at κ
  FlowFirstOrder first_order(std::complex<double> kappa, const FlowResolvent& at) const;
  /// At real κ.
  double z_at(double kappa);

  /// Filters that reach less far are unstable.
  double upper_edge();
  /// Left end of the contours, for filters that reach so far.
  double choose_left(double reach);
  /// Passes between the spectrum and z = 0; none where there is no room.
  std::optional<FlowContour> inner_contour(double left) const;
  /// Encloses z = 0: through κ(λ = δ), where z = -δ.
  FlowContour outer_contour(double left, double time) const;

  /// @param m number of nodes in the upper half
  std::vector<FlowPoint> integrate(const FlowContour& contour,
                                   Eigen::Index m,
                                   std::span<const ResidualFilter> filters,
                                   const std::vector<std::size_t>& chosen);

  /// Rows ℓ, w, wℓ, w/ℓ.
  const Eigen::Matrix<double, 4, Eigen::Dynamic>& coefficients() const { return coefficients_; }
  double noise() const { return noise_; }
  double spectral_noise() const { return spectral_noise_; }
  bool determined() const { return determined_; }
  /// A kernel of which the site has no part is not seen by it.
  bool unseen_kernel() const { return coefficients_(0, 0) == 0 && !determined_; }
  /// 1 - N/M, or 0 if M < N: the share of the noise that stays in the train error for ever.
  double excess_samples() const;

 private:
  struct Nodes;

  double kappa_zero() const { return ridge_.site(site_, samples_, 0).kappa; }
  Nodes nodes(const FlowContour& contour, Eigen::Index m);
  void add_first_order(const FlowContour& contour,
                       const Nodes& nodes,
                       std::span<const ResidualFilter> filters,
                       const std::vector<std::size_t>& chosen,
                       const Eigen::MatrixXd& a,
                       const Eigen::MatrixXd& b,
                       std::vector<FlowPoint>& points);
  static void add_double_contour(const Nodes& nodes,
                                 const Eigen::MatrixXd& a,
                                 const Eigen::MatrixXd& b,
                                 std::vector<FlowPoint>& points);

  const Eigen::ArrayXd& spectrum_;
  const Target* target_;  // null: w(0) = 0
  const GaussianRidge& ridge_;
  Eigen::Index site_;
  double samples_;
  double noise_;
  double spectral_noise_ = 0;  // σ² from the eigenvalues, so that their rounding cancels in H
  bool determined_;            // the site is a linear function of the others
  RidgeOrder order_;
  double rank_ = 0;                                        // of C_i
  Eigen::Matrix<double, 4, Eigen::Dynamic> coefficients_;  // rows ℓ, w, wℓ, w/ℓ
  Eigen::Matrix<double, Eigen::Dynamic, 6> powers_;  // real and imaginary parts of r, r², r³
};

/// z = -δ, where contours around z = 0 pass for filters of that time.
double outer_distance(const Eigen::ArrayXd& spectrum, double time);

/// An error of ridge regression with the allowance for the orders beyond its first.
struct RidgeAllowance {
  double error = 0;
  double allowance = 0;
};

/// Puts the allowances of a point where its terms of first order are.
/// @param test, train ridge regression at λ = 1/time
void set_flow_allowances(const RidgeAllowance& test, const RidgeAllowance& train, FlowPoint& point);

/// Adds half the nodes again until every filter of `todo` agrees with its predecessor; those that
/// do leave `todo`. Convergence is geometric, so the error of the last is far below the change.
/// @return false if there are no values
template <class View, class Contour>
bool refine_flow(View& view,
                 const Contour& contour,
                 std::span<const ResidualFilter> filters,
                 std::vector<std::size_t>& todo,
                 std::vector<FlowPoint>& points) {
  constexpr double kTolerance = 1e-9;
  constexpr Eigen::Index kFirstNodes = 64;  // in the upper half of the contour
  constexpr Eigen::Index kLastNodes = 2560;
  std::vector<FlowPoint> previous;
  for (Eigen::Index m = kFirstNodes; m <= kLastNodes && !todo.empty(); m += m / 2) {
    const std::vector<FlowPoint> current = view.integrate(contour, m, filters, todo);
    if (current.empty()) return false;
    std::vector<std::size_t> open;
    std::vector<FlowPoint> open_values;
    for (std::size_t k = 0; k < todo.size(); ++k) {
      FlowPoint point = current[k];
      if (!previous.empty()) {
        point.numerical_error = std::abs(point.test_error - previous[k].test_error);
        const double limit = kTolerance * std::abs(point.test_error);
        const double change = std::abs(point.train_error - previous[k].train_error);
        if (point.numerical_error <= limit && change <= limit) point.status = FlowStatus::converged;
      }
      points[todo[k]] = point;
      if (point.status == FlowStatus::converged) continue;
      open.push_back(todo[k]);
      open_values.push_back(point);
    }
    todo = std::move(open);
    previous = std::move(open_values);
  }
  return true;
}

/// All filters: an inner contour as far as it goes, then outer ones, each shared by filters of
/// similar time.
/// @param view    upper_edge, choose_left, inner_contour, outer_contour, integrate
/// @return none if `integrate` has none
template <class View>
std::vector<FlowPoint> solve_flow(View& view,
                                  const Eigen::ArrayXd& spectrum,
                                  std::span<const ResidualFilter> filters) {
  std::vector<FlowPoint> points(filters.size(), FlowPoint{.status = FlowStatus::not_converged});
  std::vector<std::size_t> todo(filters.size());
  std::iota(todo.begin(), todo.end(), std::size_t{0});

  // In the order of their times: the double contours rely on it.
  std::sort(todo.begin(), todo.end(), [&](std::size_t k, std::size_t l) {
    return filters[k].time < filters[l].time;
  });

  // Rates beyond 2 / (upper edge) have no answer; others may need the contour to keep close to
  // the spectrum.
  const double upper_edge = view.upper_edge();
  double reach = std::numeric_limits<double>::infinity();
  std::erase_if(todo, [&](std::size_t k) {
    const bool unstable = filters[k].reach < upper_edge;
    if (unstable) points[k].status = FlowStatus::unstable;
    if (!unstable) reach = std::min(reach, filters[k].reach);
    return unstable;
  });
  const double left = view.choose_left(reach);

  if (const auto inner = view.inner_contour(left)) {
    if (!refine_flow(view, *inner, filters, todo, points)) return {};
  }
  while (!todo.empty()) {
    constexpr double kGroup = 8;
    const double longest = filters[todo.back()].time;
    const auto first = std::find_if(todo.begin(), todo.end(), [&](std::size_t k) {
      return filters[k].time * kGroup >= longest || longest * spectrum.maxCoeff() <= 1;
    });
    std::vector<std::size_t> group(first, todo.end());
    todo.erase(first, todo.end());
    if (!refine_flow(view, view.outer_contour(left, longest), filters, group, points)) return {};
  }
  return points;
}

}  // namespace attica

#include "attica/theory/gaussian_flow.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "attica/theory/ridge_kappa.hpp"

// The spectrum of C_i enters through Σ = Q ℓ Qᵀ. With r_k = 1/(ℓ_k+κ), w_k = Q_ik², g_p = Σ w_k
// r_k^p (deletion of row and column i, as in the theory of ridge regression):
//   F  = Σ ℓ r - Σ w ℓ r²/g_1,     F' = -Σ ℓ r² + 2 Σ w ℓ r³/g_1 - (Σ w ℓ r²) g_2/g_1²,
//   H  = (1/g_1 - σ²)/κ - 1 = σ² Σ (w/ℓ) r/g_1 - 1,
//   H' = σ² [-Σ (w/ℓ) r²/g_1 + (Σ (w/ℓ) r) g_2/g_1²],
// and, where the site is determined by the others (σ² = 0), H = 1/(κ g_1) - 1,
// H' = -Σ w ℓ r²/(κ g_1)². Nothing cancels as κ → 0.

namespace attica {
namespace {

using Complex = std::complex<double>;
using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kTolerance = 1e-9;
constexpr Index kFirstNodes = 128;
constexpr Index kLastNodes = 4096;

double df2(const ArrayXd& spectrum, double kappa) {
  return (spectrum / (spectrum + kappa)).square().sum();
}

// Where df2 falls through `level` as x grows from low to high; df2(at(low)) >= level >=
// df2(at(high)).
template <class At>
double df2_root(const ArrayXd& spectrum, double level, double low, double high, At at) {
  const auto excess = [&](double x) { return df2(spectrum, at(x)) - level; };
  if (excess(low) <= 0) return low;
  if (excess(high) >= 0) return high;
  std::uintmax_t iterations = 200;
  const auto bracket = boost::math::tools::toms748_solve(
      excess,
      low,
      high,
      [](double a, double b) { return std::abs(b - a) <= 1e-10 * std::abs(b); },
      iterations);
  return bracket.second;
}

/// Left end of the contours: κ < -max ℓ with df2 = share M.
double left_end(const ArrayXd& spectrum, double samples, double share) {
  const double top = spectrum.maxCoeff();
  const double level = share * samples;
  const double nearest = top / std::sqrt(level);
  const double farthest = nearest * std::sqrt(static_cast<double>(spectrum.size()));
  const auto at = [&](double x) { return -top - x; };
  return at(df2_root(spectrum, level, nearest, farthest, at));
}

/// A bound from the right for the edge df2 = M of the physical region right of the spectrum.
double edge(const ArrayXd& spectrum, double samples) {
  const double rank = static_cast<double>((spectrum > 0).count());
  if (samples < rank) {
    const double far = std::sqrt(spectrum.square().sum() / samples);
    return df2_root(spectrum, samples, 0, far, [](double x) { return x; });
  }
  const double smallest = (spectrum > 0).select(spectrum, spectrum.maxCoeff()).minCoeff();
  const ArrayXd positive = spectrum.tail(static_cast<Index>(rank));
  const auto at = [&](double x) { return x - smallest; };
  return at(df2_root(positive, samples, smallest / std::sqrt(samples), smallest, at));
}

struct Resolvent {
  Complex f, df, h, dh;  // F, F', H, H' at κ
};

/// A contour around the spectrum: a circle with real diameter [left, right] in the κ plane, its
/// nodes drawn together near `right` by the factor `clustering`.
struct Contour {
  double left = 0;
  double right = 0;
  double clustering = 1;
  bool encloses_zero = false;  // z = 0 lies inside
  double residue_kappa = 0;    // κ₀ > 0: z = 0 lies outside and its residue is to be added
};

/// Upper half of the nodes; the others are their conjugates.
struct Nodes {
  std::vector<Complex> z, h, dh_dz, w, measure;  // w = (κ/z) dz/2πi, measure = dz/2πi
  std::vector<Complex> f_over_z;                 // F/z
  std::vector<Complex> kappa;
};

}  // namespace

/// @brief One site: its resolvents and integrals.
class GaussianFlow::SiteView {
 public:
  SiteView(const GaussianFlow& flow, Index site, double samples)
      : spectrum_(flow.spectrum_),
        ridge_(flow.ridge_),
        site_(site),
        samples_(samples),
        noise_(flow.noise_variances_[site]),
        determined_(flow.spectrum_[0] == 0 && flow.weights_(0, site) > 0) {
    const auto w = flow.weights_.col(site);
    const auto inverse = (spectrum_ > 0).select(1 / spectrum_, 0.0);
    coefficients_.resize(4, spectrum_.size());
    coefficients_ << spectrum_.transpose(), w.transpose(), (w * spectrum_).transpose(),
        (w * inverse).transpose();
    const double positive = static_cast<double>((spectrum_ > 0).count());
    rank_ = determined_ ? positive : positive - 1;
    powers_.resize(spectrum_.size(), 6);
  }

  std::vector<FlowPoint> solve(std::span<const ResidualFilter> filters) {
    std::vector<FlowPoint> points(filters.size(), FlowPoint{.status = FlowStatus::not_converged});
    std::vector<std::size_t> todo(filters.size());
    std::iota(todo.begin(), todo.end(), std::size_t{0});

    // Rates beyond 2 / (upper edge) have no answer; others may need the contour to keep close to
    // the spectrum.
    double reach = std::numeric_limits<double>::infinity();
    std::erase_if(todo, [&](std::size_t k) {
      const bool unstable = filters[k].reach < upper_edge();
      if (unstable) points[k].status = FlowStatus::unstable;
      if (!unstable) reach = std::min(reach, filters[k].reach);
      return unstable;
    });
    const double left = choose_left(reach);

    if (const std::optional<Contour> inner = inner_contour(left))
      refine(*inner, filters, todo, points);
    // Filters of similar time share an outer contour.
    std::sort(todo.begin(), todo.end(), [&](auto a, auto b) {
      return filters[a].time > filters[b].time;
    });
    while (!todo.empty()) {
      constexpr double kGroup = 8;
      const double longest = filters[todo.front()].time;
      const auto end = std::find_if(todo.begin(), todo.end(), [&](std::size_t k) {
        return filters[k].time * kGroup < longest && longest * spectrum_.maxCoeff() > 1;
      });
      std::vector<std::size_t> group(todo.begin(), end);
      todo.erase(todo.begin(), end);
      refine(outer_contour(left, longest), filters, group, points);
    }
    return points;
  }

 private:
  Resolvent resolvent(Complex kappa) {
    const ArrayXd x = spectrum_ + kappa.real();
    const double y = kappa.imag();
    const ArrayXd inverse = 1 / (x.square() + y * y);
    const auto a = powers_.col(0).array(), b = powers_.col(1).array();
    const auto a2 = powers_.col(2).array(), b2 = powers_.col(3).array();
    powers_.col(0) = x * inverse;
    powers_.col(1) = -y * inverse;
    powers_.col(2) = a.square() - b.square();
    powers_.col(3) = 2 * a * b;
    powers_.col(4) = a * a2 - b * b2;
    powers_.col(5) = a * b2 + b * a2;
    const Eigen::Matrix<double, 4, 6> sums = coefficients_ * powers_;
    const auto sum = [&](int row, int power) {
      return Complex(sums(row, 2 * power - 2), sums(row, 2 * power - 1));
    };
    const Complex g1 = sum(1, 1), g2 = sum(1, 2), wl2 = sum(2, 2);
    Resolvent result;
    result.f = sum(0, 1) - wl2 / g1;
    result.df = -sum(0, 2) + (2.0 * sum(2, 3) - wl2 * g2 / g1) / g1;
    if (determined_) {
      const Complex kg = kappa * g1;
      result.h = 1.0 / kg - 1.0;
      result.dh = -wl2 / (kg * kg);
    } else {
      result.h = noise_ * sum(3, 1) / g1 - 1.0;
      result.dh = noise_ * (sum(3, 1) * g2 / g1 - sum(3, 2)) / g1;
    }
    return result;
  }

  double z_at(double kappa) { return -kappa * (1 - resolvent(kappa).f.real() / samples_); }
  double upper_edge() {
    constexpr double kEdge = 1;
    return z_at(left_end(spectrum_, samples_, kEdge));
  }

  // The farther from the spectrum the fewer nodes, as long as the filters stay bounded.
  double choose_left(double reach) {
    double left = 0;
    for (const double share : {0.5, 0.8, 0.95, 0.99}) {
      left = left_end(spectrum_, samples_, share);
      if (z_at(left) <= reach) break;
    }
    return left;
  }

  double kappa_zero() const { return ridge_.site(site_, samples_, 0).kappa; }

  // Passes between the spectrum and z = 0.
  std::optional<Contour> inner_contour(double left) const {
    constexpr double kThreshold = 0.1;
    if (std::abs(samples_ / rank_ - 1) <= kThreshold) return std::nullopt;
    const double zero = kappa_zero();
    const double nearest = edge(spectrum_, samples_);
    if (!(nearest < zero)) return std::nullopt;
    const double right = 0.5 * (nearest + zero);
    return Contour{.left = left,
                   .right = right,
                   .clustering = std::sqrt((zero - nearest) / (right - left)),
                   .residue_kappa = zero};
  }

  // Encloses z = 0: through κ(λ = δ), where z = -δ.
  Contour outer_contour(double left, double time) const {
    const double delta = std::min(time > 0 ? 1 / time : spectrum_.maxCoeff(), spectrum_.maxCoeff());
    const double right = ridge_.site(site_, samples_, delta).kappa;
    return {.left = left,
            .right = right,
            .clustering = std::sqrt((right - kappa_zero()) / (right - left)),
            .encloses_zero = true};
  }

  Nodes nodes(const Contour& contour, Index n) {
    const double centre = 0.5 * (contour.left + contour.right);
    const double radius = 0.5 * (contour.right - contour.left);
    const double e = contour.clustering;
    Nodes result;
    for (Index j = n / 2; j < n; ++j) {
      // φ on (0, π): the upper half.
      const double phi = -std::numbers::pi + 2 * std::numbers::pi * (static_cast<double>(j) + 0.5) /
                                                 static_cast<double>(n);
      const double c = std::cos(phi / 2), s = std::sin(phi / 2);
      const Complex turn = std::polar(1.0, 2 * std::atan2(e * s, c));
      const Complex kappa = centre + radius * turn;
      const Resolvent at = resolvent(kappa);
      const Complex z = -kappa * (1.0 - at.f / samples_);
      const Complex dz = -(1.0 - (at.f + kappa * at.df) / samples_);
      const Complex measure =
          dz * radius * turn * (e / (static_cast<double>(n) * (c * c + e * e * s * s)));
      result.kappa.push_back(kappa);
      result.z.push_back(z);
      result.h.push_back(at.h);
      result.dh_dz.push_back(at.dh / dz);
      result.measure.push_back(measure);
      result.w.push_back(kappa / z * measure);
      result.f_over_z.push_back(at.f / z);
    }
    return result;
  }

  // Doubles the nodes until every filter of `todo` agrees with its predecessor; those that do leave
  // `todo`.
  void refine(const Contour& contour,
              std::span<const ResidualFilter> filters,
              std::vector<std::size_t>& todo,
              std::vector<FlowPoint>& points) {
    std::vector<FlowPoint> previous;
    for (Index n = kFirstNodes; n <= kLastNodes && !todo.empty(); n *= 2) {
      const std::vector<FlowPoint> current = integrate(contour, nodes(contour, n), filters, todo);
      std::vector<std::size_t> open;
      std::vector<FlowPoint> open_values;
      for (std::size_t k = 0; k < todo.size(); ++k) {
        FlowPoint point = current[k];
        if (!previous.empty()) {
          point.numerical_error = std::abs(point.test_error - previous[k].test_error);
          const double limit = kTolerance * std::abs(point.test_error);
          const double change = std::abs(point.train_error - previous[k].train_error);
          if (point.numerical_error <= limit && change <= limit)
            point.status = FlowStatus::converged;
        }
        points[todo[k]] = point;
        if (point.status == FlowStatus::converged) continue;
        open.push_back(todo[k]);
        open_values.push_back(point);
      }
      todo = std::move(open);
      previous = std::move(open_values);
    }
  }

  // The double contour as a real quadratic form in (Re W, Im W) of the upper half: with
  // K_jl = (H_j-H_l)/(z_j-z_l) and K*_jl the same with the conjugate of node l,
  //   Σ over all = 2 Re Σ_jl (W_j W_l K_jl + W_j W̄_l K*_jl).
  std::vector<FlowPoint> integrate(const Contour& contour,
                                   const Nodes& nodes,
                                   std::span<const ResidualFilter> filters,
                                   const std::vector<std::size_t>& chosen) {
    const Index m = static_cast<Index>(nodes.z.size());
    const Index count = static_cast<Index>(chosen.size());
    const auto at = [](const std::vector<Complex>& v, Index j) {
      return v[static_cast<std::size_t>(j)];
    };
    MatrixXd a(m, count), b(m, count);
    std::vector<FlowPoint> result(chosen.size(), FlowPoint{.status = FlowStatus::not_converged});
    Resolvent zero;
    Complex zero_slope;
    if (contour.residue_kappa > 0) {
      zero = resolvent(contour.residue_kappa);
      zero_slope = -(1.0 - (zero.f + contour.residue_kappa * zero.df) / samples_);
    }
    // What the contour integral of F/z leaves of M: M if z = 0 is enclosed; else its residue N is
    // outside.
    const double train_constant = contour.encloses_zero       ? samples_
                                  : contour.residue_kappa > 0 ? 0
                                                              : samples_ - rank_;
    for (Index k = 0; k < count; ++k) {
      const ResidualFilter& filter = filters[chosen[static_cast<std::size_t>(k)]];
      Complex noise = 0, train_signal = 0, train_noise = 0, cross = 0;
      for (Index j = 0; j < m; ++j) {
        const Complex f = filter.value(at(nodes.z, j));
        const Complex w = f * at(nodes.w, j);
        a(j, k) = w.real();
        b(j, k) = w.imag();
        const Complex learnt = (1.0 - f) / at(nodes.z, j);
        noise += learnt * learnt * at(nodes.kappa, j) * at(nodes.measure, j);
        const Complex square = f * f * at(nodes.measure, j);
        train_signal -= square * at(nodes.h, j);
        train_noise -= square * at(nodes.f_over_z, j);
        if (contour.residue_kappa > 0) cross += w * (at(nodes.h, j) - zero.h) / at(nodes.z, j);
      }
      FlowPoint& point = result[static_cast<std::size_t>(k)];
      point.noise_error = noise_ * 2 * noise.real();
      point.train_error =
          2 * train_signal.real() + noise_ * (train_constant + 2 * train_noise.real()) / samples_;
      if (contour.residue_kappa > 0) {
        point.signal_error =
            contour.residue_kappa *
            (4 * cross.real() + contour.residue_kappa * (zero.dh / zero_slope).real());
      }
    }
    add_double_contour(nodes, a, b, result);
    for (FlowPoint& point : result)
      point.test_error = noise_ + point.signal_error + point.noise_error;
    return result;
  }

  static void add_double_contour(const Nodes& nodes,
                                 const MatrixXd& a,
                                 const MatrixXd& b,
                                 std::vector<FlowPoint>& points) {
    constexpr Index kRows =
        64;  // the kernel is made in stripes: it need not fit into memory at once
    const Index m = a.rows();
    MatrixXd aa(kRows, m), bb(kRows, m), ab(kRows, m);
    for (Index first = 0; first < m; first += kRows) {
      const Index rows = std::min(kRows, m - first);
      for (Index l = 0; l < m; ++l) {
        const Complex z = nodes.z[static_cast<std::size_t>(l)],
                      h = nodes.h[static_cast<std::size_t>(l)];
        for (Index i = 0; i < rows; ++i) {
          const auto j = static_cast<std::size_t>(first + i);
          const Complex same =
              first + i == l ? nodes.dh_dz[j] : (nodes.h[j] - h) / (nodes.z[j] - z);
          const Complex other = (nodes.h[j] - std::conj(h)) / (nodes.z[j] - std::conj(z));
          aa(i, l) = other.real() + same.real();
          bb(i, l) = other.real() - same.real();
          ab(i, l) = other.imag() - same.imag();
        }
      }
      const MatrixXd left_a = aa.topRows(rows) * a + 2 * (ab.topRows(rows) * b);
      const MatrixXd left_b = bb.topRows(rows) * b;
      const Eigen::RowVectorXd sum = (a.middleRows(first, rows).cwiseProduct(left_a) +
                                      b.middleRows(first, rows).cwiseProduct(left_b))
                                         .colwise()
                                         .sum();
      for (Index k = 0; k < sum.size(); ++k)
        points[static_cast<std::size_t>(k)].signal_error += 2 * sum[k];
    }
  }

  const ArrayXd& spectrum_;
  const GaussianRidge& ridge_;
  Index site_;
  double samples_;
  double noise_;
  bool determined_;  // the site is a linear function of the others
  double rank_ = 0;  // of C_i
  Eigen::Matrix<double, 4, Eigen::Dynamic> coefficients_;  // rows ℓ, w, wℓ, w/ℓ
  Eigen::Matrix<double, Eigen::Dynamic, 6> powers_;  // real and imaginary parts of r, r², r³
};

GaussianFlow::GaussianFlow(const GaussianMlm& problem)
    : noise_variances_(problem.noise_variances()), ridge_(problem) {
  const Index rank = problem.rank();
  const Index offset = rank < problem.sites() ? 1 : 0;
  spectrum_.setZero(offset + rank);
  spectrum_.tail(rank) = problem.eigenvalues().tail(rank);
  weights_.resize(offset + rank, problem.sites());
  weights_.bottomRows(rank) = problem.eigenvectors().rightCols(rank).transpose().array().square();
  if (offset > 0) weights_.row(0) = problem.kernel_weights().transpose();
}

std::vector<FlowPoint> GaussianFlow::site(Index site,
                                          double samples,
                                          std::span<const ResidualFilter> filters) const {
  require_samples(samples);
  (void)ridge_.site(site, samples, 1);  // refuses a site that does not exist
  return SiteView(*this, site, samples).solve(filters);
}

std::vector<FlowPoint> GaussianFlow::average(double samples,
                                             std::span<const ResidualFilter> filters) const {
  std::vector<FlowPoint> result(filters.size());
  const double share = 1 / static_cast<double>(sites());
  for (Index i = 0; i < sites(); ++i) {
    const std::vector<FlowPoint> points = site(i, samples, filters);
    for (std::size_t k = 0; k < points.size(); ++k) {
      result[k].test_error += share * points[k].test_error;
      result[k].train_error += share * points[k].train_error;
      result[k].signal_error += share * points[k].signal_error;
      result[k].noise_error += share * points[k].noise_error;
      result[k].numerical_error += share * points[k].numerical_error;
      result[k].status = std::max(result[k].status, points[k].status);
    }
  }
  return result;
}

}  // namespace attica

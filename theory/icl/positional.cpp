#include "attica/theory/icl/positional.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::ArrayXXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Abscissae of the trapezoid rule for normal variables, and its weights.
struct NormalGrid {
  NormalGrid(double range, double spacing) {
    const Index count = 2 * std::lround(range / spacing) + 1;
    x = ArrayXd::LinSpaced(count, -range, range);
    weight = spacing / std::sqrt(2 * std::numbers::pi) * (-x.square() / 2).exp();
  }
  ArrayXd x, weight;
};

/// σ(R(R+S)) at R = x + shift and S = x: a row for every R.
ArrayXXd attention_table(const ArrayXd& x, double shift) {
  ArrayXXd table(x.size(), x.size());
  const ArrayXd r = x + shift;
  for (Index j = 0; j < x.size(); ++j) table.col(j) = 1 / (1 + (-r * (r + x(j))).exp());
  return table;
}

/// Tables of the student on a grid of (R - √2 e, S), symmetric about 0; a row for every R.
struct StudentTables {
  StudentTables(const ArrayXd& x, double e)
      : g(attention_table(x, std::numbers::sqrt2 * e)), mirrored(g.rowwise().reverse()) {
    const ArrayXd r = x + std::numbers::sqrt2 * e;
    const ArrayXXd slope = g * (1 - g);
    const ArrayXXd other = slope.rowwise().reverse();
    gradient.resizeLike(g);
    cross.resizeLike(g);
    for (Index j = 0; j < x.size(); ++j) {
      const double s = x(j);
      gradient.col(j) = slope.col(j).square() * ((2 * r + s).square() + r.square());
      cross.col(j) = slope.col(j) * other.col(j) * (3 * r.square() - s * s);
    }
  }
  ArrayXXd g;         ///< σ(R(R+S))
  ArrayXXd mirrored;  ///< g' = σ(R(R-S))
  ArrayXXd gradient;  ///< |∇g|²
  ArrayXXd cross;     ///< ∇g·∇g'
};

/// A row of normalised Hermite polynomials for every order, times the weights.
MatrixXd hermite_rows(const NormalGrid& grid, int order) {
  MatrixXd rows(order + 1, grid.x.size());
  ArrayXd before = ArrayXd::Zero(grid.x.size());
  ArrayXd now = grid.weight;
  for (int k = 0; k <= order; ++k) {
    rows.row(k) = now;
    const ArrayXd next = (grid.x * now - std::sqrt(static_cast<double>(k)) * before) /
                         std::sqrt(static_cast<double>(k + 1));
    before = now;
    now = next;
  }
  return rows;
}

/// Hermite coefficients t_ij of tables on the grid with i + j even; the others are left 0. Both
/// orders are even or both odd, so that a quarter of the grid tells them.
class HermiteTransform {
 public:
  HermiteTransform(const NormalGrid& grid, int order) : order_(order) {
    const MatrixXd rows = hermite_rows(grid, order);
    MatrixXd half = rows.rightCols(grid.x.size() / 2 + 1);
    half.col(0) /= 2;  // the middle is its own mirror image
    even_ = half(Eigen::seq(0, order, 2), Eigen::all);
    odd_ = half(Eigen::seq(1, order, 2), Eigen::all);
  }

  MatrixXd operator()(const ArrayXXd& table) const {
    const Index half = even_.cols();
    const auto quarter = table.bottomRightCorner(half, half);
    const auto by_row = table.topRightCorner(half, half).colwise().reverse();
    const auto by_column = table.bottomLeftCorner(half, half).rowwise().reverse();
    const auto by_both = table.topLeftCorner(half, half).reverse();
    const MatrixXd alike = quarter + by_row + by_column + by_both;
    const MatrixXd opposed = quarter - by_row - by_column + by_both;
    MatrixXd all = MatrixXd::Zero(order_ + 1, order_ + 1);
    all(Eigen::seq(0, order_, 2), Eigen::seq(0, order_, 2)) = even_ * alike * even_.transpose();
    all(Eigen::seq(1, order_, 2), Eigen::seq(1, order_, 2)) = odd_ * opposed * odd_.transpose();
    return all;
  }

 private:
  int order_;
  MatrixXd even_, odd_;  ///< rows of the polynomials, from the middle of the grid on
};

/// Σ_{i+j=2k} a_ij b_ij for k = 0, 1, ...: Mehler's series in m². Odd powers vanish, as (R, S) and
/// (-R, -S) have the same g.
VectorXd mehler(const MatrixXd& a, const MatrixXd& b, int order) {
  VectorXd sums = VectorXd::Zero(order / 2 + 1);
  for (int total = 0; total <= order; total += 2) {
    for (int i = 0; i <= total; ++i) sums(total / 2) += a(i, total - i) * b(i, total - i);
  }
  return sums;
}

void require_inside(const PositionalOverlaps& at) {
  constexpr double kRounding = 1e-9;
  const double square = at.e * at.e + at.m * at.m;
  require(square <= 1 + kRounding, "e", at.e, "e^2 + m^2 <= 1");
}

/// Nodes in e² of the interpolation: what is interpolated is entire in e, and 24 reach rounding.
constexpr Index kNodes = 24;

/// From values at the nodes cos(π(n+½)/N), a row each, to coefficients of Chebyshev polynomials.
MatrixXd chebyshev_coefficients(const MatrixXd& values) {
  const Index n = values.rows();
  MatrixXd transform(n, n);
  for (Index k = 0; k < n; ++k) {
    for (Index node = 0; node < n; ++node) {
      const double angle = std::numbers::pi * (static_cast<double>(node) + 0.5);
      transform(k, node) = (k == 0 ? 1.0 : 2.0) / static_cast<double>(n) *
                           std::cos(static_cast<double>(k) * angle / static_cast<double>(n));
    }
  }
  return transform * values;
}

/// T_n(2e²-1), m^{2k} and their derivatives.
struct OverlapPowers {
  OverlapPowers(const PositionalOverlaps& overlaps, Index count) : powers(count), d_powers(count) {
    const double x = 2 * overlaps.e * overlaps.e - 1;
    chebyshev(0) = 1;
    chebyshev(1) = x;
    d_chebyshev(0) = 0;
    d_chebyshev(1) = 1;
    for (Index n = 2; n < kNodes; ++n) {
      chebyshev(n) = 2 * x * chebyshev(n - 1) - chebyshev(n - 2);
      d_chebyshev(n) = 2 * chebyshev(n - 1) + 2 * x * d_chebyshev(n - 1) - d_chebyshev(n - 2);
    }
    d_chebyshev *= 4 * overlaps.e;
    powers(0) = 1;
    d_powers(0) = 0;
    for (Index k = 1; k < count; ++k) {
      d_powers(k) = 2 * static_cast<double>(k) * overlaps.m * powers(k - 1);
      powers(k) = overlaps.m * overlaps.m * powers(k - 1);
    }
  }
  Eigen::Matrix<double, kNodes, 1> chebyshev, d_chebyshev;
  VectorXd powers, d_powers;
};

}  // namespace

PositionalLandscape::PositionalLandscape(int order) : order_(order) {
  constexpr int kMost = 120;
  require(order >= 2 && order <= kMost && order % 2 == 0, "order", order, "even, 2 to 120");
  constexpr double kRange = 10;
  constexpr double kSpacing = 0.1;
  const NormalGrid grid(kRange, kSpacing);
  const HermiteTransform coefficients(grid, order);
  const StudentTables teacher(grid.x, 0);
  const MatrixXd t = coefficients(teacher.g);
  const MatrixXd t_square = coefficients(teacher.g.square());
  const MatrixXd t_both = coefficients(teacher.g * teacher.mirrored);
  teacher_ = t(0, 0);
  teacher_square_ = t_square(0, 0);

  for (MatrixXd& values : coefficients_) values.setZero(kNodes, order / 2 + 1);
  for (Index node = 0; node < kNodes; ++node) {
    const double x = std::cos(std::numbers::pi * (static_cast<double>(node) + 0.5) /
                              static_cast<double>(kNodes));
    const StudentTables student(grid.x, std::sqrt((1 + x) / 2));
    const MatrixXd g = coefficients(student.g);
    // Reflection of S maps g' ∇g·∇g' to g ∇g·∇g', which the teacher's mirror image does not feel.
    const MatrixXd scatter =
        coefficients(student.g * student.gradient + student.mirrored * student.cross);
    const MatrixXd gradient = coefficients(student.gradient);
    const MatrixXd cross = coefficients(student.cross);
    const auto alone = [&](Moment moment, double value) { coefficients_[moment](node, 0) = value; };
    const auto mean = [&](const ArrayXXd& table) {
      return grid.weight.matrix().dot(table.matrix() * grid.weight.matrix());
    };
    alone(kStudent, g(0, 0));
    alone(kStudentSquare, mean(student.g.square()));
    alone(kScatter,
          mean(student.g * (student.g * student.gradient + student.mirrored * student.cross)));
    alone(kScatterStudent, scatter(0, 0));
    alone(kScatterFree, gradient(0, 0) + cross(0, 0));
    coefficients_[kCross].row(node) = mehler(t, g, order);
    coefficients_[kScatterCross].row(node) = mehler(t, scatter, order);
    coefficients_[kScatterTeacher].row(node) = mehler(t, gradient + cross, order);
    coefficients_[kScatterBothSquare].row(node) =
        mehler(t_square, gradient, order) + mehler(t_both, cross, order);
  }
  for (MatrixXd& values : coefficients_) values = chebyshev_coefficients(values);
}

PositionalField PositionalLandscape::of(const PositionalTask& task) const {
  require_valid(task);
  const double semantic = 1 - task.omega;
  const double fixed = task.omega * task.own();
  const auto& c = coefficients_;
  const double teacher =
      semantic * semantic * teacher_square_ + 2 * semantic * fixed * teacher_ + fixed * fixed;
  MatrixXd loss = 2 * (c[kStudentSquare] - 2 * (semantic * c[kCross] + fixed * c[kStudent]));
  loss(0, 0) += 2 * teacher;
  constexpr double kEight = 8;  // 4 from the squared gradient of squares, 2 from the two tokens
  return {std::move(loss),
          kEight * (c[kScatter] - 2 * (semantic * c[kScatterCross] + fixed * c[kScatterStudent]) +
                    semantic * semantic * c[kScatterBothSquare] +
                    2 * semantic * fixed * c[kScatterTeacher] + fixed * fixed * c[kScatterFree])};
}

PositionalTerms PositionalField::at(const PositionalOverlaps& overlaps) const {
  require_inside(overlaps);
  const OverlapPowers here(overlaps, loss_.cols());
  const VectorXd along = loss_ * here.powers;
  return {.loss = here.chebyshev.dot(along),
          .d_e = here.d_chebyshev.dot(along),
          .d_m = here.chebyshev.dot(loss_ * here.d_powers),
          .scatter = here.chebyshev.dot(scatter_ * here.powers)};
}

double PositionalLandscape::truncation(const PositionalTask& task,
                                       const PositionalOverlaps& overlaps) const {
  constexpr Index kLast = 10;
  const OverlapPowers here(overlaps, order_ / 2 + 1);
  const VectorXd series = coefficients_[kCross].transpose() * here.chebyshev;
  const Index count = std::min(kLast, series.size() - 1);
  return std::abs(4 * (1 - task.omega) * series.tail(count).dot(here.powers.tail(count)));
}

std::vector<PositionalOverlaps> positional_flow(const PositionalLandscape& landscape,
                                                const PositionalTask& task,
                                                const PositionalOverlaps& start,
                                                double eta,
                                                std::span<const double> times) {
  require(eta >= 0 && std::isfinite(eta), "eta", eta, "eta >= 0");
  require_inside(start);
  std::vector<double> grid = {0};
  for (const double t : times) {
    if (t > grid.back()) grid.push_back(t);
  }
  MatrixXd states(2, 1);
  states << start.e, start.m;
  if (grid.size() > 1) {
    const PositionalField field = landscape.of(task);
    const auto rate = [&](double, const VectorXd& x, VectorXd& dxdt) {
      // A trial step may leave the disc by its error.
      const double size = std::max(1.0, x.norm());
      const double e = x(0) / size;
      const double m = x(1) / size;
      const PositionalTerms terms = field.at({e, m});
      const double radial = e * terms.d_e + m * terms.d_m - eta / 2 * terms.scatter;
      dxdt(0) = -terms.d_e + e * radial;
      dxdt(1) = -terms.d_m + m * radial;
    };
    const OdeResult solved = solve_ode(
        rate,
        states.col(0),
        grid,
        {.method = OdeMethod::dopri5, .relative_tolerance = 1e-9, .absolute_tolerance = 1e-11});
    if (!solved.finished()) {
      throw Error(ErrorKind::numerical, "positional flow: " + describe(solved));
    }
    states = solved.states;
  }
  std::vector<PositionalOverlaps> curve;
  for (const double t : times) {
    const auto found = std::lower_bound(grid.begin(), grid.end(), t) - grid.begin();
    curve.push_back({states(0, found), states(1, found)});
  }
  return curve;
}

PositionalMoments::PositionalMoments() {
  // Poles are at R(R+S) = iπ: with this spacing and range 1e-15 is left.
  constexpr double kRange = 8.5;
  constexpr double kSpacing = 0.1;
  const NormalGrid grid(kRange, kSpacing);
  const ArrayXd& x = grid.x;
  const ArrayXXd g = attention_table(x, 0);
  const ArrayXXd shifted = attention_table(x, std::numbers::sqrt2);
  const auto mean = [&](const ArrayXXd& table, int of_r = 0, int of_s = 0) {
    const auto he = [&](int k) -> VectorXd {
      if (k == 0) return grid.weight;
      if (k == 1) return grid.weight * x;
      return grid.weight * (x.square() - 1);
    };
    return he(of_r).dot(table.matrix() * he(of_s));
  };
  teacher = mean(g);
  teacher_square = mean(g.square());
  positional = mean(shifted);
  positional_square = mean(shifted.square());
  square_rr = mean(g.square(), 2, 0);
  hermite = {mean(g, 2, 0), mean(g, 1, 1), mean(g, 0, 2)};
  hermite_shifted = {mean(shifted, 2, 0), mean(shifted, 1, 1), mean(shifted, 0, 2)};
  linear_shifted = mean(shifted, 1, 0);
  square_linear_shifted = mean(shifted.square(), 1, 0);
  const ArrayXXd r = x.replicate(1, x.size());
  const ArrayXXd inner = 2 * r + x.transpose().replicate(x.size(), 1);
  const ArrayXXd slope = g * (1 - g);
  const ArrayXXd second = slope * ((1 - 2 * g) * inner.square() + 2);
  slope_square = mean((slope * inner).square());
  curvature = mean(second);
  curvature_cross = mean(g * second);
  gradient_square = slope_square + mean((slope * r).square());
}

double semantic_loss(const PositionalMoments& moments, const PositionalTask& task) {
  require_valid(task);
  const double own = task.own();
  return 2 * task.omega * task.omega *
         (moments.teacher_square - 2 * own * moments.teacher + own * own);
}

double positional_loss(const PositionalMoments& moments, const PositionalTask& task) {
  require_valid(task);
  const double semantic = 1 - task.omega;
  const double fixed = task.omega * task.own();
  return 2 *
         (semantic * semantic * moments.teacher_square + 2 * semantic * fixed * moments.teacher +
          fixed * fixed - 2 * (semantic * moments.teacher + fixed) * moments.positional +
          moments.positional_square);
}

PositionalTransitions positional_transitions(const PositionalMoments& moments, double a) {
  const PositionalTask task{.a = a};
  require_valid(task);
  const double own = task.own();
  // Each is the zero of a function that is linear in ω.
  const auto squares = [](const std::array<double, 3>& x, const std::array<double, 3>& y) {
    return x[0] * y[0] + 2 * x[1] * y[1] + x[2] * y[2];
  };
  const double at_origin = squares(moments.hermite, moments.hermite);
  const double at_position = squares(moments.hermite, moments.hermite_shifted);
  const double h_rr = moments.hermite[0];
  const double root = std::numbers::sqrt2;
  const double excess = own - moments.teacher;
  PositionalTransitions found{};
  found.global =
      (moments.teacher_square - 2 * moments.teacher * moments.positional +
       moments.positional_square) /
      (2 * moments.teacher_square - 2 * own * moments.teacher + 2 * excess * moments.positional);
  found.direction = (moments.square_rr - 2 * moments.teacher * h_rr + at_origin) /
                    (2 * excess * h_rr + at_origin);
  found.semantic_below =
      (2 * moments.slope_square + moments.gradient_square) /
      (moments.gradient_square - 2 * moments.curvature_cross + 2 * own * moments.curvature);
  found.positional_above =
      (2 * at_position +
       root * (moments.square_linear_shifted - 2 * moments.teacher * moments.linear_shifted)) /
      (2 * at_position + 2 * root * excess * moments.linear_shifted);
  return found;
}

}  // namespace attica

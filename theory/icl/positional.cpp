#include "attica/theory/icl/positional.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"
#include "attica/solvers/ode.hpp"

namespace attica {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Abscissae of the trapezoid rule for normal variables, and its weights.
struct NormalGrid {
  NormalGrid(double range, double spacing) {
    const Index count = 2 * std::lround(range / spacing) + 1;
    x = ArrayXd::LinSpaced(count, -range, range);
    weight = spacing / std::sqrt(2 * std::numbers::pi) * (-x.square() / 2).exp();
  }
  ArrayXd x, weight;
};

/// Tables of the student on a grid of (R - √2 e, S), a row for every R.
struct StudentTables {
  StudentTables(const ArrayXd& x, double e) {
    const Index n = x.size();
    for (MatrixXd* table : {&g, &mirrored, &gradient, &cross}) table->resize(n, n);
    for (Index j = 0; j < n; ++j) {
      const double s = x(j);
      for (Index i = 0; i < n; ++i) {
        const double r = x(i) + std::numbers::sqrt2 * e;
        const double own = logistic(r * (r + s));
        const double other = logistic(r * (r - s));
        const double slope = own * (1 - own);
        g(i, j) = own;
        mirrored(i, j) = other;
        gradient(i, j) = slope * slope * ((2 * r + s) * (2 * r + s) + r * r);
        cross(i, j) = slope * other * (1 - other) * (3 * r * r - s * s);
      }
    }
  }
  MatrixXd g;         ///< σ(R(R+S))
  MatrixXd mirrored;  ///< g' = σ(R(R-S))
  MatrixXd gradient;  ///< |∇g|²
  MatrixXd cross;     ///< ∇g·∇g'
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

}  // namespace

PositionalLandscape::PositionalLandscape(int order) : order_(order) {
  constexpr int kMost = 120;
  require(order >= 2 && order <= kMost && order % 2 == 0, "order", order, "even, 2 to 120");
  constexpr double kRange = 10;
  constexpr double kSpacing = 0.1;
  const NormalGrid grid(kRange, kSpacing);
  const MatrixXd hermite = hermite_rows(grid, order);
  const auto coefficients = [&](const MatrixXd& table) -> MatrixXd {
    return hermite * table * hermite.transpose();
  };
  const StudentTables teacher(grid.x, 0);
  const MatrixXd t = coefficients(teacher.g);
  const MatrixXd t_square = coefficients(teacher.g.cwiseAbs2());
  const MatrixXd t_both = coefficients(teacher.g.cwiseProduct(teacher.mirrored));
  teacher_ = t(0, 0);
  teacher_square_ = t_square(0, 0);

  for (MatrixXd& values : coefficients_) values.setZero(kNodes, order / 2 + 1);
  for (Index node = 0; node < kNodes; ++node) {
    const double x = std::cos(std::numbers::pi * (static_cast<double>(node) + 0.5) /
                              static_cast<double>(kNodes));
    const StudentTables student(grid.x, std::sqrt((1 + x) / 2));
    const MatrixXd g = coefficients(student.g);
    // Reflection of S maps g' ∇g·∇g' to g ∇g·∇g', which the teacher's mirror image does not feel.
    const MatrixXd own = coefficients(student.g.cwiseProduct(student.gradient));
    const MatrixXd other = coefficients(student.mirrored.cwiseProduct(student.cross));
    const MatrixXd gradient = coefficients(student.gradient);
    const MatrixXd cross = coefficients(student.cross);
    const auto alone = [&](Moment moment, double value) { coefficients_[moment](node, 0) = value; };
    const auto mean = [&](const MatrixXd& table) {
      return grid.weight.matrix().dot(table * grid.weight.matrix());
    };
    alone(kStudent, g(0, 0));
    alone(kStudentSquare, mean(student.g.cwiseAbs2()));
    alone(kScatter,
          mean(student.g.cwiseAbs2().cwiseProduct(student.gradient)) +
              mean(student.g.cwiseProduct(student.mirrored).cwiseProduct(student.cross)));
    alone(kScatterStudent, own(0, 0) + other(0, 0));
    alone(kScatterFree, gradient(0, 0) + cross(0, 0));
    coefficients_[kCross].row(node) = mehler(t, g, order);
    coefficients_[kScatterCross].row(node) = mehler(t, own + other, order);
    coefficients_[kScatterTeacher].row(node) = mehler(t, gradient + cross, order);
    coefficients_[kScatterBothSquare].row(node) =
        mehler(t_square, gradient, order) + mehler(t_both, cross, order);
  }
  for (MatrixXd& values : coefficients_) values = chebyshev_coefficients(values);
}

PositionalLandscape::At PositionalLandscape::at(const PositionalOverlaps& overlaps) const {
  const double x = 2 * overlaps.e * overlaps.e - 1;
  const Index powers = order_ / 2 + 1;
  At at{VectorXd(kNodes), VectorXd(kNodes), VectorXd(powers), VectorXd(powers)};
  at.chebyshev(0) = 1;
  at.chebyshev(1) = x;
  at.d_chebyshev(0) = 0;
  at.d_chebyshev(1) = 1;
  for (Index n = 2; n < kNodes; ++n) {
    at.chebyshev(n) = 2 * x * at.chebyshev(n - 1) - at.chebyshev(n - 2);
    at.d_chebyshev(n) =
        2 * at.chebyshev(n - 1) + 2 * x * at.d_chebyshev(n - 1) - at.d_chebyshev(n - 2);
  }
  at.d_chebyshev *= 4 * overlaps.e;
  at.powers(0) = 1;
  at.d_powers(0) = 0;
  for (Index k = 1; k < powers; ++k) {
    at.d_powers(k) = 2 * static_cast<double>(k) * overlaps.m * at.powers(k - 1);
    at.powers(k) = overlaps.m * overlaps.m * at.powers(k - 1);
  }
  return at;
}

PositionalTerms PositionalLandscape::terms(const PositionalTask& task,
                                           const PositionalOverlaps& overlaps) const {
  require_valid(task);
  require_inside(overlaps);
  const At here = at(overlaps);
  const double semantic = 1 - task.omega;
  const double fixed = task.omega * task.own();
  const auto of = [&](Moment moment) { return value(moment, here); };
  const auto by_e = [&](Moment moment) {
    return here.d_chebyshev.dot(coefficients_[moment] * here.powers);
  };
  PositionalTerms terms;
  const double teacher =
      semantic * semantic * teacher_square_ + 2 * semantic * fixed * teacher_ + fixed * fixed;
  terms.loss =
      2 * (teacher + of(kStudentSquare) - 2 * (semantic * of(kCross) + fixed * of(kStudent)));
  terms.d_e = 2 * (by_e(kStudentSquare) - 2 * (semantic * by_e(kCross) + fixed * by_e(kStudent)));
  terms.d_m = -4 * semantic * here.chebyshev.dot(coefficients_[kCross] * here.d_powers);
  constexpr double kEight = 8;  // 4 from the squared gradient of squares, 2 from the two tokens
  terms.scatter =
      kEight * (of(kScatter) - 2 * (semantic * of(kScatterCross) + fixed * of(kScatterStudent)) +
                semantic * semantic * of(kScatterBothSquare) +
                2 * semantic * fixed * of(kScatterTeacher) + fixed * fixed * of(kScatterFree));
  return terms;
}

double PositionalLandscape::truncation(const PositionalTask& task,
                                       const PositionalOverlaps& overlaps) const {
  constexpr Index kLast = 10;
  const At here = at(overlaps);
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
    const auto rate = [&](double, const VectorXd& x, VectorXd& dxdt) {
      // A trial step may leave the disc by its error.
      const double size = std::max(1.0, x.norm());
      const double e = x(0) / size;
      const double m = x(1) / size;
      const PositionalTerms terms = landscape.terms(task, {e, m});
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
  constexpr double kRange = 8.5;
  constexpr double kSpacing = 0.025;
  const NormalGrid grid(kRange, kSpacing);
  const auto mean = [&](double e, const auto& function) {
    double sum = 0;
    for (Index j = 0; j < grid.x.size(); ++j) {
      double row = 0;
      for (Index i = 0; i < grid.x.size(); ++i) {
        const double r = grid.x(i);
        const double shifted = r + std::numbers::sqrt2 * e;
        const double g = logistic(shifted * (shifted + grid.x(j)));
        row += grid.weight(i) * function(g, r, grid.x(j));
      }
      sum += grid.weight(j) * row;
    }
    return sum;
  };
  const auto power = [&](double e, int of_g, int of_r, int of_s) {
    return mean(e, [&](double g, double r, double s) {
      const auto he = [](int k, double x) { return k == 0 ? 1 : k == 1 ? x : x * x - 1; };
      return (of_g == 1 ? g : g * g) * he(of_r, r) * he(of_s, s);
    });
  };
  teacher = power(0, 1, 0, 0);
  teacher_square = power(0, 2, 0, 0);
  positional = power(1, 1, 0, 0);
  positional_square = power(1, 2, 0, 0);
  square_rr = power(0, 2, 2, 0);
  hermite = {power(0, 1, 2, 0), power(0, 1, 1, 1), power(0, 1, 0, 2)};
  hermite_shifted = {power(1, 1, 2, 0), power(1, 1, 1, 1), power(1, 1, 0, 2)};
  linear_shifted = power(1, 1, 1, 0);
  square_linear_shifted = power(1, 2, 1, 0);
  const auto slope = [](double g) { return g * (1 - g); };
  const auto second = [&](double g, double r, double s) {
    const double inner = 2 * r + s;
    return slope(g) * ((1 - 2 * g) * inner * inner + 2);
  };
  slope_square =
      mean(0, [&](double g, double r, double s) { return std::pow(slope(g) * (2 * r + s), 2); });
  curvature = mean(0, second);
  curvature_cross = mean(0, [&](double g, double r, double s) { return g * second(g, r, s); });
  gradient_square =
      slope_square + mean(0, [&](double g, double r, double) { return std::pow(slope(g) * r, 2); });
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

#pragma once
/// @file
/// @brief Synthetic results for the tests of plots/: shapes like those of ridge regression near
/// interpolation.

#include <cmath>
#include <string>
#include <vector>

#include "attica/core/figure.hpp"

namespace attica::testing {

inline std::vector<double> grid(double low, double high, int n, bool log) {
  std::vector<double> x;
  for (int i = 0; i < n; ++i) {
    const double t = n == 1 ? 0.0 : static_cast<double>(i) / (n - 1);
    x.push_back(log ? low * std::pow(high / low, t) : low + t * (high - low));
  }
  return x;
}

/// A test error with a peak at alpha = 1 that the penalty lambda smooths away.
inline double test_error(double alpha, double lambda) {
  return 0.2 + 0.8 / (1 + alpha * alpha) + 0.15 / std::sqrt((alpha - 1) * (alpha - 1) + lambda);
}

inline double train_error(double alpha, double lambda) {
  const double excess = alpha - 1 + std::sqrt((alpha - 1) * (alpha - 1) + lambda);
  return 0.25 * excess / (alpha + lambda);
}

/// A reproducible stand-in for noise, in [-1.6, 1.6].
inline double noise(int i) { return 1.6 * std::sin(12.9898 * i + 78.233 * std::sin(0.7 * i)); }

struct Sampling {
  std::string series = "test_error";
  double (*theory)(double, double) = test_error;
  double low = 0.2;
  double high = 4;
  int points = 12;
  bool log = true;
  double relative_sem = 0.02;
  double relative_margin = 0.05;
};

/// Theory on a fine grid, simulation and residuals on a coarse one.
inline void add_curve(FigureData& data, const Point& point, double lambda, const Sampling& s = {}) {
  RecordedCurve line;
  line.theory = true;
  line.mean = {s.series, point, "alpha", grid(s.low, s.high, 150, s.log), {}};
  for (const double x : line.mean.x) line.mean.y.push_back(s.theory(x, lambda));
  RecordedCurve marks;
  marks.mean = {s.series, point, "alpha", grid(s.low, s.high, s.points, s.log), {}};
  int i = static_cast<int>(100 * data.curves.size());
  for (const double x : marks.mean.x) {
    const double exact = s.theory(x, lambda);
    const double sem = s.relative_sem * exact * (1 + 0.5 * std::cos(3 * x));
    const double value = exact + noise(++i) * sem;
    marks.mean.y.push_back(value);
    marks.sem.push_back(sem);
    marks.sd.push_back(sem * std::sqrt(20.0));
    marks.n.push_back(20);
    const double margin = exact * s.relative_margin * (1 + 0.3 / (x * (1 + lambda)));
    data.residuals.push_back({s.series, point, "alpha", x, exact, value - exact, sem, margin});
  }
  data.curves.push_back(line);
  data.curves.push_back(marks);
}

inline FigureData double_descent(const std::vector<double>& lambdas) {
  FigureData data;
  for (const double lambda : lambdas) {
    const Point point = {{"lambda", lambda}};
    add_curve(data, point, lambda);
    Sampling train;
    train.series = "train_error";
    train.theory = train_error;
    add_curve(data, point, lambda, train);
  }
  return data;
}

inline Axis alpha_axis() { return {"{/:Italic α} = {/:Italic M}/{/:Italic N}", AxisScale::log}; }

inline Panel test_error_panel() {
  Panel panel;
  panel.x = alpha_axis();
  panel.y = {"test error {/:Italic E}_{test}", AxisScale::linear};
  panel.layers = {{"test_error", "{/:Italic λ} = {lambda}"}};
  panel.x_name = "alpha";
  panel.residuals = true;
  return panel;
}

inline Panel train_error_panel() {
  Panel panel = test_error_panel();
  panel.y = {"{/:Italic E}_{train}", AxisScale::log};
  panel.layers = {{"train_error", "{/:Italic λ} = {lambda}"}};
  panel.residuals = false;
  return panel;
}

inline Figure one_panel() { return {"double_descent", {test_error_panel()}, 1, "Synthetic."}; }

}  // namespace attica::testing

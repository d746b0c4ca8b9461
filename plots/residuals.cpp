#include "attica/plots/residuals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "attica/plots/selection.hpp"

namespace attica::plots {
namespace {

constexpr double kPercent = 100;

double percent(const ResidualPoint& point) {
  return kPercent * point.difference / std::abs(point.theory);
}
double percent_sem(const ResidualPoint& point) {
  return kPercent * point.sem / std::abs(point.theory);
}
double percent_margin(const ResidualPoint& point) {
  return kPercent * point.margin / std::abs(point.theory);
}

/// A curve's margin at x, linear between its points; none outside them.
std::optional<double> margin_at(const ResidualCurve& curve, double x) {
  const auto& points = curve.points;
  const auto right =
      std::lower_bound(points.begin(), points.end(), x, [](const ResidualPoint& p, double value) {
        return p.x < value;
      });
  if (right == points.end()) return std::nullopt;
  if (right->x == x) return percent_margin(*right);
  if (right == points.begin()) return std::nullopt;
  const auto left = std::prev(right);
  const double part = (x - left->x) / (right->x - left->x);
  return (1 - part) * percent_margin(*left) + part * percent_margin(*right);
}

/// The widest and the narrowest margin along x, carried on to the edges of the panel.
std::vector<MarginBand> margin_bands(const std::vector<ResidualCurve>& curves, const Range& range) {
  std::set<double> positions;
  for (const ResidualCurve& curve : curves) {
    for (const ResidualPoint& point : curve.points) {
      if (point.margin > 0 && range.contains(point.x)) positions.insert(point.x);
    }
  }
  if (positions.empty()) return {};
  MarginBand wide{0, kWideBand, {}, {}};
  MarginBand narrow{0, kNarrowBand, {}, {}};
  for (const double x : positions) {
    double most = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const ResidualCurve& curve : curves) {
      const auto margin = margin_at(curve, x);
      if (!margin) continue;
      most = std::max(most, *margin);
      least = std::min(least, *margin);
    }
    for (auto [band, value] : {std::pair{&wide, most}, std::pair{&narrow, least}}) {
      if (band->x.empty()) {
        band->x.push_back(range.low);
        band->percent.push_back(value);
      }
      band->x.push_back(x);
      band->percent.push_back(value);
    }
  }
  for (MarginBand* band : {&wide, &narrow}) {
    band->x.push_back(range.high);
    band->percent.push_back(band->percent.back());
  }
  // Margins that differ by the theory's numerical error alone are one band, as no reader sees two.
  constexpr double kVisible = 1.01;
  const bool same = std::ranges::equal(wide.percent, narrow.percent, [](double most, double least) {
    return most <= kVisible * least;
  });
  if (same) return {narrow};
  return {wide, narrow};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A symmetric range for the residuals. Points many times farther out than the typical one would
/// flatten all others: they are shown as triangles at the edge instead. Points within their own
/// margin are what the panel is there for, and have more room.
void fit_residuals(ResidualContent& residual) {
  constexpr double kOutlier = 8;
  constexpr double kOutlierInMargin = 24;
  constexpr double kHeadroom = 1.25;
  std::vector<double> reaches;
  std::vector<bool> within;
  std::vector<double> margins = {0};
  for (const ResidualCurve& curve : residual.curves) {
    for (const ResidualPoint& point : curve.points) {
      reaches.push_back(std::abs(percent(point)) + percent_sem(point));
      within.push_back(reaches.back() <= percent_margin(point));
      margins.push_back(percent_margin(point));
    }
  }
  const double typical = std::max(median(reaches), median(margins));
  double reach = 0;
  for (std::size_t k = 0; k < reaches.size(); ++k) {
    if (reaches[k] <= (within[k] ? kOutlierInMargin : kOutlier) * typical)
      reach = std::max(reach, reaches[k]);
  }
  for (const double value : margins) {
    if (value <= kOutlier * typical) reach = std::max(reach, value);
  }
  const double limit = reach > 0 ? kHeadroom * reach : 1;
  residual.y = {-limit, limit, AxisScale::linear};
  for (const ResidualCurve& curve : residual.curves) {
    for (const ResidualPoint& point : curve.points)
      residual.outliers |= std::abs(percent(point)) > limit;
  }
}

/// The place between two on which a straight edge of the panel passes at `part` of the way.
double between(double left, double right, double part, AxisScale scale) {
  if (scale == AxisScale::log) return left * std::pow(right / left, part);
  return left + part * (right - left);
}

/// Cuts bands off at the panel's edges, with a corner where they cross it. The plotting program
/// moves corners outside to the edge, each on its own, which bends the edges inside.
void clip_bands(std::vector<MarginBand>& bands, double limit, AxisScale x_scale) {
  for (MarginBand& band : bands) {
    MarginBand clipped{band.id, band.colour, {}, {}};
    for (std::size_t k = 0; k < band.x.size(); ++k) {
      const double here = band.percent[k];
      if (k > 0 && (band.percent[k - 1] > limit) != (here > limit)) {
        const double part = (limit - band.percent[k - 1]) / (here - band.percent[k - 1]);
        clipped.x.push_back(between(band.x[k - 1], band.x[k], part, x_scale));
        clipped.percent.push_back(limit);
      }
      clipped.x.push_back(band.x[k]);
      clipped.percent.push_back(std::min(here, limit));
    }
    band = std::move(clipped);
  }
}

}  // namespace

void add_residuals(PanelContent& content,
                   const FigureData& data,
                   std::vector<std::string>& remarks) {
  ResidualContent residual;
  std::size_t without_theory = 0;
  for (const DrawnCurve& curve : content.curves) {
    if (curve.data->theory || curve.reference || curve.constant()) continue;
    const Series& mean = curve.data->mean;
    ResidualCurve drawn{0, curve.style};
    for (const ResidualPoint& point : data.residuals) {
      if (point.series != mean.name || point.point != mean.point || point.x_name != mean.x_name)
        continue;
      const std::string name = name_of(point.series, point.point);
      for (const auto& [quantity, value] : {std::pair{"x", point.x},
                                            std::pair{"theory", point.theory},
                                            std::pair{"difference", point.difference},
                                            std::pair{"standard error", point.sem},
                                            std::pair{"margin", point.margin}}) {
        check_finite(name, quantity, value);
      }
      // A theory of zero, or too near it for a finite quotient, has no relative residual.
      if (!std::isfinite(percent(point)) || !std::isfinite(percent_margin(point))) {
        ++without_theory;
      } else {
        drawn.points.push_back(point);
      }
    }
    std::sort(drawn.points.begin(), drawn.points.end(), [](const auto& a, const auto& b) {
      return a.x < b.x;
    });
    if (!drawn.points.empty()) residual.curves.push_back(std::move(drawn));
  }
  if (without_theory > 0)
    remarks.push_back(fmt::format("{} residuals with theory = 0 not drawn", without_theory));
  if (residual.curves.empty()) return;
  residual.bands = margin_bands(residual.curves, content.x);
  fit_residuals(residual);
  clip_bands(residual.bands, residual.y.high, content.x.scale);
  const std::string beyond = "triangles: residuals beyond the axis";
  if (residual.outliers && std::find(remarks.begin(), remarks.end(), beyond) == remarks.end())
    remarks.push_back(beyond);
  content.residual = std::move(residual);
}

}  // namespace attica::plots

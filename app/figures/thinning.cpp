#include "attica/app/figures/thinning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attica/core/series.hpp"

namespace attica::app {
namespace {

constexpr std::size_t kIntervals = 1000;

/// A curve of either side and its residuals: series, point and name of x.
using Key = std::tuple<std::string, std::string, std::string>;

/// The interval of x on an axis.
class Intervals {
 public:
  Intervals(std::span<const double> x, AxisScale scale) {
    const auto [low, high] = std::ranges::minmax(x);
    log_ = scale == AxisScale::log && low > 0;
    low_ = place(low);
    width_ = (place(high) - low_) / static_cast<double>(kIntervals);
  }
  std::size_t of(double x) const {
    if (!(width_ > 0)) return 0;
    return std::min(static_cast<std::size_t>((place(x) - low_) / width_), kIntervals - 1);
  }

 private:
  double place(double x) const { return log_ ? std::log(x) : x; }
  bool log_ = false;
  double low_ = 0;
  double width_ = 0;
};

/// The x of the points of `values` that are the first, the last, the lowest or the highest of their
/// interval.
void keep_extremes(std::span<const double> x,
                   std::span<const double> values,
                   AxisScale scale,
                   std::set<double>& kept) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const Intervals intervals(x, scale);
  std::array<std::size_t, 4> none{};
  none.fill(kNone);
  std::vector<std::array<std::size_t, 4>> extremes(kIntervals, none);
  for (std::size_t k = 0; k < x.size(); ++k) {
    auto& [first, last, lowest, highest] = extremes[intervals.of(x[k])];
    if (first == kNone || x[k] < x[first]) first = k;
    if (last == kNone || x[k] > x[last]) last = k;
    if (lowest == kNone || values[k] < values[lowest]) lowest = k;
    if (highest == kNone || values[k] > values[highest]) highest = k;
  }
  for (const auto& four : extremes) {
    for (const std::size_t k : four) {
      if (k != kNone) kept.insert(x[k]);
    }
  }
}

/// The scale of x of the panels that draw a series; none if one of them needs all of its points.
std::optional<AxisScale> scale_of(const Figure& figure, const std::string& series) {
  std::optional<AxisScale> scale;
  for (const Panel& panel : figure.panels) {
    const bool drawn = std::ranges::any_of(
        panel.layers, [&](const Layer& layer) { return layer.series == series; });
    if (!drawn) continue;
    if (panel.kind != PanelKind::curves) return std::nullopt;
    if (!scale) scale = panel.x.scale;
  }
  return scale;
}

void leave(const std::set<double>& kept, RecordedCurve& curve) {
  std::size_t to = 0;
  for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
    if (!kept.contains(curve.mean.x[k])) continue;
    curve.mean.x[to] = curve.mean.x[k];
    curve.mean.y[to] = curve.mean.y[k];
    if (!curve.sem.empty()) curve.sem[to] = curve.sem[k];
    if (!curve.sd.empty()) curve.sd[to] = curve.sd[k];
    if (!curve.n.empty()) curve.n[to] = curve.n[k];
    ++to;
  }
  curve.mean.x.resize(to);
  curve.mean.y.resize(to);
  if (!curve.sem.empty()) curve.sem.resize(to);
  if (!curve.sd.empty()) curve.sd.resize(to);
  if (!curve.n.empty()) curve.n.resize(to);
}

}  // namespace

void thin(Figure& figure, FigureData& data) {
  const auto is_long = [](const RecordedCurve& c) { return c.mean.x.size() > kMostDrawn; };
  if (std::ranges::none_of(data.curves, is_long)) return;
  const auto key_of = [](const auto& c) { return Key(c.name, describe(c.point), c.x_name); };
  const auto key_of_residual = [](const ResidualPoint& r) {
    return Key(r.series, describe(r.point), r.x_name);
  };
  std::map<Key, std::set<double>> kept;
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;  // of the points of a series
  for (const RecordedCurve& curve : data.curves) {
    const auto scale = scale_of(figure, curve.mean.name);
    if (is_long(curve) && scale)
      keep_extremes(curve.mean.x, curve.mean.y, *scale, kept[key_of(curve.mean)]);
  }
  std::map<Key, std::pair<std::vector<double>, std::vector<double>>> residuals;
  for (const ResidualPoint& r : data.residuals) {
    auto& [x, share] = residuals[key_of_residual(r)];
    x.push_back(r.x);
    share.push_back(r.theory != 0 ? r.difference / r.theory : r.difference);
  }
  for (const auto& [key, points] : residuals) {
    const auto found = kept.find(key);
    if (found == kept.end()) continue;
    keep_extremes(points.first, points.second, *scale_of(figure, std::get<0>(key)), found->second);
  }
  for (RecordedCurve& curve : data.curves) {
    const auto found = kept.find(key_of(curve.mean));
    if (found == kept.end()) continue;
    auto& [drawn, all] = counts[curve.mean.name];
    const std::size_t before = curve.mean.x.size();
    leave(found->second, curve);
    all = std::max(all, before);
    drawn = std::max(drawn, curve.mean.x.size());
  }
  std::erase_if(data.residuals, [&](const ResidualPoint& r) {
    const auto found = kept.find(key_of_residual(r));
    return found != kept.end() && !found->second.contains(r.x);
  });
  for (const auto& [series, count] : counts) {
    figure.caption += fmt::format(
        "{}Drawn of {}: {} of {} points of a curve, the first, last, lowest and highest, by value "
        "and by residual, of each of {} intervals of x.",
        figure.caption.empty() || figure.caption.ends_with(' ') ? "" : " ",
        series,
        count.first,
        count.second,
        kIntervals);
  }
}

}  // namespace attica::app

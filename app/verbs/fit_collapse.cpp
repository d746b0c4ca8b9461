#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/plots/text.hpp"
#include "attica/solvers/statistics/collapse.hpp"
#include "attica/solvers/statistics/joint_exponents.hpp"

namespace attica::app {
namespace {

const std::vector<std::string> kNumbers{"a", "b", "x_c"};

const CollapseNumber& number_of(const CollapseFit& fit, std::size_t k) {
  return k == 0 ? fit.a : k == 1 ? fit.b : fit.centre;
}

/// What is fitted and where it begins: a from 1, b from 0, x_c held at 0.
CollapseOptions collapse_options(const Options& options, std::uint64_t seed) {
  CollapseOptions collapse{.start = {.a = 1, .b = 0, .centre = 0}, .seed = seed};
  const std::array<double*, 3> value{&collapse.start.a, &collapse.start.b, &collapse.start.centre};
  const std::array<bool*, 3> free{&collapse.fit_a, &collapse.fit_b, &collapse.fit_centre};
  std::array<bool, 3> said{};
  const auto enter = [&](const char* flag, const std::vector<std::string>& list, bool fitted) {
    for (const std::string& one : list) {
      const auto [name, number] = assignment(flag, one);
      const std::size_t k = index_of(flag, name, kNumbers);
      if (said[k]) throw invalid_parameter(flag, one, "a, b and x_c once each");
      said[k] = true;
      *value[k] = number;
      *free[k] = fitted;
    }
  };
  enter("--hold", options.held, false);
  enter("--start", options.starts, true);
  if (!collapse.fit_a && !collapse.fit_b && !collapse.fit_centre)
    throw invalid_parameter("--hold", "a, b, x_c", "something left to be fitted");
  return collapse;
}

/// Curves of the sizes, from cells with sizes (x, L).
std::vector<CollapseCurve> collapse_curves(const SizedSeries& series) {
  std::vector<CollapseCurve> curves;
  std::vector<std::vector<std::uint64_t>> numbers;
  for (const SizedValues& cell : series.cells) {
    auto same = std::find_if(curves.begin(), curves.end(), [&](const CollapseCurve& c) {
      return c.size == cell.sizes[1];
    });
    if (same == curves.end()) {
      same = curves.insert(
          curves.end(), {.size = cell.sizes[1], .x = {}, .values = {}, .shared_replicates = true});
      numbers.push_back(cell.replicates);
    }
    // What has the same replicates everywhere may be paths: they are resampled whole.
    const auto k = static_cast<std::size_t>(same - curves.begin());
    same->shared_replicates = same->shared_replicates && numbers[k] == cell.replicates;
    same->x.push_back(cell.sizes[0]);
    same->values.push_back(cell.values);
  }
  std::ranges::sort(curves, {}, &CollapseCurve::size);
  return curves;
}

/// A logarithmic axis where values are positive and span more than a decade and a half.
AxisScale scale_of(const std::vector<RecordedCurve>& curves, const std::string& series, bool of_x) {
  constexpr double kWide = 30;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const RecordedCurve& c : curves) {
    if (c.mean.name != series) continue;
    for (const double v : of_x ? c.mean.x : c.mean.y) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
  }
  return low > 0 && high > kWide * low ? AxisScale::log : AxisScale::linear;
}

struct CollapseFigure {
  Figure figure;
  FigureData data;
};

CollapseFigure figure_of_collapse(const Options& options,
                                  const FitSubject& subject,
                                  const Point& rest,
                                  const std::vector<CollapseCurve>& curves,
                                  const CollapseFit& fit) {
  const std::string& x = options.sizes.front();
  const std::string& size = options.collapse;
  const bool reciprocal = size.find('/') != std::string::npos;
  const std::string coordinate = reciprocal ? "size" : size;
  const std::string shown_x = escape(x);
  const std::string shown_y = escape(subject.series);
  const std::string shown_size = reciprocal ? fmt::format("({})", escape(size)) : escape(size);
  CollapseFigure made;
  const CollapseQuality raw = collapse_quality(curves, {});
  const auto add = [&](const CollapseQuality& quality, const std::string& series) {
    for (const CollapsePoint& p : quality.points) {
      const Point point{{coordinate, p.size}};
      auto& all = made.data.curves;
      if (all.empty() || all.back().mean.name != series || all.back().mean.point != point) {
        all.emplace_back();
        all.back().mean = {series, point, x, {}, {}};
      }
      RecordedCurve& curve = all.back();
      curve.mean.x.push_back(p.x);
      curve.mean.y.push_back(p.y);
      curve.sem.push_back(p.error);
    }
  };
  add(raw, "measured");
  add(fit.quality, "collapsed");
  for (RecordedCurve& curve : made.data.curves) {
    for (const CollapseCurve& c : curves) {
      if (std::get<double>(curve.mean.point.front().second) != c.size) continue;
      std::vector<std::size_t> order(c.x.size());
      for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
      std::ranges::sort(order, {}, [&](std::size_t k) { return c.x[k]; });
      for (const std::size_t k : order) curve.n.push_back(c.values[k].size());
    }
    for (std::size_t k = 0; k < curve.n.size(); ++k)
      curve.sd.push_back(curve.sem[k] * std::sqrt(static_cast<double>(curve.n[k])));
  }
  const auto panel =
      [&](const std::string& series, const std::string& of_x, const std::string& of_y) {
        return Panel{.x = {.label = of_x, .scale = scale_of(made.data.curves, series, true)},
                     .y = {.label = of_y, .scale = scale_of(made.data.curves, series, false)},
                     .layers = {{.series = series,
                                 .label = fmt::format("{} = {{{}}}", escape(size), coordinate)}},
                     .x_name = x};
      };
  const double centre = fit.centre.value;
  const std::string distance =
      centre == 0
          ? shown_x
          : fmt::format("({} {} {:.4g})", shown_x, centre < 0 ? "+" : "-", std::abs(centre));
  made.figure = {
      .name = options.name.empty() ? subject.series + "-collapse" : options.name,
      .panels = {panel("measured", shown_x, shown_y),
                 panel("collapsed",
                       fmt::format("{} {}^{{{:.3g}}}", distance, shown_size, fit.a.value),
                       fmt::format("{} {}^{{{:.3g}}}", shown_y, shown_size, fit.b.value))},
      .columns = 1,
      .caption = fmt::format(
          "{}{} at several {}, as measured and with the exponents that minimise the quality S = "
          "{:.3g} ({} of {} points have neighbours of other sizes). Error bars: standard errors.",
          subject.series,
          rest.empty() ? "" : " (" + describe(rest) + ")",
          size,
          fit.quality.s,
          fit.quality.compared,
          fit.quality.points.size())};
  return made;
}

Json number_object(const CollapseNumber& n) {
  Json object{{"value", n.value}, {"free", n.free}};
  if (n.free) {
    object["error"] = n.error;
    object["interval95"] = Json::array({n.interval95.low, n.interval95.high});
    object["interval90"] = Json::array({n.interval90.low, n.interval90.high});
  }
  return object;
}

}  // namespace

int fit_collapse_of(const Options& options, const FitSubject& subject) {
  if (options.sizes.size() != 1)
    throw invalid_parameter("--x", options.sizes.back(), "one x with --collapse");
  if (!options.corrections.empty() || options.exponent || options.upper_bound) {
    throw Error(ErrorKind::input,
                "--correction, --exponent and --upper-bound are not of a collapse; expected "
                "--expect a=P");
  }
  const std::vector<std::string> names{options.sizes.front(), options.collapse};
  if (names[0] == names[1])
    throw invalid_parameter("--collapse", names[1], "another coordinate than --x");
  const CollapseOptions collapse = collapse_options(options, subject.seed);
  std::vector<std::pair<std::size_t, double>> expected;
  for (const std::string& one : options.expected) {
    const auto [name, value] = assignment("--expect", one);
    expected.emplace_back(index_of("--expect", name, kNumbers), value);
  }
  std::vector<SizedSeries> all = by_sizes(subject.curves, subject.series, names);
  apply_windows(options, names, all);
  int code = kExitDone;
  Json list = Json::array();
  std::string told;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Point& rest = all[i].rest;
    const std::vector<CollapseCurve> curves = collapse_curves(all[i]);
    const CollapseFit fit = fit_collapse(curves, collapse);
    told += fmt::format("{}{}: {} {}^b against ({} - x_c) {}^a, {} sizes\n",
                        subject.series,
                        rest.empty() ? "" : " (" + describe(rest) + ")",
                        subject.series,
                        names[1],
                        names[0],
                        names[1],
                        curves.size());
    Json object{{"series", subject.series},
                {"point", app::to_json(rest)},
                {"x_name", names[0]},
                {"size", names[1]}};
    for (std::size_t k = 0; k < kNumbers.size(); ++k) {
      const CollapseNumber& n = number_of(fit, k);
      object[kNumbers[k]] = number_object(n);
      told += n.free ? fmt::format("  {:<3} {:.4f} +- {:.4f}, 95 % [{:.4f}, {:.4f}]\n",
                                   kNumbers[k],
                                   n.value,
                                   n.error,
                                   n.interval95.low,
                                   n.interval95.high)
                     : fmt::format("  {:<3} {:g}, held\n", kNumbers[k], n.value);
    }
    told += fmt::format(
        "  quality S {:.3g} ({} of {} points compared; without scaling {}); {} resamples\n",
        fit.quality.s,
        fit.quality.compared,
        fit.quality.points.size(),
        std::isfinite(fit.unscaled) ? fmt::format("{:.3g}", fit.unscaled) : "not comparable",
        fit.resamples);
    object["quality"] = fit.quality.s;
    object["compared"] = fit.quality.compared;
    object["points"] = fit.quality.points.size();
    object["unscaled_quality"] = std::isfinite(fit.unscaled) ? Json(fit.unscaled) : Json();
    object["resamples"] = fit.resamples;
    object["weakness"] = fit.weakness;
    object["predictions"] = Json::array();
    for (const auto& [k, value] : expected) {
      const CollapseNumber& n = number_of(fit, k);
      if (!n.free) throw invalid_parameter("--expect", kNumbers[k], "a number that is fitted");
      const ExponentVerdict verdict = fit.weakness.empty()
                                          ? judge_interval(n.interval90, n.interval95, value)
                                          : ExponentVerdict::undecided;
      code = worse(code, verdict);
      told += fmt::format("  prediction {} = {}: {}", kNumbers[k], value, describe(verdict));
      if (verdict == ExponentVerdict::undecided && !fit.weakness.empty())
        told += " (" + fit.weakness + ")";
      told += "\n";
      object["predictions"].push_back(
          {{"name", kNumbers[k]}, {"expected", value}, {"verdict", describe(verdict)}});
    }
    if (expected.empty() && !fit.weakness.empty())
      told += fmt::format("  weak: {}\n", fit.weakness);
    CollapseFigure made = figure_of_collapse(options, subject, rest, curves, fit);
    if (all.size() > 1) made.figure.name += fmt::format("-{}", i + 1);
    DrawOptions drawing;
    enter_drawing_options(options, drawing);
    drawing.folder = options.out.value_or("figures");
    object["figure"] = Json::array();
    for (const std::filesystem::path& file : draw_files(options, made.figure, made.data, drawing)) {
      told += fmt::format("  figure {}\n", file.string());
      object["figure"].push_back(file.string());
    }
    list.push_back(std::move(object));
  }
  if (options.json) {
    Json object = subject.about;
    object["collapse"] = std::move(list);
    print("fit", object);
  } else {
    put("{}", told);
  }
  return code;
}

}  // namespace attica::app

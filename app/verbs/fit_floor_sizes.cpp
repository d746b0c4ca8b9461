#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/solvers/statistics/exponent_rules.hpp"
#include "attica/solvers/statistics/floor_surface.hpp"

namespace attica::app {
namespace {

/// A fit, and what it says of the exponents that are expected.
struct FloorResult {
  Point rest;
  FloorSurface fit;
  std::vector<std::pair<std::size_t, double>> expected;
  std::vector<ExponentVerdict> verdicts;
};

ExponentVerdict judge_term(const FloorSurface& fit,
                           std::size_t k,
                           double expected,
                           double tolerance) {
  if (!fit.fitted || !fit.weakness.empty()) return ExponentVerdict::undecided;
  const FloorTerm& term = fit.terms[k];
  const std::array windows = {term.without_smallest, term.without_largest};
  return judge_prediction(
      term.interval90,
      term.interval95,
      term.window_dependent ? std::span<const double>(windows) : std::span<const double>(),
      expected,
      tolerance);
}

std::string limits_text(const Interval& i) {
  return fmt::format("95 % [{:.5g}, {:.5g}]", i.low, i.high);
}

std::string floor_text(const FloorResult& r,
                       const std::string& series,
                       const std::vector<std::string>& names) {
  const FloorSurface& fit = r.fit;
  std::string lines = fmt::format("{}{} against {}\n",
                                  series,
                                  r.rest.empty() ? "" : " (" + describe(r.rest) + ")",
                                  fmt::join(names, ", "));
  for (const FloorCell& cell : fit.cells) {
    for (const double x : cell.x) lines += fmt::format("  {:>10.6g}", x);
    if (fit.fitted && cell.used) {
      lines += fmt::format("  {} {:>11.6g}", fit.robust ? "median" : "mean", cell.mean);
      if (cell.error > 0) lines += fmt::format("  error {:.2g}", cell.error);
      lines += fmt::format("  over the fit {:+.2g}", cell.mean - cell.fitted);
    }
    lines += cell.used ? "\n" : "  not used\n";
  }
  if (fit.fitted) {
    lines += fit.floor95.width() > 0
                 ? fmt::format("  floor {:.5g}, {}\n", fit.floor, limits_text(fit.floor95))
                 : fmt::format("  floor {:.5g} (given)\n", fit.floor);
    for (std::size_t k = 0; k < names.size(); ++k) {
      const FloorTerm& term = fit.terms[k];
      lines += fmt::format("  exponent of {} {:.3f}, 95 % [{:.3f}, {:.3f}]",
                           names[k],
                           term.exponent,
                           term.interval95.low,
                           term.interval95.high);
      if (std::isfinite(term.without_smallest))
        lines += fmt::format("; without the smallest {:.3f}, without the largest {:.3f}{}",
                             term.without_smallest,
                             term.without_largest,
                             term.window_dependent ? " (depends on the window)" : "");
      lines +=
          fmt::format("; prefactor {:.5g}, {}\n", term.prefactor, limits_text(term.prefactor95));
    }
    if (fit.other_optimum)
      lines += fmt::format("  another optimum at exponents {:.2f} is not rejected either\n",
                           fmt::join(*fit.other_optimum, ", "));
    if (fit.from_scatter) {
      lines += "  intervals from the scatter about the fit: too few replicates a combination\n";
    } else if (!fit.robust) {
      lines += fmt::format("  chi square {:.1f} of {} degrees of freedom, p = {:.2g}\n",
                           fit.chi_square,
                           fit.degrees,
                           fit.p_value);
    }
  }
  for (std::size_t i = 0; i < r.expected.size(); ++i) {
    lines += fmt::format("  prediction {} of {}: {}",
                         r.expected[i].second,
                         names[r.expected[i].first],
                         describe(r.verdicts[i]));
    if (r.verdicts[i] == ExponentVerdict::undecided && !fit.weakness.empty())
      lines += " (" + fit.weakness + ")";
    lines += "\n";
  }
  if (r.expected.empty() && !fit.weakness.empty())
    lines += fmt::format("  weak: {}\n", fit.weakness);
  return lines;
}

Json floor_object(const FloorResult& r,
                  const std::string& series,
                  const std::vector<std::string>& names,
                  double tolerance) {
  const FloorSurface& fit = r.fit;
  Json cells = Json::array();
  for (const FloorCell& cell : fit.cells) {
    Json one{{"x", cell.x}, {"replicates", cell.replicates}, {"used", cell.used}};
    if (fit.fitted && cell.used) {
      one["mean"] = cell.mean;
      one["fitted"] = cell.fitted;
      if (cell.error > 0) one["error"] = cell.error;
    }
    cells.push_back(std::move(one));
  }
  std::string form = "floor";
  for (const std::string& name : names) form += fmt::format(" + C_{0} {0}^p_{0}", name);
  Json object{{"series", series},
              {"point", app::to_json(r.rest)},
              {"sizes", names},
              {"form", form},
              {"tolerance", tolerance},
              {"robust", fit.robust},
              {"cells", std::move(cells)},
              {"weakness", fit.weakness}};
  if (fit.fitted) {
    Json exponents = Json::array();
    for (std::size_t k = 0; k < names.size(); ++k) {
      const FloorTerm& term = fit.terms[k];
      exponents.push_back({{"name", names[k]},
                           {"exponent", term.exponent},
                           {"interval95", interval(term.interval95)},
                           {"interval90", interval(term.interval90)},
                           {"prefactor", term.prefactor},
                           {"prefactor_interval95", interval(term.prefactor95)},
                           {"window_dependent", term.window_dependent}});
      if (std::isfinite(term.without_smallest)) {
        exponents.back()["without_smallest"] = term.without_smallest;
        exponents.back()["without_largest"] = term.without_largest;
      }
    }
    object["floor"] = fit.floor;
    object["floor_interval95"] = interval(fit.floor95);
    object["exponents"] = std::move(exponents);
    object["covariance"] = fit.covariance;
    object["interval_from"] = fit.from_scatter ? "scatter" : "replicates";
    if (!fit.robust) {
      object["chi_square"] = fit.chi_square;
      object["degrees_of_freedom"] = fit.degrees;
      object["p_value"] = fit.p_value;
    }
    if (fit.other_optimum) object["other_optimum"] = *fit.other_optimum;
  }
  Json verdicts = Json::array();
  for (std::size_t i = 0; i < r.expected.size(); ++i) {
    verdicts.push_back({{"name", names[r.expected[i].first]},
                        {"expected", r.expected[i].second},
                        {"verdict", describe(r.verdicts[i])}});
  }
  object["predictions"] = std::move(verdicts);
  return object;
}

}  // namespace

int fit_floor_sizes_of(const Options& options, const FitSubject& subject) {
  const std::vector<std::string>& names = options.sizes;
  const double tolerance = options.tolerance.value_or(kExponentTolerance);
  std::vector<std::pair<std::size_t, double>> expected;
  for (const std::string& one : options.expected) {
    const auto [name, exponent] = assignment("--expect", one);
    expected.emplace_back(index_of("--expect", name, names), exponent);
  }
  if (names.size() == 1 && options.exponent) expected.emplace_back(0, *options.exponent);
  std::vector<SizedSeries> values = by_sizes(subject.curves, subject.series, names);
  apply_windows(options, names, values);
  int code = kExitDone;
  Json list = Json::array();
  std::string text;
  for (const SizedSeries& one : values) {
    std::vector<ScalingCell> cells;
    for (const SizedValues& v : one.cells) cells.push_back({.x = v.sizes, .samples = v.values});
    FloorResult result{
        .rest = one.rest,
        .fit = fit_floor_surface(
            std::move(cells),
            names,
            {.floor = options.floor_value, .robust = options.robust, .seed = subject.seed}),
        .expected = expected,
        .verdicts = {}};
    for (const auto& [k, exponent] : expected) {
      result.verdicts.push_back(judge_term(result.fit, k, exponent, tolerance));
      code = worse(code, result.verdicts.back());
    }
    text += floor_text(result, subject.series, names);
    list.push_back(floor_object(result, subject.series, names, tolerance));
  }
  if (options.json) {
    Json object = subject.about;
    object["joint"] = std::move(list);
    print("fit", object);
  } else {
    put("{}", text);
  }
  return code;
}

}  // namespace attica::app

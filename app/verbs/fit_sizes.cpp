#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/fit_subject.hpp"
#include "attica/core/matching.hpp"
#include "attica/core/read_number.hpp"
#include "attica/solvers/statistics/joint_exponents.hpp"

namespace attica::app {
namespace {

/// "NAME=LOW:HIGH", of which an end may be left out.
struct Window {
  std::string name;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
Window window_of(const std::string& text) {
  const Error refusal = invalid_parameter("--window", text, "NAME=LOW:HIGH with LOW <= HIGH");
  const auto equals = text.find('=');
  const auto colon = text.find(':', equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || equals == 0 || colon == std::string::npos) throw refusal;
  Window window{.name = text.substr(0, equals)};
  const auto end = [&](std::size_t from, std::size_t to, double& value) {
    if (from == to) return;
    const auto number = read_number(std::string_view(text).substr(from, to - from));
    if (!number) throw refusal;
    value = *number;
  };
  end(equals + 1, colon, window.low);
  end(colon + 1, text.size(), window.high);
  if (!(window.low <= window.high)) throw refusal;
  return window;
}

/// Gives every cell the replicates that never reached their target, and the cap.
std::vector<ScalingCell> scaling_cells(const SizedSeries& values,
                                       const std::vector<SizedSeries>& caps) {
  const auto listed = std::find_if(
      caps.begin(), caps.end(), [&](const SizedSeries& s) { return s.rest == values.rest; });
  std::vector<ScalingCell> cells;
  double anywhere = 0;
  for (const SizedValues& v : values.cells) anywhere = std::max(anywhere, largest_finite(v.values));
  for (const SizedValues& v : values.cells) {
    ScalingCell cell{.x = v.sizes, .samples = v.values, .cap = largest_finite(v.values)};
    if (cell.cap == 0) cell.cap = anywhere;
    if (listed != caps.end()) {
      for (const SizedValues& cap : listed->cells) {
        if (cap.sizes != v.sizes) continue;
        cell.samples.resize(std::max(cell.samples.size(), cap.values.size()),
                            std::numeric_limits<double>::infinity());
        cell.cap = *std::max_element(cap.values.begin(), cap.values.end());
      }
    }
    cells.push_back(std::move(cell));
  }
  if (listed == caps.end()) return cells;
  // Where no replicate at all reached it there is no value to go with the cap.
  for (const SizedValues& cap : listed->cells) {
    const bool known = std::any_of(values.cells.begin(), values.cells.end(), [&](const auto& v) {
      return v.sizes == cap.sizes;
    });
    if (known) continue;
    cells.push_back(
        {.x = cap.sizes,
         .samples = std::vector<double>(cap.values.size(), std::numeric_limits<double>::infinity()),
         .cap = *std::max_element(cap.values.begin(), cap.values.end())});
  }
  return cells;
}

std::vector<SizedSeries> caps_of(const FitSubject& subject, const std::vector<std::string>& sizes) {
  return subject.cap_series.empty() ? std::vector<SizedSeries>{}
                                    : by_sizes(subject.curves, subject.cap_series, sizes);
}

Correction correction_of(const std::string& text, const std::vector<std::string>& names) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  Correction correction{.kind = kind == "log"            ? CorrectionKind::logarithm
                                : kind == "inverse"      ? CorrectionKind::inverse
                                : kind == "inverse-root" ? CorrectionKind::inverse_root
                                                         : CorrectionKind::none};
  if (correction.kind == CorrectionKind::none || colon == std::string::npos) {
    throw invalid_parameter("--correction", text, "log:NAME, inverse:NAME or inverse-root:NAME");
  }
  correction.variable = index_of("--correction", text.substr(colon + 1), names);
  return correction;
}

/// A form that was fitted, and what it says of the exponents that are expected.
struct JointResult {
  Point rest;
  std::string form;
  bool corrected = false;
  JointFit fit;
  std::vector<std::pair<std::size_t, double>> expected;
  std::vector<ExponentVerdict> verdicts;
  std::string reason;                    ///< why there is no verdict
  std::optional<JointBound> bound = {};  ///< the expected exponents as one upper bound
  double tolerance = kExponentTolerance;
  std::vector<double> quantiles = {};  ///< empty: medians
};

/// The size that several quantiles make.
constexpr const char* kTail = "log(1/delta)";

/// The cells once for each quantile, with ln(1/delta) as a size.
std::vector<ScalingCell> by_quantiles(const std::vector<ScalingCell>& cells,
                                      const std::vector<double>& quantiles) {
  std::vector<ScalingCell> all;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    for (const double p : quantiles) {
      ScalingCell& cell = all.emplace_back(cells[k]);
      cell.x.push_back(-std::log1p(-p));
      cell.quantile = p;
      cell.replicates_of = k;
    }
  }
  return all;
}

JointResult judge_joint(const std::vector<ScalingCell>& cells,
                        const std::vector<std::string>& names,
                        const Correction& correction,
                        const std::vector<std::pair<std::size_t, double>>& expected,
                        const Options& options,
                        std::uint64_t seed) {
  const double tolerance = options.tolerance.value_or(kExponentTolerance);
  constexpr double kMedian = 0.5;
  const double quantile = options.quantiles.empty() ? kMedian : options.quantiles.front();
  JointResult result{.rest = {},
                     .form = describe(correction, names[correction.variable]),
                     .corrected = correction.kind != CorrectionKind::none,
                     .fit = fit_joint_exponents(cells, names, correction, seed, quantile),
                     .expected = expected,
                     .verdicts = {},
                     .reason = {},
                     .tolerance = tolerance,
                     .quantiles = options.quantiles};
  const bool poor = result.fit.fitted && result.fit.p_value < kPoorJointFit;
  result.reason = !result.fit.weakness.empty() ? result.fit.weakness
                  : poor ? "the residuals are larger than the errors of the medians"
                         : "";
  if (options.upper_bound) {
    std::vector<StatedExponent> stated;
    for (const auto& [k, exponent] : expected) stated.push_back({k, exponent});
    result.bound = judge_joint_bound(result.fit, stated, tolerance);
    result.verdicts = result.bound->each;
    return result;
  }
  for (const auto& [k, exponent] : expected) {
    result.verdicts.push_back(result.reason.empty()
                                  ? judge_joint_exponent(result.fit, k, exponent, tolerance)
                                  : ExponentVerdict::undecided);
  }
  return result;
}

/// The largest used value of a size over the smallest.
double span_of(const JointFit& fit, std::size_t variable) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const JointMedian& m : fit.medians) {
    if (!m.used) continue;
    least = std::min(least, m.x[variable]);
    most = std::max(most, m.x[variable]);
  }
  return most > 0 ? most / least : 1;
}

std::string text(const JointResult& r,
                 const std::string& series,
                 const std::vector<std::string>& names) {
  const JointFit& fit = r.fit;
  std::string lines;
  if (!r.corrected) {
    lines += fmt::format("{}{} against {}\n",
                         series,
                         r.rest.empty() ? "" : " (" + describe(r.rest) + ")",
                         fmt::join(names, ", "));
    for (const JointMedian& m : fit.medians) {
      std::string place;
      for (const double x : m.x) place += fmt::format("  {:>10.6g}", x);
      lines +=
          fmt::format("{}  {} {:>11.6g}",
                      place,
                      r.quantiles.empty()      ? std::string("median")
                      : r.quantiles.size() > 1 ? std::string("quantile")
                                               : fmt::format("{}-quantile", r.quantiles.front()),
                      m.median);
      if (m.used && fit.fitted)
        lines += fmt::format(
            "  ln error {:.3f}  over the fit {:+.3f}", m.error, std::log(m.median / m.fitted));
      if (m.censored > 0) lines += fmt::format("  {} of {} never reached it", m.censored, m.seeds);
      lines += m.used ? "\n" : "  not used\n";
    }
  }
  lines += r.corrected ? fmt::format("alternative, {}\n", r.form) : fmt::format("{}\n", r.form);
  if (fit.fitted) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      const JointExponent& e = fit.exponents[k];
      lines += fmt::format(
          "  exponent of {} {:.3f} +- {:.3f}, 95 % [{:.3f}, {:.3f}]; without the smallest {:.3f}, "
          "without the largest {:.3f}{}\n",
          names[k],
          e.exponent,
          std::sqrt(fit.covariance[k][k]),
          e.interval95.low,
          e.interval95.high,
          e.without_smallest,
          e.without_largest,
          e.window_dependent ? " (depends on the window)" : "");
    }
    for (std::size_t k = 0; k < names.size(); ++k)
      lines += narrow_span_text("values of " + names[k], span_of(fit, k), r.tolerance);
    lines += fmt::format("  prefactor {:.5g}, 95 % [{:.5g}, {:.5g}]\n",
                         fit.prefactor,
                         fit.prefactor95.low,
                         fit.prefactor95.high);
    for (std::size_t k = 0; k < names.size(); ++k) {
      for (std::size_t l = 0; l < k; ++l) {
        const double norm = std::sqrt(fit.covariance[k][k] * fit.covariance[l][l]);
        if (norm > 0) {
          lines += fmt::format("  correlation of the exponents of {} and {} {:+.2f}\n",
                               names[l],
                               names[k],
                               fit.covariance[k][l] / norm);
        }
      }
    }
    if (r.corrected)
      lines += fmt::format("  c {:.3f}, 95 % [{:.3f}, {:.3f}]\n",
                           fit.correction,
                           fit.correction95.low,
                           fit.correction95.high);
    if (fit.from_scatter)
      lines += "  intervals from the scatter about the fit: too few replicates a combination\n";
    if (fit.degrees > 0 && fit.chi_square > 0)
      lines += fmt::format("  chi square {:.1f} of {} degrees of freedom, p = {:.2g}\n",
                           fit.chi_square,
                           fit.degrees,
                           fit.p_value);
  }
  for (std::size_t i = 0; i < r.expected.size(); ++i) {
    const auto& [k, exponent] = r.expected[i];
    lines += fmt::format("  {} {} of {}: {}",
                         r.bound ? "bound" : "prediction",
                         exponent,
                         names[k],
                         describe(r.verdicts[i]));
    if (!r.bound && r.verdicts[i] == ExponentVerdict::undecided && !r.reason.empty())
      lines += " (" + r.reason + ")";
    lines += "\n";
  }
  if (r.bound) {
    lines += fmt::format("  the bound in all sizes together: {}", describe(r.bound->verdict));
    if (r.bound->verdict == ExponentVerdict::undecided && !r.bound->reason.empty())
      lines += " (" + r.bound->reason + ")";
    lines += "\n";
  }
  if (r.expected.empty() && !r.reason.empty()) lines += fmt::format("  weak: {}\n", r.reason);
  return lines;
}

Json joint_object(const JointResult& r,
                  const std::string& series,
                  const std::vector<std::string>& names) {
  const JointFit& fit = r.fit;
  Json medians = Json::array();
  for (const JointMedian& m : fit.medians) {
    Json median{{"x", m.x},
                {"median", m.median},
                {"replicates", m.seeds},
                {"censored", m.censored},
                {"used", m.used}};
    if (m.used && fit.fitted) {
      median["ln_error"] = m.error;
      median["fitted"] = m.fitted;
    }
    medians.push_back(std::move(median));
  }
  Json object{{"series", series},
              {"point", app::to_json(r.rest)},
              {"sizes", names},
              {"form", r.form},
              {"tolerance", r.tolerance},
              {"medians", std::move(medians)},
              {"weakness", r.reason}};
  Json exponents = Json::array();
  for (std::size_t k = 0; fit.fitted && k < names.size(); ++k) {
    const JointExponent& e = fit.exponents[k];
    exponents.push_back({{"name", names[k]},
                         {"exponent", e.exponent},
                         {"interval95", interval(e.interval95)},
                         {"interval90", interval(e.interval90)},
                         {"without_smallest", e.without_smallest},
                         {"without_largest", e.without_largest},
                         {"window_dependent", e.window_dependent}});
  }
  if (fit.fitted) {
    object["exponents"] = std::move(exponents);
    object["covariance"] = fit.covariance;
    object["intercept"] = fit.intercept;
    object["prefactor"] = fit.prefactor;
    object["prefactor_interval95"] = interval(fit.prefactor95);
    object["interval_from"] = fit.from_scatter ? "scatter" : "replicates";
    object["chi_square"] = fit.chi_square;
    object["degrees_of_freedom"] = fit.degrees;
    object["p_value"] = fit.p_value;
    if (r.corrected) {
      object["correction"] = {{"c", fit.correction}, {"interval95", interval(fit.correction95)}};
    }
  }
  Json verdicts = Json::array();
  for (std::size_t i = 0; i < r.expected.size(); ++i) {
    verdicts.push_back({{"name", names[r.expected[i].first]},
                        {"expected", r.expected[i].second},
                        {"verdict", describe(r.verdicts[i])}});
  }
  constexpr double kMedian = 0.5;
  object["quantile"] = r.quantiles.size() > 1
                           ? Json(r.quantiles)
                           : Json(r.quantiles.empty() ? kMedian : r.quantiles.front());
  if (r.bound) {
    object["verdict"] = describe(r.bound->verdict);
    if (!r.bound->reason.empty()) object["reason"] = r.bound->reason;
  }
  object[r.bound ? "bounds" : "predictions"] = std::move(verdicts);
  return object;
}

}  // namespace

std::pair<std::string, double> assignment(const char* flag, const std::string& text) {
  const auto equals = text.find('=');
  double value = 0;
  if (equals != std::string::npos && equals > 0) {
    const char* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data() + equals + 1, end, value);
    if (code == std::errc() && rest == end && std::isfinite(value))
      return {text.substr(0, equals), value};
  }
  throw invalid_parameter(flag, text, "NAME=NUMBER");
}

std::size_t index_of(const char* flag,
                     const std::string& name,
                     const std::vector<std::string>& names) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw invalid_parameter(flag, name, fmt::format("one of {}", fmt::join(names, ", ")));
  return static_cast<std::size_t>(at - names.begin());
}

void apply_windows(const Options& options,
                   const std::vector<std::string>& names,
                   std::vector<SizedSeries>& all) {
  for (const std::string& text : options.windows) {
    const Window window = window_of(text);
    const std::size_t k = index_of("--window", window.name, names);
    std::size_t left = 0;
    for (SizedSeries& one : all) {
      std::erase_if(one.cells, [&](const SizedValues& cell) {
        const double size = cell.sizes[k];
        return (size < window.low && !same_number(size, window.low)) ||
               (size > window.high && !same_number(size, window.high));
      });
      left += one.cells.size();
    }
    if (left == 0) throw invalid_parameter("--window", text, "a window with something in it");
  }
  std::erase_if(all, [](const SizedSeries& one) { return one.cells.empty(); });
}

std::vector<SizedCells> sized_cells(const Options& options, const FitSubject& subject) {
  std::vector<SizedSeries> values = by_sizes(subject.curves, subject.series, options.sizes);
  std::vector<SizedSeries> caps = caps_of(subject, options.sizes);
  apply_windows(options, options.sizes, values);
  if (!caps.empty()) apply_windows(options, options.sizes, caps);
  std::vector<std::pair<Point, std::size_t>> lengths;
  std::set<std::vector<double>> sizes;
  for (const SizedSeries& one : values) {
    lengths.emplace_back(one.rest, one.cells.size());
    for (const SizedValues& cell : one.cells) sizes.insert(cell.sizes);
  }
  require_curves(lengths, sizes.size());
  std::vector<SizedCells> all;
  for (const SizedSeries& one : values)
    all.push_back({.rest = one.rest, .cells = scaling_cells(one, caps)});
  return all;
}

int worse(int code, ExponentVerdict verdict) {
  if (verdict == ExponentVerdict::violated) return kExitDisagree;
  return verdict == ExponentVerdict::undecided && code == kExitDone ? int{kExitInconclusive} : code;
}

int fit_sizes_of(const Options& options, const FitSubject& subject) {
  std::vector<std::string> names = options.sizes;
  if (options.quantiles.size() > 1) names.emplace_back(kTail);
  std::vector<std::pair<std::size_t, double>> expected;
  for (const std::string& one : options.expected) {
    const auto [name, exponent] = assignment("--expect", one);
    expected.emplace_back(index_of("--expect", name, names), exponent);
  }
  std::vector<Correction> forms(1);
  for (const std::string& one : options.corrections) forms.push_back(correction_of(one, names));
  int code = kExitDone;
  Json list = Json::array();
  std::string told;
  for (const auto& [rest, all] : sized_cells(options, subject)) {
    std::vector<ScalingCell> cells = all;
    if (options.quantiles.size() > 1) cells = by_quantiles(cells, options.quantiles);
    for (const Correction& form : forms) {
      JointResult result = judge_joint(cells, names, form, expected, options, subject.seed);
      result.rest = rest;
      if (!result.corrected) {
        if (result.bound) {
          code = worse(code, result.bound->verdict);
        } else {
          for (const ExponentVerdict verdict : result.verdicts) code = worse(code, verdict);
        }
      }
      told += text(result, subject.series, names);
      list.push_back(joint_object(result, subject.series, names));
    }
  }
  if (options.json) {
    Json object = subject.about;
    object["joint"] = std::move(list);
    print("fit", object);
  } else {
    put("{}", told);
  }
  return code;
}

}  // namespace attica::app

/// @file
/// @brief Figure, margins and claims of a configuration whose sides are brought.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/core/matching.hpp"
#include "attica/sources/expression.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/sources/study.hpp"
#include "attica/sources/theory_text.hpp"
#include "attica/studies/claims.hpp"

namespace attica::sources {
namespace {

/// A label from a name: underscores would lower what follows.
std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::vector<std::string> figure_series(const Configuration& c) {
  if (c.has("figure.series")) return c.texts("figure.series");
  std::vector<std::string> all = names_in(c, "agreement");
  if (all.empty()) all = names_in(c, "theory.expression");
  if (all.empty()) all = theory_text_series(c);
  if (all.empty()) all = {"y"};
  return all;
}

/// Points of the curves that a claim names, each once; one without coordinates if none has any.
std::vector<Point> claimed_points(const Expression& formula, const Observed& observed) {
  std::vector<Point> points;
  for (const ObservedCurve& curve : observed.simulation) {
    if (std::ranges::find(formula.names(), curve.mean.name) == formula.names().end() ||
        curve.mean.x.empty() || curve.mean.point.empty()) {
      continue;
    }
    const auto same = [&](const Point& p) { return same_place(p, curve.mean.point); };
    if (std::ranges::none_of(points, same)) points.push_back(curve.mean.point);
  }
  if (points.empty()) points.emplace_back();
  return points;
}

/// A claim at one point; a series without coordinates has its values at every one.
ClaimResult judge_claim_at(const Configuration& c,
                           const std::string& name,
                           const Observed& observed,
                           const Point& point) {
  const std::string key = "claim." + name + ".";
  Expression formula(key + "expression", c.text(key + "expression"));
  const std::string statement =
      c.has(key + "statement") ? c.text(key + "statement") : formula.formula();
  if (c.has("simulation.summary") && c.flag("simulation.summary"))
    return claim_open(name, statement, "mean, sem and n are no replicates");
  const double rate = c.real(key + "rate");
  auto numbers = model_numbers(c);
  for (const auto& [coordinate, value] : point) {
    if (const auto* number = std::get_if<double>(&value)) numbers.emplace_back(coordinate, *number);
  }
  // The values of each series that the claim names, by replicate, at one x.
  std::map<std::string, std::map<std::uint64_t, double>> values;
  std::optional<double> at;
  if (c.has(key + "x")) at = c.real(key + "x");
  for (const ObservedCurve& curve : observed.simulation) {
    const auto& names = formula.names();
    if (std::find(names.begin(), names.end(), curve.mean.name) == names.end()) continue;
    if (!curve.mean.point.empty() && !same_place(curve.mean.point, point)) continue;
    if (curve.mean.x.empty() || values.count(curve.mean.name) != 0) continue;
    if (!at) at = curve.mean.x.back();
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      if (curve.mean.x[k] != *at && !same_number(curve.mean.x[k], *at)) continue;
      for (std::size_t r = 0; r < curve.values[k].size(); ++r)
        values[curve.mean.name][curve.replicates[k][r]] = curve.values[k][r];
    }
  }
  std::vector<bool> holds;
  for (const std::string& variable : formula.names()) {
    const bool number =
        variable == c.text("x") || std::any_of(numbers.begin(), numbers.end(), [&](const auto& n) {
          return n.first == variable;
        });
    if (!number && values.count(variable) == 0) {
      return claim_open(name,
                        statement,
                        fmt::format("no values of '{}'{}",
                                    variable,
                                    at ? fmt::format(" at {} = {}", c.text("x"), *at) : ""));
    }
  }
  if (values.empty()) return claim_open(name, statement, "the claim names no series");
  for (const auto& first : values.begin()->second) {
    const auto replicate = first.first;
    bool complete = true;
    for (const auto& [series, of_series] : values)
      complete =
          complete && of_series.count(replicate) != 0 && std::isfinite(of_series.at(replicate));
    if (!complete) {
      holds.push_back(false);  // a replicate that failed or ended early shows nothing
      continue;
    }
    const double value = formula([&](const std::string& variable) {
      const auto series = values.find(variable);
      if (series != values.end()) return series->second.at(replicate);
      for (const auto& [n, number] : numbers) {
        if (n == variable) return number;
      }
      return *at;
    });
    // A formula that is no condition would hold of every run in which it is not zero.
    if (std::isfinite(value) && value != 0 && value != 1) {
      return claim_open(
          name,
          statement,
          fmt::format("'{}' is {} at {} = {}, expected a condition such as 'y < 0.05'",
                      formula.formula(),
                      value,
                      c.text("x"),
                      *at));
    }
    holds.push_back(value == 1);
  }
  return claim_rate(name, statement, holds, fmt::format("at {} = {}", c.text("x"), *at), rate);
}

/// A claim at every point of the series that it names.
std::vector<ClaimResult> judge_claim(const Configuration& c,
                                     const std::string& name,
                                     const Observed& observed) {
  const Expression formula("claim." + name + ".expression",
                           c.text("claim." + name + ".expression"));
  std::vector<ClaimResult> all;
  for (const Point& point : claimed_points(formula, observed)) {
    all.push_back(judge_claim_at(c, name, observed, point));
    if (!point.empty()) all.back().name += " (" + describe(point) + ")";
  }
  return all;
}

}  // namespace

Figure sides_figure(const Configuration& c) {
  const auto axis = [&](const std::string& name, const std::string& fallback) {
    const std::string key = "figure." + name;
    return Axis{.label = c.has(key + ".label") ? c.text(key + ".label") : plain(fallback),
                .scale = c.text(key + ".scale") == "log" ? AxisScale::log : AxisScale::linear};
  };
  const bool theory = kind_of(c, "theory") != nullptr;
  const bool simulation = kind_of(c, "simulation") != nullptr;
  Figure figure{.name = "own", .panels = {}, .columns = 1, .caption = {}};
  for (const std::string& series : figure_series(c)) {
    figure.panels.push_back({.kind = PanelKind::curves,
                             .x = axis("x", c.text("x")),
                             .y = axis("y", series),
                             .layers = {{.series = series}},
                             .x_name = "",
                             .residuals = theory && simulation});
  }
  if (figure.panels.size() > 1) figure.columns = 2;
  std::string caption = c.has("figure.caption") ? c.text("figure.caption") + " " : "";
  if (theory) caption += "Lines: theory. ";
  if (simulation) caption += "Points: simulation, mean and standard error over replicates. ";
  const std::vector<AgreementRule> rules = sides_agreement(c);
  const bool margin = std::ranges::any_of(
      rules, [](const AgreementRule& rule) { return rule.relative > 0 || rule.absolute > 0; });
  figure.caption = caption + (theory && simulation && margin ? "Band: declared margin." : "");
  return figure;
}

std::vector<AgreementRule> sides_agreement(const Configuration& c) {
  std::vector<AgreementRule> rules;
  const bool summary = c.has("simulation.summary") && c.flag("simulation.summary");
  const bool exact = is_of_kind(c, "simulation", "expression");
  for (const std::string& series : names_in(c, "agreement")) {
    const std::string key = "agreement." + series + ".";
    rules.push_back(
        {.series = series,
         .relative = c.real(key + "relative"),
         .absolute = c.real(key + "absolute"),
         .tails = summary || c.text(key + "tails") == "normal" ? Tails::normal : Tails::guarded,
         .deterministic = exact || c.flag(key + "deterministic")});
  }
  // Without a theory they meet no margin, but are named.
  if (c.has("check.without_theory")) {
    for (const std::string& series : c.texts("check.without_theory"))
      rules.push_back({.series = series, .relative = 0, .absolute = 0});
  }
  if (rules.empty()) {
    rules.push_back({.series = "*",
                     .relative = 0,
                     .absolute = 0,
                     .tails = summary ? Tails::normal : Tails::guarded,
                     .deterministic = exact});
  }
  return rules;
}

std::vector<ClaimResult> sides_claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  for (const std::string& name : names_in(c, "claim")) {
    for (ClaimResult& claim : judge_claim(c, name, observed)) all.push_back(std::move(claim));
  }
  return all;
}

/// How the sides of a configuration are compared.
BroughtSides brought_sides(const Configuration& c) {
  const auto flag = [&](const char* key) { return c.has(key) && c.flag(key); };
  BroughtSides sides{.theory = kind_of(c, "theory") != nullptr,
                     .x_name = c.text("x"),
                     .compared = names_in(c, "agreement"),
                     .rates = {},
                     .match = {},
                     .from_table = is_of_kind(c, "simulation", "file"),
                     .summary = flag("simulation.summary")};
  for (const std::string& series : sides.compared) {
    if (c.text("agreement." + series + ".tails") == "rate") sides.rates.push_back(series);
  }
  if (c.has("check.match")) sides.match = c.real("check.match");
  // A built-in simulation has points without theory by design; they are held against tables and
  // programs of the theory alone, whose places somebody wrote down.
  const bool started = is_of_kind(c, "theory", "command") || is_of_kind(c, "theory", "training");
  const bool written = is_of_kind(c, "theory", "file") || started;
  sides.partial = (is_of_kind(c, "simulation", "study") && !written) || flag("check.partial");
  sides.ordered = sides.from_table && !sides.summary && !flag("simulation.independent");
  sides.quick = !started && (sides.from_table || !is_of_kind(c, "theory", "study"));
  return sides;
}

}  // namespace attica::sources

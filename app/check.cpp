#include "attica/app/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attica/app/comparison.hpp"
#include "attica/app/exit_codes.hpp"
#include "attica/solvers/sequential.hpp"

namespace attica::app {
namespace {

Json point_object(const Place& at, const PointVerdict& v) {
  Json object{{"series", at.series},
              {"point", to_json(at.point)},
              {"x_name", at.x_name},
              {"x", at.x},
              {"mean", v.sample.mean},
              {"theory", v.theory},
              {"sem", v.sample.sem},
              {"n", v.sample.n},
              {"verdict", describe(v.verdict)},
              {"difference", v.difference},
              {"margin", v.margin},
              {"margin_terms",
               {{"absolute", v.margin_terms.absolute},
                {"relative", v.margin_terms.relative},
                {"finite_size", v.margin_terms.finite_size},
                {"numerical_error", v.margin_terms.numerical_error}}},
              {"tails", v.tails == Tails::normal ? "normal" : "guarded"},
              {"p_agree", v.p_agree},
              {"p_disagree", v.p_disagree},
              {"p_disagree_adjusted", v.p_disagree_adjusted},
              {"skewness", v.sample.skewness},
              {"guard_share", v.guard_share}};
  if (v.status == PointStatus::no_theory) object.erase("theory");
  // What so few replicates cannot tell is null, not zero.
  if (v.sample.n < 2) object["sem"] = nullptr;
  if (v.sample.n == 0) object["mean"] = object["difference"] = nullptr;
  if (v.interval) object["interval90"] = Json::array({v.interval->low, v.interval->high});
  if (v.z) object["z"] = *v.z;
  if (v.verdict == Verdict::inconclusive) {
    object["replicates_needed"] = v.replicates_needed ? Json(*v.replicates_needed) : Json("none");
  }
  if (!v.reason.empty()) object["reason"] = v.reason;
  if (!v.warning.empty()) object["warning"] = v.warning;
  return object;
}

Verdict overall(Verdict points, const std::vector<ClaimResult>& claims) {
  Verdict verdict = points;
  for (const ClaimResult& claim : claims) {
    if (claim.verdict == Verdict::none) continue;
    if (verdict == Verdict::none) verdict = claim.verdict;
    if (claim.verdict == Verdict::disagree) verdict = Verdict::disagree;
    if (claim.verdict == Verdict::inconclusive && verdict == Verdict::agree)
      verdict = Verdict::inconclusive;
  }
  return verdict;
}

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::disagree:
      return kExitDisagree;
    case Verdict::inconclusive:
      return kExitInconclusive;
    case Verdict::agree:
    case Verdict::none:
      return kExitDone;
  }
  return kExitDone;
}

std::string table_row(const Place& at, const PointVerdict& v) {
  std::string row =
      fmt::format("{:<18} {:<24} {:>10.5g} {:>12.5g} {:>12.5g} {:>10.2g} {:>6} {:>10.2g}  {}",
                  at.series,
                  describe(at.point),
                  at.x,
                  v.theory,
                  v.sample.mean,
                  v.sample.sem,
                  v.sample.n,
                  v.margin,
                  describe(v.verdict));
  if (!v.reason.empty()) row += "; " + v.reason;
  return row + '\n';
}

/// The study's guesses at why its theory may fail: one for the run, or one a problem of the sweep.
std::string likely_cause(const Json& diagnostics) {
  std::vector<std::string> causes;
  const auto add = [&](const Json& facts) {
    const auto cause = facts.find("likely_cause");
    if (cause == facts.end() || !cause->is_string() || cause->get<std::string>().empty()) return;
    if (std::find(causes.begin(), causes.end(), cause->get<std::string>()) == causes.end())
      causes.push_back(*cause);
  };
  add(diagnostics);
  for (const Json& facts : diagnostics) {
    if (facts.is_object()) add(facts);
  }
  return fmt::format("{}", fmt::join(causes, "; "));
}

std::string explain(std::span<const Place> where,
                    std::span<const PointVerdict> points,
                    std::span<const ClaimResult> claims,
                    const std::string& cause) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k].verdict == Verdict::disagree) order.push_back(k);
  }
  const auto excess = [&](std::size_t k) {
    return std::abs(points[k].difference) / points[k].margin;
  };
  std::stable_sort(
      order.begin(), order.end(), [&](auto a, auto b) { return excess(a) > excess(b); });
  constexpr std::size_t kNamed = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, order.size()); ++i) {
    const Place& at = where[order[i]];
    const PointVerdict& v = points[order[i]];
    const Point place = joined(at.point, {{at.x_name, at.x}});
    text +=
        fmt::format("disagrees: {} at {}: simulation {:.5g} +- {:.2g}, theory {:.5g} +- {:.2g}\n",
                    at.series,
                    describe(place),
                    v.sample.mean,
                    v.sample.sem,
                    v.theory,
                    v.margin);
  }
  if (order.size() > kNamed) text += fmt::format("and {} more\n", order.size() - kNamed);
  for (const ClaimResult& claim : claims) {
    if (claim.verdict != Verdict::disagree) continue;
    text += fmt::format("fails: {}: {} ({})\n", claim.name, claim.statement, claim.detail);
  }
  if (!cause.empty()) text += fmt::format("likely cause: {}\n", cause);
  return text;
}

JudgeOptions judge_options(const CheckInput& input) {
  return {.family = input.family == "maxt" ? Family::max_statistic : Family::holm,
          .seed = input.seed};
}

/// The verdict of a run that stops as soon as it is decided: its looks, one after the other.
RunVerdict judge_looks(const CheckInput& input, const Comparison& whole) {
  const GroupSequentialRule rule(*input.cap, std::max<std::size_t>(1, whole.with_theory()));
  RunVerdict verdict;
  for (std::size_t look = 0; look < rule.replicates().size(); ++look) {
    if (rule.replicates()[look] > input.replicates) break;
    const Comparison seen =
        compare(input.rules,
                input.theory,
                *input.simulation,
                {.relative_margin = input.post_hoc_margin, .replicates = rule.replicates()[look]});
    verdict = judge_look(seen.points, rule.levels(look), verdict);
  }
  return verdict;
}

}  // namespace

CheckRecord check(const CheckInput& input) {
  const Comparison comparison = compare(
      input.rules, input.theory, *input.simulation, {.relative_margin = input.post_hoc_margin});
  const std::vector<Place>& where = comparison.places;
  const RunVerdict run =
      input.cap ? judge_looks(input, comparison) : judge(comparison.points, judge_options(input));
  CheckRecord record;
  record.verdict = overall(run.verdict, input.claims);
  const bool failed = input.failed || run.failed > 0;
  record.exit_code = failed ? kExitNumerical : exit_code_of(record.verdict);

  Json json_points = Json::array();
  std::string table =
      fmt::format("{:<18} {:<24} {:>10} {:>12} {:>12} {:>10} {:>6} {:>10}  verdict\n",
                  "series",
                  "point",
                  "x",
                  "theory",
                  "mean",
                  "SEM",
                  "n",
                  "margin");
  for (std::size_t k = 0; k < where.size(); ++k) {
    const PointVerdict& v = run.points[k];
    json_points.push_back(point_object(where[k], v));
    table += table_row(where[k], v);
    if (v.status == PointStatus::no_theory || v.sample.n == 0) continue;
    record.residuals.push_back({.series = where[k].series,
                                .point = where[k].point,
                                .x_name = where[k].x_name,
                                .x = where[k].x,
                                .theory = v.theory,
                                .difference = v.difference,
                                .sem = v.sample.sem,
                                .margin = v.margin});
  }
  Json claims = Json::array();
  for (const ClaimResult& claim : input.claims) {
    claims.push_back({{"name", claim.name},
                      {"statement", claim.statement},
                      {"verdict", describe(claim.verdict)},
                      {"detail", claim.detail}});
    table += fmt::format("claim {}: {}: {} ({})\n",
                         claim.name,
                         claim.statement,
                         describe(claim.verdict),
                         claim.detail);
  }
  Json rules = Json::array();
  double margin = 0;  // the widest relative margin; each point lists its own terms
  for (const AgreementRule& rule : input.rules) {
    const double relative = input.post_hoc_margin.value_or(rule.relative);
    margin = std::max(margin, relative);
    rules.push_back({{"series", rule.series}, {"relative", relative}, {"absolute", rule.absolute}});
  }
  record.object = Json{{"study", input.study},
                       {"run", input.run},
                       {"verdict", describe(record.verdict)},
                       {"margin", margin},
                       {"rules", std::move(rules)},
                       {"post_hoc_margin", input.post_hoc_margin.has_value()},
                       {"family", input.cap ? "bonferroni" : input.family},
                       {"counts",
                        {{"compared", run.compared},
                         {"agree", run.agree},
                         {"disagree", run.disagree},
                         {"inconclusive", run.inconclusive},
                         {"failed", run.failed},
                         {"no_theory", run.no_theory},
                         {"not_compared", comparison.not_compared}}},
                       {"points", std::move(json_points)},
                       {"claims", std::move(claims)},
                       {"diagnostics", input.diagnostics}};
  if (run.worst) record.object["worst_point"] = *run.worst;
  if (run.largest_detectable_gap)
    record.object["largest_detectable_gap"] = *run.largest_detectable_gap;

  std::string summary = fmt::format("{}: {} of {} points agree, {} disagree, {} inconclusive",
                                    describe(record.verdict),
                                    run.agree,
                                    run.compared,
                                    run.disagree,
                                    run.inconclusive);
  if (!input.claims.empty()) {
    const auto hold =
        std::count_if(input.claims.begin(), input.claims.end(), [](const ClaimResult& claim) {
          return claim.verdict == Verdict::agree;
        });
    summary = run.compared == 0 ? fmt::format("{}: ", describe(record.verdict)) : summary + "; ";
    const auto stated =
        std::count_if(input.claims.begin(), input.claims.end(), [](const ClaimResult& claim) {
          return claim.verdict != Verdict::none;  // those only report what was found
        });
    summary += fmt::format("{} of {} claims hold", hold, stated);
  }
  if (run.no_theory > 0) summary += fmt::format(", {} without theory", run.no_theory);
  if (comparison.not_compared > 0)
    summary +=
        fmt::format(", {} recorded but outside what the theory claims", comparison.not_compared);
  // How replicates ended, where some are not part of the means.
  std::string ends;
  bool all_well = true;
  const Json statuses = input.diagnostics.value("statuses", Json::object());
  for (const auto& [word, count] : statuses.items()) {
    all_well = all_well && (word == "finished" || word == "converged");
    ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", count.dump(), word);
  }
  if (!all_well) summary += fmt::format("; ended: {}", ends);
  if (failed) summary += "; some replicates or theory points FAILED numerically";
  if (input.post_hoc_margin) summary += fmt::format("; post hoc margin {}", *input.post_hoc_margin);
  if (run.compared == 0 && input.claims.empty()) summary = "NONE: nothing to compare";
  if (input.cap) {
    record.object["stopping"] = {
        {"rule", "group-sequential"}, {"cap", *input.cap}, {"replicates", input.replicates}};
    summary += fmt::format(
        "; stopped by rule at {} of at most {} replicates", input.replicates, *input.cap);
  }
  if (record.verdict == Verdict::disagree) {
    const std::string cause = likely_cause(input.diagnostics);
    record.explanation = explain(where, run.points, input.claims, cause);
    if (!cause.empty()) record.object["likely_cause"] = cause;
  }
  record.text = table + summary + '\n' + record.explanation;
  record.object["summary"] = summary;
  return record;
}

}  // namespace attica::app

#include "attica/app/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "attica/app/exit_codes.hpp"
#include "attica/solvers/statistics/claim_tests.hpp"
#include "attica/solvers/statistics/sequential.hpp"

namespace attica::app {
namespace {

/// The verdicts of a run's claims together: their disagreements share one level.
std::vector<ClaimResult> judged(std::vector<ClaimResult> claims) {
  std::vector<double> p_agree;
  std::vector<double> p_disagree;
  for (const ClaimResult& claim : claims) {
    if (!claim.p_agree || !claim.p_disagree) continue;
    p_agree.push_back(*claim.p_agree);
    p_disagree.push_back(*claim.p_disagree);
  }
  const std::vector<Verdict> verdicts = claim_verdicts(p_agree, p_disagree);
  std::size_t next = 0;
  for (ClaimResult& claim : claims) {
    if (!claim.p_agree || !claim.p_disagree) continue;
    claim.verdict = verdicts[next++];
    claim.refutable = claim.least_p_disagree * static_cast<double>(verdicts.size()) <= kClaimLevel;
    if (claim.refutable) continue;
    claim.detail += "; too few replicates to refute it";
    if (verdicts.size() > 1) claim.detail += fmt::format(" as one of {} claims", verdicts.size());
  }
  return claims;
}

/// AGREE needs every point and every claim, DISAGREE one of them. Claims alone are no agreement of
/// a theory with anything: they hold.
Verdict overall(Verdict points, const std::vector<ClaimResult>& claims) {
  Verdict verdict = points;
  for (const ClaimResult& claim : claims) {
    if (claim.verdict == Verdict::none) continue;
    if (verdict == Verdict::none) verdict = Verdict::claims_hold;
    if (claim.verdict == Verdict::disagree) verdict = Verdict::disagree;
    if (claim.verdict == Verdict::inconclusive && verdict != Verdict::disagree)
      verdict = Verdict::inconclusive;
  }
  return verdict;
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

RunVerdict judge_points(const CheckInput& input, const Comparison& comparison) {
  if (input.cap) return judge_looks(input, comparison);
  return judge(comparison.points,
               {.family = input.family == "maxt" ? Family::max_statistic : Family::holm,
                .seed = input.seed});
}

/// A compared point's x, and how wrong its theory could be.
struct Resolved {
  double x = 0;
  Resolution resolution;
};

Resolution joint_of(std::span<const Resolved> points) {
  std::vector<Resolution> all;
  for (const Resolved& p : points) all.push_back(p.resolution);
  return joint(all);
}

/// Decades of x, or thirds of the points.
std::vector<SeriesResolution::Part> parts(std::vector<Resolved> points) {
  std::stable_sort(
      points.begin(), points.end(), [](const Resolved& a, const Resolved& b) { return a.x < b.x; });
  const bool decades = points.front().x > 0 && points.back().x >= 10 * points.front().x;
  std::vector<SeriesResolution::Part> all;
  std::size_t begin = 0;
  for (std::size_t k = 1; k <= points.size(); ++k) {
    const bool ends =
        k == points.size() ||
        (decades ? std::floor(std::log10(points[k].x)) != std::floor(std::log10(points[begin].x))
                 : 3 * k / points.size() != 3 * begin / points.size() &&
                       points[k].x != points[k - 1].x);
    if (!ends) continue;
    all.push_back({.first = points[begin].x,
                   .last = points[k - 1].x,
                   .resolution = joint_of(std::span(points).subspan(begin, k - begin))});
    begin = k;
  }
  return all;
}

/// How wrong the theory of each series could be, in the order of the record.
std::vector<SeriesResolution> resolutions(const Comparison& comparison, const RunVerdict& run) {
  std::vector<std::pair<std::string, std::vector<Resolved>>> series;
  for (std::size_t k = 0; k < comparison.places.size(); ++k) {
    if (run.points[k].status == PointStatus::no_theory) continue;
    const Place& place = comparison.places[k];
    auto at = std::find_if(
        series.begin(), series.end(), [&](const auto& s) { return s.first == place.series; });
    if (at == series.end()) at = series.insert(series.end(), {place.series, {}});
    at->second.push_back({place.x, resolution(comparison.points[k], run.points[k], run.compared)});
  }
  std::vector<SeriesResolution> all;
  for (const auto& [name, points] : series)
    all.push_back({.series = name, .resolution = joint_of(points), .parts = parts(points)});
  return all;
}

/// Nothing could be compared because runs left the finite numbers.
bool diverged(const Json& diagnostics) {
  const auto statuses = diagnostics.find("statuses");
  return statuses != diagnostics.end() && statuses->contains("diverged");
}

}  // namespace

CheckRecord check(const CheckInput& input) {
  Comparison comparison = compare(
      input.rules, input.theory, *input.simulation, {.relative_margin = input.post_hoc_margin});
  RunVerdict points = judge_points(input, comparison);
  // Where no margin was declared there is nothing to agree within: z values, and no verdict.
  if (points.compared > 0 && points.no_margin == points.compared) points.verdict = Verdict::none;
  std::vector<ClaimResult> claims = judged(input.claims);
  const Verdict verdict = overall(points.verdict, claims);
  std::vector<SeriesResolution> resolution;
  if (!input.cap) resolution = resolutions(comparison, points);
  return {.study = input.study,
          .run = input.run,
          .verdict = verdict,
          .failed = input.failed || points.failed > 0 ||
                    (verdict == Verdict::none && diverged(input.diagnostics)),
          .places = std::move(comparison.places),
          .points = std::move(points),
          .outside = std::move(comparison.outside),
          .why_outside = input.why_outside,
          .resolution = std::move(resolution),
          .claims = std::move(claims),
          .rules = {input.rules.begin(), input.rules.end()},
          .post_hoc_margin = input.post_hoc_margin,
          .family = input.cap ? "bonferroni" : input.family,
          .replicates = input.replicates,
          .cap = input.cap,
          .planted = input.planted,
          .edited = input.edited,
          .looks = input.looks,
          .judged_before = input.judged_before,
          .likely_cause = verdict == Verdict::disagree ? likely_cause(input.diagnostics) : "",
          .diagnostics = input.diagnostics};
}

int exit_code(Verdict verdict) {
  if (verdict == Verdict::disagree) return kExitDisagree;
  return verdict == Verdict::inconclusive ? kExitInconclusive : kExitDone;
}

int CheckRecord::exit_code() const { return failed ? kExitNumerical : app::exit_code(verdict); }

double CheckRecord::margin() const {
  double widest = 0;
  for (const AgreementRule& rule : rules)
    widest = std::max(widest, post_hoc_margin.value_or(rule.relative));
  return widest;
}

std::vector<ResidualPoint> CheckRecord::residuals() const {
  std::vector<ResidualPoint> shown;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const PointVerdict& v = points.points[k];
    if (v.status == PointStatus::no_theory || v.sample.n == 0) continue;
    shown.push_back({.series = places[k].series,
                     .point = places[k].point,
                     .x_name = places[k].x_name,
                     .x = places[k].x,
                     .theory = v.theory,
                     .difference = v.difference,
                     .sem = v.sample.sem,
                     .margin = v.margin});
  }
  return shown;
}

}  // namespace attica::app

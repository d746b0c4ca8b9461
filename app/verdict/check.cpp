#include "attica/app/verdict/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "attica/app/command/exit_codes.hpp"
#include "attica/core/matching.hpp"
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

ComparisonOptions comparison_options(
    const CheckInput& input, std::uint64_t replicates = std::numeric_limits<std::uint64_t>::max()) {
  return {.relative_margin = input.post_hoc_margin,
          .replicates = replicates,
          .brought = input.brought,
          .match = input.match,
          .rates = input.rates,
          .left_out = input.left_out,
          .theory_replicates = input.theory_replicates};
}

/// Takes out the points at which the theory diverges or failed, which its diagnostics list: they
/// have no theory, but are not left out by mistake.
void keep_unexplained(std::vector<Unmatched>& unmatched, const Json& diagnostics) {
  for (const char* list : {"diverged", "failed"}) {
    for (const Json& entry : diagnostics.value(list, Json::array())) {
      if (!entry.is_object() || !entry.contains("series")) continue;
      std::erase_if(unmatched, [&](const Unmatched& u) {
        const Point whole = joined(u.place.point, {{u.place.x_name, u.place.x}});
        return entry["series"] == u.place.series &&
               std::ranges::all_of(whole, [&](const auto& coordinate) {
                 const auto at = entry.find(coordinate.first);
                 if (at == entry.end()) return false;
                 const auto* number = std::get_if<double>(&coordinate.second);
                 return number != nullptr ? at->is_number() && same_number(*number, *at)
                                          : *at == std::get<std::string>(coordinate.second);
               });
      });
    }
  }
}

/// Points at which replicates have no value.
std::vector<Incomplete> incomplete(const Replicates& simulation) {
  std::vector<Incomplete> all;
  for (const ObservedCurve& curve : simulation.curves()) {
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      const auto failed = static_cast<std::size_t>(
          std::ranges::count_if(curve.values[k], [](double y) { return !std::isfinite(y); }));
      if (failed == 0) continue;
      all.push_back(
          {.place = {curve.mean.name, curve.mean.point, curve.mean.x_name, curve.mean.x[k]},
           .failed = failed,
           .replicates = curve.values[k].size()});
    }
  }
  return all;
}

/// Series of which the theory leaves out more points than a tenth of what is expected.
std::vector<Withdrawn> withdrawn(const CheckInput& input, const Comparison& comparison) {
  constexpr double kLeastShare = 0.9;
  ExpectedPoints compared = compared_points(comparison);
  std::vector<Withdrawn> all;
  for (const auto& [series, expected] : input.expected) {
    if (input.left_out.contains(series)) continue;
    const std::size_t count = compared[series];
    if (static_cast<double>(count) < kLeastShare * static_cast<double>(expected))
      all.push_back({series, count, expected});
  }
  return all;
}

/// The points with their error bars wider by a factor.
std::vector<ComparedPoint> widened(std::vector<ComparedPoint> points, double factor) {
  for (ComparedPoint& point : points) {
    const SampleSummary sample = summarise(point.replicates);
    if (sample.failed > 0 || sample.n < kFewestReplicates) continue;
    if (!point.success_fraction) {
      for (double& y : point.replicates) y = sample.mean + factor * (y - sample.mean);
      const double other = summarise(point.theory_replicates).mean;
      for (double& y : point.theory_replicates) y = other + factor * (y - other);
      continue;
    }
    // A rate has its error from the number of trials.
    const auto trials =
        std::max(kFewestReplicates,
                 static_cast<std::size_t>(static_cast<double>(sample.n) / (factor * factor)));
    const auto successes =
        static_cast<std::size_t>(std::lround(sample.mean * static_cast<double>(trials)));
    point.replicates.assign(trials, 0.0);
    std::fill_n(point.replicates.begin(), successes, 1.0);
  }
  return points;
}

/// Correlation of the replicates of the compared points.
std::optional<SerialCorrelation> correlation_of(const CheckInput& input,
                                                const Comparison& comparison) {
  if (!input.ordered) return std::nullopt;
  std::set<std::string> compared;
  std::vector<OrderedReplicates> others;
  std::vector<std::uint64_t> numbers;
  for (std::size_t k = 0; k < comparison.places.size(); ++k) {
    const ComparedPoint& point = comparison.points[k];
    if (point.theory) compared.insert(place_name(comparison.places[k]));
    for (std::uint64_t r = numbers.size(); r < point.theory_replicates.size(); ++r)
      numbers.push_back(r);
  }
  for (const ComparedPoint& point : comparison.points) {
    if (point.theory_replicates.empty()) continue;
    others.push_back(
        {point.theory_replicates, std::span(numbers).first(point.theory_replicates.size())});
  }
  std::vector<OrderedReplicates> points;
  for (const ObservedCurve& curve : input.simulation->curves()) {
    const Series& mean = curve.mean;
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      if (compared.contains(place_name({mean.name, mean.point, mean.x_name, mean.x[k]})))
        points.push_back({curve.values[k], curve.replicates[k]});
    }
  }
  const std::optional<SerialCorrelation> own = serial_correlation(points);
  if (others.empty()) return own;
  // Of two sides the one whose error bars are further from right counts for both.
  const std::optional<SerialCorrelation> other = serial_correlation(others);
  const auto factor = [](const std::optional<SerialCorrelation>& side) {
    return side && side->correlated() ? side->cautious_factor() : 0;
  };
  return factor(other) > factor(own) ? other : own;
}

GroupSequentialRule stopping_rule(const CheckInput& input, const Comparison& whole) {
  return {*input.cap, std::max<std::size_t>(1, whole.with_theory())};
}

/// The verdict of a run that stops as soon as it is decided: its looks, one after the other.
RunVerdict judge_looks(const CheckInput& input, const Comparison& whole) {
  const GroupSequentialRule rule = stopping_rule(input, whole);
  RunVerdict verdict;
  for (std::size_t look = 0; look < rule.replicates().size(); ++look) {
    if (rule.replicates()[look] > input.replicates) break;
    const Comparison seen = compare(input.rules,
                                    input.theory,
                                    *input.simulation,
                                    comparison_options(input, rule.replicates()[look]));
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

bool is_control(std::span<const AgreementRule> rules, const std::string& series) {
  const auto rule = std::ranges::find(rules, series, &AgreementRule::series);
  return rule != rules.end() && rule->control;
}

/// Takes the controls out of the judged points and their places. All were judged as one family.
std::vector<Control> take_controls(std::span<const AgreementRule> rules,
                                   std::vector<Place>& places,
                                   RunVerdict& run) {
  std::vector<Control> controls;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (!is_control(rules, places[k].series)) {
      if (kept != k) {
        places[kept] = std::move(places[k]);
        run.points[kept] = std::move(run.points[k]);
      }
      ++kept;
      continue;
    }
    auto at = std::ranges::find(controls, places[k].series, &Control::series);
    if (at == controls.end())
      at =
          controls.insert(controls.end(), {.series = places[k].series, .places = {}, .points = {}});
    at->places.push_back(std::move(places[k]));
    at->points.points.push_back(std::move(run.points[k]));
  }
  if (controls.empty()) return controls;
  places.resize(kept);
  run.points.resize(kept);
  summarise(run);
  for (Control& control : controls) summarise(control.points);
  return controls;
}

/// A compared point's x, and how wrong its theory could be.
struct Resolved {
  double x = 0;
  Resolution resolution;
  bool scales = true;  ///< false: a theory of 0, which no factor moves
};

std::vector<Resolution> of_scaling(std::span<const Resolved> points) {
  std::vector<Resolution> all;
  for (const Resolved& p : points) {
    if (p.scales) all.push_back(p.resolution);
  }
  return all;
}

Resolution joint_of(std::span<const Resolved> points) { return joint(of_scaling(points)); }

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
std::vector<SeriesResolution> resolutions(const CheckInput& input,
                                          const Comparison& comparison,
                                          const RunVerdict& run) {
  std::optional<LookLevels> last;
  if (input.cap) {
    const GroupSequentialRule rule = stopping_rule(input, comparison);
    last = rule.levels(rule.replicates().size() - 1);
  }
  const auto at = [&](std::size_t k) {
    return last ? resolution_by_cap(comparison.points[k], run.points[k], *last, *input.cap)
                : resolution(comparison.points[k], run.points[k], run.compared);
  };
  std::vector<std::pair<std::string, std::vector<Resolved>>> series;
  for (std::size_t k = 0; k < comparison.places.size(); ++k) {
    if (run.points[k].status == PointStatus::no_theory) continue;
    const Place& place = comparison.places[k];
    if (is_control(input.rules, place.series)) continue;
    auto of = std::find_if(
        series.begin(), series.end(), [&](const auto& s) { return s.first == place.series; });
    if (of == series.end()) of = series.insert(series.end(), {place.series, {}});
    of->second.push_back({place.x, at(k), run.points[k].theory != 0});
  }
  std::vector<SeriesResolution> all;
  for (const auto& [name, points] : series)
    all.push_back({.series = name,
                   .resolution = joint_of(points),
                   .coarsest_third = coarsest_third(of_scaling(points)),
                   .parts = parts(points)});
  return all;
}

/// Nothing could be compared because runs left the finite numbers.
bool diverged(const Json& diagnostics) {
  const auto statuses = diagnostics.find("statuses");
  return statuses != diagnostics.end() && statuses->contains("diverged");
}

}  // namespace

ExpectedPoints compared_points(const Comparison& comparison) {
  ExpectedPoints counts;
  for (std::size_t k = 0; k < comparison.places.size(); ++k) {
    if (comparison.points[k].theory) ++counts[comparison.places[k].series];
  }
  return counts;
}

namespace {

/// Whether theory and means are the same numbers at all points with an error bar, and at two of
/// them none of few digits, which may be equal by chance.
bool equal_to_theory(const RunVerdict& run) {
  constexpr double kEqual = 1e-12;
  constexpr double kFewDigits = 1000;
  constexpr std::size_t kFewest = 2;
  std::size_t long_ones = 0;
  for (const PointVerdict& v : run.points) {
    if (v.status != PointStatus::compared || !v.z) continue;
    if (std::abs(v.difference) > kEqual * std::abs(v.theory)) return false;
    const double scaled = kFewDigits * std::abs(v.theory);
    long_ones += std::abs(scaled - std::round(scaled)) > kEqual * kFewDigits * scaled ? 1 : 0;
  }
  return long_ones >= kFewest;
}

/// At how many points the theory's own error is larger than its value, and than the margin.
std::size_t with_wide_errors(const RunVerdict& run) {
  return static_cast<std::size_t>(std::ranges::count_if(run.points, [](const PointVerdict& v) {
    const double own = v.margin_terms.finite_size + v.margin_terms.numerical_error;
    return v.status == PointStatus::compared && v.margin > 0 && own > v.margin - own &&
           own >= std::abs(v.theory) && v.theory != 0;
  }));
}

}  // namespace

CheckRecord check(const CheckInput& input) {
  Comparison comparison =
      compare(input.rules, input.theory, *input.simulation, comparison_options(input));
  keep_unexplained(comparison.unmatched, input.diagnostics);
  RunVerdict points = judge_points(input, comparison);
  // Of mean, sem and n no replicate was seen that could be identical.
  if (input.summary) {
    for (PointVerdict& v : points.points) {
      const bool undecided = v.status == PointStatus::compared &&
                             v.verdict == Verdict::inconclusive && v.sample.n >= 2;
      if (undecided && v.sample.identical()) v.reason = "sem is 0: no standard error to judge by";
    }
  }
  // Where no margin was declared there is nothing to agree within: z values, and no verdict.
  if (points.compared > 0 && points.no_margin == points.compared) points.verdict = Verdict::none;
  std::vector<ClaimResult> claims = judged(input.claims);
  Verdict verdict = overall(points.verdict, claims);
  const std::optional<SerialCorrelation> serial = correlation_of(input, comparison);
  const bool correlated = serial && serial->correlated();
  // A margin was declared, and nothing met it: of what was brought, or of points that the theory
  // leaves out. Where a preset expects to compare nothing, nothing is missing.
  const std::vector<Withdrawn> missing = withdrawn(input, comparison);
  const bool left_alone = input.brought || comparison.not_compared.size() + points.no_theory > 0;
  // The claims of a study that has no theory at all at its settings are all that it says.
  const bool claims_alone =
      !input.brought && input.theory.empty() && verdict == Verdict::claims_hold;
  const bool nothing =
      left_alone && !claims_alone && input.expected.empty() && points.compared == 0 &&
      std::ranges::any_of(input.rules, [&](const AgreementRule& rule) {
        return rule.absolute > 0 || input.post_hoc_margin.value_or(rule.relative) > 0;
      });
  // Error bars that are too small make a verdict of what is none, and accuse a theory that is
  // right.
  bool stands = false;
  if (correlated && (points.verdict == Verdict::agree || points.verdict == Verdict::disagree)) {
    const RunVerdict wider =
        judge(widened(comparison.points, serial->cautious_factor()), {.details = false});
    stands = wider.verdict == points.verdict;
  }
  const bool left_out = !comparison.unmatched.empty() && !input.partial;
  if (verdict == Verdict::agree || verdict == Verdict::claims_hold) {
    if (left_out || (correlated && !stands) || nothing || !missing.empty())
      verdict = Verdict::inconclusive;
  }
  if (verdict == Verdict::disagree && points.verdict == Verdict::disagree && correlated &&
      !stands && std::ranges::none_of(claims, [](const ClaimResult& c) {
        return c.verdict == Verdict::disagree;
      })) {
    verdict = Verdict::inconclusive;
  }
  if (verdict == Verdict::none && (nothing || !missing.empty())) verdict = Verdict::inconclusive;
  std::vector<SeriesResolution> resolution = resolutions(input, comparison, points);
  // Controls are of the family whose verdict this is, but agreement with them is none with a user's
  // theory.
  const std::size_t failed = points.failed;
  std::vector<Control> controls = take_controls(input.rules, comparison.places, points);
  const bool equal = input.brought && equal_to_theory(points);
  const std::size_t wide_errors = input.brought ? with_wide_errors(points) : 0;
  if (verdict == Verdict::agree && points.compared == 0)
    verdict = claims.empty() ? Verdict::none : Verdict::claims_hold;
  return {.study = input.study,
          .run = input.run,
          .verdict = verdict,
          .failed = input.failed || (failed > 0 && !input.failures_known) ||
                    (verdict == Verdict::none && diverged(input.diagnostics)),
          .places = std::move(comparison.places),
          .points = std::move(points),
          .controls = std::move(controls),
          .not_compared = std::move(comparison.not_compared),
          .why_not_compared = input.why_not_compared,
          .incomplete = incomplete(*input.simulation),
          .unmatched = std::move(comparison.unmatched),
          .partial = input.partial,
          .theory_only = comparison.theory_only,
          .without_rule = std::move(comparison.without_rule),
          .expected = input.expected,
          .withdrawn = missing,
          .nothing_compared = nothing,
          .serial = serial,
          .serial_stands = stands,
          .copies = input.brought && !input.summary ? copied_replicates(input.simulation->curves())
                                                    : std::nullopt,
          .from_table = input.from_table,
          .equal = equal,
          .wide_errors = wide_errors,
          .resolution = std::move(resolution),
          .claims = std::move(claims),
          .rules = {input.rules.begin(), input.rules.end()},
          .post_hoc_margin = input.post_hoc_margin,
          .family = input.cap ? "bonferroni" : input.family,
          .replicates = input.replicates,
          .cap = input.cap,
          .perturbed = input.perturbed,
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

#include "attica/solvers/statistics/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/fractions.hpp"
#include "attica/solvers/statistics/multiple_tests.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

// Recommended with the guard: of a point alone, and of one that shares its series' skewness.
constexpr std::size_t kFewestGuardedReplicates = 30;
constexpr std::size_t kFewestPooledReplicates = 20;
constexpr double kPower = 0.9;  // promised by replicates_needed and detectable_gap

// Interval and p-values of a success fraction.
void measure_fraction(const ComparedPoint& point, PointVerdict& v) {
  const Count count = count_successes(point.replicates);
  const Interval fraction = clopper_pearson(count, kAgreeLevel);
  v.interval = {fraction.low - v.theory, fraction.high - v.theory};
  v.p_agree = fraction_agree_p_value(count, v.theory, v.margin);
  v.p_disagree = fraction_disagree_p_value(count, v.theory, v.margin);
}

// Replicates without any spread. Those of a bounded quantity may well end at its bound.
std::string identical_reason(const SampleSummary& sample) {
  return fmt::format(
      "all {} replicates are {:.6g} to all digits: seeds not used, a value at its bound, or no "
      "randomness that reaches it",
      sample.n,
      sample.mean);
}

// What to do about values that count as failures although they are numbers.
std::string too_large(std::span<const double> replicates) {
  const auto count = std::ranges::count_if(
      replicates, [](double y) { return std::isfinite(y) && std::abs(y) > kLargestValue; });
  return count == 0
             ? std::string()
             : fmt::format(", {} of them beyond {}: choose another unit", count, kLargestValue);
}

// Everything about a point that does not depend on the other points; the verdict is still open if
// reason is empty.
PointVerdict measure(const ComparedPoint& point, const SampleSummary& summary, bool details) {
  validate(point.margin);
  PointVerdict v;
  v.sample = summary;
  v.margin_terms = point.margin;
  v.tails = point.tails;
  v.success_fraction = point.success_fraction;
  const SampleSummary& sample = v.sample;
  if (!point.theory || !std::isfinite(*point.theory)) {
    v.status = PointStatus::no_theory;
    v.reason = "no theory value";
    return v;
  }
  v.theory = *point.theory;
  v.margin = point.margin.total(v.theory);
  v.difference = sample.mean - v.theory;
  const bool two = sample.other.has_value();
  const bool random = sample.n >= 2 && (two ? sample.other->n >= 2 && sample.standard_error() > 0
                                            : !sample.identical());
  if (random) v.z = v.difference / sample.standard_error();
  if (random && details) {
    const Interval mean = mean_interval(sample, kAgreeLevel, v.tails);
    v.interval = {mean.low - v.theory, mean.high - v.theory};
    const double plain = mean_interval(sample, kAgreeLevel, Tails::normal).width();
    v.guard_share = 1 - plain / mean.width();
  } else if (sample.n >= 2) {
    v.interval = {v.difference, v.difference};
  }
  if (point.margin.numerical_error > v.margin / 2) v.warning = "theory too coarse for this margin";

  if (sample.failed > 0 || sample.n == 0) {
    v.status = PointStatus::failed;
    v.reason = fmt::format("{} of {} replicates failed{}",
                           sample.failed,
                           point.replicates.size(),
                           too_large(point.replicates));
  } else if (two && (sample.other->failed > 0 || sample.other->n == 0)) {
    v.status = PointStatus::failed;
    v.reason = fmt::format("{} of {} replicates of the theory's side failed{}",
                           sample.other->failed,
                           point.theory_replicates.size(),
                           too_large(point.theory_replicates));
  } else if (!point.margin.declared(v.theory)) {
    v.status = PointStatus::no_margin;
    v.reason = point.margin.relative > 0 ? "theory is 0: give an absolute margin" : "no margin";
  } else if (sample.n < kFewestReplicates) {
    v.reason = sample.n == 1
                   ? "one replicate has no error bar"
                   : fmt::format("{} replicates, fewer than {}", sample.n, kFewestReplicates);
  } else if (two && sample.other->n < kFewestReplicates) {
    v.reason = fmt::format(
        "{} replicates of the theory's side, fewer than {}", sample.other->n, kFewestReplicates);
  } else if (point.success_fraction) {
    measure_fraction(point, v);
  } else if (random) {
    v.p_agree = agree_p_value(sample, v.difference, v.margin, v.tails);
    v.p_disagree = disagree_p_value(sample, v.difference, v.margin, v.tails);
  } else if (point.deterministic) {
    const bool within = std::abs(v.difference) <= v.margin;
    (within ? v.p_agree : v.p_disagree) = kSmallestPValue;
  } else {
    v.reason = identical_reason(sample);
  }
  return v;
}

bool tested(const PointVerdict& v) { return v.reason.empty(); }
bool random(const PointVerdict& v) { return v.z.has_value(); }

void adjust(std::span<const ComparedPoint> points,
            const JudgeOptions& options,
            std::span<PointVerdict> verdicts) {
  std::vector<std::size_t> family;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].status != PointStatus::no_theory) family.push_back(i);
  }
  std::vector<double> p;
  for (std::size_t i : family) p.push_back(verdicts[i].p_disagree);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t k = 0; k < family.size(); ++k) {
    verdicts[family[k]].p_disagree_adjusted = adjusted[k];
  }
  if (options.family == Family::holm) return;

  // Sign flips replace Holm wherever the replicates are random; exact comparisons keep theirs.
  std::vector<std::size_t> flipped;
  std::vector<std::vector<double>> differences;
  std::vector<double> margins;
  for (std::size_t i : family) {
    const PointVerdict& v = verdicts[i];
    if (!tested(v) || !random(v) || points[i].success_fraction) continue;
    if (v.tails != Tails::normal) {
      throw invalid_parameter("family", "maxt", "replicates declared to have normal tails");
    }
    if (v.sample.other) throw invalid_parameter("family", "maxt", "a theory without replicates");
    flipped.push_back(i);
    margins.push_back(v.margin);
    auto& d = differences.emplace_back(points[i].replicates);
    for (double& value : d) value -= v.theory;
  }
  const SignFlips flips = sign_flip_test(differences, margins, options.seed);
  for (std::size_t k = 0; k < flipped.size(); ++k) {
    verdicts[flipped[k]].p_disagree_adjusted = flips.adjusted[k];
  }
}

// Plans at the difference and spread seen.
void look_ahead(PointVerdict& v, std::size_t family) {
  const std::size_t n = v.sample.n;
  PowerProblem problem{.margin = v.margin,
                       .delta = v.difference,
                       .sigma = v.sample.standard_error() * std::sqrt(static_cast<double>(n)),
                       .guard = guard_scale(v.sample, v.tails, n)};
  v.detectable_gap = detectable_gap(n, problem, family, kPower);
  if (v.verdict != Verdict::inconclusive) return;
  const std::size_t fewest = v.tails != Tails::guarded ? kFewestReplicates
                             : v.sample.pooled         ? kFewestPooledReplicates
                                                       : kFewestGuardedReplicates;
  const std::size_t first = std::max(n + 1, fewest);
  problem.guard = guard_scale(v.sample, v.tails, first);
  const bool inside = std::abs(v.difference) < v.margin;
  v.replicates_needed = least_replicates(
      [&](std::size_t count) {
        return inside ? agree_power(count, problem) : disagree_power(count, problem, family);
      },
      kPower,
      first);
  v.reason = v.replicates_needed
                 ? fmt::format("about {} replicates would decide", *v.replicates_needed)
                 : "difference too close to the margin for any number of replicates";
  v.guard_alone = v.tails == Tails::guarded &&
                  agree_p_value(v.sample, v.difference, v.margin, Tails::normal) <= kAgreeLevel;
  if (v.guard_alone) v.reason += "; without the guard against heavy tails it would agree";
}

}  // namespace

std::string_view describe(Verdict verdict) {
  switch (verdict) {
    case Verdict::agree:
      return "AGREE";
    case Verdict::disagree:
      return "DISAGREE";
    case Verdict::inconclusive:
      return "INCONCLUSIVE";
    case Verdict::none:
      return "NONE";
    case Verdict::claims_hold:
      return "CLAIMS HOLD";
  }
  return "";
}

double Margin::total(double theory) const {
  return absolute + relative * std::abs(theory) + finite_size + numerical_error;
}

bool Margin::declared(double theory) const {
  if (absolute > 0) return true;
  return relative > 0 ? theory != 0 : finite_size > 0;
}

void validate(const Margin& margin) {
  for (double term :
       {margin.absolute, margin.relative, margin.finite_size, margin.numerical_error}) {
    require(std::isfinite(term) && term >= 0, "margin", term, "finite numbers >= 0");
  }
}

std::vector<SampleSummary> summarise(std::span<const ComparedPoint> points) {
  std::vector<SampleSummary> all;
  all.reserve(points.size());
  std::vector<SampleSummary> others(points.size());
  std::map<std::size_t, std::vector<SampleSummary*>> series;
  std::map<std::size_t, std::vector<SampleSummary*>> other_series;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ComparedPoint& point = points[i];
    all.push_back(summarise(point.replicates));
    others[i] = summarise(point.theory_replicates);
    const bool guarded = point.tails == Tails::guarded && !point.success_fraction;
    if (!point.series || !guarded) continue;
    series[*point.series].push_back(&all.back());
    if (others[i].n > 0) other_series[*point.series].push_back(&others[i]);
  }
  for (const auto& [number, members] : series) pool_skewness(members);
  for (const auto& [number, members] : other_series) pool_skewness(members);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].theory_replicates.empty()) continue;
    const SampleSummary& other = others[i];
    // A relative margin moves with the other mean: of |mu - t| < r t the second mean counts 1 + r
    // times on the side where it counts most.
    const double scale = 1 + points[i].margin.relative;
    const GuardScale guard = guard_scale(other, points[i].tails, other.n);
    all[i].other = OtherSide{.n = other.n,
                             .failed = other.failed,
                             .sem = other.identical() ? 0 : scale * other.sem,
                             .guard = {scale * guard.upper, scale * guard.lower}};
  }
  return all;
}

RunVerdict judge(std::span<const ComparedPoint> points, const JudgeOptions& options) {
  RunVerdict run;
  run.points.reserve(points.size());
  const std::vector<SampleSummary> samples = summarise(points);
  for (std::size_t i = 0; i < points.size(); ++i)
    run.points.push_back(measure(points[i], samples[i], options.details));
  adjust(points, options, run.points);
  const auto family = static_cast<std::size_t>(std::ranges::count_if(
      run.points, [](const auto& v) { return v.status != PointStatus::no_theory; }));
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    PointVerdict& v = run.points[i];
    if (v.status == PointStatus::no_theory) continue;
    v.verdict = v.p_disagree_adjusted <= kDisagreeLevel ? Verdict::disagree
                : v.p_agree <= kAgreeLevel              ? Verdict::agree
                                                        : Verdict::inconclusive;
    if (!options.details || !tested(v)) continue;
    if (!points[i].success_fraction) {
      if (random(v)) look_ahead(v, family);
    } else if (v.verdict == Verdict::inconclusive) {
      v.reason = fmt::format("rate {:.4g}, 90 % interval {:.4g} to {:.4g}",
                             v.sample.mean,
                             v.theory + v.interval->low,
                             v.theory + v.interval->high);
    }
  }
  summarise(run);
  return run;
}

void summarise(RunVerdict& run) {
  auto with_status = [&](PointStatus status) {
    return static_cast<std::size_t>(std::ranges::count(run.points, status, &PointVerdict::status));
  };
  auto with_verdict = [&](Verdict verdict) {
    return static_cast<std::size_t>(
        std::ranges::count(run.points, verdict, &PointVerdict::verdict));
  };
  run.no_theory = with_status(PointStatus::no_theory);
  run.no_margin = with_status(PointStatus::no_margin);
  run.failed = with_status(PointStatus::failed);
  run.compared = run.points.size() - run.no_theory;
  run.agree = with_verdict(Verdict::agree);
  run.disagree = with_verdict(Verdict::disagree);
  run.inconclusive = with_verdict(Verdict::inconclusive);
  run.verdict = run.compared == 0           ? Verdict::none
                : run.disagree > 0          ? Verdict::disagree
                : run.agree == run.compared ? Verdict::agree
                                            : Verdict::inconclusive;

  run.worst.reset();
  run.largest_detectable_gap.reset();
  auto rank = [](const PointVerdict& v) {
    return std::tuple(v.p_disagree_adjusted, -v.p_agree, v.margin - std::abs(v.difference));
  };
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    const PointVerdict& v = run.points[i];
    if (v.status == PointStatus::no_theory) continue;
    if (!run.worst || rank(v) < rank(run.points[*run.worst])) run.worst = i;
    if (v.detectable_gap) {
      run.largest_detectable_gap =
          std::max(run.largest_detectable_gap.value_or(0), *v.detectable_gap);
    }
  }
}

}  // namespace attica

/// @file
/// @brief The verdict in words: what `attica check` prints.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attica/app/verdict/verdict.hpp"

namespace attica::app {
namespace {

constexpr std::size_t kNamed = 6;  ///< points that are named one by one
constexpr double kPercent = 100;

std::string table_row(const Place& at, const PointVerdict& v) {
  const auto shown = [](bool there, const char* format, double value) {
    return there ? fmt::format(fmt::runtime(format), value) : "";
  };
  // One replicate has no error bar, and not every point has a theory.
  const bool known = v.status != PointStatus::no_theory;
  std::string row =
      fmt::format("{:<18} {:<24} {:>10.5g} {:>12} {:>12.5g} {:>10} {:>7} {:>6} {:>10}  {}",
                  at.series,
                  describe(at.point),
                  at.x,
                  shown(known, "{:.5g}", v.theory),
                  v.sample.mean,
                  shown(v.sample.n >= 2, "{:.2g}", v.sample.sem),
                  shown(known && v.z, "{:.2f}", v.z.value_or(0)),
                  v.sample.n,
                  shown(known, "{:.2g}", v.margin),
                  describe(v.verdict));
  if (!v.reason.empty()) row += "; " + v.reason;
  return row + '\n';
}

std::string claims_text(const std::vector<ClaimResult>& claims) {
  const auto hold = std::count_if(claims.begin(), claims.end(), [](const ClaimResult& claim) {
    return claim.verdict == Verdict::agree;
  });
  const auto stated = std::count_if(claims.begin(), claims.end(), [](const ClaimResult& claim) {
    return claim.verdict != Verdict::none;  // those only report what was found
  });
  return fmt::format("{} of {} claims hold", hold, stated);
}

/// How replicates ended, where some are not part of the means; empty if all went well.
std::string ends_text(const Json& statuses) {
  std::string ends;
  bool all_well = true;
  for (const auto& [word, count] : statuses.items()) {
    all_well = all_well && (word == "finished" || word == "converged");
    ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", count.dump(), word);
  }
  return all_well ? "" : "; ended: " + ends;
}

/// The verdict, and how many points and claims it rests on.
std::string counts_text(const CheckRecord& record) {
  const RunVerdict& run = record.points;
  if (record.verdict == Verdict::none && run.compared > 0 && run.no_margin == run.compared) {
    return fmt::format("NONE: 0 of {} points have a margin to agree within; z values alone",
                       run.compared);
  }
  const std::string points = fmt::format("{} of {} points agree, {} disagree, {} inconclusive",
                                         run.agree,
                                         run.compared,
                                         run.disagree,
                                         run.inconclusive);
  const std::string head = fmt::format("{}: ", describe(record.verdict));
  if (record.claims.empty()) return head + points;
  return head + (run.compared == 0 ? "" : points + "; ") + claims_text(record.claims);
}

/// What to do about an INCONCLUSIVE.
std::string advice(const CheckRecord& record) {
  if (record.verdict != Verdict::inconclusive) return {};
  std::size_t most = 0;
  bool all = true;
  const auto count = [&](const RunVerdict& run) {
    for (const PointVerdict& v : run.points) {
      if (v.verdict != Verdict::inconclusive) continue;
      most = std::max(most, v.replicates_needed.value_or(0));
      all = all && v.replicates_needed;
    }
  };
  count(record.points);
  for (const Control& control : record.controls) count(control.points);
  for (const ClaimResult& claim : record.claims) {
    if (claim.verdict == Verdict::inconclusive)
      most = std::max(most, claim.replicates_needed.value_or(0));
  }
  if (most <= record.replicates) return {};
  // Numbers that were brought are not run here.
  if (record.from_table) {
    return fmt::format(
        "about {} replicates a point would decide{}\n", most, all ? "" : " the rest");
  }
  return fmt::format("to decide{}: run it again with another --seed and {}--replicates {}\n",
                     all ? "" : " the rest",
                     record.cap ? "--until-decided " : "",
                     most);
}

/// A line for all controls that agree, and one for each of the others with its worst point.
std::string controls_text(const CheckRecord& record) {
  std::vector<std::string> good;
  std::string lines;
  for (const Control& control : record.controls) {
    const RunVerdict& run = control.points;
    if (run.verdict == Verdict::agree) good.push_back(control.series);
    if (run.verdict == Verdict::agree || !run.worst) continue;
    const PointVerdict& v = run.points[*run.worst];
    lines += fmt::format(
        "control {}: {} of {} points agree; {}: simulation {:.5g} +- {:.2g}, theory {:.5g} +- "
        "{:.2g}{}{}\n",
        describe(run.verdict),
        run.agree,
        run.compared,
        place_name(control.places[*run.worst]),
        v.sample.mean,
        v.sample.sem,
        v.theory,
        v.margin,
        v.reason.empty() ? "" : ": ",
        v.reason);
  }
  if (!good.empty()) lines += fmt::format("controls agree: {}\n", fmt::join(good, ", "));
  return lines;
}

/// What was brought and not compared, and what else keeps a verdict from being more: a line each.
std::string reservations_text(const CheckRecord& record) {
  std::string lines = controls_text(record);
  for (std::size_t k = 0; k < std::min(kNamed, record.unmatched.size()); ++k) {
    const Unmatched& u = record.unmatched[k];
    lines += fmt::format("no theory: {}: {}\n", place_name(u.place), u.why);
  }
  if (record.unmatched.size() > kNamed)
    lines += fmt::format("and {} more without theory\n", record.unmatched.size() - kNamed);
  if (!record.unmatched.empty() && !record.partial)
    lines += "--partial (check.partial = true) accepts simulated points without theory\n";
  if (!record.without_rule.empty()) {
    lines += fmt::format("not compared, as no [agreement.NAME] names them: series {}\n",
                         fmt::join(record.without_rule, ", "));
  }
  for (const Withdrawn& w : record.withdrawn) {
    lines += fmt::format(
        "fewer points than expected: {} of {} points of {} are compared: the theory has no value "
        "at the others, or leaves them out; INCONCLUSIVE at best\n",
        w.compared,
        w.expected,
        w.series);
  }
  if (record.nothing_compared && record.unmatched.empty())
    lines += "no recorded point is compared with a theory: INCONCLUSIVE at best\n";
  if (record.serial && record.serial->correlated()) {
    lines += fmt::format(
        "correlated replicates: autocorrelation {:.2f} in the order of replicates (p = {:.2g}): "
        "error bars are too small by a factor of {:.2g}{}; thin a chain, or name what replicates "
        "share by --cluster NAME (simulation.cluster), whose means are then the replicates\n",
        record.serial->correlation,
        record.serial->p_value,
        record.serial->factor(),
        record.serial_stands ? "; the verdict stands with error bars wider by the square of that"
                             : "");
  }
  if (record.points.no_margin > 0 && record.points.no_margin == record.points.compared)
    lines += "no margin was declared: --margin or --absolute gives a verdict\n";
  return lines;
}

/// Points that the guard against heavy tails alone keeps from AGREE, of numbers that were brought.
std::string guard_text(const CheckRecord& record) {
  if (record.verdict != Verdict::inconclusive || !record.from_table) return {};
  const std::vector<PointVerdict>& points = record.points.points;
  const auto guarded = std::ranges::count_if(points, &PointVerdict::guard_alone);
  if (guarded == 0) return {};
  const auto undecided = static_cast<std::ptrdiff_t>(record.points.inconclusive);
  return fmt::format(
      "{} of {} undecided point{} would agree without the guard against heavy tails. "
      "--tails normal (tails = \"normal\" in [agreement.SERIES]) takes it off, which assumes that "
      "replicates have no long tail on either side: with skewed ones it errs more often than in "
      "5 % of runs. Decide it from how the replicates are made, not from this verdict\n",
      guarded,
      undecided,
      undecided == 1 ? "" : "s");
}

/// How the replicates without a value ended, if only one word says it.
std::string failure_word(const CheckRecord& record) {
  std::string word;
  const Json statuses = record.diagnostics.value("statuses", Json::object());
  for (const auto& [status, count] : statuses.items()) {
    if (status == "finished" || status == "converged") continue;
    if (!word.empty()) return "failed";
    word = status;
  }
  return word.empty() ? "failed" : word;
}

/// Points at which some replicates, or all, have no value.
std::string incomplete_text(const CheckRecord& record) {
  const std::string word = failure_word(record);
  std::string lines;
  for (std::size_t k = 0; k < std::min(kNamed, record.incomplete.size()); ++k) {
    const Incomplete& point = record.incomplete[k];
    lines += fmt::format("no value: {}: {} of {} {}{}\n",
                         place_name(point.place),
                         point.failed,
                         point.replicates,
                         word,
                         point.failed < point.replicates ? "; the mean is that of the others" : "");
  }
  if (record.incomplete.size() > kNamed)
    lines += fmt::format("and {} more points\n", record.incomplete.size() - kNamed);
  return lines;
}

/// Every compared point with its z: what a run without a margin has to say.
std::string z_text(const CheckRecord& record) {
  std::string lines;
  std::size_t shown = 0;
  for (std::size_t k = 0; k < record.places.size(); ++k) {
    const PointVerdict& v = record.points.points[k];
    if (v.status == PointStatus::no_theory) continue;
    constexpr std::size_t kMost = 40;
    if (++shown > kMost) continue;
    lines += fmt::format("{}: simulation {:.5g}{}, theory {:.5g}, z {}\n",
                         place_name(record.places[k]),
                         v.sample.mean,
                         v.sample.n >= 2 ? fmt::format(" +- {:.2g}", v.sample.sem) : "",
                         v.theory,
                         v.z ? fmt::format("{:+.2f}", *v.z) : "unknown: no standard error");
    if (shown == kMost) lines += "attica check RUN has all points\n";
  }
  return lines;
}

/// Which points and claims are undecided, the hardest first.
std::string undecided_text(const CheckRecord& record) {
  const std::vector<PointVerdict>& points = record.points.points;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k].verdict == Verdict::inconclusive) order.push_back(k);
  }
  constexpr auto kNever = std::numeric_limits<std::size_t>::max();
  const auto needed = [&](std::size_t k) { return points[k].replicates_needed.value_or(kNever); };
  std::stable_sort(
      order.begin(), order.end(), [&](auto a, auto b) { return needed(a) > needed(b); });
  std::string lines;
  for (std::size_t i = 0; i < std::min(kNamed, order.size()); ++i) {
    const std::size_t k = order[i];
    const std::string& why = points[k].reason;
    lines += fmt::format(
        "undecided: {}{}{}\n", place_name(record.places[k]), why.empty() ? "" : ": ", why);
  }
  if (order.size() > kNamed) lines += fmt::format("and {} more\n", order.size() - kNamed);
  for (const ClaimResult& claim : record.claims) {
    if (claim.verdict != Verdict::inconclusive) continue;
    lines += fmt::format("undecided: {}: {} ({})\n", claim.name, claim.statement, claim.detail);
  }
  return lines;
}

/// "2.4 % lower or 4.8 % higher": errors of a theory, sign by sign; empty if none is detected.
std::string signs_text(const Detection& d) {
  std::string words;
  if (d.lower) words = fmt::format("{:.2g} % lower", kPercent * *d.lower);
  if (d.higher) {
    words += fmt::format("{}{:.2g} % higher", d.lower ? " or " : "", kPercent * *d.higher);
  }
  return words;
}

/// That of the harder sign, for lists.
std::string harder_sign(const Detection& d) {
  return d.both() ? fmt::format("{:.2g} %", kPercent * *d.both()) : "none below 100 %";
}

/// By when: a run that stops early would have gone on.
std::string by_cap(const CheckRecord& record) {
  return record.cap ? fmt::format(" by the cap of {} replicates", *record.cap) : "";
}

/// The resolution of an AGREE, series by series.
std::string resolution_text(const CheckRecord& record) {
  if (record.verdict != Verdict::agree) return "";
  std::string lines;
  for (const SeriesResolution& r : record.resolution) {
    const Detection& detected = r.resolution.not_agree;
    const std::string signs = signs_text(detected);
    if (signs.empty()) {
      lines += fmt::format("Resolution: no error of a factor in {} would be detected\n", r.series);
      continue;
    }
    lines += fmt::format("Resolution: an error of {} in {} would have been detected{} ({}",
                         detected.both() ? harder_sign(detected) : signs,
                         r.series,
                         by_cap(record),
                         detected.both() ? signs : "of the other sign, none below 100 %");
    if (const std::string rejected = signs_text(r.resolution.disagree); !rejected.empty())
      lines += fmt::format("; DISAGREE from {}", rejected);
    lines += ')';
    // Where an error of a part alone would have gone through most easily.
    const auto size = [](const SeriesResolution::Part& part) {
      return part.resolution.not_agree.both().value_or(INFINITY);
    };
    if (r.parts.size() > 1) {
      const auto coarse = std::ranges::max_element(r.parts, std::less<>(), size);
      const std::string where =
          coarse->first == coarse->last
              ? fmt::format("at {:.4g}", coarse->first)
              : fmt::format("between {:.4g} and {:.4g}", coarse->first, coarse->last);
      lines += fmt::format("; in the coarsest third of its points alone: {}; {} alone: {}",
                           harder_sign(r.coarsest_third.not_agree),
                           where,
                           harder_sign(coarse->resolution.not_agree));
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace

std::string summary(const CheckRecord& record) {
  const RunVerdict& run = record.points;
  const std::string ends = ends_text(record.diagnostics.value("statuses", Json::object()));
  std::string line = fmt::format("{}: nothing to compare{}", describe(record.verdict), ends);
  if (run.compared == 0 && record.claims.empty() && !record.unmatched.empty())
    line += fmt::format(", {} without theory", record.unmatched.size());
  if (run.compared > 0 || !record.claims.empty()) {
    line = counts_text(record);
    if (run.no_theory > 0) line += fmt::format(", {} without theory", run.no_theory);
    if (record.theory_only > 0)
      line += fmt::format(", {} of the theory without simulation", record.theory_only);
    if (!record.withdrawn.empty()) {
      std::size_t expected = 0;
      for (const auto& [series, count] : record.expected) {
        if (std::ranges::find(record.controls, series, &Control::series) == record.controls.end())
          expected += count;
      }
      line += fmt::format(", of {} expected", expected);
    }
    if (!record.not_compared.empty()) {
      line += fmt::format(", {} not compared", record.not_compared.size());
    }
    for (const Control& control : record.controls) {
      if (control.points.verdict == Verdict::agree || control.points.verdict == Verdict::none)
        continue;
      line += fmt::format("; control {}: {}", control.series, describe(control.points.verdict));
    }
    line += ends;
    if (record.failed) line += "; some replicates or theory points FAILED numerically";
    if (record.copies) line += "; " + copies_text(*record.copies);
    if (record.equal)
      line +=
          "; theory and simulation are equal at every point, to the last digit: is one made of the "
          "other?";
    if (record.wide_errors > 0) {
      line += fmt::format(
          "; at {} of {} points the error that the theory states is larger than its value: it "
          "admits anything from 0 to twice the theory",
          record.wide_errors,
          record.points.compared);
    }
    if (record.post_hoc_margin)
      line += fmt::format("; post hoc margin {}", *record.post_hoc_margin);
    if (!record.judged_before.empty()) {
      line +=
          fmt::format("; margin given after run {} had shown the same data", record.judged_before);
    }
    if (const double margin = record.margin(); margin >= 1) {
      line += fmt::format(
          "; a relative margin of {} is {} the theory: it admits anything from 0 to twice the "
          "theory",
          margin,
          std::isfinite(kPercent * margin) ? fmt::format("{:.3g} % of", kPercent * margin)
                                           : "beyond");
    }
    if (record.looks.size() > 1) {
      line += fmt::format(
          "; {} looks at these data, at {} replicates: the stated error rates are those of one "
          "look",
          record.looks.size(),
          fmt::join(record.looks, ", "));
    }
  }
  if (record.cap) {
    line += fmt::format(
        "; stopped by rule at {} of at most {} replicates", record.replicates, *record.cap);
  }
  if (!record.perturbed.empty())
    line += fmt::format("; perturbed theory: {}", fmt::join(record.perturbed, ", "));
  if (!record.edited.empty())
    line += fmt::format("; edited after the run: {}", fmt::join(record.edited, ", "));
  return line;
}

std::string resolution_line(const CheckRecord& record) {
  if (record.verdict != Verdict::agree || record.resolution.empty()) return "";
  const auto size = [](const SeriesResolution& r) {
    return r.resolution.not_agree.both().value_or(INFINITY);
  };
  const auto blunt = std::ranges::max_element(record.resolution, std::less<>(), size);
  const Detection& detected = blunt->resolution.not_agree;
  if (!detected.both()) {
    // Of a wide margin one sign is detected, the other is not.
    const std::string one = signs_text(detected);
    return one.empty()
               ? fmt::format("no error of a factor in {} would have been detected", blunt->series)
               : fmt::format(
                     "an error in {} would have been detected from {}; of the "
                     "other sign, none below 100 %",
                     blunt->series,
                     one);
  }
  return fmt::format("an error of {} in {} would have been detected{}{}",
                     harder_sign(detected),
                     blunt->series,
                     by_cap(record),
                     record.resolution.size() > 1
                         ? fmt::format(" (the coarsest of {} series)", record.resolution.size())
                         : "");
}

std::string explanation(const CheckRecord& record) {
  const std::string always = reservations_text(record) + incomplete_text(record);
  if (record.verdict == Verdict::inconclusive)
    return undecided_text(record) + always + guard_text(record) + advice(record);
  if (record.verdict == Verdict::none) return z_text(record) + always;
  if (record.verdict != Verdict::disagree) return always;
  const std::vector<PointVerdict>& points = record.points.points;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (points[k].verdict == Verdict::disagree) order.push_back(k);
  }
  const auto excess = [&](std::size_t k) {
    return std::abs(points[k].difference) / points[k].margin;
  };
  std::stable_sort(
      order.begin(), order.end(), [&](auto a, auto b) { return excess(a) > excess(b); });
  std::string lines;
  for (std::size_t i = 0; i < std::min(kNamed, order.size()); ++i) {
    const Place& at = record.places[order[i]];
    const PointVerdict& v = points[order[i]];
    lines +=
        fmt::format("disagrees: {} at {}: simulation {:.5g} +- {:.2g}, theory {:.5g} +- {:.2g}\n",
                    at.series,
                    describe(joined(at.point, {{at.x_name, at.x}})),
                    v.sample.mean,
                    v.sample.sem,
                    v.theory,
                    v.margin);
  }
  if (order.size() > kNamed) lines += fmt::format("and {} more\n", order.size() - kNamed);
  for (const ClaimResult& claim : record.claims) {
    if (claim.verdict != Verdict::disagree) continue;
    lines += fmt::format("fails: {}: {} ({})\n", claim.name, claim.statement, claim.detail);
  }
  if (!record.likely_cause.empty()) lines += fmt::format("likely cause: {}\n", record.likely_cause);
  return lines + always;
}

std::string text(const CheckRecord& record) {
  std::string lines =
      fmt::format("{:<18} {:<24} {:>10} {:>12} {:>12} {:>10} {:>7} {:>6} {:>10}  verdict\n",
                  "series",
                  "point",
                  "x",
                  "theory",
                  "mean",
                  "SEM",
                  "z",
                  "n",
                  "margin");
  for (std::size_t k = 0; k < record.places.size(); ++k)
    lines += table_row(record.places[k], record.points.points[k]);
  for (const Place& at : record.not_compared) {
    lines +=
        fmt::format("{:<18} {:<24} {:>10.5g}  not compared\n", at.series, describe(at.point), at.x);
  }
  if (!record.not_compared.empty() && !record.why_not_compared.empty())
    lines += fmt::format("not compared: {}\n", record.why_not_compared);
  const bool early =
      record.cap &&
      std::any_of(
          record.points.points.begin(), record.points.points.end(), [&](const PointVerdict& v) {
            return v.sample.n > 0 && v.sample.n < record.replicates;
          });
  if (early) {
    lines += fmt::format(
        "points of fewer than {} replicates were decided at an earlier look, with "
        "the data of then; results.csv and the figure show all\n",
        record.replicates);
  }
  for (const ClaimResult& claim : record.claims) {
    lines += fmt::format("claim {}: {}: {} ({})\n",
                         claim.name,
                         claim.statement,
                         describe(claim.verdict),
                         claim.detail);
    if (claim.verdict == Verdict::inconclusive && claim.replicates_needed) {
      lines.pop_back();
      lines += fmt::format("; {} replicates would decide it\n", *claim.replicates_needed);
    }
  }
  return lines + summary(record) + '\n' + resolution_text(record) +
         // The table has named the undecided points, and has their z.
         (record.verdict == Verdict::inconclusive
              ? reservations_text(record) + incomplete_text(record) + guard_text(record) +
                    advice(record)
          : record.verdict == Verdict::none ? reservations_text(record) + incomplete_text(record)
                                            : explanation(record));
}

}  // namespace attica::app

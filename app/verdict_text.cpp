/// @file
/// @brief The verdict in words: what `attica check` prints.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/app/verdict.hpp"

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
  for (const PointVerdict& v : record.points.points) {
    if (v.verdict != Verdict::inconclusive) continue;
    most = std::max(most, v.replicates_needed.value_or(0));
    all = all && v.replicates_needed;
  }
  for (const ClaimResult& claim : record.claims) {
    if (claim.verdict == Verdict::inconclusive)
      most = std::max(most, claim.replicates_needed.value_or(0));
  }
  if (most <= record.replicates) return {};
  return fmt::format("to decide{}: run it anew with another --seed and {}--replicates {}\n",
                     all ? "" : " the rest",
                     record.cap ? "--until-decided " : "",
                     most);
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

/// What an AGREE is worth, series by series.
std::string resolution_text(const CheckRecord& record) {
  if (record.verdict != Verdict::agree) return "";
  std::string lines;
  for (const SeriesResolution& r : record.resolution) {
    if (!r.resolution.not_agree) {
      lines +=
          fmt::format("resolution: no factor on the theory of {} would be noticed\n", r.series);
      continue;
    }
    lines += fmt::format("resolution: a theory {:.2g} % off in {} would not have agreed",
                         kPercent * *r.resolution.not_agree,
                         r.series);
    if (r.resolution.disagree) {
      lines +=
          fmt::format(", {:.2g} % off would have been rejected", kPercent * *r.resolution.disagree);
    }
    // Where an error of a part alone would have gone through most easily.
    const auto blunt =
        std::max_element(r.parts.begin(), r.parts.end(), [](const auto& a, const auto& b) {
          constexpr double kNever = INFINITY;
          return a.resolution.not_agree.value_or(kNever) < b.resolution.not_agree.value_or(kNever);
        });
    if (r.parts.size() > 1) {
      lines += fmt::format("; at worst {} between {:.4g} and {:.4g}",
                           blunt->resolution.not_agree
                               ? fmt::format("{:.2g} %", kPercent * *blunt->resolution.not_agree)
                               : "nothing is noticed",
                           blunt->first,
                           blunt->last);
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace

std::string summary(const CheckRecord& record) {
  const RunVerdict& run = record.points;
  const std::string ends = ends_text(record.diagnostics.value("statuses", Json::object()));
  std::string line = "NONE: nothing to compare" + ends;
  if (run.compared > 0 || !record.claims.empty()) {
    line = counts_text(record);
    if (run.no_theory > 0) line += fmt::format(", {} without theory", run.no_theory);
    if (!record.outside.empty()) {
      line +=
          fmt::format(", {} recorded but outside what the theory claims", record.outside.size());
    }
    line += ends;
    if (record.failed) line += "; some replicates or theory points FAILED numerically";
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
  if (!record.planted.empty())
    line += fmt::format("; planted in the theory: {}", fmt::join(record.planted, ", "));
  if (!record.edited.empty())
    line += fmt::format("; edited after the run: {}", fmt::join(record.edited, ", "));
  return line;
}

std::string resolution_line(const CheckRecord& record) {
  if (record.verdict != Verdict::agree || record.resolution.empty()) return "";
  const auto blunt = std::max_element(record.resolution.begin(),
                                      record.resolution.end(),
                                      [](const SeriesResolution& a, const SeriesResolution& b) {
                                        return a.resolution.not_agree.value_or(INFINITY) <
                                               b.resolution.not_agree.value_or(INFINITY);
                                      });
  if (!blunt->resolution.not_agree) {
    // A theory of 0, for one, has no factor.
    return fmt::format(
        "no factor on the theory of {} would have been noticed; attica check tells of "
        "the other series",
        blunt->series);
  }
  return fmt::format("a theory {:.2g} % off in {} would not have agreed{}",
                     kPercent * *blunt->resolution.not_agree,
                     blunt->series,
                     record.resolution.size() > 1
                         ? fmt::format(" (the bluntest of {} series)", record.resolution.size())
                         : "");
}

std::string explanation(const CheckRecord& record) {
  if (record.verdict == Verdict::inconclusive) return undecided_text(record) + advice(record);
  if (record.verdict != Verdict::disagree) return {};
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
  return lines;
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
  for (const Place& at : record.outside) {
    lines += fmt::format("{:<18} {:<24} {:>10.5g}  outside what the theory claims\n",
                         at.series,
                         describe(at.point),
                         at.x);
  }
  if (!record.outside.empty() && !record.why_outside.empty())
    lines += fmt::format("not compared: {}\n", record.why_outside);
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
         // The table has named the undecided points.
         (record.verdict == Verdict::inconclusive ? advice(record) : explanation(record));
}

}  // namespace attica::app

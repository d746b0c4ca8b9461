/// @file
/// @brief The verdict in words: what `attica check` prints.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attica/app/verdict.hpp"

namespace attica::app {
namespace {

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

/// What an AGREE is worth, series by series.
std::string resolution_text(const CheckRecord& record) {
  if (record.verdict != Verdict::agree) return "";
  constexpr double kPercent = 100;
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
  std::string line = "NONE: nothing to compare";
  if (run.compared > 0 || !record.claims.empty()) {
    line = counts_text(record);
    if (run.no_theory > 0) line += fmt::format(", {} without theory", run.no_theory);
    if (record.not_compared > 0) {
      line += fmt::format(", {} recorded but outside what the theory claims", record.not_compared);
    }
    line += ends_text(record.diagnostics.value("statuses", Json::object()));
    if (record.failed) line += "; some replicates or theory points FAILED numerically";
    if (record.post_hoc_margin)
      line += fmt::format("; post hoc margin {}", *record.post_hoc_margin);
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

std::string explanation(const CheckRecord& record) {
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
  constexpr std::size_t kNamed = 6;
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
      fmt::format("{:<18} {:<24} {:>10} {:>12} {:>12} {:>10} {:>6} {:>10}  verdict\n",
                  "series",
                  "point",
                  "x",
                  "theory",
                  "mean",
                  "SEM",
                  "n",
                  "margin");
  for (std::size_t k = 0; k < record.places.size(); ++k)
    lines += table_row(record.places[k], record.points.points[k]);
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
  return lines + summary(record) + '\n' + resolution_text(record) + explanation(record);
}

}  // namespace attica::app

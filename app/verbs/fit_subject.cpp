#include "attica/app/verbs/fit_subject.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "attica/app/command/text.hpp"
#include "attica/app/verdict/copies.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/solvers/statistics/isotonic.hpp"

namespace attica::app {
namespace {

constexpr const char* kTarget = "eps";

/// The interval of an exponent or a quantile comes from replicates.
void refuse_summary(bool summary, const std::string& target) {
  if (!summary) return;
  throw Error(
      ErrorKind::input,
      fmt::format("'{}' has mean, sem and n: exponents and bounds need replicates", target));
}

/// A replicate's learning curve.
struct ReplicateCurve {
  std::vector<double> x;
  std::vector<double> y;
};

std::map<std::uint64_t, ReplicateCurve> replicate_curves(const ObservedCurve& curve) {
  std::map<std::uint64_t, ReplicateCurve> all;
  for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
    for (std::size_t r = 0; r < curve.values[k].size(); ++r) {
      if (!std::isfinite(curve.values[k][r])) continue;
      ReplicateCurve& one = all[curve.replicates[k][r]];
      one.x.push_back(curve.mean.x[k]);
      one.y.push_back(curve.values[k][r]);
    }
  }
  return all;
}

/// Takes out the replicates without a value and says how many they are: they failed. An infinite
/// one never reached its target and stays.
void leave_out_failed(const Options& options, FitSubject& subject) {
  std::size_t failed = 0;
  std::vector<std::string> nothing_left;
  for (ObservedCurve& curve : subject.curves) {
    for (std::size_t k = curve.mean.x.size(); k-- > 0;) {
      std::vector<double>& values = curve.values[k];
      std::vector<std::uint64_t>& names = curve.replicates[k];
      const bool counts = curve.mean.name == subject.series;
      for (std::size_t r = values.size(); r-- > 0;) {
        if (!std::isnan(values[r])) continue;
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(r));
        names.erase(names.begin() + static_cast<std::ptrdiff_t>(r));
        failed += counts ? 1 : 0;
      }
      if (!values.empty()) continue;
      const auto at = static_cast<std::ptrdiff_t>(k);
      if (counts)
        nothing_left.push_back(
            describe(joined(curve.mean.point, {{curve.mean.x_name, curve.mean.x[k]}})));
      curve.mean.x.erase(curve.mean.x.begin() + at);
      curve.mean.y.erase(curve.mean.y.begin() + at);
      curve.values.erase(curve.values.begin() + at);
      curve.replicates.erase(curve.replicates.begin() + at);
    }
  }
  std::erase_if(subject.curves, [](const ObservedCurve& c) { return c.mean.x.empty(); });
  if (failed == 0) return;
  subject.about["left_out"] = failed;
  if (options.json) return;
  constexpr std::size_t kShown = 6;
  const std::size_t shown = std::min(nothing_left.size(), kShown);
  put("{} replicate{} without a value left out{}{}\n",
      failed,
      failed == 1 ? "" : "s",
      nothing_left.empty()
          ? ""
          : fmt::format("; none has one at {}",
                        fmt::join(nothing_left.begin(),
                                  nothing_left.begin() + static_cast<std::ptrdiff_t>(shown),
                                  "; at ")),
      shown < nothing_left.size()
          ? fmt::format(" and at {} other places", nothing_left.size() - shown)
          : "");
}

/// A power law is of numbers > 0: refuses others by their place in the table.
void require_positive(const sources::OutsideTable& table, const std::string& series) {
  for (const sources::TableRow& row : table.rows) {
    if (row.series != series || std::isnan(row.value) || row.value > 0) continue;
    throw Error(ErrorKind::input,
                fmt::format("{}:{}:{}: error: value {}: expected numbers > 0, of which power laws "
                            "are; inf for a replicate that never reached its target, empty or nan "
                            "for one that failed",
                            table.source,
                            row.line,
                            row.value_column,
                            row.value));
  }
}

/// The same of a run.
void require_positive(const FitSubject& subject) {
  for (const ObservedCurve& curve : subject.curves) {
    if (curve.mean.name != subject.series) continue;
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      for (std::size_t r = 0; r < curve.values[k].size(); ++r) {
        const double value = curve.values[k][r];
        if (std::isnan(value) || value > 0) continue;
        throw Error(
            ErrorKind::input,
            fmt::format("series '{}' at {}, replicate {}: {}, expected numbers > 0, of "
                        "which power laws are",
                        subject.series,
                        describe(joined(curve.mean.point, {{curve.mean.x_name, curve.mean.x[k]}})),
                        curve.replicates[k][r],
                        value));
      }
    }
  }
}

/// Says where the column x stands for a size of another name, unless the reader of the table did.
void remark_columns(const Options& options,
                    std::string_view bytes,
                    const std::string& x,
                    const std::vector<std::string>& said) {
  const std::vector<std::string> names = sources::column_names(bytes, options.target);
  const auto there = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::string text = sources::no_column_of_x(options.target, x);
  const bool known = std::find(said.begin(), said.end(), text) != said.end();
  warn(options.quiet || known || there(x) || !there("x"), {text});
}

/// Says where replicates pile up at the largest value, as those do that were stopped there: a fit
/// takes it for what they needed.
void remark_caps(const Options& options, const sources::OutsideTable& table) {
  if (!options.reach.empty() || !options.collapse.empty()) return;
  const std::string series = options.series.empty() ? std::string("y") : options.series;
  std::set<double> values;
  for (const sources::TableRow& row : table.rows) {
    if (row.series == series && std::isfinite(row.value)) values.insert(row.value);
  }
  constexpr std::size_t kLevels = 10;  // fewer values are outcomes or steps of a grid
  if (values.size() <= kLevels) return;
  const double most = *values.rbegin();
  struct Pile {
    std::size_t at_most = 0;
    std::size_t n = 0;
  };
  std::map<std::pair<double, std::string>, Pile> places;
  for (const sources::TableRow& row : table.rows) {
    if (row.series != series || std::isnan(row.value)) continue;
    Pile& pile = places[{table.has_x ? row.x : 0, describe(row.point)}];
    ++pile.n;
    pile.at_most += row.value == most ? 1 : 0;
  }
  constexpr std::size_t kFew = 10;  // a tenth of the replicates is no pile
  std::size_t piles = 0;
  std::size_t partly = 0;
  std::size_t replicates = 0;
  for (const auto& [place, pile] : places) {
    if (pile.at_most < 2 || kFew * pile.at_most < pile.n) continue;
    ++piles;
    replicates += pile.at_most;
    partly += pile.at_most < pile.n ? 1 : 0;
  }
  warn(options.quiet || (partly == 0 && piles < 2),
       {fmt::format("{} replicates at {} {} have the largest value, {:g}: if they were stopped "
                    "there, write inf for them",
                    replicates,
                    piles,
                    piles == 1 ? "size" : "sizes",
                    most)});
}

/// A size that stands in a column of its own is a number in every row, or rows would be left out.
void require_sizes(const Options& options, const FitSubject& subject) {
  std::vector<std::string> names;
  for (const std::string& size : options.sizes) names.push_back(size_coordinate(size));
  if (!options.collapse.empty()) names.push_back(options.collapse);
  for (const std::string& name : names) {
    const ObservedCurve* other = nullptr;
    bool any = false;
    for (const ObservedCurve& curve : subject.curves) {
      if (curve.mean.name != subject.series || curve.mean.x_name == name) continue;
      const auto at = std::ranges::find(curve.mean.point, name, &Point::value_type::first);
      const bool number =
          at != curve.mean.point.end() && std::holds_alternative<double>(at->second);
      if (!number && other == nullptr) other = &curve;
      any = any || number;
    }
    if (!any || other == nullptr) continue;
    throw Error(
        ErrorKind::input,
        fmt::format("'{}': '{}' is no number in every row of '{}', as at {}; expected numbers, "
                    "since it is a size",
                    options.target,
                    name,
                    subject.series,
                    other->mean.point.empty() ? "rows without it" : describe(other->mean.point)),
        "--x");
  }
}

}  // namespace

sources::OutsideTable read_subject_table(const Options& options,
                                         const std::string& x,
                                         FitSubject& subject) {
  const std::optional<std::string> bytes = read_bytes(options.target);
  if (!bytes) throw Error(ErrorKind::input, fmt::format("cannot read '{}'", options.target));
  sources::OutsideTable table = sources::read_table(*bytes,
                                                    options.target,
                                                    {.kind = sources::TableKind::replicates,
                                                     .x_name = x,
                                                     .x_required = false,
                                                     .infinite = options.collapse.empty(),
                                                     .columns = options.columns});
  warn(options.quiet, table.remarks);
  remark_columns(options, *bytes, x, table.remarks);
  refuse_summary(table.summary, options.target);
  if (!options.cluster.empty()) sources::take_cluster_means(table, options.cluster);
  remark_caps(options, table);
  Replicates replicates;
  replicates.add({.first_replicate = 0, .outcomes = sources::recorded_outcomes(table, x).outcomes},
                 {});
  replicates.finish();
  subject.curves = replicates.curves();
  if (const std::optional<Copies> found = copied_replicates(subject.curves))
    warn(options.quiet, {fmt::format("{}: {}", options.target, copies_text(*found))});
  subject.about = {{"table", options.target}};
  return table;
}

void read_subject_run(const Options& options, const FinishedRun& run, FitSubject& subject) {
  const Configuration& values = run.configuration.values;
  refuse_summary(values.declares("simulation.summary") && values.has("simulation.summary") &&
                     values.flag("simulation.summary"),
                 options.target);
  subject.curves = run.replicates.curves();
  subject.seed = run.record.seed;
  subject.about = {{"study", run.record.study}, {"run", run.record.path.string()}};
}

void reach_targets(const Options& options, FitSubject& subject) {
  std::vector<double> targets = options.reach;
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  std::vector<ObservedCurve> reached;
  std::vector<ObservedCurve> caps;
  std::string along = options.along;
  std::size_t never = 0;
  std::size_t ended = 0;
  std::size_t before = 0;
  std::size_t places_left_out = 0;
  std::size_t missing = 0;
  for (const ObservedCurve& curve : subject.curves) {
    if (curve.mean.name != subject.series || curve.mean.x_name == "none") continue;
    if (along.empty()) along = curve.mean.x_name;
    if (curve.mean.x_name != along) continue;
    for (const std::vector<double>& values : curve.values)
      missing += static_cast<std::size_t>(
          std::ranges::count_if(values, [](double y) { return !std::isfinite(y); }));
    if (std::any_of(curve.mean.point.begin(), curve.mean.point.end(), [](const auto& c) {
          return c.first == kTarget;
        })) {
      throw Error(ErrorKind::input,
                  fmt::format("the curves have a coordinate '{}' of their own; expected another "
                              "name for it: --reach makes a size of that name",
                              kTarget),
                  "--reach");
    }
    const auto replicates = replicate_curves(curve);
    ObservedCurve one{
        .mean = {along, curve.mean.point, kTarget, {}, {}}, .values = {}, .replicates = {}};
    ObservedCurve cap = one;
    cap.mean.name = along + "_cap";
    for (const double target : targets) {
      std::vector<double> at;
      std::vector<double> ends;
      std::vector<std::uint64_t> names;
      std::size_t early = 0;
      for (const auto& [name, of] : replicates) {
        const Reached r = reach(of.x, of.y, target);
        early += r.before ? 1 : 0;
        at.push_back(r.at);
        ends.push_back(of.x.back());
        names.push_back(name);
      }
      before += early;
      constexpr std::size_t kQuarter = 4;
      if (at.empty() || kQuarter * early > at.size()) {
        ++places_left_out;
        continue;
      }
      // What did not reach it was watched up to its end: the first of these is what is known of
      // all.
      double watched = *std::max_element(ends.begin(), ends.end());
      double last = -std::numeric_limits<double>::infinity();
      for (std::size_t r = 0; r < at.size(); ++r) {
        if (std::isfinite(at[r])) last = std::max(last, at[r]);
        if (std::isinf(at[r])) watched = std::min(watched, ends[r]);
      }
      for (std::size_t r = 0; r < at.size(); ++r) {
        if (!std::isinf(at[r])) continue;
        ++never;
        ended += ends[r] < last ? 1 : 0;
      }
      if (options.expression.empty()) ends.assign(ends.size(), watched);
      const auto add = [&](ObservedCurve& to, std::vector<double> values) {
        to.mean.x.push_back(target);
        to.mean.y.push_back(values.front());
        to.values.push_back(std::move(values));
        to.replicates.push_back(names);
      };
      add(one, std::move(at));
      add(cap, std::move(ends));
    }
    if (one.mean.x.empty()) continue;
    reached.push_back(std::move(one));
    caps.push_back(std::move(cap));
  }
  if (reached.empty()) {
    throw Error(
        ErrorKind::input,
        places_left_out > 0
            ? fmt::format("the curves of '{}' are below every target at their first {} already; "
                          "expected smaller targets, or curves that begin earlier",
                          subject.series,
                          along)
            : fmt::format("no learning curves of '{}' along '{}'; --series and --along name them",
                          subject.series,
                          along.empty() ? "x" : along),
        "--reach");
  }
  subject.about["reach"] = {{"series", subject.series},
                            {"along", along},
                            {"targets", targets},
                            {"never", never},
                            {"ended_before_others", ended},
                            {"before_first", before},
                            {"places_left_out", places_left_out},
                            {"left_out", missing}};
  remark(
      options.quiet || options.json,
      fmt::format(
          "{} at which {} falls to eps: {} never do{}, {} are below it at the first {}{}{}",
          along,
          subject.series,
          never,
          ended > 0 ? fmt::format(" ({} of them end where others have not reached it yet, and may "
                                  "have come to it later)",
                                  ended)
                    : "",
          before,
          along,
          places_left_out > 0
              ? fmt::format("; {} places left out, where more than a quarter are", places_left_out)
              : "",
          missing > 0 ? fmt::format("; {} values that are missing or infinite were left "
                                    "out of the curves",
                                    missing)
                      : ""));
  subject.series = along;
  subject.cap_series = along + "_cap";
  subject.curves = std::move(reached);
  for (ObservedCurve& cap : caps) subject.curves.push_back(std::move(cap));
}

void read_fit_subject(const Options& options, const Registry& registry, FitSubject& subject) {
  std::optional<sources::OutsideTable> table;
  const bool of_table = std::filesystem::is_regular_file(options.target);
  if (of_table) {
    const std::string size = options.sizes.empty() ? std::string("x") : options.sizes.front();
    const std::string x = options.reach.empty()   ? size_coordinate(size)
                          : options.along.empty() ? std::string("x")
                                                  : options.along;
    table = read_subject_table(options, x, subject);
  } else {
    const FinishedRun run(options.target, registry, options.accept_edits);
    read_subject_run(options, run, subject);
    const Study& study = *run.configuration.study;
    // The study knows where its replicates give up.
    if (study.exponents != nullptr) {
      for (const ExponentClaim& claim : study.exponents(run.configuration.values)) {
        if (subject.series.empty()) subject.series = claim.series;
        if (claim.series == subject.series) subject.cap_series = claim.cap_series;
      }
    }
  }
  if (subject.series.empty()) subject.series = "y";
  if (!options.reach.empty()) {
    reach_targets(options, subject);
    table.reset();
  }
  if (of_table) require_sizes(options, subject);
  if (!options.collapse.empty()) {
    leave_out_failed(options, subject);
    return;
  }
  if (table) {
    require_positive(*table, subject.series);
  } else {
    require_positive(subject);
  }
  leave_out_failed(options, subject);
  const bool any =
      std::any_of(subject.curves.begin(), subject.curves.end(), [&](const ObservedCurve& curve) {
        return curve.mean.name == subject.series &&
               std::any_of(curve.values.begin(), curve.values.end(), [](const auto& values) {
                 return std::any_of(
                     values.begin(), values.end(), [](double y) { return std::isfinite(y); });
               });
      });
  const bool there =
      std::any_of(subject.curves.begin(), subject.curves.end(), [&](const ObservedCurve& c) {
        return c.mean.name == subject.series;
      });
  if (there && !any && subject.cap_series.empty())
    throw Error(ErrorKind::input,
                fmt::format("no replicate of '{}' came to a finite value: there is nothing to fit",
                            subject.series));
}

void require_curves(const std::vector<std::pair<Point, std::size_t>>& curves, std::size_t sizes) {
  constexpr std::size_t kFewestSizes = 3, kMany = 5;
  const bool fits = std::any_of(
      curves.begin(), curves.end(), [](const auto& c) { return c.second >= kFewestSizes; });
  if (fits || sizes < kFewestSizes || curves.size() < kMany) return;
  std::map<std::string, std::set<double>> numbers;
  for (const auto& [point, count] : curves) {
    for (const auto& [name, value] : point) {
      if (const auto* number = std::get_if<double>(&value)) numbers[name].insert(*number);
    }
  }
  const auto most =
      std::max_element(numbers.begin(), numbers.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      });
  if (most == numbers.end() || most->second.size() < kMany) return;
  throw Error(
      ErrorKind::input,
      fmt::format("column '{}' has {} different numbers, each a curve of its own with at most "
                  "two of {} sizes: another measurement? Leave it out, or name it with "
                  "--value or --x",
                  most->first,
                  most->second.size(),
                  sizes),
      most->first);
}

std::string narrow_span_text(const std::string& sizes, double span, double tolerance) {
  if (!(span > 1) || span >= kSmallestSpan) return {};
  return fmt::format(
      "  {} span a factor {:.3g}, over which an exponent {} off changes the values by {:.2g} %: "
      "the "
      "interval is of these sizes only\n",
      sizes,
      span,
      tolerance,
      100 * (std::pow(span, tolerance) - 1));
}

}  // namespace attica::app

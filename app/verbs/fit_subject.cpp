#include "attica/app/verbs/fit_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "attica/core/read_bytes.hpp"
#include "attica/solvers/statistics/isotonic.hpp"

namespace attica::app {
namespace {

constexpr const char* kTarget = "eps";

/// The interval of an exponent or a quantile comes from replicates.
void refuse_summary(bool summary, const std::string& target) {
  if (!summary) return;
  throw Error(ErrorKind::input,
              fmt::format("'{}' has mean, sem and n: an exponent needs replicates", target));
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
  for (const std::string& text : table.remarks) remark(options.quiet, text);
  refuse_summary(table.summary, options.target);
  Replicates replicates;
  replicates.add({.first_replicate = 0, .outcomes = sources::recorded_outcomes(table, x).outcomes},
                 {});
  replicates.finish();
  subject.curves = replicates.curves();
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
  std::size_t before = 0;
  std::size_t places_left_out = 0;
  for (const ObservedCurve& curve : subject.curves) {
    if (curve.mean.name != subject.series || curve.mean.x_name == "none") continue;
    if (along.empty()) along = curve.mean.x_name;
    if (curve.mean.x_name != along) continue;
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
      never += static_cast<std::size_t>(
          std::count_if(at.begin(), at.end(), [](double n) { return std::isinf(n); }));
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
                            {"before_first", before},
                            {"places_left_out", places_left_out}};
  remark(options.quiet || options.json,
         fmt::format("{} at which {} falls to eps: {} never do, {} are below it at the first {}{}",
                     along,
                     subject.series,
                     never,
                     before,
                     along,
                     places_left_out > 0
                         ? fmt::format("; {} places left out, where more than a quarter are",
                                       places_left_out)
                         : ""));
  subject.series = along;
  subject.cap_series = along + "_cap";
  subject.curves = std::move(reached);
  for (ObservedCurve& cap : caps) subject.curves.push_back(std::move(cap));
}

}  // namespace attica::app

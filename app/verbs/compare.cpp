/// @file
/// @brief `attica compare`: two runs of one study, mean by mean.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/manifest.hpp"
#include "attica/app/run/run_folder.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/replicates.hpp"

namespace attica::app {

namespace {

/// Two recorded means of the same thing.
struct Difference {
  std::string where;
  double first = 0;
  double second = 0;
  /// Welch's t on the scale of a normal; empty where a side has one replicate, hence no error.
  std::optional<double> z;
  double gap() const { return first - second; }
};

/// The difference of two means on the scale of a standard normal, by Welch's t: the fewer the
/// replicates, the less they know of their own error.
double welch_score(double gap, const SampleSummary& a, const SampleSummary& b) {
  if (gap == 0) return 0;
  const double first = a.sem * a.sem;
  const double second = b.sem * b.sem;
  if (first + second == 0) return std::copysign(HUGE_VAL, gap);
  const double freedom =
      std::pow(first + second, 2) / (first * first / static_cast<double>(a.n - 1) +
                                     second * second / static_cast<double>(b.n - 1));
  return std::copysign(normal_score(std::abs(gap) / std::sqrt(first + second), freedom), gap);
}

std::vector<Difference> differences(const Replicates& a, const Replicates& b) {
  std::vector<Difference> found;
  for (const ObservedCurve& curve : a.curves()) {
    const auto other =
        std::find_if(b.curves().begin(), b.curves().end(), [&](const ObservedCurve& c) {
          return c.mean.name == curve.mean.name && same_place(c.mean.point, curve.mean.point) &&
                 c.mean.x_name == curve.mean.x_name;
        });
    if (other == b.curves().end()) continue;
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      const auto at = std::find(other->mean.x.begin(), other->mean.x.end(), curve.mean.x[k]);
      if (at == other->mean.x.end()) continue;
      const SampleSummary s = summarise(curve.values[k]);
      const SampleSummary t =
          summarise(other->values[static_cast<std::size_t>(at - other->mean.x.begin())]);
      if (s.n == 0 || t.n == 0) continue;
      const double gap = s.mean - t.mean;
      std::optional<double> z;
      if (s.n > 1 && t.n > 1) z = welch_score(gap, s, t);
      found.push_back({.where = fmt::format("{} {} {}={:.6g}",
                                            curve.mean.name,
                                            describe(curve.mean.point),
                                            curve.mean.x_name,
                                            curve.mean.x[k]),
                       .first = s.mean,
                       .second = t.mean,
                       .z = z});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Difference& x, const Difference& y) {
    const auto order = [](const Difference& d) {
      return std::tuple(d.z.has_value(), std::abs(d.z.value_or(0)), std::abs(d.gap()));
    };
    return order(x) > order(y);
  });
  return found;
}

}  // namespace

int compare_verb(const Options& options, const Registry& registry) {
  std::array<RunRecord, 2> runs{read_run(options.target), read_run(options.second_target)};
  for (RunRecord& run : runs) run.edited = accepted_edits(run.path, options.accept_edits);
  if (runs[0].study != runs[1].study) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' is a run of {} and '{}' of {}: expected two runs of one study",
                            options.target,
                            runs[0].study,
                            options.second_target,
                            runs[1].study));
  }
  std::array<std::map<std::string, std::string>, 2> parameters;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const CheckedConfiguration c = read_configuration(
        {.target = (runs[k].path / "config.resolved.toml").string(), .preset = {}, .overrides = {}},
        registry);
    parameters[k]["study"] = to_toml(Value(c.study->name));
    for (const auto& [key, value] : c.values.entries()) parameters[k][key] = to_toml(value);
    for (const SweptScalar& s : c.swept)
      parameters[k]["sweep." + s.name] = to_toml(Value(s.values));
  }
  Json changed = Json::array();
  std::map<std::string, std::string> all = parameters[0];
  all.insert(parameters[1].begin(), parameters[1].end());
  for (const auto& entry : all) {
    const std::string& key = entry.first;
    const auto value = [&](std::size_t k) {
      const auto at = parameters[k].find(key);
      return at == parameters[k].end() ? std::string("(unset)") : at->second;
    };
    if (value(0) != value(1))
      changed.push_back({{"key", key}, {"first", value(0)}, {"second", value(1)}});
  }
  const bool same_seed = runs[0].seed == runs[1].seed;
  const std::vector<Difference> points =
      differences(recorded_replicates(runs[0]), recorded_replicates(runs[1]));
  if (options.json) {
    Json list = Json::array();
    for (const Difference& d : points) {
      list.push_back({{"where", d.where},
                      {"first", d.first},
                      {"second", d.second},
                      {"z", d.z && std::isfinite(*d.z) ? Json(*d.z) : Json()}});
    }
    print("compare",
          {{"parameters", std::move(changed)},
           {"points", std::move(list)},
           {"same_seed", same_seed}});
    return kExitDone;
  }
  put("parameters that differ: {}\n", changed.size());
  for (const Json& entry : changed) {
    put("  {:<24} {}  |  {}\n",
        entry["key"].get<std::string>(),
        entry["first"].get<std::string>(),
        entry["second"].get<std::string>());
  }
  const auto differing = static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const Difference& d) { return d.gap() != 0; }));
  put("points in both runs: {}, of which {} differ\n", points.size(), differing);
  constexpr std::size_t kShown = 10;
  for (std::size_t k = 0; k < std::min(kShown, differing); ++k) {
    const Difference& d = points[k];
    put("  z = {:>7}  {:>12.6g}  |  {:>12.6g}  {}\n",
        d.z ? fmt::format("{:.2f}", *d.z) : "",
        d.first,
        d.second,
        d.where);
  }
  if (points.empty()) put("no point occurs in both runs\n");
  const auto with_z = static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const Difference& d) { return d.z.has_value(); }));
  if (with_z < points.size()) {
    put("{} of them without z: a run with one replicate has no error bar\n",
        points.size() - with_z);
  }
  if (same_seed && differing > 0) {
    put("both runs have seed {}: their replicates may share random numbers, and then z is not that "
        "of independent runs\n",
        runs[0].seed);
  }
  if (differing > 0 && with_z > 0) {
    // Largest of n standard normals in absolute value: median quantile, for orientation.
    put("largest |z| = {:.2f}; {} equal means of independent runs reach about {:.2f}\n",
        std::abs(*points[0].z),
        with_z,
        std::sqrt(2 * std::log(2.0 * static_cast<double>(with_z))));
  }
  return kExitDone;
}

}  // namespace attica::app

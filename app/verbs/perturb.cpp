/// @file
/// @brief What a recorded run could have told from the right theory: `check --perturb` and `check
/// --sensitivity`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "attica/app/command/text.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/app/verdict/perturbation.hpp"

namespace attica::app {
namespace {

/// The configuration that the run recorded.
ConfigurationRequest recorded_request(const FinishedRun& run) {
  return {
      .target = (run.record.path / "config.resolved.toml").string(), .preset = {}, .overrides = {}};
}

constexpr double kLeastChange = 1e-4;
constexpr double kLargestChange = 1;

/// The smallest relative change in (kLeastChange, kLargestChange] that is noticed, to a tenth of
/// itself; empty if none is. Noticed: the changed theory no longer agrees.
template <class Noticed>
std::optional<double> least_change(const Noticed& noticed) {
  constexpr double kPrecision = 1.1;
  double high = kLeastChange;
  while (!noticed(high)) {
    if (high >= kLargestChange) return std::nullopt;
    high = std::min(2 * high, kLargestChange);
  }
  double low = high / 2;
  while (high > kPrecision * low) {
    const double middle = std::sqrt(low * high);
    (noticed(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

CheckRecord verdict_on_perturbed(const FinishedRun& run,
                                 const Registry& registry,
                                 const std::vector<std::string>& perturbations,
                                 std::optional<double> margin) {
  const std::vector<Prediction> theory =
      perturbed_theory(recorded_request(run), registry, run.record.theory, perturbations);
  const CheckRecord right = judge_run(run.record, run.configuration, run.replicates, margin);
  CheckRecord perturbed = judge_run_against(
      run.record, theory, perturbations, run.configuration, run.replicates, margin);
  // Where the theory itself says at which x it is told (an optimal penalty), some are elsewhere.
  if (perturbed.points.compared == 0 && right.points.compared > 0) {
    throw Error(
        ErrorKind::input,
        fmt::format("--perturb {}: the perturbed theory has values at none of the {} compared "
                    "points",
                    fmt::join(perturbations, ", "),
                    right.points.compared));
  }
  return perturbed;
}

int perturbed_check(const Options& options, const FinishedRun& run, const Registry& registry) {
  const CheckRecord verdict =
      verdict_on_perturbed(run, registry, options.perturbations, options.margin);
  put("{}", options.json ? dump(to_json(verdict), 2) + "\n" : text(verdict));
  return verdict.exit_code();
}

int sensitivity_check(const Options& options, const FinishedRun& run, const Registry& registry) {
  const CheckRecord right =
      judge_run(run.record, run.configuration, run.replicates, options.margin);
  if (right.verdict != Verdict::agree) {
    throw Error(
        ErrorKind::input,
        fmt::format("--sensitivity needs a run that agrees with its theory; this one yielded "
                    "{}",
                    describe(right.verdict)));
  }
  Json rows = Json::array();
  std::string lines = "smallest change of the theory's own value that would not have agreed\n";
  for (const auto& entry : run.configuration.values.entries()) {
    const std::string& key = entry.first;
    const auto* number = std::get_if<double>(&entry.second);
    if (number == nullptr || *number == 0 || !key.starts_with("model.") ||
        run.configuration.is_swept(key)) {
      continue;
    }
    Json row{{"key", key}, {"value", *number}};
    std::string found;
    for (const int sign : {1, -1}) {
      std::string refused;
      const auto changed = [&](double x) { return *number * (1 + sign * x); };
      const auto change = least_change([&](double x) {
        try {
          return verdict_on_perturbed(run,
                                      registry,
                                      {fmt::format("{}={}", key, to_toml(Value(changed(x))))},
                                      options.margin)
                     .verdict != Verdict::agree;
        } catch (const Error& error) {
          refused = error.what();
          return true;  // out of range: no larger change can be tried
        }
      });
      const char* side = sign > 0 ? "above" : "below";
      const bool known = change && refused.empty();
      row[side] = known ? Json(changed(*change)) : Json(nullptr);
      found += fmt::format("  {} {:<12}",
                           side,
                           known ? fmt::format("{:.4g}", changed(*change))
                                 : (refused.empty() ? "none" : "not tried"));
    }
    rows.push_back(std::move(row));
    lines += fmt::format("{:<24} {:<10.4g}{}\n", key, *number, found);
  }
  if (options.json) {
    print("sensitivity",
          {{"study", run.record.study},
           {"run", run.record.path.string()},
           {"sensitivity", std::move(rows)}});
  } else {
    put("{}", lines);
  }
  return right.exit_code();
}

}  // namespace attica::app

/// @file
/// @brief `attica check --self-test`: error rates of the verdict in a run's own setting.

#include "attica/solvers/statistics/self_test.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/run_folder.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/comparison.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/extrapolation.hpp"
#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/solvers/statistics/self_test_levels.hpp"

namespace attica::app {

int self_test_check(const Options& options, const FinishedRun& finished) {
  const RunRecord& run = finished.record;
  // The run's own setting: number of points and replicates, and the typical margin in units of the
  // spread.
  ComparisonOptions matching = comparison_options(finished.configuration);
  matching.relative_margin = options.margin;
  const Comparison comparison = compare(run.rules, run.theory, finished.replicates, matching);
  std::vector<double> ratios;
  double skewness = 0;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  bool normal = true;
  for (const ComparedPoint& p : comparison.points) {
    const SampleSummary s = summarise(p.replicates);
    if (!p.theory || s.sd == 0) continue;
    ratios.push_back(p.margin.total(*p.theory) / s.sd);
    fewest = std::min(fewest, s.n);
    normal = normal && p.tails == Tails::normal;
    skewness += s.skewness;
  }
  const CheckRecord verdict =
      judge_run(run, finished.configuration, finished.replicates, options.margin);
  const auto claims = static_cast<std::size_t>(std::ranges::count_if(
      verdict.claims, [](const ClaimResult& claim) { return claim.p_agree && claim.p_disagree; }));
  if (ratios.empty()) fewest = run.replicates;
  if (ratios.empty() ? claims == 0 : fewest < kFewestReplicates) {
    throw Error(ErrorKind::input,
                "the self-test needs compared points with at least 8 replicates, or claims");
  }
  const double margin = ratios.empty() ? 1 : median(ratios);
  SelfTest result =
      self_test({.points = ratios.size(),
                 .claims = std::max<std::size_t>(claims, 1),  // one that the run does not make
                 .replicates = fewest,
                 .margin = margin,
                 .tails = normal ? Tails::normal : Tails::guarded,
                 .skewness = skewness / std::max(1.0, static_cast<double>(ratios.size())),
                 .runs = options.full ? kFullSelfTestRuns : kSelfTestRuns,
                 .seed = run.seed});
  for (SelfTestRow& row : self_test_levels(run.seed)) {
    result.pass = result.pass && row.pass;
    result.rows.push_back(std::move(row));
  }
  Json rows = Json::array();
  std::string table = fmt::format(
      "{} points, {} claims, {} replicates{}\n{:<20} {:<30} "
      "{:<24} "
      "{:>8} {:>9} {:>20}\n",
      ratios.size(),
      claims,
      fewest,
      ratios.empty() ? "" : fmt::format(", margin {:.3g} standard deviations", margin),
      "family",
      "perturbed",
      "rate",
      "stated",
      "measured",
      "limits");
  for (const SelfTestRow& row : result.rows) {
    const double measured = row.count.fraction();
    table += fmt::format("{:<20} {:<30} {:<24} {:>8.3f} {:>9.4f} {:>9.4f} - {:<8.4f}  {}\n",
                         row.family,
                         row.perturbed,
                         row.rate,
                         row.stated,
                         measured,
                         row.limits.low,
                         row.limits.high,
                         !row.promised ? "not promised"
                         : row.pass    ? "pass"
                                       : "FAIL");
    rows.push_back({{"family", row.family},
                    {"perturbed", row.perturbed},
                    {"rate", row.rate},
                    {"stated", row.stated},
                    {"measured", measured},
                    {"limits", {row.limits.low, row.limits.high}},
                    {"promised", row.promised},
                    {"pass", row.pass}});
  }
  if (options.json) {
    print("self-test",
          {{"study", run.study},
           {"run", run.path.string()},
           {"pass", result.pass},
           {"warning", result.warning},
           {"rows", std::move(rows)}});
  } else {
    put("{}{}{}\n",
        table,
        result.warning.empty() ? "" : "warning: " + result.warning + "\n",
        result.pass ? "the measured error rates agree with the stated ones"
                    : "a stated error rate is contradicted");
  }
  return result.pass ? kExitDone : kExitNumerical;
}

}  // namespace attica::app

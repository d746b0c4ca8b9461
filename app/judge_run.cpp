#include "attica/app/judge_run.hpp"

namespace attica::app {

CheckedConfiguration recorded_configuration(const RunRecord& run,
                                            const std::vector<Study>& registry) {
  try {
    return read_configuration(
        {.target = (run.path / "config.resolved.toml").string(), .preset = {}, .overrides = {}},
        registry);
  } catch (const Error& error) {
    throw Error(ErrorKind::storage, error.what());
  }
}

CheckRecord judge_run(const RunRecord& run,
                      const CheckedConfiguration& configuration,
                      const Replicates& replicates,
                      std::optional<double> margin) {
  const Study& study = *configuration.study;
  std::vector<ClaimResult> claims;
  if (study.claims != nullptr) {
    claims = study.claims(configuration.values,
                          {.theory = run.theory, .simulation = replicates.curves()});
  }
  Json diagnostics = run.diagnostics;
  diagnostics["statuses"] = run.statuses;
  if (!run.failures.is_null()) diagnostics["failures"] = run.failures;
  return check({.study = run.study,
                .run = run.path.string(),
                .rules = run.rules,
                .theory = run.theory,
                .simulation = &replicates,
                .claims = std::move(claims),
                .diagnostics = std::move(diagnostics),
                .family = run.family,
                .seed = run.seed,
                .post_hoc_margin = margin,
                .replicates = run.replicates,
                .cap = run.cap,
                .failed = !run.failures.is_null() || run.diagnostics.contains("failed")});
}

FigureData figure_data(const RunRecord& run,
                       const Replicates& replicates,
                       const CheckRecord& verdict) {
  return {.curves = recorded_curves(run.theory, replicates), .residuals = verdict.residuals};
}

DrawOptions draw_options(const RunRecord& run,
                         const Configuration& values,
                         const CheckRecord& verdict) {
  return {.folder = run.path / "plots",
          .formats = values.texts("plot.formats"),
          .style = values.text("plot.style"),
          .width = values.text("plot.width") == "full" ? FigureWidth::full : FigureWidth::half,
          .metadata = {{"run", run.name + "-" + run.hash},
                       {"hash", run.hash},
                       {"verdict", std::string(describe(verdict.verdict))}}};
}

}  // namespace attica::app

#include "attica/app/judge_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attica/app/exponents.hpp"
#include "attica/app/figure_file.hpp"
#include "attica/app/files.hpp"
#include "attica/app/work.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/studies/own/study.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// Takes `front` off a point that starts with it; false if it does not.
bool strip(const Point& front, Point& point) {
  if (point.size() < front.size() || !std::equal(front.begin(), front.end(), point.begin())) {
    return false;
  }
  point.erase(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(front.size()));
  return true;
}

/// Files that the run read, and whether they are still the same; those that are gone are left out.
std::vector<std::pair<fs::path, bool>> files_read(const RunRecord& run) {
  std::vector<std::pair<fs::path, bool>> files;
  // A damaged file is told as edited by who reads the whole run.
  const Json provenance = Json::parse(read_whole(run.path / "provenance.json"), nullptr, false);
  if (!provenance.is_object() || !provenance.contains("inputs")) return files;
  for (const auto& [file, digest] : provenance["inputs"].items()) {
    const std::optional<std::string> bytes = read_bytes(file);
    if (bytes) files.emplace_back(file, Json(sha256(*bytes)) == digest);
  }
  return files;
}

/// Folders from which names of files lead to what the run read: claims may read it again.
std::vector<fs::path> folders_read(const RunRecord& run) {
  std::vector<fs::path> folders;
  if (fs::is_directory(run.path / "inputs")) folders.push_back(run.path / "inputs");
  for (const auto& [file, same] : files_read(run)) {
    if (!same) continue;
    for (fs::path p = file.parent_path(); p.has_relative_path(); p = p.parent_path()) {
      folders.push_back(p);
    }
  }
  return folders;
}

}  // namespace

void each_problem(
    const CheckedConfiguration& configuration,
    const Observed& all,
    const std::function<void(
        const Configuration& values, const Point& coordinates, const Observed& observed)>& use) {
  for (const Table& combination : combinations(configuration.swept)) {
    Configuration values = configuration.values;
    for (const auto& [key, value] : combination) values.set(key, value, true);
    const Point front = swept_coordinates(combination);
    Observed own;
    // A curve all of whose points failed is none: nobody asks for its first value.
    for (Prediction prediction : all.theory) {
      if (!prediction.series.x.empty() && strip(front, prediction.series.point))
        own.theory.push_back(std::move(prediction));
    }
    for (ObservedCurve curve : all.simulation) {
      if (!curve.mean.x.empty() && strip(front, curve.mean.point))
        own.simulation.push_back(std::move(curve));
    }
    use(values, front, own);
  }
}

std::vector<ClaimResult> judge_claims(const CheckedConfiguration& configuration,
                                      const Observed& all) {
  if (configuration.study->claims == nullptr) return {};
  std::vector<ClaimResult> claims;
  each_problem(configuration,
               all,
               [&](const Configuration& values, const Point& front, const Observed& own) {
                 for (ClaimResult& claim : configuration.study->claims(values, own)) {
                   if (!front.empty()) claim.name += " (" + describe(front) + ")";
                   claims.push_back(std::move(claim));
                 }
               });
  return claims;
}

CheckedConfiguration recorded_configuration(const RunRecord& run,
                                            const std::vector<Study>& registry) {
  try {
    CheckedConfiguration c = read_configuration(
        {.target = (run.path / "config.resolved.toml").string(), .preset = {}, .overrides = {}},
        registry);
    if (c.study->name != kOwnStudy) c.values.input_directories = folders_read(run);
    return c;
  } catch (const Error& error) {
    throw Error(ErrorKind::storage, error.what());
  }
}

std::vector<fs::path> changed_inputs(const RunRecord& run) {
  std::vector<fs::path> changed;
  for (const auto& [file, same] : files_read(run)) {
    if (!same) changed.push_back(file);
  }
  return changed;
}

Replicates recorded_replicates(const RunRecord& run) {
  const std::filesystem::path path = run.path / "replicates.csv";
  Replicates replicates = read_replicates(path);
  // Who accepts an edited table accepts that rows are gone.
  if (std::find(run.edited.begin(), run.edited.end(), "replicates.csv") != run.edited.end())
    return replicates;
  const auto damaged = [&](std::size_t found, std::size_t expected, const char* what) {
    return Error(ErrorKind::storage,
                 fmt::format("'{}' is damaged: {} of {} {}", path.string(), found, expected, what));
  };
  if (run.values) {
    if (replicates.values() != *run.values)
      throw damaged(replicates.values(), *run.values, "values");
    return replicates;
  }
  // An older attica did not record their number; but of replicates that all ended well none is
  // missing everywhere.
  std::size_t most = 0;
  std::uint64_t last = 0;
  for (const ObservedCurve& curve : replicates.curves()) {
    for (const auto& numbers : curve.replicates) {
      most = std::max(most, numbers.size());
      last = std::max(last, numbers.empty() ? 0 : numbers.back());
    }
  }
  const bool all_well = run.failures.is_null() && !replicates.curves().empty();
  if (all_well && (most < run.replicates || last >= run.replicates))
    throw damaged(most, run.replicates, "replicates");
  return replicates;
}

CheckRecord judge_run(const RunRecord& run,
                      const CheckedConfiguration& configuration,
                      const Replicates& replicates,
                      std::optional<double> margin) {
  return judge_run_against(run, run.theory, {}, configuration, replicates, margin);
}

CheckRecord judge_run_against(const RunRecord& run,
                              const std::vector<Prediction>& theory,
                              const std::vector<std::string>& planted,
                              const CheckedConfiguration& configuration,
                              const Replicates& replicates,
                              std::optional<double> margin) {
  std::vector<ClaimResult> claims =
      judge_claims(configuration, {.theory = theory, .simulation = replicates.curves()});
  Json diagnostics = run.diagnostics;
  diagnostics["statuses"] = run.statuses;
  if (!run.failures.is_null()) diagnostics["failures"] = run.failures;
  CheckInput input{.study = run.study,
                   .run = run.path.string(),
                   .rules = run.rules,
                   .theory = theory,
                   .simulation = &replicates,
                   .claims = std::move(claims),
                   .diagnostics = std::move(diagnostics),
                   .family = run.family,
                   .seed = run.seed,
                   .post_hoc_margin = margin,
                   .replicates = run.replicates,
                   .cap = run.cap,
                   .failed = !run.failures.is_null() || run.diagnostics.contains("failed"),
                   .planted = run.planted,
                   .edited = run.edited,
                   .looks = run.looks,
                   .why_outside = configuration.study->outside,
                   .judged_before = run.judged_before};
  input.planted.insert(input.planted.end(), planted.begin(), planted.end());
  return check(input);
}

Figure figure_of(const RunRecord& run,
                 const CheckedConfiguration& configuration,
                 const Replicates& replicates) {
  Configuration values = configuration.values;
  if (configuration.study->name == kOwnStudy && !values.has("figure.series")) {
    std::vector<std::string> series;
    const auto add = [&](const std::string& name) {
      if (std::find(series.begin(), series.end(), name) == series.end()) series.push_back(name);
    };
    for (const ObservedCurve& curve : replicates.curves()) add(curve.mean.name);
    // A constant of the theory alone has no place on axes that are labelled for curves.
    for (const Prediction& prediction : run.theory) {
      if (prediction.series.x_name != "none") add(prediction.series.name);
    }
    if (series.empty()) {
      for (const Prediction& prediction : run.theory) add(prediction.series.name);
    }
    if (!series.empty()) values.set("figure.series", List(series.begin(), series.end()), false);
  }
  Figure figure = configuration.study->figure(values);
  for (const std::string& name : own::names_in(values, "bound")) {
    const std::string& series = values.text("bound." + name + ".series");
    for (Panel& panel : figure.panels) {
      const bool shown = std::any_of(panel.layers.begin(),
                                     panel.layers.end(),
                                     [&](const Layer& layer) { return layer.series == series; });
      if (!shown) continue;
      panel.layers.push_back({.series = "bound " + name,
                              .label = "bound " + name,
                              .simulation = false,
                              .reference = true});
    }
  }
  DrawOptions ignored;
  apply(read_figure_changes(configuration.figure), figure, ignored);
  return figure;
}

FigureData figure_data(const RunRecord& run,
                       const CheckedConfiguration& configuration,
                       const Replicates& replicates,
                       const CheckRecord& verdict) {
  FigureData data{.curves = recorded_curves(run.theory, replicates),
                  .residuals = verdict.residuals()};
  for (RecordedCurve& curve : exponent_curves(configuration, replicates, run.seed))
    data.curves.push_back(std::move(curve));
  return data;
}

DrawOptions draw_options(const RunRecord& run,
                         const CheckedConfiguration& configuration,
                         const Figure& figure,
                         const CheckRecord& verdict) {
  const Configuration& values = configuration.values;
  std::vector<std::pair<std::string, std::string>> metadata = {
      {"run", run.name + "-" + run.hash},
      {"hash", run.hash},
      {"verdict", std::string(describe(verdict.verdict))}};
  if (!verdict.planted.empty())
    metadata.emplace_back("planted", fmt::format("{}", fmt::join(verdict.planted, ", ")));
  if (!verdict.edited.empty())
    metadata.emplace_back("edited", fmt::format("{}", fmt::join(verdict.edited, ", ")));
  DrawOptions drawing{.folder = run.path / "plots",
                      .formats = values.texts("plot.formats"),
                      .style = values.text("plot.style"),
                      .metadata = std::move(metadata)};
  if (values.has("plot.width")) drawing.width = figure_width(values.text("plot.width"));
  Figure same = figure;
  apply(read_figure_changes(configuration.figure), same, drawing);
  return drawing;
}

}  // namespace attica::app

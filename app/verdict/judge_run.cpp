#include "attica/app/verdict/judge_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "attica/app/figures/figure_file.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/work.hpp"
#include "attica/app/verdict/exponents.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"
#include "attica/sources/table.hpp"
#include "attica/sources/unmatched.hpp"
#include "attica/studies/description.hpp"

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

/// Of a series, the points whose means are of some of the replicates only.
const std::string kOfSurvivors = " (some replicates failed)";

/// Moves those points into curves of their own, which are drawn with open markers.
void set_survivors_apart(std::vector<RecordedCurve>& curves, const Replicates& replicates) {
  std::vector<RecordedCurve> apart;
  for (const ObservedCurve& observed : replicates.curves()) {
    const auto curve = std::ranges::find_if(curves, [&](const RecordedCurve& c) {
      return !c.theory && c.mean.name == observed.mean.name &&
             c.mean.point == observed.mean.point && c.mean.x_name == observed.mean.x_name;
    });
    if (curve == curves.end()) continue;
    const RecordedCurve all = *curve;
    RecordedCurve whole{.theory = false, .mean = all.mean, .sem = {}, .sd = {}, .n = {}};
    whole.mean.x.clear();
    whole.mean.y.clear();
    RecordedCurve survivors = whole;
    survivors.mean.name += kOfSurvivors;
    for (std::size_t k = 0, j = 0; k < observed.values.size() && j < all.n.size(); ++k) {
      if (observed.mean.x[k] != all.mean.x[j]) continue;  // all replicates failed
      RecordedCurve& to = all.n[j] < observed.values[k].size() ? survivors : whole;
      to.mean.x.push_back(all.mean.x[j]);
      to.mean.y.push_back(all.mean.y[j]);
      to.sem.push_back(all.sem[j]);
      to.sd.push_back(all.sd[j]);
      to.n.push_back(all.n[j]);
      ++j;
    }
    if (survivors.mean.x.empty()) continue;
    *curve = std::move(whole);
    apart.push_back(std::move(survivors));
  }
  for (RecordedCurve& curve : apart) curves.push_back(std::move(curve));
}

/// Counts, for the caption, the points whose replicates failed, all or in part, and gives the
/// latter a layer of open markers.
void mark_failures(Figure& figure, const Replicates& replicates) {
  std::set<std::string> in_part;
  std::vector<std::string> gone;
  std::vector<std::string> reduced;
  for (const ObservedCurve& curve : replicates.curves()) {
    const bool drawn = std::ranges::any_of(figure.panels, [&](const Panel& panel) {
      return std::ranges::any_of(
          panel.layers, [&](const Layer& layer) { return layer.series == curve.mean.name; });
    });
    if (!drawn) continue;
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      const std::size_t n = curve.values[k].size();
      const auto failed = static_cast<std::size_t>(
          std::ranges::count_if(curve.values[k], [](double y) { return !std::isfinite(y); }));
      if (failed == 0) continue;
      const std::string place = fmt::format(
          "{} ({} of {})",
          place_name({curve.mean.name, curve.mean.point, curve.mean.x_name, curve.mean.x[k]}),
          failed,
          n);
      (failed == n ? gone : reduced).push_back(place);
      if (failed < n) in_part.insert(curve.mean.name);
    }
  }
  const auto listed = [](const std::vector<std::string>& places) {
    constexpr std::size_t kNamed = 4;
    const std::size_t count = std::min(places.size(), kNamed);
    return fmt::format(
        "{}{}",
        fmt::join(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count), "; "),
        places.size() > count ? fmt::format("; {} more", places.size() - count) : "");
  };
  const auto add = [&](const std::string& sentence) {
    figure.caption +=
        (figure.caption.empty() || figure.caption.ends_with(' ') ? "" : " ") + sentence;
  };
  if (!gone.empty()) add(fmt::format("Not drawn, as all replicates failed: {}.", listed(gone)));
  if (!reduced.empty()) {
    add(fmt::format("Open markers: means of the replicates that did not fail; failed: {}.",
                    listed(reduced)));
  }
  for (Panel& panel : figure.panels) {
    const std::vector<Layer> layers = panel.layers;
    for (const Layer& layer : layers) {
      if (!in_part.contains(layer.series) || !layer.simulation) continue;
      Layer open = layer;
      open.series += kOfSurvivors;
      open.label.clear();
      open.theory = false;
      open.hollow = true;
      panel.layers.push_back(std::move(open));
    }
  }
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

/// Takes the replicates of a theory that is a second simulation out of its diagnostics. Those of a
/// problem of a sweep are told by its coordinates.
TheoryReplicates take_theory_replicates(Json& diagnostics) {
  TheoryReplicates all;
  const auto take = [&](Json& facts, const std::string& coordinates) {
    const auto list = facts.find(sources::kTheoryReplicates);
    if (list == facts.end()) return;
    for (const auto& [place, values] : list->items()) {
      std::string name = place;
      if (!coordinates.empty()) {
        const std::string at = " at ";
        name.insert(name.find(at) + at.size(), coordinates + ", ");
      }
      std::vector<double>& replicates = all[name];
      for (const Json& value : values)
        replicates.push_back(value.is_number() ? value.get<double>() : NAN);
    }
    facts.erase(sources::kTheoryReplicates);
  };
  take(diagnostics, "");
  for (auto& [coordinates, facts] : diagnostics.items()) {
    if (facts.is_object()) take(facts, coordinates);
  }
  return all;
}

/// All but the claims.
CheckInput check_input(const RunRecord& run,
                       const std::vector<Prediction>& theory,
                       const CheckedConfiguration& configuration,
                       const Replicates& replicates) {
  Json diagnostics = run.diagnostics;
  diagnostics["statuses"] = run.statuses;
  if (!run.failures.is_null()) diagnostics["failures"] = run.failures;
  CheckInput input{.study = run.study,
                   .run = run.path.string(),
                   .rules = run.rules,
                   .theory = theory,
                   .simulation = &replicates,
                   .claims = {},
                   .diagnostics = std::move(diagnostics),
                   .family = run.family,
                   .seed = run.seed,
                   .post_hoc_margin = std::nullopt,
                   .replicates = run.replicates,
                   .cap = run.cap,
                   .failed = !run.failures.is_null() || run.diagnostics.contains("failed"),
                   .failures_known = true,
                   .perturbed = run.perturbed,
                   .edited = run.edited,
                   .looks = run.looks,
                   .why_not_compared = configuration.study->not_compared,
                   .judged_before = run.judged_before,
                   .expected = run.expected};
  input.theory_replicates = take_theory_replicates(input.diagnostics);
  if (const auto sides = brought_sides(configuration)) {
    // Without a theory there is nothing to meet: claims and bounds alone.
    input.brought = sides->theory;
    input.match = sides->match;
    input.rates = sides->rates;
    input.partial = sides->partial;
    input.from_table = sides->from_table;
    input.summary = sides->summary;
    input.ordered = sides->ordered;
  }
  return input;
}

/// What a bound is compared with: "0.9-quantile".
std::string bounded_quantile(const Configuration& values, const std::string& name) {
  const double p = values.real("bound." + name + ".probability");
  const bool upper = values.text("bound." + name + ".direction") == "upper";
  if (p >= 1) return upper ? "largest of the replicates" : "smallest of the replicates";
  return fmt::format("{:.4g}-quantile", upper ? p : 1 - p);
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
                                      const Observed& all,
                                      ClaimsOf of) {
  std::vector<ClaimResult> claims;
  if (configuration.study->claims != nullptr) {
    each_problem(configuration,
                 all,
                 [&](const Configuration& values, const Point& front, const Observed& own) {
                   for (ClaimResult& claim : configuration.study->claims(values, own)) {
                     if (!front.empty()) claim.name += " (" + describe(front) + ")";
                     claims.push_back(std::move(claim));
                   }
                 });
  }
  if (of == ClaimsOf::problems) return claims;
  const auto seed = static_cast<std::uint64_t>(configuration.values.integer("sim.seed"));
  for (const ExponentResult& result : swept_exponents(configuration, all.simulation, seed)) {
    if (result.fit.medians.size() >= kFewestSizes) claims.push_back(exponent_claim(result));
  }
  return claims;
}

CheckedConfiguration recorded_configuration(const RunRecord& run, const Registry& registry) {
  try {
    CheckedConfiguration c = read_configuration(
        {.target = (run.path / "config.resolved.toml").string(), .preset = {}, .overrides = {}},
        registry);
    if (!c.study->defined_by) c.values.input_directories = folders_read(run);
    if (!run.expected.empty()) c.expected = run.expected;
    // Keys of a user's file that describe are not among the resolved ones.
    const fs::path given = run.path / "config.toml";
    if (c.study->defined_by && fs::is_regular_file(given)) {
      Study described = *c.study;
      described.limits = described_limits(read_whole(given), given.string());
      c.defined = std::make_shared<const Study>(std::move(described));
      c.study = c.defined.get();
    }
    return c;
  } catch (const Error& error) {
    throw Error(ErrorKind::storage, error.what());
  }
}

std::optional<BroughtSides> brought_sides(const CheckedConfiguration& configuration) {
  if (!configuration.study->brought) return std::nullopt;
  Configuration values = configuration.values;  // a side that is swept is there, too
  const std::vector<Table> problems = combinations(configuration.swept);
  for (const auto& [key, value] : problems.front()) values.set(key, value, true);
  return configuration.study->brought(values);
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

ComparisonOptions comparison_options(const CheckedConfiguration& configuration) {
  const auto sides = brought_sides(configuration);
  if (!sides) return {};
  return {.brought = true, .match = sides->match, .rates = sides->rates};
}

void require_common_place(const Work& work,
                          std::span<const Prediction> theory,
                          std::span<const AgreementRule> rules) {
  const auto sides = brought_sides(work.configuration);
  if (!sides || theory.empty()) return;
  const auto refusal = [&](const std::string& why) {
    return Error(ErrorKind::input, "nothing can be compared: " + why);
  };
  for (const std::string& series : sides->compared) {
    if (std::ranges::none_of(theory,
                             [&](const Prediction& p) { return p.series.name == series; })) {
      throw refusal(sources::why_no_curve(theory, {series, {}, sides->x_name, {}, {}}) +
                    fmt::format(", which [agreement.{}] compares", series));
    }
  }
  // A theory that has no finite value anywhere is told of by the verdict.
  if (std::ranges::any_of(theory, [](const Prediction& p) { return p.series.x.empty(); })) return;
  // What is known of the simulation: all of it, if it is a table.
  if (!sides->from_table) return;
  // Of means, errors and numbers every row is in the first replicate.
  Replicates all;
  for (const PieceOfRun& piece : pieces(work, sides->summary ? 1 : work.replicates())) {
    const Problem& problem = work.problems[piece.problem];
    all.add({.first_replicate = piece.piece.first_replicate,
             .outcomes = problem.experiment->simulate(piece.piece)},
            problem.coordinates);
  }
  all.finish();
  const Comparison comparison = compare(rules, theory, all, comparison_options(work.configuration));
  if (comparison.with_theory() > 0 || !comparison.not_compared.empty() ||
      comparison.unmatched.empty()) {
    return;
  }
  const Unmatched& first = comparison.unmatched.front();
  throw refusal(fmt::format("{} points of the simulation, none with a theory; {}: {}",
                            comparison.unmatched.size(),
                            place_name(first.place),
                            first.why));
}

CheckRecord judge_run(const RunRecord& run,
                      const CheckedConfiguration& configuration,
                      const Replicates& replicates,
                      std::optional<double> margin) {
  return judge_run_against(run, run.theory, {}, configuration, replicates, margin);
}

CheckRecord judge_run_against(const RunRecord& run,
                              const std::vector<Prediction>& theory,
                              const std::vector<std::string>& perturbed,
                              const CheckedConfiguration& configuration,
                              const Replicates& replicates,
                              std::optional<double> margin) {
  CheckInput input = check_input(run, theory, configuration, replicates);
  input.claims = judge_claims(configuration, {.theory = theory, .simulation = replicates.curves()});
  input.post_hoc_margin = margin;
  // A perturbed theory is to compare what the run's own does.
  if (&theory != &run.theory) {
    const Comparison own = compare(
        run.rules, run.theory, replicates, {.brought = input.brought, .match = input.match});
    for (const auto& [series, count] : compared_points(own)) {
      std::size_t& expected = input.expected[series];
      expected = std::max(expected, count);
    }
  }
  input.perturbed.insert(input.perturbed.end(), perturbed.begin(), perturbed.end());
  return check(input);
}

CheckRecord judge_series(const RunRecord& run,
                         const CheckedConfiguration& configuration,
                         const Replicates& replicates,
                         const std::set<std::string>& left_out,
                         bool claims) {
  CheckInput input = check_input(run, run.theory, configuration, replicates);
  if (claims) {
    input.claims =
        judge_claims(configuration, {.theory = run.theory, .simulation = replicates.curves()});
  }
  input.left_out = left_out;
  return check(input);
}

Figure figure_of(const RunRecord& run,
                 const CheckedConfiguration& configuration,
                 const Replicates& replicates) {
  Configuration values = configuration.values;
  if (values.declares("figure.series") && !values.has("figure.series")) {
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
  for (const std::string& name : sources::names_in(values, "bound")) {
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
      panel.layers.push_back({.series = "bound " + name + " quantile",
                              .label = bounded_quantile(values, name),
                              .theory = false,
                              .hollow = true});
      panel.layers.push_back({.series = "bound " + name + " limits",
                              .label = "90 % limits of the quantile",
                              .simulation = false,
                              .reference = true});
    }
  }
  DrawOptions ignored;
  apply(read_figure_changes(configuration.figure), figure, ignored);
  mark_failures(figure, replicates);
  return figure;
}

FigureData figure_data(const RunRecord& run,
                       const CheckedConfiguration& configuration,
                       const Replicates& replicates,
                       const CheckRecord& verdict) {
  FigureData data{.curves = recorded_curves(run.theory, replicates),
                  .residuals = verdict.residuals()};
  set_survivors_apart(data.curves, replicates);
  for (RecordedCurve& curve : exponent_curves(configuration, replicates, run.seed))
    data.curves.push_back(std::move(curve));
  return data;
}

void shade_bounds(const Figure& figure, const FigureData& data, DrawOptions& drawing) {
  constexpr const char* kShade = "#e8e8e8";
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    const auto fixed = [](const Axis& axis) { return axis.low || axis.high; };
    if (fixed(figure.panels[k].x) || fixed(figure.panels[k].y)) continue;  // it may end inside
    for (const Layer& layer : figure.panels[k].layers) {
      if (!layer.series.starts_with("bound ") || !layer.series.ends_with(" limits")) continue;
      for (const RecordedCurve& limits : data.curves) {
        if (limits.mean.name != layer.series) continue;
        Shade shade{.colour = kShade};
        for (std::size_t i = 0; i + 1 < limits.mean.x.size(); ++i)
          shade.corners.emplace_back(limits.mean.x[i], limits.mean.y[i]);
        drawing.look.panels.resize(std::max(drawing.look.panels.size(), k + 1));
        drawing.look.panels[k].shades.push_back(std::move(shade));
      }
    }
  }
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
  if (!verdict.perturbed.empty())
    metadata.emplace_back("perturbed", fmt::format("{}", fmt::join(verdict.perturbed, ", ")));
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

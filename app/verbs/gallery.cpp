/// @file
/// @brief The gallery: every study at quick settings, and settings at which theory must fail or
/// data not suffice, each against the verdict it must yield; or every study at another preset.
/// One page; also the regression suite.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/run/run.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/perturbation.hpp"
#include "attica/app/version.hpp"
#include "attica/core/parallel.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/plots/html.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// A reference run whose file has not been fetched.
struct LeftOut {
  std::string name;
  std::string file;

  std::string text() const {
    return fmt::format("{} needs {}, which ./dev data fetches", name, file);
  }
};

/// A reference run and what came of it.
struct Exhibit {
  const Study* study = nullptr;
  std::string target = {};                    ///< by which it is run: its name, or a file
  std::shared_ptr<const Study> defined = {};  ///< of a file
  ReferenceRun reference_run = {};
  std::string command = {};
  RunEnd end = {};
  std::string error = {};  ///< why there is no verdict
  double seconds = 0;
  bool may_claim = false;  ///< without a theory at these values, claims that hold are expected

  /// Whether these are the study's own settings.
  bool quick() const { return reference_run.name == fs::path(target).stem(); }
  std::string verdict() const {
    return end.verdict ? std::string(describe(end.verdict->verdict)) : "ERROR";
  }
  std::string found() const { return end.verdict ? summary(*end.verdict) : error; }
  std::string resolution() const { return end.verdict ? resolution_line(*end.verdict) : ""; }
  bool expected() const {
    if (!end.verdict) return false;
    const Verdict verdict = end.verdict->verdict;
    if (verdict != reference_run.expected && !(may_claim && verdict == Verdict::claims_hold))
      return false;
    // A claim that nothing could refute holds in vain.
    return (verdict != Verdict::agree && verdict != Verdict::claims_hold) ||
           std::ranges::all_of(end.verdict->claims, &ClaimResult::refutable);
  }
};

/// The studies that are named at the preset that was asked for; if none is named, those that have
/// it.
/// @throws Error (input) naming the presets of a study without it
std::vector<Exhibit> preset_exhibits(const Options& options, const Registry& registry) {
  std::vector<Exhibit> all;
  const auto add = [&](const Study& study,
                       const std::string& target = {},
                       const std::shared_ptr<const Study>& defined = {}) {
    const Preset& preset = find_preset(study, options.preset);
    all.push_back({.study = &study,
                   .target = target.empty() ? study.name : target,
                   .defined = defined,
                   .reference_run = {.name = study.name,
                                     .meaning = preset.meaning,
                                     .preset = preset.name,
                                     .values = {},
                                     .expected = Verdict::agree},
                   .may_claim = true});
  };
  for (const std::string& name : options.files) {
    if (fs::path(name).extension() == ".toml") {
      const CheckedConfiguration c =
          read_configuration({.target = name, .preset = {}, .overrides = {}}, registry);
      add(*c.study, name, c.defined);
    } else {
      add(find_study(name, registry));
    }
  }
  if (!options.files.empty()) return all;
  for (const Study& study : registry) {
    if (std::ranges::count(study.presets, options.preset, &Preset::name) > 0) add(study);
  }
  if (all.empty()) throw invalid_parameter("--preset", options.preset, "a preset of some study");
  return all;
}

/// The file that a reference run wants and that was not fetched; empty if it has all it wants.
std::string missing_file(const ReferenceRun& reference_run) {
  if (!reference_run.fetched) return "";
  const auto file = std::ranges::find(
      reference_run.values, "model.file", [](const auto& v) { return std::string_view(v.first); });
  const std::string name = std::get<std::string>(file->second);
  const std::vector<fs::path> folders = input_directories({});
  const bool found = std::ranges::any_of(folders, [&](const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / name, ignored);
  });
  return found ? "" : name;
}

/// The studies that are named, or all, at their quick settings, and their reference runs.
std::vector<Exhibit> quick_exhibits(const Options& options,
                                    const Registry& registry,
                                    std::vector<LeftOut>& left_out) {
  std::vector<Exhibit> all;
  const auto add = [&](const Study& study,
                       const std::string& file = {},
                       const std::shared_ptr<const Study>& defined = {}) {
    const std::string& target = file.empty() ? study.name : file;
    all.push_back({.study = &study,
                   .target = target,
                   .defined = defined,
                   .reference_run = {.name = fs::path(target).stem().string(),
                                     .meaning = {},
                                     .values = {},
                                     .expected = quick_verdict(study)}});
    for (const ReferenceRun& reference_run : study.reference_runs) {
      if (const std::string missing = missing_file(reference_run); !missing.empty()) {
        left_out.push_back({.name = reference_run.name, .file = missing});
      } else {
        all.push_back({.study = &study,
                       .target = target,
                       .defined = defined,
                       .reference_run = reference_run});
      }
    }
  };
  for (const std::string& name : options.files) {
    if (fs::path(name).extension() == ".toml") {
      const CheckedConfiguration c =
          read_configuration({.target = name, .preset = {}, .overrides = {}}, registry);
      add(*c.study, name, c.defined);
    } else {
      add(find_study(name, registry));
    }
  }
  if (options.files.empty()) {
    for (const Study& study : registry) add(study);
  }
  return all;
}

/// @throws Error (input) for a study or a file that is named twice: its second run would find the
/// first one's folder
void require_named_once(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end())
    throw invalid_parameter("STUDY|CONFIG", *twice, "every study and every file once");
}

/// All that the gallery shows. Overrides of the command line come before a reference run's own.
std::vector<Exhibit> exhibits(const Options& options,
                              const Registry& registry,
                              std::vector<LeftOut>& left_out) {
  require_named_once(options.files);
  std::vector<Exhibit> all = options.preset.empty() ? quick_exhibits(options, registry, left_out)
                                                    : preset_exhibits(options, registry);
  for (Exhibit& e : all) {
    e.command = "attica run " + e.target;
    for (const Override& o : options.overrides) e.command += fmt::format(" --set {}", o.assignment);
    if (!e.reference_run.preset.empty()) e.command += " --preset " + e.reference_run.preset;
    for (const auto& [key, value] : e.reference_run.values)
      e.command += fmt::format(" --set '{}={}'", key, to_toml(value));
    if (!e.quick()) e.command += " --name " + e.reference_run.name;
  }
  return all;
}

void exhibit(Exhibit& e, const Options& options, const Registry& registry, ExitOnSignal& signals) {
  const auto start = std::chrono::steady_clock::now();
  Options own = options;
  own.target = e.target;
  own.out = options.out.value_or("gallery");
  own.name = e.reference_run.name;
  own.preset = e.reference_run.preset;
  own.quiet = true;
  for (const auto& [key, value] : e.reference_run.values) {
    const std::string assignment = fmt::format("{}={}", key, to_toml(value));
    own.overrides.push_back({.shown = "reference run " + assignment, .assignment = assignment});
  }
  try {
    e.end = carry_out(requested_simulation(own, registry), run_request(own), signals);
    if (e.end.unfinished) throw *e.end.unfinished;
  } catch (const Error& error) {
    // A folder that cannot be written, or is there already, is no outcome of a study.
    if (error.kind() == ErrorKind::storage) throw;
    e.end.exit_code = static_cast<int>(error.kind());
    e.error = error.what();
  }
  e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The exit code of an exhibit that did not come out as expected: a theory that was to fail and did
/// not is as bad as one that failed.
int unexpected_code(const Exhibit& e) {
  if (e.expected()) return kExitDone;
  return e.end.exit_code == kExitDone ? kExitDisagree : e.end.exit_code;
}

int worst_code(const std::vector<Exhibit>& all) {
  constexpr std::array kFromWorst{
      kExitStorage, kExitNumerical, kExitUsage, kExitDisagree, kExitInconclusive};
  for (const int code : kFromWorst) {
    if (std::any_of(
            all.begin(), all.end(), [&](const Exhibit& e) { return unexpected_code(e) == code; })) {
      return code;
    }
  }
  return kExitDone;
}

double total_seconds(std::span<const Exhibit> all) {
  double seconds = 0;
  for (const Exhibit& e : all) seconds += e.seconds;
  return seconds;
}

/// Run folder -> seconds, of the gallery that is carried on with.
std::map<std::string, double> seconds_before(const fs::path& out, bool resume) {
  std::map<std::string, double> seconds;
  const std::optional<std::string> text = resume ? read_bytes(out / "gallery.json") : std::nullopt;
  if (!text) return seconds;
  try {
    const Json object = Json::parse(*text);
    for (const Json& entry : object.at("entries"))
      seconds[entry.at("run").get<std::string>()] = entry.at("seconds").get<double>();
  } catch (const Json::exception&) {
    return {};  // cut short, or not this program's: counted anew
  }
  return seconds;
}

Json record(std::span<const Exhibit> all, const std::vector<LeftOut>& left_out, int threads) {
  Json entries = Json::array();
  for (const Exhibit& e : all) {
    entries.push_back(
        {{"name", e.reference_run.name},
         {"study", e.study->name},
         {"preset", e.reference_run.preset.empty() ? "quick" : e.reference_run.preset},
         {"meaning", e.reference_run.meaning},
         {"command", e.command},
         {"verdict", e.verdict()},
         {"expected", describe(e.reference_run.expected)},
         {"as_expected", e.expected()},
         {"summary", e.found()},
         {"resolution", e.resolution()},
         {"run", e.end.folder.filename().string()},
         {"seconds", e.seconds}});
  }
  Json missing = Json::array();
  for (const LeftOut& l : left_out) missing.push_back({{"name", l.name}, {"file", l.file}});
  return versioned("gallery",
                   {{"attica", kVersion},
                    {"revision", kRevision},
                    {"threads", threads},
                    {"seconds", total_seconds(all)},
                    {"left_out", std::move(missing)},
                    {"entries", std::move(entries)}});
}

std::string card(const Exhibit& e) {
  const std::string run = e.end.folder.filename().string();
  std::string html = fmt::format(
      "<article class=\"card\" id=\"{0}\">\n<h3>{0}</h3>\n<p>{1}</p>\n"
      "<p class=\"verdict {2}\"><strong>{3}</strong>{4}</p>\n",
      html_text(e.reference_run.name),
      html_text(e.study->question),
      html_text(lower_case(e.verdict())),
      html_text(e.verdict()),
      e.expected() ? (exit_code(e.reference_run.expected) == kExitDone ? "" : ", as it must be")
                   : fmt::format(", expected {}", describe(e.reference_run.expected)));
  for (const fs::path& figure : e.end.figures) {
    if (figure.extension() != ".svg") continue;
    html += fmt::format(
        "<a href=\"{0}/report.html\"><img src=\"{0}/plots/{1}\" alt=\"{2}\" "
        "loading=\"lazy\"></a>\n",
        html_text(run),
        html_text(figure.filename().string()),
        html_text("Figure of " + e.reference_run.name));
  }
  if (!e.reference_run.meaning.empty())
    html += fmt::format("<p>{}</p>\n", html_text(e.reference_run.meaning));
  html += fmt::format("<p>{}{}</p>\n<pre>{}</pre>\n",
                      html_text(e.found()),
                      html_text(e.resolution().empty() ? "" : "; " + e.resolution()),
                      html_text(e.command));
  if (e.end.verdict)
    html += fmt::format("<p><a href=\"{}/report.html\">report</a>, {}</p>\n",
                        html_text(run),
                        html_text(duration_text(e.seconds)));
  return html + "</article>\n";
}

std::string page(const std::vector<Exhibit>& all,
                 const std::vector<LeftOut>& left_out,
                 const std::string& preset) {
  const auto good =
      std::count_if(all.begin(), all.end(), [](const Exhibit& e) { return e.expected(); });
  const std::string title = "attica gallery";
  std::string html = fmt::format(
      "<h1>{}</h1>\n<p>{}. {} of {} came out as expected; attica {} ({}), {}.</p>\n",
      title,
      preset.empty() ? "Every study at its quick settings, and settings at which a theory must be "
                       "seen to fail or the data not to suffice"
                     : fmt::format("Every study at its preset {}", html_text(preset)),
      good,
      all.size(),
      kVersion,
      kRevision,
      duration_text(total_seconds(all)));
  for (const Exhibit& e : all) {
    if (!e.expected())
      html += fmt::format("<p class=\"warning\"><a href=\"#{0}\">{0}</a>: {1}, expected {2}</p>\n",
                          html_text(e.reference_run.name),
                          e.verdict(),
                          describe(e.reference_run.expected));
  }
  for (const LeftOut& l : left_out)
    html += fmt::format("<p>Left out: {}</p>\n", html_text(l.text()));
  // One section a family: the word before the first hyphen.
  std::string family;
  for (const Exhibit& e : all) {
    const std::string own = e.study->name.substr(0, e.study->name.find('-'));
    if (own != family) {
      if (!family.empty()) html += "</div>\n";
      html += fmt::format("<h2>{}</h2>\n<div class=\"cards\">\n", html_text(own));
      family = own;
    }
    html += card(e);
  }
  return html_page(title, html + "</div>\n");
}

/// What became of a wrong theory.
struct PerturbedEntry {
  const Study* study = nullptr;
  const PerturbedTheory* perturbation = nullptr;
  std::string verdict;
  std::string found;

  bool rejected() const { return verdict == describe(Verdict::disagree); }
};

/// Every study's quick run against each of its wrong theories: all have to be rejected.
int perturbed_gallery(const Options& options, const Registry& registry) {
  ExitOnSignal signals;
  std::vector<PerturbedEntry> all;
  Options own = options;
  own.resume = true;
  std::vector<LeftOut> left_out;  // reference runs have no perturbed theories
  for (Exhibit& e : exhibits(options, registry, left_out)) {
    if (!e.quick() || e.study->perturbed.empty()) continue;
    exhibit(e, own, registry, signals);
    if (e.end.exit_code == kExitStopped || e.end.exit_code == kExitInterrupted)
      return e.end.exit_code;
    if (!e.end.verdict) throw Error(ErrorKind::numerical, e.error);
    const FinishedRun run(e.end.folder.string(), registry);
    for (const PerturbedTheory& perturbation : e.study->perturbed) {
      PerturbedEntry error{
          .study = e.study, .perturbation = &perturbation, .verdict = "ERROR", .found = {}};
      try {
        const CheckRecord record =
            verdict_on_perturbed(run, registry, perturbation_texts(perturbation));
        error.verdict = describe(record.verdict);
        error.found = summary(record);
      } catch (const Error& refusal) {
        error.found = refusal.what();
      }
      if (!options.json) {
        put("{:<13} {:<28} {:<28} {}\n",
            error.verdict,
            e.study->name,
            perturbation.name,
            error.rejected() ? perturbation.meaning : error.found);
        std::fflush(stdout);
      }
      all.push_back(std::move(error));
    }
  }
  if (all.empty() && !options.files.empty())
    throw invalid_parameter("--perturbed",
                            fmt::format("{}", fmt::join(options.files, " ")),
                            "a study with [[perturbed]]");
  const auto rejected = std::count_if(
      all.begin(), all.end(), [](const PerturbedEntry& error) { return error.rejected(); });
  if (options.json) {
    Json entries = Json::array();
    for (const PerturbedEntry& error : all) {
      entries.push_back({{"study", error.study->name},
                         {"perturbed", error.perturbation->name},
                         {"errors", perturbation_texts(*error.perturbation)},
                         {"meaning", error.perturbation->meaning},
                         {"verdict", error.verdict},
                         {"summary", error.found}});
    }
    print("perturbed",
          {{"perturbed", all.size()}, {"rejected", rejected}, {"entries", std::move(entries)}});
  } else {
    put("{} of {} wrong theories rejected\n", rejected, all.size());
  }
  return rejected == std::ssize(all) ? kExitDone : kExitDisagree;
}

}  // namespace

Verdict quick_verdict(const Study& study) {
  const Configuration defaults(study.name, study.parameters);
  // Controls are no points of a comparison.
  const std::vector<AgreementRule> rules = study.agreement(defaults);
  return std::ranges::all_of(rules, &AgreementRule::control) ? Verdict::claims_hold
                                                             : Verdict::agree;
}

int gallery_verb(const Options& options, const Registry& registry) {
  if (options.perturbed) return perturbed_gallery(options, registry);
  std::vector<LeftOut> left_out;
  std::vector<Exhibit> all = exhibits(options, registry, left_out);
  if (options.dry_run || !options.json) {
    for (const LeftOut& l : left_out) put("{:<13} {}\n", "left out", l.text());
  }
  if (options.dry_run) {
    for (const Exhibit& e : all) put("{:<13} {}\n", describe(e.reference_run.expected), e.command);
    return kExitDone;
  }
  const fs::path out = fs::absolute(options.out.value_or("gallery"));
  const int threads = options.threads > 0 ? options.threads : default_threads();
  const std::map<std::string, double> before = seconds_before(out, options.resume);
  ExitOnSignal signals;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Exhibit& e = all[i];
    exhibit(e, options, registry, signals);
    const auto earlier = before.find(e.end.folder.filename().string());
    if (earlier != before.end()) e.seconds += earlier->second;
    // After each one, so that the time of those that are done is known to who carries on.
    write_atomically(out / "gallery.json",
                     dump(record(std::span(all).first(i + 1), left_out, threads), 2) + "\n");
    if (e.end.exit_code == kExitStopped || e.end.exit_code == kExitInterrupted)
      return e.end.exit_code;
    signals.checkpoint();
    if (!options.json) {
      put("{:<13} {:<32} {:6.1f} s{}{}\n",
          e.verdict(),
          e.reference_run.name,
          e.seconds,
          e.expected() ? "" : fmt::format("  expected {}", describe(e.reference_run.expected)),
          e.error.empty() ? "" : ": " + e.error);
      std::fflush(stdout);
    }
  }
  write_atomically(out / "index.html", page(all, left_out, options.preset));
  if (options.json) {
    put("{}\n", dump(record(all, left_out, threads), 2));
  } else {
    const auto good =
        std::count_if(all.begin(), all.end(), [](const Exhibit& e) { return e.expected(); });
    put("{} of {} as expected, {}\npage    {}\n",
        good,
        all.size(),
        duration_text(total_seconds(all)),
        (out / "index.html").string());
  }
  return worst_code(all);
}

}  // namespace attica::app

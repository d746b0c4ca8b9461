/// @file
/// @brief Verbs that look without running anything: list, show, init, config, cite, compare,
/// doctor.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/revision.hpp"
#include "attica/app/run/manifest.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/run/run_folder.hpp"
#include "attica/app/run/runner.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/app/version.hpp"
#include "attica/core/instructions.hpp"
#include "attica/core/matrix_file.hpp"
#include "attica/core/parallel.hpp"
#include "attica/sim/networks/matrix_measures.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/replicates.hpp"
#include "attica/studies/own/study.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

std::string type_text(const Parameter& p) {
  if (!p.choices.empty()) return fmt::format("{}", fmt::join(p.choices, " | "));
  constexpr std::array kNames{"real", "integer", "true | false", "text", "file"};
  const std::string type = kNames.at(static_cast<std::size_t>(p.type));
  return p.list ? "list of " + type : type;
}

std::string default_text(const Parameter& p) {
  constexpr std::size_t kLongest = 60;
  if (!p.fallback) return "unset";
  const std::string text = to_toml(*p.fallback);
  return text.size() <= kLongest ? text
                                 : fmt::format("{} values", std::get<List>(*p.fallback).size());
}

bool has_range(const Parameter& p) {
  return std::isfinite(p.range.low) || std::isfinite(p.range.high);
}

/// A line or two about every parameter.
std::string parameter_text(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters) {
    text += fmt::format("  {:<22} {}\n  {:<22}   {}; default {}{}\n",
                        p.key,
                        p.meaning,
                        "",
                        type_text(p),
                        default_text(p),
                        has_range(p) ? "; " + p.range.describe(p.name()) : "");
  }
  return text;
}

Json parameter_json(const std::vector<Parameter>& parameters) {
  Json list = Json::array();
  for (const Parameter& p : parameters) {
    Json entry{{"key", p.key}, {"type", type_text(p)}, {"meaning", p.meaning}};
    if (p.fallback) entry["default"] = to_json(*p.fallback);
    if (has_range(p)) entry["range"] = p.range.describe(p.name());
    list.push_back(std::move(entry));
  }
  return list;
}

/// The study a target names: a study, a configuration or a run folder.
const Study& study_of(const std::string& target, const Registry& registry) {
  if (fs::exists(fs::path(target) / "run.json"))
    return find_study(read_run(target).study, registry);
  return *read_configuration({.target = target, .preset = {}, .overrides = {}}, registry).study;
}

/// The family that a study belongs to: what its name begins with. A few names are older than their
/// families.
std::string family(const Study& study) {
  const std::string word = study.name.substr(0, study.name.find('-'));
  if (word == "body4") return "potts";
  if (word == "tree" || word == "deep") return "joma";
  if (word == "token" || word == "positional") return "icl";
  return word;
}

/// A title whose capitals styles leave alone: words with a capital behind their first letter in
/// braces.
std::string bibtex_title(const std::string& title) {
  std::string text;
  for (std::size_t at = 0; at < title.size();) {
    const std::size_t end = std::min(title.find(' ', at), title.size());
    const std::string word = title.substr(at, end - at);
    const bool keep = std::any_of(word.begin() + (word.empty() ? 0 : 1), word.end(), [](char c) {
      return c >= 'A' && c <= 'Z';
    });
    text += (at == 0 ? "" : " ") + (keep ? "{" + word + "}" : word);
    at = end + 1;
  }
  return text;
}

std::string bibtex(const Source& source) {
  std::string authors;
  for (const char c : source.authors) {
    if (c == ',') {
      authors += " and";
    } else {
      authors += c;
    }
  }
  // What of the paper is used is a comment: a note would be printed in the bibliography.
  std::string text = fmt::format("% {}: {}\n@misc{{{},\n  title = {{{}}},\n",
                                 source.key,
                                 source.used,
                                 source.key,
                                 bibtex_title(source.title));
  text += fmt::format("  author = {{{}}},\n  year = {{{}}}", authors, source.year);
  if (!source.arxiv.empty()) {
    text += fmt::format(
        ",\n  eprint = {{{0}}},\n  archivePrefix = {{arXiv}},\n  doi = {{10.48550/arXiv.{0}}},\n"
        "  url = {{https://arxiv.org/abs/{0}}}",
        source.arxiv);
  }
  return text + "\n}\n";
}

#ifdef ATTICA_MPI
constexpr const char* kMpi = "compiled in";
#else
constexpr const char* kMpi = "not compiled in";
#endif

/// The extensions of the instruction set that this build was allowed to use, and those of them that
/// this processor lacks.
struct Instructions {
  std::string used;
  std::string missing;
};

Instructions instructions() {
  Instructions found;
  InstructionSet sets[kInstructionSets];
  instruction_sets(sets);
  for (const auto& [name, used, available] : sets) {
    if (!used) continue;
    found.used += (found.used.empty() ? "" : " ") + std::string(name);
    if (!available) found.missing += (found.missing.empty() ? "" : " ") + std::string(name);
  }
  if (found.used.empty()) found.used = "the processor family's common ones";
  return found;
}

/// First line of a command's output; empty if it cannot be run.
std::string first_line(const char* command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command, "r"), ::pclose);
  std::array<char, 256> line{};
  if (!pipe || std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) == nullptr)
    return {};
  std::string text = line.data();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

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

int list_verb(const Options& options, const Registry& registry) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    return text;
  };
  const std::string word = lower(options.target);
  std::vector<const Study*> shown;
  for (const Study& study : registry) {
    for (const std::string& text : {family(study), study.name, study.question}) {
      if (lower(text).find(word) == std::string::npos) continue;
      shown.push_back(&study);
      break;
    }
  }
  if (shown.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("no study has '{}' in its family, name or question; `attica list` "
                            "names them all",
                            options.target));
  }
  if (options.json) {
    Json list = Json::array();
    for (const Study* study : shown) {
      list.push_back(
          {{"name", study->name}, {"family", family(*study)}, {"question", study->question}});
    }
    print(list);
    return kExitDone;
  }
  for (const Study* study : shown)
    put("{:<24} {:<8} {}\n", study->name, family(*study), study->question);
  if (!absent_families().empty()) say(left_out() + "\n");
  return kExitDone;
}

int show_verb(const Options& options, const Registry& registry) {
  const Study& study = find_study(options.target, registry);
  if (options.json) {
    Json object{{"name", study.name},
                {"question", study.question},
                {"approximation", study.approximation},
                {"outside", study.not_compared},
                {"parameters", parameter_json(all_parameters(study))},
                {"series", Json::array()},
                {"presets", Json::array()},
                {"sources", Json::array()}};
    for (const SeriesInfo& s : study.series) {
      object["series"].push_back({{"name", s.name}, {"symbol", s.symbol}, {"meaning", s.meaning}});
    }
    for (const Preset& p : study.presets) {
      object["presets"].push_back({{"name", p.name}, {"meaning", p.meaning}});
    }
    for (const Source& s : study.sources) {
      object["sources"].push_back({{"authors", s.authors},
                                   {"year", s.year},
                                   {"title", s.title},
                                   {"arxiv", s.arxiv},
                                   {"used", s.used}});
    }
    print(object);
    return kExitDone;
  }
  put("{}: {}\n\n{}{}\n\nParameters\n{}",
      study.name,
      study.question,
      approximation_sentence(study.approximation),
      study.not_compared.empty() ? "" : "\nNot compared: " + study.not_compared + ".",
      parameter_text(all_parameters(study)));
  put("\nAny scalar of [model] or [sim] may be swept: name it in [sweep] instead.\n\nSeries\n");
  for (const SeriesInfo& s : study.series) put("  {:<22} {}: {}\n", s.name, s.symbol, s.meaning);
  put("\nPresets\n");
  for (const Preset& p : study.presets) put("  {:<22} {}\n", p.name, p.meaning);
  put("\nSources\n");
  for (const Source& s : study.sources) {
    put("  {} ({}). {}. arXiv:{} ({})\n", s.authors, s.year, s.title, s.arxiv, s.used);
  }
  return kExitDone;
}

int init_verb(const Options& options, const Registry& registry) {
  if (options.target == kOwnStudy) {
    put("{}", own_template());
    return kExitDone;
  }
  put("{}", configuration_template(find_study(options.target, registry), options.preset));
  return kExitDone;
}

int config_verb(const Options& options, const Registry& registry) {
  Options inner = options;
  inner.target = options.second_target;
  if (options.target == "show") {
    const Work work = requested_work(inner, registry);
    put("{}",
        options.json ? dump(parameters_object(work.configuration), 2) + "\n"
                     : to_toml(work.configuration));
  } else {
    const std::vector<Parameter> parameters = all_parameters(study_of(inner.target, registry));
    put("{}",
        options.json ? parameter_json(parameters).dump(2) + "\n" : parameter_text(parameters));
  }
  return kExitDone;
}

int cite_verb(const Options& options, const Registry& registry) {
  for (const Source& source : study_of(options.target, registry).sources)
    put("{}\n", bibtex(source));
  put("@software{{attica,\n  title = {{attica: attention theory in {{C++}}}},\n  author = {{{{the "
      "attica authors}}}},\n"
      "  version = {{{}}},\n  year = {{2026}}\n}}\n",
      kVersion);
  return kExitDone;
}

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
    print({{"parameters", std::move(changed)},
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

int measure_verb(const Options& options, const Registry&) {
  Json list = Json::array();
  for (const std::string& file : options.files) {
    const Notice notice(options.quiet,
                        fmt::format("measuring '{}'; angles between columns take the square of "
                                    "their number ...",
                                    file));
    const MatrixFile read = read_matrix_file(file, CsvHeader::optional);
    const Eigen::MatrixXd& matrix = read.table.values;
    for (const std::string& text : read.remarks) remark(options.quiet, text);
    const networks::MatrixMeasures m = networks::measure(matrix, read.rounding);
    // Rows that nearly are distributions.
    constexpr double kNear = 0.05;
    if (!m.attention_entropy && matrix.minCoeff() >= 0 && m.row_sums_off < kNear) {
      remark(options.quiet,
             fmt::format("{}: rows sum to 1 within {:.2g} only, expected {:.2g}: not taken for "
                         "distributions, no attention_entropy",
                         file,
                         m.row_sums_off,
                         m.tolerance));
    }
    Json entry{{"file", file},
               {"rows", m.rows},
               {"columns", m.columns},
               {"frobenius_norm", m.frobenius_norm},
               {"spectral_norm", m.spectral_norm}};
    // What a matrix does not have is left out: the entropy of rows that are no distributions, for
    // one.
    if (m.stable_rank) entry["stable_rank"] = *m.stable_rank;
    if (m.mean_abs_cosine) entry["mean_abs_cosine"] = *m.mean_abs_cosine;
    if (m.attention_entropy) entry["attention_entropy"] = *m.attention_entropy;
    list.push_back(std::move(entry));
  }
  if (options.json) {
    print(list);
    return kExitDone;
  }
  for (const Json& entry : list) {
    for (const auto& [key, value] : entry.items()) {
      put("{:<18} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (&entry != &list.back()) put("\n");
  }
  return kExitDone;
}

int doctor_verb(const Options& options, const Registry& registry) {
  const std::string gnuplot = first_line("gnuplot --version 2>/dev/null");
  const std::string font = first_line("fc-list 'DejaVu Sans' 2>/dev/null");
  std::error_code ignored;
  const fs::path data = data_directory();
  const Instructions needs = instructions();
  const Json found{
      {"attica", kVersion},
      {"revision", kRevision},
      {"compiler", kCompiler},
      {"build_type", kBuildType},
      {"built_for",
       kNative == std::string_view("ON") ? "the processor it was built on"
       : *kMarch != 0                    ? kMarch
                                         : "any processor of the family"},
      {"instructions", needs.used},
      {"this_processor",
       needs.missing.empty() ? "has them all" : "LACKS " + needs.missing + ": build anew here"},
      {"libraries", kLibraries},
      {"mpi", kMpi},
      {"studies", registry.size()},
      {"families_left_out",
       absent_families().empty() ? "none" : fmt::format("{}", fmt::join(absent_families(), ", "))},
      {"processors", std::thread::hardware_concurrency()},
      {"default_threads", default_threads()},
      {"data_folder", data.empty() ? "not found" : data.string()},
      {"gnuplot",
       gnuplot.empty() ? "not found: runs work, figures do not (Debian: gnuplot-nox)" : gnuplot},
      {"font_dejavu_sans",
       font.empty() ? "not found: figures fall back to another font (Debian: fonts-dejavu-core)"
                    : "found"},
      {"working_folder", ::access(".", W_OK) == 0 ? "writable" : "not writable: give --out"},
      {"free_space_GB", static_cast<double>(fs::space(".", ignored).available) / 1e9}};
  if (options.json) {
    print(found);
    return kExitDone;
  }
  for (const auto& [key, value] : found.items()) {
    put("{:<20} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return kExitDone;
}

}  // namespace attica::app

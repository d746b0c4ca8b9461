#include "attica/app/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>

#include "attica/app/exit_codes.hpp"
#include "attica/app/revision.hpp"
#include "attica/app/verbs.hpp"
#include "attica/app/version.hpp"
#include "attica/core/error.hpp"
#include "attica/plots/draw.hpp"

namespace attica::app {
namespace {

/// Groups of options that verbs share.
enum OptionGroup : unsigned {
  kConfiguration = 1,  // --set, --preset, and those of kSeed
  kSeed = 16384,       // --seed, --replicates
  kPreset = 2,         // --preset alone
  kMaxTime = 4,        // --max-time
  kMargin = 8,
  kDrawing = 16,
  kJson = 32,
  kPower = 128,  // --power
  kUntilDecided = 256,
  kSpecialChecks = 512,  // --extrapolate, --self-test, --full
  kThreads = 64,         // --threads
  kOut = 32768,          // --out
  kPlace = 1024,         // --name
  kShard = 2048,         // --shard
  kSlurm = 4096,         // --shards, --max-time
  kKeep = 8192,          // --resume, --force, --dry-run
};

struct Verb {
  const char* name;
  const char* target;  ///< name of the positional argument; empty: none
  const char* second;  ///< of a second one; empty: none
  const char* summary;
  unsigned options;
  int (*run)(const Options&, const Registry&);
};

int config_verb(const Options& options, const Registry& registry) {
  Options inner = options;
  inner.target = options.second_target;
  if (options.target == "show") return config_show_verb(inner, registry);
  if (options.target == "keys") return config_keys_verb(inner, registry);
  throw invalid_parameter("ACTION", options.target, "show or keys");
}

int completion_verb(const Options& options, const Registry& registry);
int man_verb(const Options& options, const Registry& registry);

constexpr auto kVerbs = std::to_array<Verb>({
    {"demo",
     "",
     "",
     "Theory, simulation, check and figure on real data, in seconds",
     kThreads | kOut | kJson,
     demo_verb},
    {"list", "", "", "The studies, a line each", kJson, list_verb},
    {"show", "STUDY", "", "A study's parameters, series, figure and sources", kJson, show_verb},
    {"init", "STUDY", "", "A commented configuration on standard output", kPreset, init_verb},
    {"theory",
     "STUDY|CONFIG",
     "",
     "The theory's series on standard output, as CSV or with --json",
     kConfiguration | kJson,
     theory_verb},
    {"run",
     "STUDY|CONFIG",
     "",
     "Theory, simulation, check and figure into a run folder",
     kConfiguration | kThreads | kOut | kPlace | kKeep | kMaxTime | kMargin | kUntilDecided |
         kShard | kJson,
     run_verb},
    {"check",
     "RUN",
     "",
     "The verdict on a run: AGREE, DISAGREE or INCONCLUSIVE",
     kMargin | kSpecialChecks | kJson,
     check_verb},
    {"plot", "RUN", "", "Draw a run's figure again from its records", kDrawing, plot_verb},
    {"status", "RUN", "", "What of a run is done and what is missing", kJson, status_verb},
    {"plan",
     "STUDY|CONFIG",
     "",
     "Replicates, time and disk for a verdict, from a pilot run",
     kConfiguration | kMargin | kThreads | kPower | kJson,
     plan_verb},
    {"merge",
     "RUN...",
     "",
     "Join the shards of a run, made by `run --shard`, into one",
     kOut | kPlace | kJson,
     merge_verb},
    {"slurm",
     "STUDY|CONFIG",
     "",
     "A job script for Slurm on standard output: a run in shards, one a task",
     kConfiguration | kThreads | kOut | kPlace | kSlurm | kMaxTime | kMargin,
     slurm_verb},
    {"gallery",
     "STUDY...",
     "",
     "All studies at quick settings on one page, each against the verdict it must come to",
     kSeed | kThreads | kOut | kKeep | kJson,
     gallery_verb},
    {"measure",
     "FILE...",
     "",
     "Norms, stable rank, mean cosine and attention entropy of matrices in .npy or CSV files",
     kJson,
     measure_verb},
    {"fit", "RUN", "", "Scaling exponents of a run, with intervals and verdicts", kJson, fit_verb},
    {"report", "RUN", "", "One offline HTML page of a run", 0, report_verb},
    {"compare",
     "RUN",
     "RUN2",
     "Parameters and series in which two runs differ, with z",
     kJson,
     compare_verb},
    {"cite", "STUDY|CONFIG|RUN", "", "BibTeX of the theory used and of attica", 0, cite_verb},
    {"config",
     "ACTION",
     "STUDY|CONFIG",
     "show: the resolved configuration; keys: what can be configured",
     kConfiguration | kJson,
     config_verb},
    {"doctor", "", "", "What was compiled in and what this machine offers", kJson, doctor_verb},
    {"completion",
     "SHELL",
     "",
     "Completion script for bash or zsh on standard output",
     0,
     completion_verb},
    {"man", "", "", "The manual page on standard output", 0, man_verb},
});

/// "90", "90s", "15m", "2h" or "1h30m" in seconds.
double parse_duration(const std::string& text) {
  double total = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  while (at != end) {
    double number = 0;
    const auto [next, code] = std::from_chars(at, end, number);
    const char unit = next == end ? 's' : *next;
    const double scale = unit == 's' ? 1 : unit == 'm' ? kMinute : unit == 'h' ? kHour : 0;
    if (code != std::errc() || scale == 0 || !(number >= 0)) {
      throw invalid_parameter("--max-time", text, "a time such as 90, 15m or 1h30m");
    }
    total += number * scale;
    at = next == end ? end : next + 1;
  }
  if (text.empty()) throw invalid_parameter("--max-time", text, "a time such as 90, 15m or 1h30m");
  return total;
}

/// "2/8": part 2 of 8.
Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.index);
  if (first == std::errc() && slash != end && *slash == '/') {
    const auto [rest, second] = std::from_chars(slash + 1, end, shard.count);
    if (second == std::errc() && rest == end && shard.index >= 1 && shard.index <= shard.count)
      return shard;
  }
  throw invalid_parameter("--shard", text, "I/N with 1 <= I <= N, such as 2/8");
}

/// Raw option values that need more than CLI11's own parsing.
struct RawOptions {
  std::vector<std::string> sets;
  std::optional<std::string> seed;
  std::optional<std::string> replicates;
  std::optional<std::string> max_time;
  std::optional<std::string> shard;
  std::optional<double> margin;
};

/// What a positional argument is, for help.
const char* meaning_of(std::string_view target) {
  constexpr auto kMeanings = std::to_array<std::pair<std::string_view, const char*>>(
      {{"STUDY", "name of a study; `attica list` shows them"},
       {"STUDY...", "names of studies; all if none is given"},
       {"STUDY|CONFIG", "name of a study, or a TOML file"},
       {"STUDY|CONFIG|RUN", "name of a study, a TOML file, or the folder of a run"},
       {"RUN", "folder of a run"},
       {"RUN2", "folder of another run"},
       {"RUN...", "folders of the shards"},
       {"FILE...", "matrices in .npy or CSV files"},
       {"ACTION", "show or keys"},
       {"SHELL", "bash or zsh"}});
  for (const auto& [name, meaning] : kMeanings) {
    if (name == target) return meaning;
  }
  return "";
}

void add_options(CLI::App& command, const Verb& verb, Options& options, RawOptions& raw) {
  if (std::string_view(verb.target).ends_with("...")) {
    const std::string name(verb.target, std::strlen(verb.target) - std::strlen("..."));
    CLI::Option* files = command.add_option(name, options.files, meaning_of(verb.target));
    if (verb.run != gallery_verb) files->required();
  } else if (*verb.target != '\0') {
    command.add_option(verb.target, options.target, meaning_of(verb.target))->required();
  }
  if (*verb.second != '\0') {
    command.add_option(verb.second, options.second_target, meaning_of(verb.second))->required();
  }
  const auto has = [&](unsigned group) { return (verb.options & group) != 0; };
  if (has(kConfiguration)) {
    command
        .add_option("--set",
                    raw.sets,
                    "KEY=VALUE: override a parameter, dotted key, TOML value; repeatable")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  }
  if (has(kConfiguration | kSeed)) {
    command.add_option("--seed", raw.seed, "master seed (sim.seed)")->type_name("N");
    command
        .add_option("--replicates", raw.replicates, "replicates at every point (sim.replicates)")
        ->type_name("N");
  }
  if (has(kConfiguration | kPreset)) {
    command
        .add_option(
            "--preset", options.preset, "named set of parameter values; `attica show` lists them")
        ->type_name("NAME");
  }
  if (has(kThreads)) {
    command.add_option("--threads", options.threads, "worker threads; results do not depend on it")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
  }
  if (has(kOut)) {
    command
        .add_option("--out",
                    options.out,
                    verb.run == merge_verb
                        ? "folder that receives the run folder (default: beside the first shard)"
                    : verb.run == gallery_verb
                        ? "folder that receives run folders and page (default: gallery)"
                        : "folder that receives the run folder (default: runs)")
        ->type_name("DIR");
  }
  if (has(kPlace)) {
    command
        .add_option(
            "--name", options.name, "first part of the run folder's name (default: the study's)")
        ->type_name("NAME");
  }
  if (has(kKeep)) {
    command.add_flag(
        "--resume", options.resume, "carry on with an existing run folder, or start it");
    command.add_flag("--force", options.force, "move an existing run folder aside and start anew")
        ->excludes("--resume");
    command.add_flag("--dry-run", options.dry_run, "say what would be done, write nothing");
  }
  if (has(kMaxTime)) {
    command
        .add_option("--max-time",
                    raw.max_time,
                    verb.run == slurm_verb ? "time limit of a task (default 1h)"
                                           : "stop at a checkpoint after this time, exit code 75")
        ->type_name("TIME");
  }
  if (has(kUntilDecided)) {
    command.add_flag("--until-decided",
                     options.until_decided,
                     "stop as soon as the verdict is known, by a rule that keeps the error rates; "
                     "sim.replicates is the cap");
  }
  if (has(kShard)) {
    command
        .add_option("--shard",
                    raw.shard,
                    "only part I of N, into a folder of its own; `attica merge` joins them")
        ->type_name("I/N")
        ->excludes("--until-decided");
  }
  if (has(kSlurm)) {
    command.add_option("--shards", options.shards, "tasks of the job array (default 8)")
        ->type_name("N")
        ->check(CLI::Range(1, 10000));
  }
  if (has(kMargin)) {
    command
        .add_option("--margin",
                    raw.margin,
                    std::string(verb.name) == "check"
                        ? "relative margin instead of the declared one; recorded as post hoc"
                        : "relative margin of every comparison (check.margin)")
        ->type_name("R");
  }
  if (has(kDrawing)) {
    command.add_option("-f,--format", options.formats, "svg, pdf, png; separated by commas")
        ->delimiter(',')
        ->type_name("LIST")
        ->check(CLI::IsMember({"svg", "pdf", "png"}));
    command
        .add_option(
            "--style", options.style, fmt::format("one of {}", fmt::join(style_names(), ", ")))
        ->type_name("STYLE")
        ->check(CLI::IsMember(style_names()));
    command.add_option("--width", options.width, "half (one column) or full")
        ->type_name("WIDTH")
        ->check(CLI::IsMember({"half", "full"}));
  }
  if (has(kPower)) {
    command
        .add_option(
            "--power", options.power, "probability of AGREE if the theory is right (default 0.9)")
        ->type_name("P")
        ->check(CLI::Range(0.5, 0.999));
  }
  if (has(kSpecialChecks)) {
    auto* extrapolate =
        command.add_flag("--extrapolate",
                         options.extrapolate,
                         "verdict on the limit of infinite size, from a sweep over sizes");
    command
        .add_flag("--self-test",
                  options.self_test,
                  "measure the verdict's own error rates at this run's setting")
        ->excludes(extrapolate);
    command.add_flag("--full", options.full, "self-test: 14424 repetitions instead of 2201");
  }
  if (has(kJson))
    command.add_flag("--json", options.json, "print one JSON object and nothing else");
  command.add_flag("--quiet", options.quiet, "no progress, no remarks");
}

void interpret(const Verb& verb, const RawOptions& raw, Options& options) {
  for (const std::string& set : raw.sets) options.overrides.push_back({"--set " + set, set});
  if (raw.seed) options.overrides.push_back({"--seed " + *raw.seed, "sim.seed=" + *raw.seed});
  if (raw.replicates) {
    options.overrides.push_back(
        {"--replicates " + *raw.replicates, "sim.replicates=" + *raw.replicates});
  }
  if (raw.margin) {
    require(std::isfinite(*raw.margin) && *raw.margin >= 0, "--margin", *raw.margin, "R >= 0");
    if (verb.run == check_verb) {
      options.margin = raw.margin;
    } else {
      options.overrides.push_back(
          {fmt::format("--margin {}", *raw.margin), fmt::format("check.margin={}", *raw.margin)});
    }
  }
  if (raw.shard) options.shard = parse_shard(*raw.shard);
  if (raw.max_time) options.max_seconds = parse_duration(*raw.max_time);
  if (options.out && options.out->empty()) throw invalid_parameter("--out", "\"\"", "a folder");
}

/// The parser with all verbs, writing into `options` and `raw`.
std::unique_ptr<CLI::App> make_parser(Options& options, RawOptions& raw) {
  auto app = std::make_unique<CLI::App>(
      "attica: does the theory describe the simulation, and how do I know?", "attica");
  app->require_subcommand(1);
  app->set_version_flag("--version", fmt::format("attica {} ({})", kVersion, kRevision));
  app->footer(
      "`attica VERB --help` explains a verb. Exit codes: 0 done or AGREE, 1 DISAGREE, 2 usage or "
      "configuration,\n"
      "3 INCONCLUSIVE, 4 numerical failure, 5 output or run folder, 75 stopped (run again with "
      "--resume).");
  for (const Verb& verb : kVerbs)
    add_options(*app->add_subcommand(verb.name, verb.summary), verb, options, raw);
  return app;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

/// The long options of a verb, as "--seed".
std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

int completion_verb(const Options& options, const Registry& registry) {
  if (options.target != "bash" && options.target != "zsh") {
    throw invalid_parameter("SHELL", options.target, "bash or zsh");
  }
  Options unused;
  RawOptions raw;
  const auto app = make_parser(unused, raw);
  std::vector<std::string> studies;
  for (const Study& study : registry) studies.push_back(study.name);
  // zsh runs bash's completion through its own emulation.
  if (options.target == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
  fmt::print(
      "_attica() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\")); return\n"
      "  fi\n"
      "  case $verb in\n",
      fmt::join(verb_names(), " "));
  for (const Verb& verb : kVerbs) {
    const std::string target = std::string(verb.target) + verb.second;
    std::string words =
        fmt::format("{}", fmt::join(long_options(*app->get_subcommand(verb.name)), " "));
    if (target.find("STUDY") != std::string::npos)
      words += fmt::format(" {}", fmt::join(studies, " "));
    if (target.find("ACTION") != std::string::npos) words += " show keys";
    if (target.find("SHELL") != std::string::npos) words += " bash zsh";
    fmt::print("    {}) words='{}' ;;\n", verb.name, words);
  }
  fmt::print(
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
      "}}\n"
      "complete -o filenames -F _attica attica\n");
  return kExitDone;
}

/// Text with what roff would take for itself escaped.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '-' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

int man_verb(const Options&, const Registry& registry) {
  Options unused;
  RawOptions raw;
  const auto app = make_parser(unused, raw);
  fmt::print(
      ".TH ATTICA 1 \"\" \"attica {}\" \"User Commands\"\n.SH NAME\nattica \\- attention theory "
      "against simulation\n"
      ".SH SYNOPSIS\n.B attica\n.I VERB\n[\n.I STUDY\n|\n.I CONFIG.toml\n|\n.I RUN\n] [\n.I "
      "options\n]\n"
      ".SH DESCRIPTION\nComputes what an analytic theory predicts for a small attention model, "
      "runs the finite\\-sample\n"
      "experiment with the same parameters, draws both in one figure, and says with stated error "
      "rates whether\n"
      "they agree.\n.SH VERBS\n",
      kVersion);
  for (const Verb& verb : kVerbs) {
    fmt::print(".SS \"{} {} {}\"\n{}\n", verb.name, verb.target, verb.second, roff(verb.summary));
    for (const CLI::Option* option : app->get_subcommand(verb.name)->get_options()) {
      if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
      fmt::print(".TP\n.B {} {}\n{}\n",
                 roff("--" + option->get_lnames().front()),
                 option->get_items_expected_max() > 0 ? option->get_type_name() : "",
                 roff(option->get_description()));
    }
  }
  fmt::print(".SH STUDIES\n");
  for (const Study& study : registry)
    fmt::print(".TP\n.B {}\n{}\n", roff(study.name), roff(study.question));
  fmt::print(".SH EXIT STATUS\n");
  for (const auto& [code, meaning] : std::initializer_list<std::pair<int, const char*>>{
           {kExitDone, "done, or AGREE"},
           {kExitDisagree, "DISAGREE"},
           {kExitUsage, "usage, configuration or input file"},
           {kExitInconclusive, "INCONCLUSIVE"},
           {kExitNumerical, "numerical failure: divergence, no convergence, a non-finite number"},
           {kExitStorage, "output and run folders"},
           {kExitStopped, "stopped at a checkpoint: run again with --resume"},
           {kExitInterrupted, "interrupted before any checkpoint"}}) {
    fmt::print(".TP\n.B {}\n{}\n", code, roff(meaning));
  }
  return kExitDone;
}

/// Says which argument was not expected, and which option was probably meant.
int unexpected_arguments(const CLI::App& app, const CLI::ExtrasError& error) {
  const CLI::App& command = *app.get_subcommands().front();
  for (const std::string& word : app.remaining(true)) {
    if (!word.starts_with("--")) continue;
    const std::string near = nearest(word.substr(0, word.find('=')), long_options(command));
    fmt::print(stderr,
               "attica: error: `{}` has no option '{}'{}\n",
               command.get_name(),
               word,
               near.empty() ? "; see `attica " + command.get_name() + " --help`"
                            : fmt::format("; did you mean '{}'?", near));
    return kExitUsage;
  }
  fmt::print(stderr, "attica: error: {}\n", error.what());
  return kExitUsage;
}

int report(const Error& error) {
  const std::string text = error.what();
  // Configuration errors already say where they are.
  const bool located = text.find(": error: ") != std::string::npos;
  fmt::print(stderr, "{}{}\n", located ? "" : "attica: error: ", text);
  return static_cast<int>(error.kind());
}

}  // namespace

int program(int argc, char** argv, const std::vector<Study>& registry) {
  Options options;
  options.command_line.assign(argv, argv + argc);
  RawOptions raw;
  const auto parser = make_parser(options, raw);
  CLI::App& app = *parser;
  const std::vector<std::string> names = verb_names();
  if (argc == 1) {
    fmt::print(stderr, "{}", app.help());
    return kExitUsage;
  }
  if (argv[1][0] != '-' && std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    const std::string near = nearest(argv[1], names);
    fmt::print(stderr,
               "attica: error: unknown verb '{}'; {}\n",
               argv[1],
               near.empty() ? fmt::format("expected one of {}", fmt::join(names, ", "))
                            : fmt::format("did you mean '{}'?", near));
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    return unexpected_arguments(app, error);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? kExitDone : kExitUsage;
  }
  try {
    for (const Verb& verb : kVerbs) {
      if (!app.got_subcommand(verb.name)) continue;
      interpret(verb, raw, options);
      const int code = verb.run(options, registry);
      if (std::fflush(stdout) != 0)
        throw Error(ErrorKind::storage, "cannot write to standard output");
      return code;
    }
  } catch (const Error& error) {
    return report(error);
  } catch (const std::system_error& error) {
    return report({ErrorKind::storage, error.what()});
  } catch (const std::bad_alloc&) {
    return report({ErrorKind::numerical, "out of memory: the problem is too large"});
  } catch (const std::exception& error) {
    fmt::print(stderr, "attica: internal error: {}\n", error.what());
    return kExitNumerical;
  }
  return kExitUsage;
}

}  // namespace attica::app

#include "attica/app/command/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "attica/app/configuration/assignment.hpp"
#include "attica/core/error.hpp"
#include "attica/plots/draw.hpp"

namespace attica::app {
namespace {

/// A number with low <= number <= high. @throws Error of kind input
template <class T>
T number(const char* flag, const std::string& text, T low, T high) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || rest != end || !(value >= low && value <= high)) {
    throw invalid_parameter(
        flag, text, fmt::format("a number from {} to {}{}", low, high, typed_number_hint(text)));
  }
  return value;
}

/// "90", "90s", "15m", "2h" or "1h30m" in seconds.
double duration(const std::string& text) {
  const Error refusal =
      invalid_parameter("--max-time", text, "a time such as 90, 15m or 1h30m; inf: no limit");
  if (text.empty()) throw refusal;
  double total = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  while (at != end) {
    double amount = 0;
    auto [next, code] = std::from_chars(at, end, amount);
    if (code == std::errc::result_out_of_range) {  // 1e999 is no limit, 1e-999 none at all
      const bool small = std::string_view(at, next).find("e-") != std::string_view::npos;
      amount = small ? 0 : std::numeric_limits<double>::infinity();
      code = {};
    }
    const char unit = next == end ? 's' : *next;
    const double scale = unit == 's' ? 1 : unit == 'm' ? kMinute : unit == 'h' ? kHour : 0;
    if (code != std::errc() || scale == 0 || !(amount >= 0)) throw refusal;
    total += amount * scale;
    at = next == end ? end : next + 1;
  }
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

double parse_margin(const std::string& text) {
  double margin = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, margin);
  const bool percent = rest + 1 == end && *rest == '%';
  if (code != std::errc() || (rest != end && !percent) || !std::isfinite(margin) || margin < 0)
    throw invalid_parameter(
        "--margin", text, "R >= 0, such as 0.05 or 5%" + typed_number_hint(text));
  constexpr double kPercent = 100;
  return percent ? margin / kPercent : margin;
}

/// An option that is short for `--set key=value`.
void override_by(Options& options, const char* flag, const char* key, const std::string& value) {
  options.overrides.push_back(
      {fmt::format("{} {}", flag, value), fmt::format("{}={}", key, value)});
}

/// Enters a value, or that a switch is on, as it stands.
template <auto member>
void enter(Options& options, const std::string& value) {
  if constexpr (std::is_same_v<decltype(member), bool Options::*>) {
    options.*member = true;
  } else {
    options.*member = value;
  }
}

void set_out(Options& o, const std::string& v) {
  if (v.empty()) throw invalid_parameter("--out", "\"\"", "a folder");
  o.out = v;
}
void set_max_time(Options& o, const std::string& v) { o.max_seconds = duration(v); }

constexpr int kMostThreads = 4096;
constexpr int kLastPort = 65535;
constexpr std::size_t kMostShards = 10000;
constexpr int kMostDepth = 6;
constexpr double kLeastPower = 0.5;
constexpr double kLeastResolution = 1e-6;
constexpr double kMostPower = 0.999;
constexpr double kMostFloor = 1e300;

/// All options, in the order in which help shows them and in which they take effect.
const std::vector<Option>& all_options() {
  using enum Takes;
  static const std::vector<Option> table = {
      {values,
       "--set KEY=VALUE",
       "override a parameter, dotted key, TOML value; repeatable",
       [](Options& o, const std::string& v) {
         o.overrides.push_back({"--set " + v, v});
       },
       {},
       true},
      {figure_values,
       "--set figure.KEY=VALUE",
       "change the figure, as figure.x.label='\"samples\"' or figure.a.y.scale='\"log\"' of panel "
       "(a); "
       "repeatable",
       [](Options& o, const std::string& v) {
         o.overrides.push_back({"--set " + v, v});
       },
       {},
       true},
      {figures,
       "--paper [ARXIV:FIGURE]",
       "a figure of a publication, with the runs that it takes; without a value: which there are",
       [](Options& o, const std::string& v) { o.paper = v == "{}" || v == "true" ? "" : v; }},
      {figures, "--out DIR", "folder that receives the files (default: figures)", set_out},
      {figures,
       "--name NAME",
       "name of the files (default: that of the file, or of the first study's figure)",
       enter<&Options::name>},
      {seed,
       "--seed N",
       "master seed (sim.seed)",
       [](Options& o, const std::string& v) { override_by(o, "--seed", "sim.seed", v); }},
      {seed,
       "--replicates N",
       "replicates at every point (sim.replicates)",
       [](Options& o, const std::string& v) {
         override_by(o, "--replicates", "sim.replicates", v);
       }},
      {preset,
       "--preset NAME",
       "named set of parameter values; `attica show` lists them",
       enter<&Options::preset>},
      {threads,
       "--threads N",
       "worker threads, 1 to 4096; results do not depend on it",
       [](Options& o, const std::string& v) {
         o.threads = number("--threads", v, 1, kMostThreads);
       }},
      {out, "--out DIR", "folder that receives the run folder (default: runs)", set_out},
      {out_of_merge,
       "--out DIR",
       "folder that receives the run folder (default: the folder of the first shard)",
       set_out},
      {gallery,
       "--out DIR",
       "folder that receives run folders and page (default: gallery)",
       set_out},
      {map,
       "--x KEY=LOW..HIGH[:N][:log]",
       "parameter of the x axis and its range; N places of the coarse grid (default 5), on a "
       "linear or logarithmic scale",
       enter<&Options::x>},
      {map, "--y KEY=LOW..HIGH[:N][:log]", "the same of the y axis", enter<&Options::y>},
      {map,
       "--depth N",
       "how often squares whose corners differ are bisected, 0 to 6 (default 2)",
       [](Options& o, const std::string& v) { o.depth = number("--depth", v, 0, kMostDepth); }},
      {map,
       "--series NAME",
       "judge this series alone, without claims (default: all that depend on an axis); repeatable",
       [](Options& o, const std::string& v) { o.map_series.push_back(v); },
       {},
       true},
      {map, "--out DIR", "folder that receives the map's folder (default: maps)", set_out},
      {map,
       "--name NAME",
       "first part of the map folder's name (default: the study's)",
       enter<&Options::name>},
      {elsewhere, "--out DIR", "folder that receives the files (default: the run folder)", set_out},
      {replace, "--force", "also replace a script that was edited", enter<&Options::force>},
      {out_of_rerun,
       "--out DIR",
       "folder that receives the run folder of the repetition (default: reruns)",
       set_out},
      {archive,
       "-o,--output FILE",
       "the archive to write (default: artifact.zip)",
       enter<&Options::archive>},
      {name,
       "--name NAME",
       "first part of the run folder's name (default: the study's)",
       enter<&Options::name>},
      {keep, "--resume", "continue an existing run folder, or start it", enter<&Options::resume>},
      {keep,
       "--force",
       "move an existing run folder aside and start again",
       enter<&Options::force>,
       {},
       false,
       "--resume"},
      {keep, "--dry-run", "say what would be done, write nothing", enter<&Options::dry_run>},
      {time, "--max-time TIME", "stop at a checkpoint after this time, exit code 75", set_max_time},
      {time_of_task, "--max-time TIME", "time limit of a task (default 1h)", set_max_time},
      {time_of_map,
       "--max-time TIME",
       "stop after this time with what is known, exit code 75; --resume continues",
       set_max_time},
      {until_decided,
       "--until-decided",
       "stop as soon as the verdict is known, by a rule that keeps the error rates; "
       "sim.replicates is the cap",
       enter<&Options::until_decided>},
      {shard,
       "--shard I/N",
       "only part I of N, into a folder of its own; `attica merge` joins them",
       [](Options& o, const std::string& v) { o.shard = parse_shard(v); },
       {},
       false,
       "--until-decided"},
      {shards,
       "--shards N",
       "tasks of the job array, 1 to 10000 (default 8)",
       [](Options& o, const std::string& v) {
         o.shards = number<std::size_t>("--shards", v, 1, kMostShards);
       }},
      {margin,
       "--margin R",
       "relative margin of every comparison (check.margin)",
       [](Options& o, const std::string& v) {
         override_by(o, "--margin", "check.margin", fmt::format("{}", parse_margin(v)));
       }},
      {margin_after,
       "--margin R",
       "relative margin instead of the declared one; recorded as post hoc",
       [](Options& o, const std::string& v) { o.margin = parse_margin(v); }},
      {judge,
       "--margin R",
       "relative margin, such as 0.05 or 5%; without one: z values and no verdict",
       [](Options& o, const std::string& v) { o.margin = parse_margin(v); }},
      {judge,
       "--absolute A",
       "absolute margin, added to the relative one",
       [](Options& o, const std::string& v) {
         o.absolute = number("--absolute", v, 0.0, std::numeric_limits<double>::max());
       }},
      {judge,
       "--tails TAILS",
       "guarded, normal for near-symmetric replicates, or rate for values 1 (success) and 0 "
       "(default "
       "guarded, and rate where a series has no other values)",
       enter<&Options::tails>,
       {"guarded", "normal", "rate"}},
      {matching,
       "--match R",
       "relative distance up to which x and coordinates are the same (default: as far as their "
       "printed digits say)",
       [](Options& o, const std::string& v) { o.match = number("--match", v, 0.0, 0.5); }},
      {judge,
       "--interpolate METHOD",
       "linear: the theory between its x, where the simulation has others, with the estimated "
       "error of the straight line in numerical_error",
       [](Options& o, const std::string& v) {
         override_by(o, "--interpolate", "theory.interpolate", fmt::format("'{}'", v));
       },
       {"linear"}},
      {judge,
       "--partial",
       "AGREE although simulated points have no theory",
       enter<&Options::partial>},
      {matching,
       "--cluster NAME",
       "column that names what replicates share: the means of its clusters are the replicates",
       enter<&Options::cluster>},
      {matching,
       "--independent",
       "replicates are independent by construction: no test for correlation in their order",
       enter<&Options::independent>},
      {workflow,
       "--junit FILE",
       "also write the verdict as JUnit XML: a test for each point and claim; INCONCLUSIVE is "
       "skipped, no pass",
       enter<&Options::junit>},
      {workflow,
       "--metrics FILE",
       "also write verdict, counts and resolution as JSON, for DVC and the like",
       enter<&Options::metrics>},
      {Takes::folder,
       "--folder DIR",
       "the run folder itself, in place of one called by name and hash, for rules with a fixed "
       "output",
       enter<&Options::folder>,
       {},
       false,
       "--out"},
      {measuring,
       "--tokens WHAT",
       "what a token is, for cosines and topics (default columns)",
       enter<&Options::tokens>,
       {"columns", "rows"}},
      {measuring,
       "--topics FILE",
       "the topic of every token, a line each (its last field; - for none): mean cosine within and "
       "between topics",
       enter<&Options::topics>},
      {measuring,
       "--series",
       "the files are attention at checkpoints of one training, in their order: fall and bounce of "
       "its entropy",
       enter<&Options::as_series>},
      {x_name, "--x NAME", "name of x (default x)", enter<&Options::x>},
      {columns,
       "--value NAME",
       "column with the values (default value) or means (default mean); repeatable: columns that "
       "are a replicate each",
       [](Options& o, const std::string& v) { o.columns.values.push_back(v); },
       {},
       true},
      {columns,
       "--replicate NAME",
       "column with the replicate's number (default replicate)",
       [](Options& o, const std::string& v) { o.columns.replicate = v; }},
      {columns,
       "--sd NAME",
       "column with the standard deviation of the replicates, in place of sem",
       [](Options& o, const std::string& v) { o.columns.sd = v; }},
      {columns,
       "--n N",
       "number of replicates behind each mean: a number, a column (default n, or replicates), or "
       "unknown, which assumes two",
       [](Options& o, const std::string& v) { o.columns.n = v; }},
      {scaling, "--series NAME", "series to fit, against --x", enter<&Options::series>},
      {scaling,
       "--exponent P",
       "expected exponent of the series in x",
       [](Options& o, const std::string& v) {
         constexpr double kMost = 1e3;
         o.exponent = number("--exponent", v, -kMost, kMost);
       }},
      {scaling,
       "--upper-bound",
       "the exponent is an upper bound, no prediction",
       enter<&Options::upper_bound>},
      {scaling,
       "--tolerance T",
       "how far the exponent may be from the expected one (default 0.1)",
       [](Options& o, const std::string& v) {
         constexpr double kMost = 1e3;
         o.tolerance = number("--tolerance", v, 0.0, kMost);
       }},
      {scaling,
       "--floor [V]",
       "fit y = floor + C x^p, for a curve that levels off; with V, that floor",
       [](Options& o, const std::string& v) {
         o.floor = true;
         if (v.empty() || v == "{}" || v == "true") return;
         if (std::filesystem::exists(v)) {
           throw invalid_parameter(
               "--floor", v, "a number or nothing; the run or table stands before --floor");
         }
         o.floor_value = number("--floor", v, -kMostFloor, kMostFloor);
       }},
      {scaling,
       "--quantile P",
       "fit the P-quantile of the replicates at each size, not the median; repeatable: all at "
       "once, "
       "with the size log(1/delta), delta = 1 - P",
       [](Options& o, const std::string& v) {
         const double p = number("--quantile", v, 0.0, 1.0);
         if (p <= 0 || p >= 1 ||
             std::find(o.quantiles.begin(), o.quantiles.end(), p) != o.quantiles.end())
           throw invalid_parameter("--quantile", v, "distinct numbers above 0 and below 1");
         o.quantiles.push_back(p);
       },
       {},
       true},
      {scaling,
       "--robust",
       "with --floor: Huber's loss over replicates, for a few that are far off",
       enter<&Options::robust>},
      {reaching,
       "--reach EPS",
       "fit where learning curves fall to EPS, by isotonic regression of each replicate, in place "
       "of "
       "their values; the size eps is EPS; repeatable",
       [](Options& o, const std::string& v) {
         o.reach.push_back(number("--reach", v, -kMostFloor, kMostFloor));
       },
       {},
       true},
      {reaching,
       "--along NAME",
       "with --reach: what the learning curves run along (default x)",
       enter<&Options::along>},
      {bounding,
       "--expression E",
       "the bound, a formula of the columns: \"3*d/eps^2*log(1/delta)\", delta = 1 - P",
       enter<&Options::expression>},
      {bounding,
       "--direction SIDE",
       "upper: values <= E (default), lower: values >= E",
       enter<&Options::direction>,
       {"upper", "lower"}},
      {bounding,
       "--probability P",
       "the bound is stated with that probability (default 1: always)",
       [](Options& o, const std::string& v) {
         o.probability = number("--probability", v, 0.0, 1.0);
         if (*o.probability <= 0)
           throw invalid_parameter("--probability", v, "a number above 0, at most 1");
       }},
      {bounding,
       "--constant NAME",
       "a name in E that is not known: the smallest value (lower bounds: largest) with which the "
       "bound holds",
       enter<&Options::constant>},
      {bounded, "--series NAME", "series that is bounded (default y)", enter<&Options::series>},
      {bounded,
       "--tolerance T",
       "with --constant: how far exponents may be beyond those of E (default 0.1)",
       [](Options& o, const std::string& v) {
         constexpr double kMost = 1e3;
         o.tolerance = number("--tolerance", v, 0.0, kMost);
       }},
      {planning,
       "--width W",
       "of a pilot: width that the 95 % interval of every exponent, and floor, shall have; of a "
       "constant in E as a share of it, 0.2 or 20%",
       [](Options& o, const std::string& v) {
         constexpr double kMost = 1e300;
         const bool share = v.ends_with('%');
         constexpr double kPercent = 100;
         const double w = number("--width", share ? v.substr(0, v.size() - 1) : v, 0.0, kMost);
         if (w <= 0) throw invalid_parameter("--width", v, "a number > 0");
         o.planned_width = share ? w / kPercent : w;
       }},
      {against,
       "--against STUDY",
       "the files are layers at step 0, one a block: tokens as rows, or attention; print what a "
       "study such as init-propagation says of them",
       enter<&Options::second_target>},
      {sizes,
       "--x NAME",
       "name of x (default x): of the curves, or a coordinate of their points; also 1/NAME, "
       "log(NAME) and log(1/NAME); repeatable, for exponents in several at once",
       [](Options& o, const std::string& v) { o.sizes.push_back(v); },
       {},
       true},
      {sizes,
       "--expect NAME=P",
       "expected exponent in --x NAME, or a, b, x_c of a collapse; repeatable",
       [](Options& o, const std::string& v) { o.expected.push_back(v); },
       {},
       true},
      {sizes,
       "--window NAME=LOW:HIGH",
       "only sizes NAME from LOW to HIGH, ends that may be left out; repeatable",
       [](Options& o, const std::string& v) { o.windows.push_back(v); },
       {},
       true},
      {sizes,
       "--correction KIND:NAME",
       "an alternative with a correction to scaling: log, inverse or inverse-root of NAME; "
       "repeatable",
       [](Options& o, const std::string& v) { o.corrections.push_back(v); },
       {},
       true},
      {Takes::collapse,
       "--collapse NAME",
       "the curves of sizes L = NAME on one: y L^b against (x - x_c) L^a; x_c is held at 0",
       enter<&Options::collapse>},
      {Takes::collapse,
       "--hold NAME=V",
       "a, b or x_c of the collapse is that number; repeatable",
       [](Options& o, const std::string& v) { o.held.push_back(v); },
       {},
       true},
      {Takes::collapse,
       "--start NAME=V",
       "a, b or x_c of the collapse is fitted, beginning there; repeatable",
       [](Options& o, const std::string& v) { o.starts.push_back(v); },
       {},
       true},
      {Takes::collapse,
       "--out DIR",
       "folder that receives the figure of the collapse (default: figures)",
       set_out},
      {Takes::collapse,
       "--name NAME",
       "name of the figure (default: SERIES-collapse)",
       enter<&Options::name>},
      {anew,
       "--force",
       "move an existing run folder aside and start again",
       enter<&Options::force>},
      {drawing,
       "-f,--format LIST",
       "svg, pdf, png, or tex (TikZ, for LaTeX); separated by commas",
       [](Options& o, const std::string& v) {
         if (std::find(o.formats.begin(), o.formats.end(), v) != o.formats.end())
           throw invalid_parameter("--format", v, "distinct formats");
         o.formats.push_back(v);
       },
       {"svg", "pdf", "png", "tex"},
       true},
      {drawing,
       "--style STYLE",
       fmt::format("one of {}", fmt::join(style_names(), ", ")),
       enter<&Options::style>,
       style_names()},
      {drawing,
       "--width WIDTH",
       "half (one column) or full",
       enter<&Options::width>,
       {"half", "full"}},
      {power,
       "--power P",
       "probability of AGREE if the theory is right, 0.5 to 0.999 (default 0.9)",
       [](Options& o, const std::string& v) {
         o.power = number("--power", v, kLeastPower, kMostPower);
       }},
      {special_check,
       "--extrapolate",
       "verdict on the limit of infinite size, from a sweep over sizes",
       enter<&Options::extrapolate>},
      {special_check,
       "--self-test",
       "measure the verdict's own error rates at this run's setting",
       enter<&Options::self_test>,
       {},
       false,
       "--extrapolate"},
      {special_check,
       "--full",
       "self-test: 14424 repetitions instead of 2201",
       enter<&Options::full>},
      {special_check,
       "--sensitivity",
       "the smallest change of each parameter of the theory that this run would have noticed",
       enter<&Options::sensitivity>,
       {},
       false,
       "--extrapolate"},
      {edits,
       "--accept-edits",
       "go on although files of the run were changed after it; verdict, report and figure say so",
       enter<&Options::accept_edits>},
      {perturb,
       "--perturb ERROR",
       "a theory that is wrong on purpose: its own value of a parameter, as model.rho=0.72, or a "
       "series times a factor, as 'test_error*=1.02', or shifted in x, as 'test_error.x*=1.1'; "
       "repeatable",
       [](Options& o, const std::string& v) { o.perturbations.push_back(v); },
       {},
       true},
      {perturbed,
       "--perturbed",
       "the wrong theories of every study instead, each of which must yield DISAGREE",
       enter<&Options::perturbed>},
      {resolution,
       "--resolution X",
       "replicates at which a theory wrong by this relative error is found, or that none suffice",
       [](Options& o, const std::string& v) {
         o.resolution = number("--resolution", v, kLeastResolution, 1.0);
       }},
      {in_tree,
       "--in-tree DIR",
       "write it as one of attica's own, into this checkout (default: a folder of its own)",
       enter<&Options::in_tree>},
      {explore,
       "--overlay FILE",
       "points over the theory: a table of yours, or a run folder; repeatable",
       [](Options& o, const std::string& v) { o.overlays.push_back(v); },
       {},
       true},
      {explore,
       "--export FILE",
       "write the page as one offline HTML file instead, with the theory at every --grid",
       enter<&Options::export_file>},
      {explore,
       "--grid KEY=LIST",
       "values of a parameter to compute for --export, as model.rho=[0.1, 0.5, 0.9]; up to three "
       "parameters",
       [](Options& o, const std::string& v) { o.grids.push_back(v); },
       {},
       true},
      {explore,
       "--port N",
       "serve the page at this port, 1 to 65535 (default: one that is free)",
       [](Options& o, const std::string& v) { o.port = number("--port", v, 1, kLastPort); }},
      {explore,
       "--allow-commands",
       "Simulate here may start the programs that the configuration names",
       enter<&Options::allow_commands>},
      {json, "--json", "print one JSON object and nothing else", enter<&Options::json>},
      {always, "--quiet", "no progress, no remarks", enter<&Options::quiet>},
  };
  return table;
}

const std::vector<Target>& all_targets() {
  static const std::vector<Target> table = {
      {"STUDY", "name of a study; `attica list` shows them"},
      {"[WORD]", "only what has it in a name, a question or a statement"},
      {"[STUDY|CONFIG...]", "names of studies, or TOML files; all studies if none is given"},
      {"STUDY|CONFIG", "name of a study, or a TOML file"},
      {"STUDY|CONFIG|RUN", "name of a study, a TOML file, or the folder of a run"},
      {"STUDY|CONFIG|RUN|CSV",
       "name of a study, a TOML file, the folder of a run, or a table as `judge` takes it"},
      {"RUN", "folder of a run"},
      {"RUN2", "folder of another run"},
      {"RUN...", "folders of runs"},
      {"THEORY.csv", "table of the theory: x, value, and coordinates"},
      {"SIMULATION.csv", "table of the simulation: x, replicate, value, or x, mean, sem, n"},
      {"CONFIG|RUN|CSV",
       "a TOML file, the folder of a run, or a table as `judge` takes it, with --set bound..."},
      {"RUN|CSV", "folder of a run, or a table as `judge` takes it"},
      {"[FIGURE|RUN...]", "a figure's TOML file, or folders of runs"},
      {"FILE...", "matrices: .npy, CSV, .npz or .safetensors, of these FILE:NAME or FILE:NAME[2]"},
      {"DIR", "folder with audit.toml, or of folders that have one each"},
      {"NAME", "of the study to write: words in lower case, joined by hyphens"},
      {"ACTION", "show or keys", {"show", "keys"}},
      {"SCHEMA",
       "config or card, or a record: audit, check, manifest, provenance, run, theory",
       {"config", "card", "audit", "check", "manifest", "metrics", "provenance", "run", "theory"}},
      {"[STUDY]", "name of a study, for config"},
      {"CONFIG", "a TOML file"},
      {"SHELL", "bash, zsh or fish", {"bash", "zsh", "fish"}},
  };
  return table;
}

}  // namespace

const std::vector<Verb>& verbs() {
  using enum Takes;
  static const std::vector<Verb> table = {
      {"demo",
       {},
       "Theory, simulation, check and figure on real data, in seconds",
       {threads, out, json},
       demo_verb},
      {"list", {"[WORD]"}, "The studies with their families, a line each", {json}, list_verb},
      {"claims",
       {"[WORD]"},
       "Statements of papers, the study that answers each, and its verdict",
       {json},
       claims_verb},
      {"show",
       {"STUDY|CONFIG"},
       "A study's parameters, series, figure and sources",
       {json},
       show_verb},
      {"init", {"STUDY"}, "A commented configuration on standard output", {preset}, init_verb},
      {"theory",
       {"STUDY|CONFIG"},
       "The theory's series on standard output, as CSV or with --json",
       {values, seed, preset, json},
       theory_verb},
      {"run",
       {"STUDY|CONFIG"},
       "Theory, simulation, check and figure into a run folder",
       {values,
        seed,
        preset,
        threads,
        out,
        name,
        keep,
        time,
        margin,
        until_decided,
        shard,
        perturb,
        workflow,
        Takes::folder,
        json},
       run_verb},
      {"check",
       {"RUN"},
       "The verdict on a run: AGREE, DISAGREE or INCONCLUSIVE",
       {margin_after, special_check, perturb, edits, workflow, json},
       check_verb},
      {"plot",
       {"RUN"},
       "Draw a run's figure again from its records",
       {figure_values, drawing, elsewhere, replace, edits},
       plot_verb},
      {"figure",
       {"[FIGURE|RUN...]"},
       "Several runs and tables in one figure, or a figure of a publication",
       {figure_values, drawing, figures, seed, threads, replace, edits},
       figure_verb},
      {"explore",
       {"STUDY|CONFIG|RUN"},
       "A page for this machine's browser: the theory redrawn while parameters are moved",
       {values, preset, threads, out, name, edits, explore},
       explore_verb},
      {"status", {"RUN"}, "What of a run is done and what is missing", {json}, status_verb},
      {"plan",
       {"STUDY|CONFIG|RUN|CSV"},
       "Replicates, time and disk for a verdict, from a pilot run; of a run or a table, sizes and "
       "replicates for a fit or a bound",
       {values,
        seed,
        preset,
        margin,
        threads,
        power,
        resolution,
        planning,
        scaling,
        reaching,
        sizes,
        bounding,
        columns,
        edits,
        json},
       plan_verb},
      {"merge",
       {"RUN..."},
       "Join the shards of a run, made by `run --shard`, into one",
       {out_of_merge, name, json},
       merge_verb},
      {"slurm",
       {"STUDY|CONFIG"},
       "A job script for Slurm on standard output: a run in shards, one a task",
       {values, seed, preset, threads, out, name, shards, time_of_task, margin},
       slurm_verb},
      {"gallery",
       {"[STUDY|CONFIG...]"},
       "All studies at quick settings, or at a preset, on one page, each against the verdict it "
       "must yield",
       {seed, preset, threads, gallery, keep, perturbed, json},
       gallery_verb},
      {"map",
       {"STUDY|CONFIG"},
       "Where in a plane of two parameters the theory holds: verdicts, refined along their edge",
       {Takes::map, values, seed, preset, threads, keep, time_of_map, margin, drawing, json},
       map_verb},
      {"measure",
       {"FILE..."},
       "Norms, stable rank, mean cosine and attention entropy of matrices in files: .npy, .npz, "
       ".safetensors, CSV; layers at step 0 against theory",
       {measuring, against, values, preset, json},
       measure_verb},
      {"judge",
       {"THEORY.csv", "SIMULATION.csv"},
       "The verdict on two tables that you bring, as a run with figure and report",
       {Takes::judge, matching, x_name, columns, out, name, anew, workflow, Takes::folder, json},
       judge_verb},
      {"audit",
       {"DIR"},
       "Published theory against published simulation: each table's verdict, and the expected one",
       {out, anew, json},
       audit_verb},
      {"bound",
       {"CONFIG|RUN|CSV"},
       "Stated bounds against measured values: HOLDS, VIOLATED or UNDECIDED, and how loose",
       {values,
        seed,
        threads,
        bounding,
        bounded,
        reaching,
        matching,
        x_name,
        columns,
        out,
        name,
        time,
        anew,
        edits,
        json},
       bound_verb},
      {"fit",
       {"RUN|CSV"},
       "Scaling exponents of a run or a table, in one size or several, and collapse of its curves",
       {scaling, reaching, sizes, columns, Takes::collapse, drawing, edits, json},
       fit_verb},
      {"report", {"RUN"}, "One offline HTML page of a run", {elsewhere, edits}, report_verb},
      {"compare",
       {"RUN", "RUN2"},
       "Parameters and series in which two runs differ, with z",
       {edits, json},
       compare_verb},
      {"rerun",
       {"RUN"},
       "Repeat a run and compare its tables byte for byte: 0 equal, 1 different",
       {threads, out_of_rerun, time, json},
       rerun_verb},
      {"artifact",
       {"RUN..."},
       "Pack runs with all that others need to check and repeat them",
       {archive},
       artifact_verb},
      {"cite", {"STUDY|CONFIG|RUN"}, "BibTeX of the theory used and of attica", {}, cite_verb},
      {"config",
       {"ACTION", "STUDY|CONFIG"},
       "show: the resolved configuration; keys: what can be configured",
       {values, seed, preset, json},
       config_verb},
      {"schema",
       {"SCHEMA", "[STUDY]"},
       "JSON Schema of a study's configurations or of cards, for editors, or of a record of a run",
       {},
       schema_verb},
      {"mcp",
       {},
       "Verbs as tools of the Model Context Protocol, on standard input and output",
       {},
       mcp_verb},
      {"migrate",
       {"CONFIG"},
       "Rewrite a configuration that has older names of parameters",
       {},
       migrate_verb},
      {"new",
       {"NAME"},
       "Write a small study that runs, with its test and its page, to make your own of",
       {in_tree},
       new_verb},
      {"doctor", {}, "What was compiled in and what this machine offers", {json}, doctor_verb},
      {"completion",
       {"SHELL"},
       "Completion script for bash, zsh or fish on standard output",
       {},
       completion_verb},
      {"man", {}, "The manual page on standard output", {}, man_verb},
  };
  return table;
}

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> own;
  for (const Option& option : all_options()) {
    if (option.group == Takes::always ||
        std::find(verb.takes.begin(), verb.takes.end(), option.group) != verb.takes.end()) {
      own.push_back(option);
    }
  }
  return own;
}

std::vector<Target> targets_of(const Verb& verb) {
  std::vector<Target> own;
  for (const std::string& name : verb.targets) {
    const auto& all = all_targets();
    const auto target =
        std::find_if(all.begin(), all.end(), [&](const Target& t) { return t.name == name; });
    if (target == all.end()) throw std::logic_error("no target " + name);
    own.push_back(*target);
  }
  return own;
}

}  // namespace attica::app

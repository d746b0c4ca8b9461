#include "attica/sources/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/sources/theory_text.hpp"
#include "attica/sources/training.hpp"
#include "attica/studies/claims.hpp"
#include "attica/studies/parameters.hpp"

namespace attica {
namespace sources {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string_view::npos;
}

std::vector<Parameter> fixed_parameters() {
  std::vector<Parameter> all = {
      {.key = "x",
       .type = ParameterType::text,
       .fallback = Value("x"),
       .meaning = "name of x: a column of the tables, or a key of [sweep]"},
      text_parameter("question", "what is asked, for reports"),
      text_parameter("approximation", "what the theory leaves out"),
      text_parameter("not_compared", "which points are not compared, and why")};
  for (const std::string side : {"theory", "simulation"}) {
    for (const SourceKind& kind : source_kinds()) {
      for (Parameter& p : kind.parameters(side)) all.push_back(std::move(p));
    }
    all.push_back(optional_real(side + ".max_seconds",
                                "time after which a process of the command is ended, in seconds",
                                kPositive));
  }
  all.push_back(text_parameter("theory.value", "column with the theory's values; unset: value"));
  all.push_back(
      optional_parameter(word_parameter("theory.interpolate",
                                        "linear",
                                        "values of theory.file at the simulation's x that it does "
                                        "not have, with their error in numerical_error",
                                        {"linear"})));
  all.push_back(text_parameter("simulation.value",
                               "column with the values or means; several: a replicate each; unset: "
                               "value, or mean",
                               true));
  all.push_back(text_parameter("simulation.replicate",
                               "column with the replicate's number; unset: replicate"));
  all.push_back(text_parameter("simulation.sd",
                               "column with the standard deviation of the replicates, in place of "
                               "sem"));
  all.push_back(text_parameter("simulation.n",
                               "number of replicates behind each mean: a column, a number in "
                               "quotes, or \"unknown\"; unset: the column n, or replicates"));
  all.push_back(file_parameter("theory.covariance",
                               "covariance of the errors of the theory's values: a square table of "
                               "numbers, in the order of the rows of theory.file"));
  all.push_back(optional_parameter(
      flag_parameter("simulation.summary", false, "the table holds mean, sem and n (found out)")));
  all.push_back(text_parameter("simulation.cluster",
                               "column of the table that names what replicates share: the means of "
                               "its clusters are then the replicates"));
  all.push_back(optional_parameter(
      flag_parameter("simulation.independent",
                     false,
                     "replicates of the table are independent by construction: their order is not "
                     "tested")));
  all.push_back(optional_real("check.match",
                              "relative distance up to which x and coordinates match; unset: by "
                              "their printed digits",
                              {.low = 0, .high = 0.5}));
  all.push_back(optional_parameter(flag_parameter(
      "check.partial", false, "simulated points without theory are no obstacle to AGREE")));
  for (const auto& [name, meaning] : std::initializer_list<std::pair<const char*, const char*>>{
           {"claim", "what the publication says of theory and simulation, in a sentence"},
           {"source", "the publication: authors, year, arXiv identifier or address"},
           {"used", "what of it the tables hold: figure, curve, file, columns"},
           {"finding", "what the verdict says of these tables"}}) {
    all.push_back(text_parameter(fmt::format("audit.{}", name), meaning));
  }
  all.push_back(optional_parameter(word_parameter("audit.expected",
                                                  "AGREE",
                                                  "verdict that `attica audit` expects",
                                                  {"AGREE", "DISAGREE", "INCONCLUSIVE"})));
  all.push_back(text_parameter("check.without_theory",
                               "series of the simulation that the theory is known not to have",
                               true));
  for (const std::string axis : {"x", "y"}) {
    all.push_back(text_parameter("figure." + axis + ".label", "label of the axis"));
    all.push_back(word_parameter(
        "figure." + axis + ".scale", "linear", "scale of the axis", {"linear", "log"}));
  }
  all.push_back(text_parameter("figure.caption", "what the figure shows"));
  all.push_back(text_parameter("figure.series", "series to draw, a panel each; unset: all", true));
  return all;
}

/// A free scalar with the type of the value that is written.
Parameter free_parameter(const std::string& key, const Value& value, bool with_default) {
  Parameter p{.key = key, .fallback = std::nullopt, .meaning = "declared by the configuration"};
  const Value* element = &value;
  if (const auto* list = std::get_if<List>(&value); list != nullptr && !list->empty())
    element = &list->front();
  if (std::holds_alternative<bool>(*element)) p.type = ParameterType::flag;
  if (std::holds_alternative<std::string>(*element)) p.type = ParameterType::text;
  if (with_default && element == &value && !std::holds_alternative<Table>(value)) {
    p.fallback = value;
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      p.fallback = Value(static_cast<double>(*integer));
  }
  return p;
}

std::vector<std::string> parts(const std::string& key) {
  std::vector<std::string> all(1);
  for (const char c : key) {
    if (c == '.') {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

/// The parameters of [agreement.SERIES], [[claim]] and [[bound]].
std::vector<Parameter> named_parameters(const std::string& section, const std::string& name) {
  const std::string key = section + "." + name + ".";
  if (section == "agreement") {
    return {real_parameter(key + "relative", 0, "relative margin", kNotNegative),
            real_parameter(key + "absolute", 0, "absolute margin", kNotNegative),
            word_parameter(key + "tails",
                           "guarded",
                           "guarded: nothing is known of the replicates; normal: near-symmetric; "
                           "rate: 1 (success) or 0, the theory is their probability",
                           {"guarded", "normal", "rate"}),
            flag_parameter(key + "deterministic", false, "replicates are identical by design")};
  }
  if (section == "claim") {
    const Range inside{.low = 0, .high = 1, .low_open = true, .high_open = true};
    return {text_parameter(key + "expression", "what holds of a replicate, over its series"),
            text_parameter(key + "statement", "the same in words"),
            real_parameter(key + "rate", kUsualRate, "share of runs in which it holds", inside),
            optional_real(key + "x", "where; unset: at the last x")};
  }
  return bound_parameters(name);
}

/// What the tables of a sweep are is said of the run: the most replicates, and their kind.
void complete(Configuration& run, const Configuration& problem, bool first) {
  if (!run.given("sim.replicates")) {
    const std::int64_t before = first ? 1 : run.integer("sim.replicates");
    run.set("sim.replicates", std::max(before, problem.integer("sim.replicates")), false);
  }
  for (const char* key : {"simulation.summary",
                          "simulation.file",
                          "simulation.directory",
                          "theory.file",
                          "theory.directory",
                          "theory.training.directory"}) {
    if (problem.has(key)) run.set(key, problem.at(key), run.given(key));
  }
}

constexpr const char* kStartingText =
    R"toml(# Does your theory describe your simulation? Run it: attica run THIS_FILE
study = "own"
# The name of x: a key of [sweep], or a column of the tables.
x = "t"

# Keys of your own; each may be swept by naming it in [sweep] instead.
[model]
rate = 0.5

[sweep]
t = [1.0, 2.0, 4.0]

# One of: file = "theory.csv", command = [...], study = "...", expression = "..." or {series = "...", ...}
# With a file: covariance = "covariance.csv", that of the theory's errors, rows as in the file.
# Or equations as text: [theory.flow], [theory.map], [theory.solve], with [theory.let], [theory.lists], [theory.series].
# Or the training theory of a model: [theory.training] with command, start and rate.
[theory]
expression = {decay = "exp(-rate*t)"}

# The same, without covariance. A command is run once a replicate, and prints columns series and value (and t, unless it is asked for one).
[simulation]
command = ["awk", "-v", "s={seed}", 'BEGIN {{ srand(s % 2147483647); print "series,value"; print "decay," exp(-{rate}*{t})*(0.9+0.2*rand()) }}']

# The margin of every series that is compared: |simulation - theory| <= relative |theory| + absolute.
[agreement.decay]
relative = 0.05

[sim]
replicates = 50
seed = 1

# What should hold of a run, and in which share of runs.
# [[claim]]
# expression = "decay < 1"
# rate = 0.8

# A bound, for `attica bound`.
# [[bound]]
# series = "decay"
# expression = "1/(1 + rate*t)"
# direction = "upper"
# probability = 0.9

[figure]
x = {label = "time {/:Italic t}", scale = "linear"}
y = {label = "decay", scale = "log"}
)toml";

}  // namespace

std::vector<Parameter> bound_parameters(const std::string& name) {
  const std::string key = "bound." + name + ".";
  return {text_parameter(key + "series", "series that is bounded"),
          text_parameter(key + "x", "name of x, as the bound's formula has it; unset: the run's"),
          text_parameter(key + "only", "curves that are bounded, as \"mode=scratch\"; unset: all"),
          text_parameter(key + "expression", "the bound"),
          word_parameter(key + "direction", "upper", "side of the bound", {"upper", "lower"}),
          real_parameter(key + "probability",
                         1,
                         "with which it holds, 1 - delta; 1: always",
                         {.low = 0, .high = 1, .low_open = true}),
          real_parameter(key + "loose",
                         2,
                         "a bound that would still hold by this factor tighter is called loose",
                         {.low = 1, .low_open = true})};
}

Study defined_study(const Table& entries) {
  std::vector<Parameter> parameters = fixed_parameters();
  const auto add = [&](const Parameter& p) {
    if (!has_key(parameters, p.key)) parameters.push_back(p);
  };
  std::string x = "x";
  std::vector<Source> sources;
  std::string size_coordinate;
  for (const auto& [key, value] : entries) {
    const auto* text = std::get_if<std::string>(&value);
    if (key == "x" && text != nullptr) {
      if (!is_name(*text))
        throw invalid_parameter("x", *text, "a name of letters, digits, _ and -");
      x = *text;
    }
    if ((key == "theory.study" || key == "simulation.study" || key == "theory.experiment" ||
         key == "simulation.experiment") &&
        text != nullptr) {
      const Study& study = *named_study(key, *text);
      for (const Parameter& p : study.parameters) add(p);
      sources.insert(sources.end(), study.sources.begin(), study.sources.end());
      size_coordinate = study.size_coordinate;
    }
  }
  for (const auto& [key, value] : entries) {
    const std::vector<std::string> part = parts(key);
    const std::string& section = part.front();
    if (part.size() == 2 && section == "model") {
      // In formulas and commands the name is that of x: the value would never be used.
      if (part[1] == x && !has_key(parameters, key)) {
        throw Error(ErrorKind::input,
                    fmt::format("parameter '{}': '{}' is x here, whose values are [sweep] {} = "
                                "[...]; expected another name",
                                key,
                                x,
                                x),
                    key);
      }
      add(free_parameter(key, value, true));
    } else if (part.size() == 2 && section == "sweep" && !has_key(parameters, key)) {
      if (part[1] == x) {
        add({.key = key,
             .type = ParameterType::real,
             .fallback = std::nullopt,
             .meaning = "values of x",
             .list = true});
      } else if (!has_key(parameters, "model." + part[1]) &&
                 !has_key(parameters, "sim." + part[1])) {
        add(free_parameter("model." + part[1], value, false));
      }
    } else if (const auto text = theory_text_parameter(key, value)) {
      add(*text);
    } else if (part.size() == 3 && section != "figure" && part[1] == "expression") {
      add(text_parameter(key, "formula of the series " + part[2]));
    } else if (part.size() >= 3 &&
               (section == "agreement" || section == "claim" || section == "bound")) {
      for (const Parameter& p : named_parameters(section, part[1])) add(p);
    }
  }
  for (const Parameter& p : training_parameters(entries)) add(p);
  const auto said = [&](const std::string& key, const char* otherwise) -> std::string {
    for (const auto& [name, value] : entries) {
      const auto* text = std::get_if<std::string>(&value);
      if (name == key && text != nullptr) return *text;
    }
    return otherwise;
  };
  return {.name = "own",
          .question = said("question", "Does your theory describe your simulation?"),
          .approximation = said("approximation", ""),
          .not_compared = said("not_compared", kNotCompared),
          .parameters = std::move(parameters),
          .series = {},
          .presets = {},
          .sources = std::move(sources),
          .make = sides_experiment,
          .figure = sides_figure,
          .agreement = sides_agreement,
          .size_coordinate = std::move(size_coordinate),
          .claims = sides_claims,
          .defined_by =
              [](const Table& written) {
                return std::make_shared<const Study>(defined_study(written));
              },
          .brought = brought_sides,
          .complete = complete,
          .starting_text = kStartingText};
}

}  // namespace sources

const Study& study_of_sides() {
  static const Study study = sources::defined_study({});
  return study;
}

}  // namespace attica

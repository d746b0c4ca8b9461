#include "attica/studies/own/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/core/matching.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/solvers/statistics/simultaneous.hpp"
#include "attica/studies/claims.hpp"
#include "attica/studies/own/expression.hpp"
#include "attica/studies/own/process.hpp"
#include "attica/studies/own/table.hpp"
#include "attica/studies/own/unmatched.hpp"
#include "attica/studies/own/watched.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/studies/pointwise.hpp"

namespace attica {
namespace own {
namespace {

// ---------------------------------------------------------------- what the configuration declares

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string_view::npos;
}

bool has_key(const std::vector<Parameter>& parameters, const std::string& key) {
  return std::any_of(
      parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.key == key; });
}

Parameter text_parameter(const std::string& key, const std::string& meaning, bool list = false) {
  return {.key = key,
          .type = ParameterType::text,
          .fallback = std::nullopt,
          .meaning = meaning,
          .list = list};
}

Parameter optional_real(const std::string& key, const std::string& meaning, Range range = {}) {
  return optional_parameter(real_parameter(key, 0, meaning, range));
}

/// The parameters every configuration of this study has.
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
    const std::string what = side == "theory" ? "the theory" : "the simulation";
    all.push_back(file_parameter(side + ".file", "table with " + what));
    all.push_back(text_parameter(
        side + ".command", "program that prints " + what + ": a list of arguments", true));
    all.push_back(text_parameter(
        side + ".directory", "folder in which the command runs; unset: that of the configuration"));
    all.push_back(text_parameter(side + ".inputs",
                                 "further files on which the command depends, relative to that "
                                 "folder: names, folders, patterns with * ? []",
                                 true));
    all.push_back(text_parameter(side + ".study", "built-in study that is " + what));
    all.push_back(text_parameter(side + ".expression", "formula for " + what));
    all.push_back(optional_real(side + ".max_seconds",
                                "time after which a process of the command is ended, in seconds",
                                kPositive));
  }
  all.push_back(text_parameter("theory.value", "column with the theory's values; unset: value"));
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

const Study& built_in(const std::string& key, const std::string& name) {
  for (const Study& study : studies()) {
    if (study.name == name) return study;
  }
  throw invalid_parameter(key, name, "the name of a built-in study; `attica list` shows them");
}

// ------------------------------------------------------------------------------------- the problem

/// What one side is made of.
enum class Source { none, file, command, study, expression };

struct Side {
  std::string name;  ///< "theory" or "simulation"
  Source source = Source::none;
};

Side side_of(const Configuration& c, const std::string& name) {
  std::vector<std::pair<Source, std::string>> given;
  const auto look = [&](Source source, const std::string& word) {
    if (c.has(name + "." + word)) given.emplace_back(source, word);
  };
  look(Source::file, "file");
  look(Source::command, "command");
  look(Source::study, "study");
  look(Source::expression, "expression");
  if (!names_in(c, name + ".expression").empty()) {
    if (c.has(name + ".expression")) {
      throw Error(
          ErrorKind::input,
          fmt::format("[{}]: expression is a formula and a table of formulas; expected one", name),
          name + ".expression");
    }
    given.emplace_back(Source::expression, "expression");
  }
  if (given.size() > 1) {
    throw Error(
        ErrorKind::input,
        fmt::format("[{}] has '{}' and '{}'; expected one of file, command, study, expression",
                    name,
                    given[0].second,
                    given[1].second),
        name + "." + given[1].second);
  }
  return {name, given.empty() ? Source::none : given.front().first};
}

Point sorted(Point point) {
  std::sort(
      point.begin(), point.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return point;
}

/// The coordinates that a key of [model] fixes: numbers of which the built-in study has a list in
/// [sweep], but no key of [model].
std::vector<std::string> selected(const Study& study, const Configuration& own) {
  std::vector<std::string> names;
  for (const auto& [key, value] : own.entries()) {
    if (!key.starts_with("model.") || !std::holds_alternative<double>(value)) continue;
    const std::string name = key.substr(key.find('.') + 1);
    if (!has_key(study.parameters, key) && has_key(study.parameters, "sweep." + name))
      names.push_back(name);
  }
  return names;
}

/// Takes a coordinate that is fixed out of a curve; false if the curve has another value of it.
bool take_selected(const Configuration& own, const std::string& name, Point& point) {
  const auto at = std::ranges::find(point, name, [](const auto& c) { return c.first; });
  if (at == point.end()) return true;
  if (!same_value(at->second, std::get<double>(own.at("model." + name)))) return false;
  point.erase(at);
  return true;
}

/// The configuration of a built-in study, from the parameters it shares with this one.
Configuration of_built_in(const Study& study, const Configuration& own) {
  std::vector<Parameter> parameters = study.parameters;
  // What every study has, such as the seed, is that of this run.
  for (const auto& [key, value] : own.entries()) {
    if (key.starts_with("sim.") && !has_key(parameters, key))
      parameters.push_back({.key = key, .fallback = value, .meaning = {}});
  }
  Configuration c(study.name, parameters);
  c.input_directories = own.input_directories;
  for (const Parameter& p : study.parameters) {
    if (own.declares(p.key) && own.has(p.key)) c.set(p.key, own.at(p.key), own.given(p.key));
  }
  // A single value of what the study has a list of.
  for (const std::string& name : selected(study, own)) {
    const std::string key = "sweep." + name;
    if (!own.given(key)) c.set(key, List{std::get<double>(own.at("model." + name))}, true);
  }
  return c;
}

/// Values that a key of [sweep] takes within one problem: x, or a list that a built-in study has.
struct Loop {
  std::string name;
  std::vector<double> values;
};

/// All combinations, the first varying slowest; one empty point without any.
std::vector<std::vector<double>> combinations(const std::vector<Loop>& loops) {
  std::vector<std::vector<double>> all(1);
  for (const Loop& loop : loops) {
    std::vector<std::vector<double>> extended;
    for (const auto& point : all) {
      for (const double value : loop.values) {
        extended.push_back(point);
        extended.back().push_back(value);
      }
    }
    all = std::move(extended);
  }
  return all;
}

std::string shown(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  return std::get<std::string>(value);
}

bool is_scalar(const Value& value) {
  return !std::holds_alternative<List>(value) && !std::holds_alternative<Table>(value);
}

/// The scalar of [model] or [sim] that a short name means.
std::optional<Value> scalar_named(const Configuration& c, const std::string& name) {
  for (const std::string section : {"model.", "sim."}) {
    const std::string key = section + name;
    if (c.declares(key) && c.has(key) && is_scalar(c.at(key))) return c.at(key);
  }
  return std::nullopt;
}

/// The list of numbers that [sweep] has of that name.
std::optional<Loop> loop_named(const Configuration& c, const std::string& name) {
  const std::string key = "sweep." + name;
  if (!c.declares(key) || !c.has(key)) return std::nullopt;
  const auto* list = std::get_if<List>(&c.at(key));
  if (list == nullptr) return std::nullopt;
  Loop loop{name, {}};
  for (const Value& value : *list) {
    if (const auto* d = std::get_if<double>(&value)) {
      loop.values.push_back(*d);
    } else if (const auto* i = std::get_if<std::int64_t>(&value)) {
      loop.values.push_back(static_cast<double>(*i));
    } else {
      return std::nullopt;
    }
  }
  return loop;
}

/// The list of arguments of a command, with the keys in braces found out.
class Template {
 public:
  Template(Configuration& c, const Side& side) : c_(c), side_(side.name) {
    key_ = side.name + ".command";
    for (const std::string& text : c.texts(key_)) {
      pieces_.emplace_back();
      read(text, side);
    }
    if (pieces_.empty() || c.texts(key_).front().empty())
      throw invalid_parameter(key_, "[]", "a program and its arguments");
    if (c.has(side.name + ".max_seconds")) max_seconds_ = c.real(side.name + ".max_seconds");
    // Where the configuration is decides whether its commands are carried out at all.
    home_ =
        c.input_directories.empty() ? std::filesystem::current_path() : c.input_directories.front();
    directory_ = home_;
    if (c.has(side.name + ".directory")) directory_ = home_ / c.text(side.name + ".directory");
    c.set(side.name + ".directory", std::filesystem::absolute(directory_).string(), false);
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory_, ignored))
      throw invalid_parameter(side.name + ".directory", directory_.string(), "an existing folder");
  }

  /// Refuses the commands of a run folder: whoever was given one did not write them.
  void require_own() const {
    std::error_code ignored;
    if (std::filesystem::exists(home_ / "run.json", ignored)) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: '{}' is a run folder, whose commands are not carried out; copy "
                              "the configuration elsewhere and read it first",
                              key_,
                              home_.string()),
                  key_);
    }
    // A program that is not there is told before any work, where its name is fixed.
    const auto& name = pieces_.front();
    if (name.size() == 1 && !is_there(name.front().text))
      throw invalid_parameter(key_, name.front().text, "a program that can be started");
  }

  /// Refuses inputs of which there is nothing.
  void require_inputs() const {
    for (const std::string& pattern : watched().unmatched) {
      throw invalid_parameter(
          side_ + ".inputs",
          pattern,
          fmt::format("a file, a folder or a pattern that matches files in '{}'",
                      directory_.string()));
    }
  }

  /// What the command names, imports and is said to depend on.
  WatchedFiles watched() const {
    WatchedCommand command{.arguments = c_.texts(key_), .directory = directory_};
    if (c_.has(side_ + ".inputs")) command.inputs = c_.texts(side_ + ".inputs");
    return watched_files(command);
  }

  const std::vector<Loop>& loops() const { return loops_; }

  /// @param values of the loops
  Command fill(const std::vector<double>& values,
               std::uint64_t seed,
               std::uint64_t replicate) const {
    Command command{.arguments = {}, .directory = directory_, .max_seconds = max_seconds_};
    for (const auto& argument : pieces_) {
      std::string text;
      for (const Piece& piece : argument) {
        if (!piece.key) {
          text += piece.text;
        } else if (piece.text == "seed") {
          text += fmt::format("{}", seed);
        } else if (piece.text == "replicate") {
          text += fmt::format("{}", replicate);
        } else if (const auto loop = loop_index(piece.text)) {
          text += fmt::format("{}", values[*loop]);
        } else {
          text += shown(*scalar_named(c_, piece.text));
        }
      }
      command.arguments.push_back(std::move(text));
    }
    return command;
  }

 private:
  struct Piece {
    bool key = false;
    std::string text;
  };

  bool is_there(const std::string& program) const {
    const auto startable = [](const std::filesystem::path& path) {
      return ::access(path.c_str(), X_OK) == 0;
    };
    if (program.find('/') != std::string::npos) return startable(directory_ / program);
    const char* const path = std::getenv("PATH");
    std::string_view folders = path == nullptr ? "/usr/bin:/bin" : path;
    while (!folders.empty()) {
      const auto end = std::min(folders.find(':'), folders.size());
      if (startable(std::filesystem::path(folders.substr(0, end)) / program)) return true;
      folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return false;
  }

  std::optional<std::size_t> loop_index(const std::string& name) const {
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      if (loops_[k].name == name) return k;
    }
    return std::nullopt;
  }

  void read(const std::string& text, const Side& side) {
    std::vector<Piece>& into = pieces_.back();
    into.push_back({});
    for (std::size_t k = 0; k < text.size(); ++k) {
      if (text[k] == '}' && k + 1 < text.size() && text[k + 1] == '}') {
        into.back().text += '}';
        ++k;
      } else if (text[k] != '{') {
        into.back().text += text[k];
      } else if (k + 1 < text.size() && text[k + 1] == '{') {
        into.back().text += '{';
        ++k;
      } else {
        const auto close = text.find('}', k);
        if (close == std::string::npos)
          throw invalid_parameter(key_, text, "a '}' for every '{'; a brace itself is '{{'");
        std::string name = text.substr(k + 1, close - k - 1);
        for (const std::string prefix : {"model.", "sim.", "sweep."}) {
          if (name.starts_with(prefix)) name.erase(0, prefix.size());
        }
        resolve(name, text, side);
        into.push_back({true, name});
        into.push_back({});
        k = close;
      }
    }
  }

  void resolve(const std::string& name, const std::string& text, const Side& side) {
    if (name == "seed" || name == "replicate") {
      if (side.name == "theory")
        throw invalid_parameter(key_, text, "no {seed} and no {replicate} in a theory");
      return;
    }
    if (loop_index(name) || scalar_named(c_, name)) return;
    if (auto loop = loop_named(c_, name)) {
      loops_.push_back(std::move(*loop));
      return;
    }
    std::vector<std::string> known{"seed", "replicate"};
    for (const auto& [key, value] : c_.entries()) {
      if (key.starts_with("model.") || key.starts_with("sweep.")) known.push_back(key.substr(6));
    }
    throw invalid_parameter(
        key_, text, fmt::format("no key '{{{}}}': known are {}", name, fmt::join(known, ", ")));
  }

  Configuration c_;
  std::string side_;
  std::string key_;
  std::vector<std::vector<Piece>> pieces_;
  std::vector<Loop> loops_;
  std::optional<double> max_seconds_;
  std::filesystem::path home_;
  std::filesystem::path directory_;
};

/// The formulas of a side, by series.
std::vector<std::pair<std::string, std::string>> formulas(const Configuration& c,
                                                          const Side& side) {
  const std::string key = side.name + ".expression";
  if (c.has(key)) return {{"y", c.text(key)}};
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& series : names_in(c, key))
    all.emplace_back(series, c.text(key + "." + series));
  return all;
}

std::string formula_key(const Configuration& c, const Side& side, const std::string& series) {
  const std::string key = side.name + ".expression";
  return c.has(key) ? key : key + "." + series;
}

/// Where a theory has values: points and x of one series.
struct Places {
  std::string series;
  Point point;
  std::string x_name;
  std::vector<double> x;
  std::size_t given = 0;  ///< of x, the first ones; those after it only make the line smooth
};

/// @brief Theory and simulation as configured.
class OwnExperiment : public Experiment {
 public:
  explicit OwnExperiment(Configuration& c)
      : theory_(side_of(c, "theory")),
        simulation_(side_of(c, "simulation")),
        x_name_(c.text("x")),
        declared_x_(c.given("x")) {
    if (theory_.source == Source::none && simulation_.source == Source::none) {
      throw Error(
          ErrorKind::input,
          "study 'own' needs [theory], [simulation] or both, each with one of file, command, "
          "study, expression");
    }
    for (const Side& side : {theory_, simulation_}) {
      if (side.source == Source::command || !c.has(side.name + ".inputs")) continue;
      throw Error(ErrorKind::input,
                  fmt::format("[{0}] has 'inputs' without 'command': they are files on which a "
                              "command depends",
                              side.name),
                  side.name + ".inputs");
    }
    build(c, theory_, theory_study_, theory_command_, theory_table_);
    build(c, simulation_, simulation_study_, simulation_command_, simulation_table_);
    if (simulation_.source == Source::file) record(c);
    read_covariance(c);
    c_ = c;
    check_columns();
    check_formulas(theory_);
    check_formulas(simulation_);
    for (const std::string section : {"claim", "bound"}) {
      for (const std::string& name : names_in(c, section)) {
        const std::string key = section + "." + name + ".";
        static_cast<void>(Expression(key + "expression", c.text(key + "expression")));
        if (section == "bound") static_cast<void>(c.text(key + "series"));
      }
    }
    check_series();
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    switch (theory_.source) {
      case Source::none:
        return result;
      case Source::file:
        result.predictions = predictions(*theory_table_, x_name_);
        add_band(result.predictions);
        break;
      case Source::command:
        for (const auto& values : combinations(theory_command_->loops())) {
          const OutsideTable table =
              run_command(*theory_command_, values, 0, 0, TableKind::theory, {}).value();
          for (Prediction& p : predictions(table, x_of(table)))
            merge(result.predictions, std::move(p));
        }
        break;
      case Source::study:
        result = theory_study_->theory(grid);
        for (const std::string& name : fixed_in(theory_)) {
          std::erase_if(result.predictions,
                        [&](Prediction& p) { return !take_selected(c_, name, p.series.point); });
        }
        for (Prediction& p : result.predictions) p.series.point = sorted(p.series.point);
        break;
      case Source::expression:
        for (const Places& places : theory_places(grid)) {
          Prediction p{.series = {places.series, places.point, places.x_name, places.x, {}}};
          Expression formula = expression(theory_, places.series);
          for (const double x : places.x)
            p.series.y.push_back(value_of(formula, places.point, places.x_name, x));
          if (places.given < places.x.size()) {
            p.compared.assign(places.x.size(), false);
            std::fill_n(p.compared.begin(), places.given, true);
          }
          result.predictions.push_back(std::move(p));
        }
        break;
    }
    for (Prediction& p : result.predictions) sort_x(p);
    const std::scoped_lock lock(predicted_.guard);
    predicted_.curves = result.predictions;
    return result;
  }

  std::size_t points() const override {
    switch (simulation_.source) {
      case Source::none:
        return 0;
      case Source::study:
        return simulation_study_->points();
      case Source::command:
        return combinations(simulation_command_->loops()).size();
      default:
        return 1;
    }
  }

  std::uint64_t replicates_per_piece(std::size_t point) const override {
    switch (simulation_.source) {
      case Source::command:
        return 1;
      case Source::study:
        return simulation_study_->replicates_per_piece(point);
      default:
        return std::numeric_limits<std::uint32_t>::max();
    }
  }

  void require_simulable() const override {
    if (simulation_.source == Source::none) {
      throw Error(ErrorKind::input,
                  "study 'own' has no [simulation] to run; `attica theory` prints its theory");
    }
    for (const std::string& series : names_in(c_, "agreement")) {
      const std::string key = "agreement." + series + ".";
      if (theory_.source != Source::none ||
          (c_.real(key + "relative") == 0 && c_.real(key + "absolute") == 0)) {
        continue;
      }
      throw Error(ErrorKind::input,
                  fmt::format("[agreement.{}] compares, but there is no [theory]", series),
                  key + "relative");
    }
    if (simulation_.source == Source::study) simulation_study_->require_simulable();
    for (const auto& command : {&simulation_command_, &theory_command_}) {
      if (!*command) continue;
      (*command)->require_own();
      (*command)->require_inputs();
    }
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    std::vector<Outcome> outcomes;
    if (simulation_.source == Source::study) {
      outcomes = simulation_study_->simulate(piece);
      for (Outcome& outcome : outcomes) {
        for (const std::string& name : fixed_in(simulation_))
          std::erase_if(outcome.series,
                        [&](Series& s) { return !take_selected(c_, name, s.point); });
        for (Series& s : outcome.series) s.point = sorted(s.point);
      }
      return outcomes;
    }
    if (simulation_.source == Source::expression)
      return std::vector<Outcome>(piece.replicates, evaluated());
    for (std::uint64_t k = 0; k < piece.replicates && !piece.stop.stop_requested(); ++k) {
      const std::uint64_t r = piece.first_replicate + k;
      if (simulation_.source == Source::file) {
        if (r >= recorded_.outcomes.size()) {
          // A pilot, or another table of the sweep, has more.
          outcomes.push_back({.series = {}, .status = "not in the table"});
          continue;
        }
        outcomes.push_back(recorded_.outcomes[r]);
        continue;
      }
      std::optional<Outcome> outcome = commanded(piece, r);
      if (!outcome) break;  // asked to stop
      outcomes.push_back(std::move(*outcome));
    }
    return outcomes;
  }

  Table diagnostics() const override {
    Table facts;
    if (theory_.source == Source::study) facts = theory_study_->diagnostics();
    if (simulation_table_ && simulation_table_->summary)
      facts.emplace_back("simulation", "mean, sem and n: no guard against heavy tails");
    return facts;
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> all;
    if (theory_.source == Source::study) all = theory_study_->warnings();
    for (const auto& command : {&theory_command_, &simulation_command_}) {
      if (!*command) continue;
      for (std::string& warning : (*command)->watched().warnings) all.push_back(std::move(warning));
    }
    for (const auto* table : {&theory_table_, &simulation_table_}) {
      if (*table) all.insert(all.end(), (*table)->remarks.begin(), (*table)->remarks.end());
    }
    if (simulation_table_ && simulation_table_->summary) {
      all.push_back(
          fmt::format("'{}' has mean, sem and n in place of replicates: no guard against "
                      "heavy tails; replicates.csv holds stand-ins of that mean and error",
                      simulation_table_->source));
    }
    return all;
  }

 private:
  /// The coordinates of a built-in study on that side which [model] fixes.
  std::vector<std::string> fixed_in(const Side& side) const {
    const std::string key = side.name + ".study";
    return selected(built_in(key, c_.text(key)), c_);
  }

  /// Refuses, after the first process, a table of which no curve can have a theory: others will
  /// have the same columns. Needs a theory that was computed, and says nothing before.
  void require_theory_of(const OutsideTable& table) const {
    const std::scoped_lock lock(predicted_.guard);
    if (predicted_.curves.empty()) return;
    const auto names = [](const Point& point) {
      std::set<std::string> all;
      for (const auto& [name, value] : point) all.insert(name);
      return all;
    };
    for (const std::string& series : names_in(c_, "agreement")) {
      const TableRow* first = nullptr;
      const bool any = std::ranges::any_of(table.rows, [&](const TableRow& row) {
        if (row.series != series) return false;
        if (first == nullptr) first = &row;
        return std::ranges::any_of(predicted_.curves, [&](const Prediction& p) {
          return p.series.name == series && p.series.x_name == x_of(table) &&
                 names(p.series.point) == names(row.point);
        });
      });
      if (any || first == nullptr) continue;
      throw Error(
          ErrorKind::input,
          fmt::format("nothing can be compared in [agreement.{}]: {}",
                      series,
                      why_no_curve(predicted_.curves, {series, first->point, x_of(table), {}, {}})),
          "agreement." + series + ".relative");
    }
  }

  /// How far the theory's values may be off, all at once, from the covariance of their errors.
  void read_covariance(const Configuration& c) {
    const std::string key = "theory.covariance";
    if (!c.has(key)) return;
    if (theory_.source != Source::file) {
      throw invalid_parameter(
          key, c.text(key), "theory.file beside it, whose rows it has a row and a column for");
    }
    const Eigen::MatrixXd covariance =
        read_numeric_csv(c.input_file(key), CsvHeader::optional).values;
    const auto rows = static_cast<Eigen::Index>(theory_table_->rows.size());
    if (covariance.rows() != rows || covariance.cols() != rows) {
      throw invalid_parameter(
          key,
          fmt::format("{} x {} numbers", covariance.rows(), covariance.cols()),
          fmt::format("{} x {}, one for each row of theory.file of this problem", rows, rows));
    }
    try {
      const Eigen::VectorXd band = simultaneous_band(covariance);
      band_.assign(band.begin(), band.end());
    } catch (const Error& error) {
      throw Error(ErrorKind::input, fmt::format("{}: {}", key, error.what()), key);
    }
  }

  void add_band(std::vector<Prediction>& curves) const {
    if (band_.empty()) return;
    for (std::size_t row = 0; row < band_.size(); ++row) {
      const TableRow& value = theory_table_->rows[row];
      for (Prediction& p : curves) {
        if (p.series.name != value.series || p.series.point != value.point) continue;
        const auto at = std::find(p.series.x.begin(), p.series.x.end(), value.x);
        p.numerical_error.resize(p.series.x.size(), 0.0);
        p.numerical_error[static_cast<std::size_t>(at - p.series.x.begin())] += band_[row];
      }
    }
  }

  void build(Configuration& c,
             const Side& side,
             std::unique_ptr<Experiment>& study,
             std::optional<Template>& command,
             std::optional<OutsideTable>& table) {
    if (side.source == Source::study) {
      const std::string key = side.name + ".study";
      const Study& wanted = built_in(key, c.text(key));
      Configuration own = of_built_in(wanted, c);
      study = wanted.make(own);
      if (side.name == "simulation" && study->points() == 0)
        throw invalid_parameter(key, wanted.name, "a study with a simulation");
    } else if (side.source == Source::command) {
      command.emplace(c, side);
    } else if (side.source == Source::file) {
      const std::string key = side.name + ".file";
      if (!c.inputs) c.inputs = std::make_shared<InputFiles>();
      table =
          *table_of_file(*c.inputs,
                         c.input_file(key),
                         c.text(key),
                         {.kind = side.name == "theory" ? TableKind::theory : TableKind::replicates,
                          .x_name = x_name_,
                          .x_required = true,
                          .columns = columns_of(c, side.name)});
      if (side.name == "simulation" && c.has("simulation.cluster"))
        take_cluster_means(*table, c.text("simulation.cluster"));
      select(c, *table);
      c.set(key, std::filesystem::absolute(c.input_file(key)).string(), c.given(key));
    }
  }

  /// Columns that the configuration names.
  static TableColumns columns_of(const Configuration& c, const std::string& side) {
    const auto text = [&](const std::string& key) {
      return c.has(key) ? c.text(key) : std::string();
    };
    TableColumns columns;
    if (side == "theory") {
      if (c.has("theory.value")) columns.values = {c.text("theory.value")};
      return columns;
    }
    if (c.has("simulation.value")) columns.values = c.texts("simulation.value");
    columns.replicate = text("simulation.replicate");
    columns.sd = text("simulation.sd");
    columns.n = text("simulation.n");
    return columns;
  }

  /// Takes out the columns that are keys of the configuration.
  static void select(const Configuration& c, OutsideTable& table) {
    for (const std::string& column : std::vector<std::string>(table.coordinates)) {
      const std::string key = "model." + column;
      if (!c.declares(key) || !c.has(key) || !is_scalar(c.at(key))) continue;
      const Value& value = c.at(key);
      const auto* number = std::get_if<double>(&value);
      keep_rows(table, column, number != nullptr ? CoordinateValue(*number) : shown(value));
    }
  }

  /// What a file of replicates says of the run.
  void record(Configuration& c) {
    recorded_ = recorded_outcomes(*simulation_table_, x_name_);
    const auto count = static_cast<std::int64_t>(recorded_.outcomes.size());
    if (c.given("sim.replicates")) {
      require(c.integer("sim.replicates") <= count,
              "sim.replicates",
              static_cast<double>(c.integer("sim.replicates")),
              fmt::format("at most {}: '{}' has no more", count, simulation_table_->source));
    } else {
      c.set("sim.replicates", count, false);
    }
    c.set("simulation.summary", simulation_table_->summary, false);
    if (simulation_table_->summary && c.text("check.family") == "maxt") {
      throw invalid_parameter(
          "check.family", "maxt", "holm: flips of whole replicates need replicates");
    }
  }

  void check_columns() const {
    if (!theory_table_ || !simulation_table_) return;
    require_same_columns(*theory_table_, *simulation_table_);
  }

  /// The keys that formulas may use, besides coordinates.
  std::vector<std::string> known_names() const {
    std::vector<std::string> known{x_name_};
    for (const auto& [name, value] : model_numbers(c_)) known.push_back(name);
    for (const auto& [key, value] : c_.entries()) {
      if (key.starts_with("sweep.") && loop_named(c_, key.substr(6)))
        known.push_back(key.substr(6));
    }
    if (simulation_table_) {
      known.insert(known.end(),
                   simulation_table_->coordinates.begin(),
                   simulation_table_->coordinates.end());
    }
    if (simulation_.source == Source::study) known.emplace_back("x");
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return known;
  }

  void check_formulas(const Side& side) const {
    if (side.source != Source::expression) return;
    for (const auto& [series, formula] : formulas(c_, side)) {
      const Expression e(formula_key(c_, side, series), formula);
      e.require_names(known_names());
    }
  }

  /// Series that are to be compared must be in the files that were brought.
  void check_series() const {
    for (const std::string& series : names_in(c_, "agreement")) {
      for (const auto* table : {&theory_table_, &simulation_table_}) {
        if (!*table) continue;
        const auto& rows = (*table)->rows;
        if (std::none_of(
                rows.begin(), rows.end(), [&](const TableRow& r) { return r.series == series; })) {
          throw Error(ErrorKind::input,
                      fmt::format("'{}' has no series '{}', which [agreement.{}] compares",
                                  (*table)->source,
                                  series,
                                  series),
                      "agreement." + series + ".relative");
        }
      }
    }
  }

  std::string x_of(const OutsideTable& table) const { return table.has_x ? x_name_ : "none"; }

  Expression expression(const Side& side, const std::string& series) const {
    const std::string key = formula_key(c_, side, series);
    return {key, c_.text(key)};
  }

  double value_of(Expression& formula,
                  const Point& point,
                  const std::string& x_name,
                  double x) const {
    return formula([&](const std::string& name) {
      if (name == x_name || (name == "x" && !scalar_named(c_, "x"))) return x;
      for (const auto& [coordinate, value] : point) {
        const auto* number = std::get_if<double>(&value);
        if (coordinate == name && number != nullptr) return *number;
      }
      for (const auto& [key, value] : model_numbers(c_)) {
        if (key == name) return value;
      }
      throw Error(ErrorKind::input,
                  fmt::format("{} = '{}': '{}' has no value at {}",
                              formula.where(),
                              formula.formula(),
                              name,
                              describe(joined(point, {{x_name, x}}))),
                  formula.where());
    });
  }

  /// Where the formulas of the theory are evaluated: where the simulation has values.
  std::vector<Places> theory_places(TheoryGrid grid) const {
    std::vector<Places> all;
    const auto formula_list = formulas(c_, theory_);
    const auto wants = [&](const std::string& series) {
      return std::any_of(formula_list.begin(), formula_list.end(), [&](const auto& f) {
        return f.first == series;
      });
    };
    if (simulation_.source == Source::file) {
      for (const Outcome& outcome : recorded_.outcomes) {
        for (const Series& s : outcome.series) {
          if (wants(s.name)) add_places(all, s);
        }
      }
    } else if (simulation_.source == Source::study) {
      for (Prediction& p : simulation_study_->theory(TheoryGrid::run).predictions) {
        if (!wants(p.series.name)) continue;
        Series s = p.series;
        s.point = sorted(s.point);
        if (!p.compared.empty()) {
          s.x.clear();
          for (std::size_t k = 0; k < p.series.x.size(); ++k) {
            if (p.compared[k]) s.x.push_back(p.series.x[k]);
          }
        }
        add_places(all, s);
      }
      return all;
    } else {
      for (const auto& [series, text] : formula_list) {
        for (const Places& p : swept_places(theory_, series)) all.push_back(p);
      }
    }
    for (Places& p : all) {
      p.given = p.x.size();
      if (grid == TheoryGrid::run) smooth(p);
    }
    return all;
  }

  static void add_places(std::vector<Places>& all, const Series& s) {
    auto at = std::find_if(all.begin(), all.end(), [&](const Places& p) {
      return p.series == s.name && p.point == s.point && p.x_name == s.x_name;
    });
    if (at == all.end()) at = all.insert(all.end(), {s.name, s.point, s.x_name, {}, 0});
    std::set<double> known(at->x.begin(), at->x.end());
    for (const double x : s.x) {
      if (known.insert(x).second) at->x.push_back(x);
    }
    at->given = at->x.size();
  }

  /// The grid of [sweep] that a formula names: x, and lists of a built-in study.
  std::vector<Places> swept_places(const Side& side, const std::string& series) const {
    const Expression formula = expression(side, series);
    std::vector<Loop> loops;
    for (const std::string& name : formula.names()) {
      if (name == x_name_ || scalar_named(c_, name)) continue;
      if (auto loop = loop_named(c_, name)) loops.push_back(std::move(*loop));
    }
    const std::optional<Loop> x = loop_named(c_, x_name_);
    const auto& names = formula.names();
    if (!x && std::find(names.begin(), names.end(), x_name_) != names.end()) {
      throw Error(ErrorKind::input,
                  fmt::format("{} = '{}' needs values of {}: expected [sweep] {} = [...]",
                              formula.where(),
                              formula.formula(),
                              x_name_,
                              x_name_),
                  formula.where());
    }
    std::vector<Places> all;
    for (const auto& values : combinations(loops)) {
      Places p{series, {}, x ? x_name_ : "none", x ? x->values : std::vector<double>{0}, 0};
      for (std::size_t k = 0; k < loops.size(); ++k) p.point.emplace_back(loops[k].name, values[k]);
      p.point = sorted(p.point);
      p.given = p.x.size();
      all.push_back(std::move(p));
    }
    return all;
  }

  /// Values of x between the given ones, for a line that is smooth.
  void smooth(Places& p) const {
    constexpr int kLine = 100;
    constexpr double kNear = 1e-8;
    if (p.x.size() < 2) return;
    const auto [low, high] = std::minmax_element(p.x.begin(), p.x.end());
    const bool log = c_.text("figure.x.scale") == "log" && *low > 0;
    const double first = *low;
    const double last = *high;
    const std::set<double> known(p.x.begin(), p.x.end());
    for (int k = 1; k < kLine; ++k) {
      const auto t = static_cast<double>(k) / kLine;
      const double x = log ? first * std::pow(last / first, t) : first + (last - first) * t;
      const auto near = known.lower_bound(x * (x > 0 ? 1 - kNear : 1 + kNear));
      if (near == known.end() || !same_within_rounding(*near, x)) p.x.push_back(x);
    }
  }

  Outcome evaluated() const {
    Outcome outcome;
    for (const auto& [series, text] : formulas(c_, simulation_)) {
      Expression formula = expression(simulation_, series);
      for (const Places& p : swept_places(simulation_, series)) {
        Series s{p.series, p.point, p.x_name, p.x, {}};
        for (const double x : p.x) {
          s.y.push_back(value_of(formula, p.point, p.x_name, x));
          if (!std::isfinite(s.y.back())) {
            outcome.failed = true;
            outcome.status = "failed";
            outcome.message =
                fmt::format("series '{}' at {} = {} is not finite", s.name, s.x_name, x);
          }
        }
        outcome.series.push_back(std::move(s));
      }
    }
    return outcome;
  }

  /// What one process printed, with the values it was asked for put in; none if it was stopped.
  std::optional<OutsideTable> run_command(const Template& command,
                                          const std::vector<double>& values,
                                          std::uint64_t seed,
                                          std::uint64_t replicate,
                                          TableKind kind,
                                          const std::stop_token& stop) const {
    command.require_own();
    const Command filled = command.fill(values, seed, replicate);
    const std::optional<std::string> printed = output_of(filled, stop);
    if (!printed) return std::nullopt;
    const std::string source = fmt::format("output of '{}'", fmt::join(filled.arguments, " "));
    const std::optional<Loop> x = loop_named(c_, x_name_);
    const auto& loops = command.loops();
    const auto asked = std::find_if(
        loops.begin(), loops.end(), [&](const Loop& loop) { return loop.name == x_name_; });
    OutsideTable table = read_table(
        *printed,
        source,
        {.kind = kind,
         .x_name = x_name_,
         .x_required = asked == loops.end() && (x.has_value() || declared_x_),
         .columns = columns_of(c_, kind == TableKind::theory ? theory_.name : simulation_.name)});
    select(c_, table);
    for (std::size_t k = 0; k < loops.size(); ++k) {
      if (loops[k].name == x_name_) {
        set_x(table, values[k]);
      } else {
        keep_rows(table, loops[k].name, values[k]);
        for (TableRow& row : table.rows)
          row.point = sorted(joined(row.point, {{loops[k].name, values[k]}}));
      }
    }
    if (asked == loops.end() && x) require_x(table, x->values);
    if (kind != TableKind::theory) {
      for (TableRow& row : table.rows) {
        if (row.replicate != table.rows.front().replicate) {
          throw Error(
              ErrorKind::input,
              fmt::format("{}:{}:1: error: replicates {} and {}; a process is one replicate",
                          source,
                          row.line,
                          table.rows.front().replicate,
                          row.replicate));
        }
      }
      for (TableRow& row : table.rows) row.replicate = 0;
    }
    for (const std::string& series : names_in(c_, "agreement")) {
      if (std::none_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
            return row.series == series;
          })) {
        throw Error(
            ErrorKind::input,
            fmt::format(
                "{}: no series '{}', which [agreement.{}] compares", source, series, series));
      }
    }
    return table;
  }

  /// The x that a process was asked for.
  static void set_x(OutsideTable& table, double x) {
    for (TableRow& row : table.rows) {
      if (table.has_x && !same_number(row.x, x)) {
        throw Error(
            ErrorKind::input,
            fmt::format(
                "{}:{}:1: error: x = {}, but {} was asked for", table.source, row.line, row.x, x));
      }
      row.x = x;
    }
    table.has_x = true;
  }

  /// A process that is not asked for one x has to print them all, and no other.
  static void require_x(OutsideTable& table, const std::vector<double>& wanted) {
    std::map<std::string, std::set<double>> seen;
    for (TableRow& row : table.rows) {
      const auto at = std::find_if(
          wanted.begin(), wanted.end(), [&](double x) { return same_number(x, row.x); });
      if (at == wanted.end()) {
        throw Error(ErrorKind::input,
                    fmt::format("{}:{}:1: error: x = {}, which [sweep] does not have",
                                table.source,
                                row.line,
                                row.x));
      }
      row.x = *at;
      seen[row.series + " " + describe(row.point)].insert(*at);
    }
    for (const auto& [curve, values] : seen) {
      for (const double x : wanted) {
        if (values.count(x) == 0) {
          throw Error(ErrorKind::input,
                      fmt::format("{}: too few rows: series {}has {} values of x, without {}",
                                  table.source,
                                  curve,
                                  values.size(),
                                  x));
        }
      }
    }
  }

  std::optional<Outcome> commanded(const Piece& piece, std::uint64_t replicate) const {
    const auto all = combinations(simulation_command_->loops());
    const std::uint64_t seed = RandomStream(piece.stream(replicate)).bits();
    const std::optional<OutsideTable> table = run_command(*simulation_command_,
                                                          all.at(piece.point),
                                                          seed,
                                                          replicate,
                                                          TableKind::one_replicate,
                                                          piece.stop);
    if (!table) return std::nullopt;
    if (table->summary) {
      throw Error(
          ErrorKind::input,
          fmt::format("{}:{}:1: error: mean, sem and n; a process is one replicate: expected "
                      "'value'",
                      table->source,
                      table->header_line));
    }
    require_theory_of(*table);
    return recorded_outcomes(*table, x_of(*table)).outcomes.front();
  }

  static void merge(std::vector<Prediction>& all, Prediction p) {
    for (Prediction& q : all) {
      if (q.series.name != p.series.name || q.series.point != p.series.point ||
          q.series.x_name != p.series.x_name) {
        continue;
      }
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(q.series.x, p.series.x);
      append(q.series.y, p.series.y);
      append(q.finite_size, p.finite_size);
      append(q.numerical_error, p.numerical_error);
      append(q.compared, p.compared);
      return;
    }
    all.push_back(std::move(p));
  }

  static void sort_x(Prediction& p) {
    std::vector<std::size_t> order(p.series.x.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return p.series.x[a] < p.series.x[b];
    });
    const auto arrange = [&](auto& values) {
      if (values.empty()) return;
      auto copy = values;
      for (std::size_t k = 0; k < order.size(); ++k) copy[k] = values[order[k]];
      values = copy;
    };
    arrange(p.series.x);
    arrange(p.series.y);
    arrange(p.finite_size);
    arrange(p.numerical_error);
    arrange(p.compared);
  }

  Side theory_;
  Side simulation_;
  std::string x_name_;
  bool declared_x_;
  Configuration c_;
  std::unique_ptr<Experiment> theory_study_;
  std::unique_ptr<Experiment> simulation_study_;
  std::optional<Template> theory_command_;
  std::optional<Template> simulation_command_;
  std::optional<OutsideTable> theory_table_;
  std::vector<double> band_;  ///< of the rows of theory_table_; empty: no covariance is given
  std::optional<OutsideTable> simulation_table_;
  RecordedOutcomes recorded_;
  /// What `theory` computed last.
  struct Predicted {
    std::mutex guard;
    std::vector<Prediction> curves;
  };
  mutable Predicted predicted_;
};

// ------------------------------------------------------------------------ figure, margins, claims

/// A label from a name: underscores would lower what follows.
std::string plain(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::vector<std::string> figure_series(const Configuration& c) {
  if (c.has("figure.series")) return c.texts("figure.series");
  std::vector<std::string> all = names_in(c, "agreement");
  if (all.empty()) all = names_in(c, "theory.expression");
  if (all.empty()) all = {"y"};
  return all;
}

std::vector<AgreementRule> agreement(const Configuration& c);

Figure figure(const Configuration& c) {
  const auto axis = [&](const std::string& name, const std::string& fallback) {
    const std::string key = "figure." + name;
    return Axis{.label = c.has(key + ".label") ? c.text(key + ".label") : plain(fallback),
                .scale = c.text(key + ".scale") == "log" ? AxisScale::log : AxisScale::linear};
  };
  const bool theory = side_of(c, "theory").source != Source::none;
  const bool simulation = side_of(c, "simulation").source != Source::none;
  Figure figure{.name = "own", .panels = {}, .columns = 1, .caption = {}};
  for (const std::string& series : figure_series(c)) {
    figure.panels.push_back({.kind = PanelKind::curves,
                             .x = axis("x", c.text("x")),
                             .y = axis("y", series),
                             .layers = {{.series = series}},
                             .x_name = "",
                             .residuals = theory && simulation});
  }
  if (figure.panels.size() > 1) figure.columns = 2;
  std::string caption = c.has("figure.caption") ? c.text("figure.caption") + " " : "";
  if (theory) caption += "Lines: theory. ";
  if (simulation) caption += "Points: simulation, mean and standard error over replicates. ";
  const std::vector<AgreementRule> rules = agreement(c);
  const bool margin = std::ranges::any_of(
      rules, [](const AgreementRule& rule) { return rule.relative > 0 || rule.absolute > 0; });
  figure.caption = caption + (theory && simulation && margin ? "Band: declared margin." : "");
  return figure;
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  std::vector<AgreementRule> rules;
  const bool summary = c.has("simulation.summary") && c.flag("simulation.summary");
  const bool exact = side_of(c, "simulation").source == Source::expression;
  for (const std::string& series : names_in(c, "agreement")) {
    const std::string key = "agreement." + series + ".";
    rules.push_back(
        {.series = series,
         .relative = c.real(key + "relative"),
         .absolute = c.real(key + "absolute"),
         .tails = summary || c.text(key + "tails") == "normal" ? Tails::normal : Tails::guarded,
         .deterministic = exact || c.flag(key + "deterministic")});
  }
  // Without a theory they meet no margin, but are named.
  if (c.has("check.without_theory")) {
    for (const std::string& series : c.texts("check.without_theory"))
      rules.push_back({.series = series, .relative = 0, .absolute = 0});
  }
  if (rules.empty()) {
    rules.push_back({.series = "*",
                     .relative = 0,
                     .absolute = 0,
                     .tails = summary ? Tails::normal : Tails::guarded,
                     .deterministic = exact});
  }
  return rules;
}

ClaimResult judge_claim(const Configuration& c, const std::string& name, const Observed& observed) {
  const std::string key = "claim." + name + ".";
  Expression formula(key + "expression", c.text(key + "expression"));
  const std::string statement =
      c.has(key + "statement") ? c.text(key + "statement") : formula.formula();
  if (c.has("simulation.summary") && c.flag("simulation.summary"))
    return claim_open(name, statement, "mean, sem and n are no replicates");
  const double rate = c.real(key + "rate");
  const auto numbers = model_numbers(c);
  // The values of each series that the claim names, by replicate, at one x.
  std::map<std::string, std::map<std::uint64_t, double>> values;
  std::optional<double> at;
  if (c.has(key + "x")) at = c.real(key + "x");
  for (const ObservedCurve& curve : observed.simulation) {
    const auto& names = formula.names();
    if (std::find(names.begin(), names.end(), curve.mean.name) == names.end()) continue;
    if (curve.mean.x.empty() || values.count(curve.mean.name) != 0) continue;
    if (!at) at = curve.mean.x.back();
    for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
      if (curve.mean.x[k] != *at && !same_number(curve.mean.x[k], *at)) continue;
      for (std::size_t r = 0; r < curve.values[k].size(); ++r)
        values[curve.mean.name][curve.replicates[k][r]] = curve.values[k][r];
    }
  }
  std::vector<bool> holds;
  for (const std::string& variable : formula.names()) {
    const bool number =
        variable == c.text("x") || std::any_of(numbers.begin(), numbers.end(), [&](const auto& n) {
          return n.first == variable;
        });
    if (!number && values.count(variable) == 0) {
      return claim_open(name,
                        statement,
                        fmt::format("no values of '{}'{}",
                                    variable,
                                    at ? fmt::format(" at {} = {}", c.text("x"), *at) : ""));
    }
  }
  if (values.empty()) return claim_open(name, statement, "the claim names no series");
  for (const auto& first : values.begin()->second) {
    const auto replicate = first.first;
    bool complete = true;
    for (const auto& [series, of_series] : values)
      complete =
          complete && of_series.count(replicate) != 0 && std::isfinite(of_series.at(replicate));
    if (!complete) {
      holds.push_back(false);  // a replicate that failed or ended early shows nothing
      continue;
    }
    const double value = formula([&](const std::string& variable) {
      const auto series = values.find(variable);
      if (series != values.end()) return series->second.at(replicate);
      for (const auto& [n, number] : numbers) {
        if (n == variable) return number;
      }
      return *at;
    });
    // A formula that is no condition would hold of every run in which it is not zero.
    if (std::isfinite(value) && value != 0 && value != 1) {
      return claim_open(
          name,
          statement,
          fmt::format("'{}' is {} at {} = {}, expected a condition such as 'y < 0.05'",
                      formula.formula(),
                      value,
                      c.text("x"),
                      *at));
    }
    holds.push_back(value == 1);
  }
  return claim_rate(name, statement, holds, fmt::format("at {} = {}", c.text("x"), *at), rate);
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  for (const std::string& name : names_in(c, "claim"))
    all.push_back(judge_claim(c, name, observed));
  return all;
}

/// How the sides of a configuration are compared.
BroughtSides brought(const Configuration& c) {
  const auto flag = [&](const char* key) { return c.has(key) && c.flag(key); };
  const Source theory = side_of(c, "theory").source;
  const Source simulation = side_of(c, "simulation").source;
  BroughtSides sides{.theory = theory != Source::none,
                     .x_name = c.text("x"),
                     .compared = names_in(c, "agreement"),
                     .rates = {},
                     .match = {},
                     .from_table = simulation == Source::file,
                     .summary = flag("simulation.summary")};
  for (const std::string& series : sides.compared) {
    if (c.text("agreement." + series + ".tails") == "rate") sides.rates.push_back(series);
  }
  if (c.has("check.match")) sides.match = c.real("check.match");
  // A built-in simulation has points without theory by design; they are held against tables and
  // programs of the theory alone, whose places somebody wrote down.
  const bool written = theory == Source::file || theory == Source::command;
  sides.partial = (simulation == Source::study && !written) || flag("check.partial");
  sides.ordered = sides.from_table && !sides.summary && !flag("simulation.independent");
  sides.quick = theory != Source::command && (sides.from_table || theory != Source::study);
  return sides;
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
                          "theory.directory"}) {
    if (problem.has(key)) run.set(key, problem.at(key), run.given(key));
  }
}

}  // namespace

std::vector<std::string> names_in(const Configuration& c, std::string_view section) {
  const std::string front = std::string(section) + ".";
  std::vector<std::string> all;
  for (const auto& [key, value] : c.entries()) {
    if (!key.starts_with(front)) continue;
    const std::string name = key.substr(front.size(), key.find('.', front.size()) - front.size());
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }
  return all;
}

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

std::vector<std::pair<std::string, double>> model_numbers(const Configuration& c) {
  std::vector<std::pair<std::string, double>> all;
  for (const auto& [key, value] : c.entries()) {
    if (!key.starts_with("model.") && !key.starts_with("sim.")) continue;
    const std::string name = key.substr(key.find('.') + 1);
    if (const auto* d = std::get_if<double>(&value)) all.emplace_back(name, *d);
    if (const auto* i = std::get_if<std::int64_t>(&value))
      all.emplace_back(name, static_cast<double>(*i));
  }
  return all;
}

}  // namespace own

namespace {

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

Study own_study(const Table& entries) {
  using own::has_key;
  std::vector<Parameter> parameters = own::fixed_parameters();
  const auto add = [&](const Parameter& p) {
    if (!has_key(parameters, p.key)) parameters.push_back(p);
  };
  std::string x = "x";
  std::vector<Source> sources;
  std::string size_coordinate;
  for (const auto& [key, value] : entries) {
    const auto* text = std::get_if<std::string>(&value);
    if (key == "x" && text != nullptr) {
      if (!own::is_name(*text))
        throw invalid_parameter("x", *text, "a name of letters, digits, _ and -");
      x = *text;
    }
    if ((key == "theory.study" || key == "simulation.study") && text != nullptr) {
      const Study& study = own::built_in(key, *text);
      for (const Parameter& p : study.parameters) add(p);
      sources.insert(sources.end(), study.sources.begin(), study.sources.end());
      size_coordinate = study.size_coordinate;
    }
  }
  for (const auto& [key, value] : entries) {
    const std::vector<std::string> part = own::parts(key);
    const std::string& section = part.front();
    if (part.size() == 2 && section == "model") {
      add(own::free_parameter(key, value, true));
    } else if (part.size() == 2 && section == "sweep" && !has_key(parameters, key)) {
      if (part[1] == x) {
        add({.key = key,
             .type = ParameterType::real,
             .fallback = std::nullopt,
             .meaning = "values of x",
             .list = true});
      } else if (!has_key(parameters, "model." + part[1]) &&
                 !has_key(parameters, "sim." + part[1])) {
        add(own::free_parameter("model." + part[1], value, false));
      }
    } else if (part.size() == 3 && section != "figure" && part[1] == "expression") {
      add(own::text_parameter(key, "formula of the series " + part[2]));
    } else if (part.size() >= 3 &&
               (section == "agreement" || section == "claim" || section == "bound")) {
      for (const Parameter& p : own::named_parameters(section, part[1])) add(p);
    }
  }
  const auto said = [&](const std::string& key, const char* otherwise) -> std::string {
    for (const auto& [name, value] : entries) {
      const auto* text = std::get_if<std::string>(&value);
      if (name == key && text != nullptr) return *text;
    }
    return otherwise;
  };
  return {
      .name = "own",
      .question = said("question", "Does your theory describe your simulation?"),
      .approximation = said("approximation", ""),
      .not_compared = said("not_compared", kOwnOutside),
      .parameters = std::move(parameters),
      .series = {},
      .presets = {},
      .sources = std::move(sources),
      .make = make<own::OwnExperiment>,
      .figure = own::figure,
      .agreement = own::agreement,
      .size_coordinate = std::move(size_coordinate),
      .claims = own::claims,
      .defined_by =
          [](const Table& written) { return std::make_shared<const Study>(own_study(written)); },
      .brought = own::brought,
      .complete = own::complete,
      .starting_text = kStartingText};
}

const Study& study_of_sides() {
  static const Study study = own_study({});
  return study;
}

}  // namespace attica

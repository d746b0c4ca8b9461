#include "attica/app/run/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string_view>

#include "attica/app/command/paths.hpp"
#include "attica/app/run/failure.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/version.hpp"
#include "attica/core/input_files.hpp"
#include "attica/core/named_arrays.hpp"
#include "attica/sources/process.hpp"
#include "attica/sources/study.hpp"
#include "attica/sources/watched.hpp"
#include "attica/studies/measured.hpp"

namespace attica::app {
namespace {

CoordinateValue coordinate(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) return std::string(*flag ? "true" : "false");
  return std::get<std::string>(value);
}

/// Prints what Python it is, and the versions of what simulations are usually made with.
constexpr const char* kAskVersions =
    "import sys\n"
    "print('python', sys.version.split()[0])\n"
    "try:\n"
    "    from importlib.metadata import version\n"
    "except ImportError:\n"
    "    sys.exit()\n"
    "for name in ('numpy', 'scipy', 'torch', 'jax', 'jaxlib', 'tensorflow', 'scikit-learn', "
    "'numba', 'flax', 'optax', 'lightning', 'transformers'):\n"
    "    try:\n"
    "        print(name, version(name))\n"
    "    except Exception:\n"
    "        pass\n";

/// The command of a side; empty if it has none.
std::optional<sources::WatchedCommand> command_of(const Configuration& values,
                                                  const std::string& side) {
  if (!values.declares(side + ".command") || !values.has(side + ".command")) return std::nullopt;
  sources::WatchedCommand command{.arguments = values.texts(side + ".command"),
                                  .directory = values.input_directories.front()};
  if (values.has(side + ".directory")) command.directory /= values.text(side + ".directory");
  if (values.has(side + ".inputs")) command.inputs = values.texts(side + ".inputs");
  return command;
}

/// The digests of the files that its commands name and import, such as a script.
void add_command_digests(const Configuration& values, Table& digests) {
  for (const std::string side : {"theory", "theory.training", "simulation"}) {
    const auto command = command_of(values, side);
    if (!command) continue;
    for (const std::filesystem::path& path : sources::watched_files(*command).files)
      digests.emplace_back(std::filesystem::weakly_canonical(path).string(),
                           sha256(read_whole(path)));
  }
}

/// Everything that can change a number, as text.
std::string identity(const Work& work, bool with_margin) {
  std::string text = fmt::format("attica {}\nstudy {}\n", kVersion, work.configuration.study->name);
  const std::vector<Parameter> parameters = all_parameters(*work.configuration.study);
  for (const auto& [key, value] : work.configuration.values.entries()) {
    const auto parameter = std::find_if(parameters.begin(),
                                        parameters.end(),
                                        [&, &k = key](const Parameter& p) { return p.key == k; });
    if (key == "check.margin" && !with_margin) continue;
    if (const auto* const name = std::get_if<std::string>(&value);
        name != nullptr && parameter->type == ParameterType::file) {
      if (const std::string arrays = array_address(*name).arrays; !arrays.empty())
        text += fmt::format("{} arrays {}\n", key, arrays);
    }
    if (work.configuration.is_swept(key) || key == "sim.replicates" ||
        parameter->section() == "plot" || parameter->section() == "figure" ||
        key == "theory.directory" || key == "simulation.directory" ||
        key == "theory.training.directory" || parameter->type == ParameterType::file) {
      continue;
    }
    text += fmt::format("{} = {}\n", key, to_toml(value));
  }
  for (const SweptScalar& s : work.configuration.swept) {
    text += fmt::format("sweep {} = {}\n", s.key, to_toml(Value(s.values)));
  }
  for (const auto& [path, digest] : work.input_digests)
    text += std::get<std::string>(digest) + "\n";
  return text;
}

/// A fact as tables can hold it: "inf" and "nan" are words there.
Value recordable(Value value) {
  if (auto* list = std::get_if<List>(&value)) {
    for (Value& element : *list) element = recordable(std::move(element));
  } else if (auto* table = std::get_if<Table>(&value)) {
    for (auto& [name, element] : *table) element = recordable(std::move(element));
  } else if (const auto* number = std::get_if<double>(&value);
             number != nullptr && !std::isfinite(*number)) {
    return fmt::format("{}", *number);
  }
  return value;
}

/// Where an allowance has no bound anything would agree: the point is drawn, and not compared.
void leave_out_boundless(Prediction& p) {
  for (std::vector<double>* allowances : {&p.finite_size, &p.numerical_error}) {
    for (std::size_t k = 0; k < allowances->size(); ++k) {
      double& allowance = (*allowances)[k];
      if (std::isfinite(allowance) && allowance >= 0) continue;
      if (p.compared.empty()) p.compared.assign(p.series.x.size(), true);
      p.compared[k] = false;
      allowance = 0;
    }
  }
}

/// Adds those that are not there yet.
void add_warnings(std::vector<std::string> more, std::vector<std::string>& all) {
  for (std::string& warning : more) {
    if (std::find(all.begin(), all.end(), warning) == all.end()) all.push_back(std::move(warning));
  }
}

}  // namespace

std::vector<std::string> Work::new_warnings() const {
  std::vector<std::string> all = warnings;
  for (const Problem& problem : problems) add_warnings(problem.experiment->warnings(), all);
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(warnings.size()));
  return all;
}

std::uint64_t Work::seed() const {
  return static_cast<std::uint64_t>(configuration.values.integer("sim.seed"));
}
std::uint64_t Work::replicates() const {
  return static_cast<std::uint64_t>(configuration.values.integer("sim.replicates"));
}

Point swept_coordinates(const Table& combination) {
  Point point;
  for (const auto& [key, value] : combination) {
    point.emplace_back(key.substr(key.find('.') + 1), coordinate(value));
  }
  return point;
}

Work prepare(CheckedConfiguration configuration) {
  Work work{.configuration = std::move(configuration),
            .problems = {},
            .input_digests = {},
            .hash = {},
            .data_hash = {},
            .warnings = {}};
  CheckedConfiguration& checked = work.configuration;
  checked.values.input_directories = input_directories(checked.directory);
  if (!checked.values.inputs) checked.values.inputs = std::make_shared<InputFiles>();
  const std::vector<Parameter> parameters = all_parameters(*checked.study);
  std::uint64_t first_point = 0;
  for (const Table& combination : combinations(checked.swept)) {
    Configuration values = checked.values;
    Problem problem;
    for (const auto& [key, value] : combination) values.set(key, value, true);
    problem.coordinates = swept_coordinates(combination);
    try {
      for (const Parameter& p : parameters) {
        if (p.type != ParameterType::file || !values.has(p.key)) continue;
        const std::filesystem::path path = values.input_file(p.key);
        const std::shared_ptr<const std::string> content = values.inputs->bytes(path);
        if (!content) throw invalid_parameter(p.key, path.string(), "a readable file");
        work.input_digests.emplace_back(std::filesystem::weakly_canonical(path).string(),
                                        sha256(*content));
      }
      if (work.problems.empty()) add_command_digests(values, work.input_digests);
      problem.experiment = checked.study->make(values);
    } catch (...) {
      rethrow_explained(std::current_exception(), checked, values, problem.coordinates);
    }
    problem.first_point = first_point;
    first_point += problem.experiment->points();
    add_warnings(problem.experiment->warnings(), work.warnings);
    add_warnings(values.inputs->remarks(), work.warnings);
    // What the study completed is part of the resolved configuration, unless it differs along the
    // sweep.
    if (checked.swept.empty()) {
      checked.values = values;
    } else if (checked.study->complete) {
      checked.study->complete(checked.values, values, work.problems.empty());
    } else {
      for (const auto& [key, value] : values.entries()) {
        if (!values.given(key) && checked.values.has(key) && value != checked.values.at(key))
          checked.filled_in.insert(key);
      }
    }
    work.problems.push_back(std::move(problem));
  }
  constexpr std::size_t kHashDigits = 8;
  work.hash = sha256(identity(work, true)).substr(0, kHashDigits);
  work.data_hash = sha256(identity(work, false)).substr(0, kHashDigits);
  return work;
}

Table command_versions(const Work& work) {
  Table all;
  for (const std::string side : {"theory", "theory.training", "simulation"}) {
    const auto command = command_of(work.configuration.values, side);
    if (!command) continue;
    std::vector<std::string> question = sources::python_of(*command);
    if (question.empty()) continue;
    question.emplace_back("-c");
    question.emplace_back(kAskVersions);
    constexpr double kPatience = 20;
    try {
      const std::string answer =
          sources::output_of(
              {.arguments = question, .directory = command->directory, .max_seconds = kPatience})
              .value_or("");
      Table versions;
      std::string_view rest = answer;
      while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        const auto space = line.find(' ');
        if (space != std::string_view::npos)
          versions.emplace_back(std::string(line.substr(0, space)),
                                std::string(line.substr(space + 1)));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      }
      all.emplace_back(side.substr(0, side.find('.')), std::move(versions));
    } catch (const Error&) {  // a program of that name that answers no such question
    }
  }
  return all;
}

void require_simulable(const Work& work) {
  for (const Problem& problem : work.problems) {
    try {
      problem.experiment->require_simulable();
    } catch (...) {
      rethrow_explained(std::current_exception(),
                        work.configuration,
                        work.configuration.values,
                        problem.coordinates);
    }
  }
}

TheoryRecord compute_theory(const Work& work, TheoryGrid grid) {
  TheoryRecord record;
  List diverged;
  List failed;
  const std::vector<MeasuredRange> measured = measured_ranges(work.configuration.study->name);
  for (const Problem& problem : work.problems) {
    TheoryResult result;
    try {
      result = problem.experiment->theory(grid);
    } catch (...) {
      rethrow_explained(std::current_exception(),
                        work.configuration,
                        work.configuration.values,
                        problem.coordinates,
                        "every point of the theory");
    }
    Table facts = problem.experiment->diagnostics();
    facts.insert(facts.end(), result.diagnostics.begin(), result.diagnostics.end());
    for (auto& [name, fact] : facts) fact = recordable(std::move(fact));
    if (problem.coordinates.empty()) {
      record.diagnostics.insert(record.diagnostics.end(), facts.begin(), facts.end());
    } else if (!facts.empty()) {
      record.diagnostics.emplace_back(describe(problem.coordinates), std::move(facts));
    }
    for (std::string& warning : result.warnings) record.warnings.push_back(std::move(warning));
    for (Prediction& p : result.predictions) {
      p.series.point = joined(problem.coordinates, p.series.point);
      leave_out_boundless(p);
      leave_out_unmeasured(measured, work.configuration.values, p);
      Prediction kept = p;
      kept.series.x.clear();
      kept.series.y.clear();
      kept.finite_size.clear();
      kept.numerical_error.clear();
      kept.compared.clear();
      for (std::size_t k = 0; k < p.series.x.size(); ++k) {
        const double y = p.series.y[k];
        if (!std::isfinite(y) || !std::isfinite(p.series.x[k])) {
          Table place{{"series", p.series.name}};
          for (const auto& [name, value] : p.series.point) {
            std::visit([&, &n = name](const auto& v) { place.emplace_back(n, Value(v)); }, value);
          }
          place.emplace_back(p.series.x_name, recordable(p.series.x[k]));
          (y > 0 && std::isfinite(p.series.x[k]) ? diverged : failed)
              .emplace_back(std::move(place));
          continue;
        }
        kept.series.x.push_back(p.series.x[k]);
        kept.series.y.push_back(y);
        if (!p.finite_size.empty()) kept.finite_size.push_back(p.finite_size[k]);
        if (!p.numerical_error.empty()) kept.numerical_error.push_back(p.numerical_error[k]);
        if (!p.compared.empty()) kept.compared.push_back(p.compared[k]);
      }
      record.predictions.push_back(std::move(kept));
    }
  }
  add_warnings(work.new_warnings(), record.warnings);
  record.failed = !failed.empty();
  if (!diverged.empty()) record.diagnostics.emplace_back("diverged", std::move(diverged));
  if (!failed.empty()) record.diagnostics.emplace_back("failed", std::move(failed));
  return record;
}

Json parameters_object(const CheckedConfiguration& configuration) {
  Json parameters = Json::object();
  for (const auto& [key, value] : configuration.values.entries()) {
    if (!configuration.is_swept(key)) parameters[key] = to_json(value);
  }
  for (const SweptScalar& s : configuration.swept)
    parameters["sweep." + s.name] = to_json(Value(s.values));
  return parameters;
}

Json theory_object(const Work& work, const TheoryRecord& theory) {
  Json series = Json::array();
  for (const Prediction& p : theory.predictions) series.push_back(to_json(p));
  return versioned("predictions",
                   {{"study", work.configuration.study->name},
                    {"parameters", parameters_object(work.configuration)},
                    {"series", std::move(series)},
                    {"diagnostics", to_json(theory.diagnostics)}});
}

std::string PieceOfRun::stem() const {
  return fmt::format("p{:05}-r{:06}-{:06}",
                     piece.stream_point,
                     piece.first_replicate,
                     piece.first_replicate + piece.replicates - 1);
}

std::string PieceOfRun::file_name() const { return stem() + ".part"; }

std::vector<PieceOfRun> pieces(const Work& work, std::span<const std::size_t> ends) {
  std::vector<PieceOfRun> all;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    for (std::size_t k = 0; k < work.problems.size(); ++k) {
      const Problem& problem = work.problems[k];
      for (std::size_t point = 0; point < problem.experiment->points(); ++point) {
        const std::uint64_t block = problem.experiment->replicates_per_piece(point);
        for (std::uint64_t first = begin; first < end; first += block) {
          all.push_back({.problem = k,
                         .piece = {.point = point,
                                   .stream_point = problem.first_point + point,
                                   .first_replicate = first,
                                   .replicates = std::min(block, end - first),
                                   .seed = work.seed()}});
        }
      }
    }
    begin = end;
  }
  return all;
}

std::vector<PieceOfRun> pieces(const Work& work, std::size_t replicates) {
  return pieces(work, std::span(&replicates, 1));
}

double count_pieces(const Work& work, std::span<const std::size_t> ends) {
  double count = 0;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : ends) {
    for (const Problem& problem : work.problems) {
      for (std::size_t point = 0; point < problem.experiment->points(); ++point) {
        const std::uint64_t block = problem.experiment->replicates_per_piece(point);
        const std::uint64_t pieces = (end - begin + block - 1) / block;
        count += static_cast<double>(pieces);
      }
    }
    begin = end;
  }
  return count;
}

std::vector<PieceOfRun> share(const std::vector<PieceOfRun>& pieces, const Shard& shard) {
  std::vector<PieceOfRun> mine;
  for (std::size_t k = shard.index - 1; k < pieces.size(); k += shard.count)
    mine.push_back(pieces[k]);
  return mine;
}

}  // namespace attica::app

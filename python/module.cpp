/// @file
/// @brief The Python module `_attica`: the program's own functions on values of Python. What is
/// convenient about the package is written in Python, in attica/.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attica/app/command/command_line.hpp"
#include "attica/app/command/program.hpp"
#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/run/work.hpp"
#include "attica/app/verdict/check.hpp"
#include "attica/app/version.hpp"
#include "attica/core/error.hpp"
#include "attica/core/gauss/ensembles.hpp"
#include "attica/core/gauss/mlm.hpp"
#include "attica/core/read_number.hpp"
#include "attica/core/table_reader.hpp"
#include "attica/plots/draw.hpp"
#include "attica/plots/drawable.hpp"
#include "attica/solvers/statistics/sequential.hpp"
#include "attica/solvers/statistics/serial_correlation.hpp"
#include "attica/sources/study.hpp"
#include "attica/theory/gauss/flow.hpp"
#include "attica/theory/gauss/ridge.hpp"
#include "attica/theory/gauss/site_regression.hpp"
#include "attica/theory/ridge_kappa.hpp"
#include "training.hpp"

namespace attica {
namespace {

namespace py = pybind11;
using app::Json;
using Reals = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// A vector that NumPy owns from here on; nothing is copied.
py::array_t<double> as_array(std::vector<double> values) {
  auto* kept = new std::vector<double>(std::move(values));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<double>*>(p); });
  return py::array_t<double>(static_cast<py::ssize_t>(kept->size()), kept->data(), owner);
}

std::vector<double> as_vector(const Reals& array) {
  return {array.data(), array.data() + array.size()};
}

/// Names from users' files may be in any encoding: what is not UTF-8 shows as U+FFFD.
py::object as_text(std::string_view text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

/// Sets Python's error to attica.Error.
void raise_error(std::string_view message, ErrorKind kind) {
  const py::object type = py::module_::import("attica.errors").attr("Error");
  const py::object raised = type(as_text(message), static_cast<int>(kind));
  PyErr_SetObject(type.ptr(), raised.ptr());
}

py::object as_python(const Json& json) {
  if (json.is_null()) return py::none();
  if (json.is_boolean()) return py::bool_(json.get<bool>());
  if (json.is_number_unsigned()) return py::int_(json.get<std::uint64_t>());
  if (json.is_number_integer()) return py::int_(json.get<std::int64_t>());
  if (json.is_number()) return py::float_(json.get<double>());
  if (json.is_string()) return as_text(json.get_ref<const std::string&>());
  if (json.is_array()) {
    py::list list;
    for (const Json& element : json) list.append(as_python(element));
    return list;
  }
  py::dict object;
  for (const auto& [key, value] : json.items()) object[as_text(key)] = as_python(value);
  return object;
}

Point as_point(const py::dict& coordinates) {
  Point point;
  for (const auto& [name, value] : coordinates) {
    if (py::isinstance<py::str>(value)) {
      point.emplace_back(py::cast<std::string>(name), py::cast<std::string>(value));
    } else {
      point.emplace_back(py::cast<std::string>(name), py::cast<double>(value));
    }
  }
  return point;
}

// --- studies -----------------------------------------------------------------------------------

py::list list_of_studies() {
  py::list list;
  for (const Study& study : built_in()) {
    list.append(as_python({{"name", study.name},
                           {"question", study.question},
                           {"approximation", study.approximation},
                           {"not_compared", study.not_compared}}));
  }
  return list;
}

/// What a study or a configuration can be given.
py::list parameters(const std::string& target) {
  // Study `own`, and any with bounds, belongs to its configuration.
  const app::CheckedConfiguration configuration =
      app::read_configuration({.target = target, .preset = {}, .overrides = {}}, built_in());
  const Study& study = *configuration.study;
  constexpr std::array kTypes{"real", "integer", "flag", "text", "file"};
  py::list list;
  for (const Parameter& p : app::all_parameters(study)) {
    const bool number = p.type == ParameterType::real || p.type == ParameterType::integer;
    list.append(as_python({{"key", p.key},
                           {"type", kTypes.at(static_cast<std::size_t>(p.type))},
                           {"list", p.list},
                           {"default", p.fallback ? app::to_json(*p.fallback) : Json(nullptr)},
                           {"choices", p.choices},
                           {"range", number ? Json(p.range.describe(p.name())) : Json(nullptr)},
                           {"meaning", p.meaning}}));
  }
  return list;
}

using Assignments = std::vector<std::pair<std::string, std::string>>;

app::Work requested_work(const std::string& target,
                         const std::string& preset,
                         const Assignments& assignments) {
  std::vector<app::Override> overrides;
  for (const auto& [shown, assignment] : assignments) overrides.push_back({shown, assignment});
  return app::prepare(app::read_configuration(
      {.target = target, .preset = preset, .overrides = overrides}, built_in()));
}

py::dict theory(const std::string& target,
                const std::string& preset,
                const Assignments& assignments) {
  app::Work work;
  app::TheoryRecord record;
  {
    const py::gil_scoped_release unlocked;
    work = requested_work(target, preset, assignments);
    record = app::compute_theory(work, TheoryGrid::requested);
  }
  const std::string& study = work.configuration.study->name;
  if (record.predictions.empty())
    throw Error(ErrorKind::input, "study '" + study + "' has no theory to print");
  py::list series;
  for (Prediction& p : record.predictions) {
    py::dict curve;
    curve["name"] = p.series.name;
    curve["point"] = as_python(app::to_json(p.series.point));
    curve["x_name"] = p.series.x_name;
    const std::size_t size = p.series.x.size();
    // As long as x, where the theory tells none.
    p.finite_size.resize(size, 0.0);
    p.numerical_error.resize(size, 0.0);
    p.compared.resize(size, true);
    curve["finite_size"] = as_array(std::move(p.finite_size));
    curve["numerical_error"] = as_array(std::move(p.numerical_error));
    curve["compared"] = py::cast(p.compared);
    curve["x"] = as_array(std::move(p.series.x));
    curve["y"] = as_array(std::move(p.series.y));
    series.append(curve);
  }
  std::vector<std::string> warnings = work.warnings;
  warnings.insert(warnings.end(), record.warnings.begin(), record.warnings.end());
  py::dict result;
  result["study"] = study;
  result["parameters"] = as_python(app::parameters_object(work.configuration));
  result["series"] = series;
  result["diagnostics"] = as_python(app::to_json(record.diagnostics));
  result["warnings"] = as_python(warnings);
  result["failed"] = record.failed;
  return result;
}

/// The theory of every layer, on linear axes of y.
Figure with_all_theory(Figure figure) {
  for (Panel& panel : figure.panels) {
    panel.y.scale = AxisScale::linear;
    panel.y.low.reset();
    panel.y.high.reset();
    for (Layer& layer : panel.layers) layer.theory = true;
  }
  return figure;
}

/// Draws the study's figure with the theory alone, into a folder. Returns the files.
std::vector<std::string> theory_figure(const std::string& target,
                                       const std::string& preset,
                                       const Assignments& assignments,
                                       const std::string& folder,
                                       const std::string& format,
                                       const std::string& style,
                                       const std::string& width) {
  if (!width.empty() && width != "half" && width != "full")
    throw invalid_parameter("width", width, "half or full");
  const py::gil_scoped_release unlocked;
  const app::Work work = requested_work(target, preset, assignments);
  const std::vector<Prediction> theory = app::compute_theory(work, TheoryGrid::run).predictions;
  const FigureData data{.curves = app::recorded_curves(theory, {}), .residuals = {}};
  const Figure whole = work.configuration.study->figure(work.configuration.values);
  DrawableFigure drawn = drawable(whole, data);
  if (drawn.figure.panels.empty()) {
    // A run shows simulated values alone, beside a theory that is 0 or 1, say: here it is seen.
    drawn = drawable(with_all_theory(whole), data);
  }
  if (drawn.figure.panels.empty()) {
    throw Error(ErrorKind::input,
                "the figure of '" + work.configuration.study->name +
                    "' shows no series that has a theory: .rows() has what is predicted");
  }
  const std::string note = drawn.missing.empty()
                               ? ""
                               : fmt::format("no theory is drawn in panel{} ({}) of a run's figure",
                                             drawn.missing.size() == 1 ? "" : "s",
                                             fmt::join(drawn.missing, "), ("));
  std::vector<std::string> files;
  for (const std::filesystem::path& file :
       draw(drawn.figure,
            data,
            {.folder = folder,
            .formats = {format},
            .style = style,
            .width = width.empty() ? std::nullopt : std::optional(figure_width(width)),
            .note = note})) {
    files.push_back(file.string());
  }
  return files;
}

/// The whole program, as `python -m attica` is.
int program(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const py::gil_scoped_release unlocked;
  return app::program(static_cast<int>(arguments.size()), pointers.data(), built_in());
}

/// Flags of a verb's options; none if there is no such verb.
std::vector<std::string> options(const std::string& name) {
  std::vector<std::string> flags;
  for (const app::Verb& verb : app::verbs()) {
    if (verb.name != name) continue;
    for (const app::Option& option : app::options_of(verb)) flags.push_back(option.long_flag());
  }
  return flags;
}

// --- the judge ---------------------------------------------------------------------------------

/// A curve of a theory, as Python gives it: series, point, x, y, finite_size, numerical_error (both
/// may be empty), compared (may be empty).
using TheoryCurve =
    std::tuple<std::string, py::dict, Reals, Reals, Reals, Reals, std::vector<bool>>;
/// A simulated curve in long form: series, point, x, replicate, value; all arrays of one length.
using SimulatedCurve = std::
    tuple<std::string, py::dict, Reals, py::array_t<std::uint64_t, py::array::forcecast>, Reals>;

Prediction as_prediction(const TheoryCurve& curve) {
  const auto& [name, point, x, y, finite_size, numerical_error, compared] = curve;
  return {.series = {.name = name,
                     .point = as_point(point),
                     .x_name = "x",
                     .x = as_vector(x),
                     .y = as_vector(y)},
          .finite_size = as_vector(finite_size),
          .numerical_error = as_vector(numerical_error),
          .compared = compared};
}

/// One outcome a replicate, from all simulated curves.
app::Replicates as_replicates(const std::vector<SimulatedCurve>& curves) {
  std::map<std::uint64_t, Outcome> outcomes;
  for (const auto& [name, coordinates, x, replicate, value] : curves) {
    const Point point = as_point(coordinates);
    std::map<std::uint64_t, Series> by_replicate;
    for (py::ssize_t k = 0; k < x.size(); ++k) {
      Series& series = by_replicate[replicate.at(k)];
      series.x.push_back(x.at(k));
      series.y.push_back(value.at(k));
    }
    for (auto& [number, series] : by_replicate) {
      series.name = name;
      series.point = point;
      series.x_name = "x";
      Outcome& outcome = outcomes[number];
      if (!std::all_of(series.y.begin(), series.y.end(), [](double y) { return std::isfinite(y); }))
        outcome.failed = true;
      outcome.series.push_back(std::move(series));
    }
  }
  app::Replicates replicates;
  for (auto& [number, outcome] : outcomes) {
    if (outcome.failed) outcome.message = "a value is not finite";
    replicates.add({.first_replicate = number, .outcomes = {std::move(outcome)}, .seconds = 0}, {});
  }
  replicates.finish();
  return replicates;
}

/// What check.json would hold.
py::object agreement(const std::vector<TheoryCurve>& theory,
                     const std::vector<SimulatedCurve>& simulation,
                     double relative,
                     double absolute,
                     const std::string& tails,
                     const std::optional<std::size_t>& cap,
                     const std::optional<double>& match,
                     bool partial,
                     bool ordered) {
  validate(Margin{.absolute = absolute, .relative = relative});
  if (tails != "guarded" && tails != "normal" && tails != "rate")
    throw invalid_parameter("tails", tails, "guarded, normal or rate");
  std::vector<Prediction> predictions;
  std::vector<AgreementRule> rules;
  for (const TheoryCurve& curve : theory) {
    predictions.push_back(as_prediction(curve));
    const std::string& name = predictions.back().series.name;
    if (std::none_of(
            rules.begin(), rules.end(), [&](const AgreementRule& r) { return r.series == name; })) {
      rules.push_back({.series = name,
                       .relative = relative,
                       .absolute = absolute,
                       .tails = tails == "normal" ? Tails::normal : Tails::guarded});
    }
  }
  std::vector<std::string> rates;
  if (tails == "rate") {
    for (const AgreementRule& rule : rules) rates.push_back(rule.series);
  }
  const app::Replicates replicates = as_replicates(simulation);
  std::uint64_t count = 0;
  for (const auto& [status, number] : replicates.statuses()) count += number;
  Json json;
  {
    const py::gil_scoped_release unlocked;
    json = app::to_json(app::check({.study = "own",
                                    .run = "",
                                    .rules = rules,
                                    .theory = predictions,
                                    .simulation = &replicates,
                                    .claims = {},
                                    .post_hoc_margin = std::nullopt,
                                    .replicates = count,
                                    .cap = cap,
                                    .failed = !replicates.failures().empty(),
                                    .why_not_compared = sources::kNotCompared,
                                    .brought = true,
                                    .match = match,
                                    .rates = rates,
                                    .partial = partial,
                                    .from_table = true,
                                    .ordered = ordered}));
  }
  return as_python(json);
}

std::vector<std::size_t> looks(std::size_t cap, std::size_t points) {
  return GroupSequentialRule(cap, points).replicates();
}

/// Correlation of the replicates of some points in their order, and its p-value; none without five
/// that differ.
std::optional<std::pair<double, double>> serial_correlation_of(
    const std::vector<std::vector<double>>& points) {
  std::size_t most = 0;
  for (const std::vector<double>& values : points) most = std::max(most, values.size());
  std::vector<std::uint64_t> numbers(most);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::vector<OrderedReplicates> ordered;
  ordered.reserve(points.size());
  for (const std::vector<double>& values : points)
    ordered.push_back({values, std::span(numbers).first(values.size())});
  const std::optional<SerialCorrelation> found = serial_correlation(ordered);
  if (!found) return std::nullopt;
  return std::pair(found->correlation, found->p_value);
}

// --- pieces of theory --------------------------------------------------------------------------

RidgeOrder order_of(const std::string& word) {
  if (word == "leading") return RidgeOrder::leading;
  if (word == "first") return RidgeOrder::first;
  throw invalid_parameter("order", word, "leading or first");
}

/// Arrays of one shape, by the names of what they hold.
class Arrays {
 public:
  Arrays(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {}
  void set(const char* name, std::size_t row, std::size_t column, double value) {
    auto& values = values_[name];
    values.resize(rows_ * columns_);
    values[row * columns_ + column] = value;
  }
  py::dict dictionary() {
    py::dict result;
    for (auto& [name, values] : values_)
      result[name] = as_array(std::move(values)).reshape({rows_, columns_});
    return result;
  }

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::map<const char*, std::vector<double>> values_;
};

py::dict ridge_errors(const Eigen::MatrixXd& covariance,
                      const std::vector<double>& samples,
                      const std::vector<double>& lambdas,
                      const std::string& order) {
  std::vector<std::vector<RidgePoint>> points;
  {
    const py::gil_scoped_release unlocked;
    const GaussianRidge ridge(GaussianMlm(covariance), order_of(order));
    for (const double lambda : lambdas) points.push_back(ridge.curve(samples, lambda));
  }
  Arrays result(lambdas.size(), samples.size());
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    for (std::size_t k = 0; k < samples.size(); ++k) {
      const RidgePoint& p = points[l][k];
      if (p.status == RidgeStatus::not_converged) {
        throw Error(ErrorKind::numerical,
                    "ridge_errors: no effective penalty found at M = " + describe(samples[k]) +
                        ", lambda = " + describe(lambdas[l]));
      }
      result.set("test_error", l, k, p.test_error);
      result.set("train_error", l, k, p.train_error);
      result.set("bias", l, k, p.bias);
      result.set("sampling_variance", l, k, p.sampling_variance);
      result.set("noise_variance", l, k, p.noise_variance);
      result.set("bayes_error", l, k, p.bayes_error);
      result.set("overlap_m", l, k, p.overlap_m);
      result.set("overlap_q", l, k, p.overlap_q);
      result.set("weight_norm2", l, k, p.weight_norm2);
      result.set("finite_size_test", l, k, p.finite_size_test);
      result.set("finite_size_train", l, k, p.finite_size_train);
    }
  }
  return result.dictionary();
}

/// Site averages for the filters of a learning rule: rows are the numbers of samples.
py::dict filtered_errors(const Eigen::MatrixXd& covariance,
                         const std::vector<double>& samples,
                         const std::vector<ResidualFilter>& filters,
                         RidgeOrder order) {
  std::vector<std::vector<FlowPoint>> points;
  {
    const py::gil_scoped_release unlocked;
    const GaussianFlow flow(GaussianMlm(covariance), order);
    for (const double m : samples) points.push_back(flow.average(m, filters));
  }
  Arrays result(samples.size(), filters.size());
  for (std::size_t k = 0; k < samples.size(); ++k) {
    for (std::size_t t = 0; t < filters.size(); ++t) {
      const FlowPoint& p = points[k][t];
      const bool unstable = p.status == FlowStatus::unstable;
      const auto told = [&](const char* name, double value) {
        result.set(name, k, t, unstable ? std::numeric_limits<double>::infinity() : value);
      };
      told("test_error", p.test_error);
      told("train_error", p.train_error);
      told("signal_error", p.signal_error);
      told("noise_error", p.noise_error);
      told("numerical_error", p.numerical_error);
      told("finite_size_test", p.finite_size_test);
      told("finite_size_train", p.finite_size_train);
    }
  }
  return result.dictionary();
}

py::dict flow(const Eigen::MatrixXd& covariance,
              const std::vector<double>& samples,
              const std::vector<double>& times,
              const std::string& order) {
  std::vector<ResidualFilter> filters;
  for (const double time : times) filters.push_back(flow_filter(time));
  return filtered_errors(covariance, samples, filters, order_of(order));
}

py::dict descent(const Eigen::MatrixXd& covariance,
                 const std::vector<double>& samples,
                 const std::vector<double>& steps,
                 double eta,
                 const std::string& order) {
  std::vector<ResidualFilter> filters;
  for (const double n : steps) filters.push_back(descent_filter(eta, n));
  return filtered_errors(covariance, samples, filters, order_of(order));
}

py::dict spectrum(const Eigen::MatrixXd& covariance) {
  const GaussianMlm problem(covariance, Definiteness::semi_positive);
  py::dict result;
  result["eigenvalues"] = problem.eigenvalues();
  result["eigenvectors"] = problem.eigenvectors();
  result["noise_variances"] = problem.noise_variances();
  return result;
}

py::dict site_spectrum(const Eigen::MatrixXd& covariance, Eigen::Index site) {
  const SiteRegression regression =
      site_regression(GaussianMlm(covariance, Definiteness::semi_positive), site);
  py::dict result;
  result["eigenvalues"] = Eigen::VectorXd(regression.s);
  result["teacher"] = regression.teacher;
  result["bayes_error"] = regression.bayes_error;
  return result;
}

/// A table of text by the reader that judge, fit and figure have: fields by column, None where one
/// is missing, with the lines of the rows.
py::dict read_table(const py::bytes& bytes, const std::string& source) {
  TableReader reader(std::string(bytes), source, TableNames::required);
  std::vector<py::list> columns(reader.header().size());
  std::vector<std::size_t> lines;
  while (reader.next()) {
    lines.push_back(reader.line());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::string& text = reader.row()[k].text;
      columns[k].append(is_missing(text) ? py::object(py::none()) : py::object(py::str(text)));
    }
  }
  py::dict by_name;
  for (std::size_t k = 0; k < columns.size(); ++k)
    by_name[py::str(reader.header()[k].text)] = columns[k];
  py::dict result;
  result["columns"] = by_name;
  result["lines"] = lines;
  result["remarks"] = reader.remarks();
  return result;
}

}  // namespace
}  // namespace attica

PYBIND11_MODULE(_attica, module) {
  using namespace attica;
  module.doc() = "The functions of the program attica; use the package attica.";
  module.attr("version") = app::kVersion;

  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error& error) {
      raise_error(error.what(), error.kind());
    } catch (const py::builtin_exception& error) {
      // Of the binding: the package passes on what it has checked, so that nobody should meet it.
      raise_error(std::string("a value of an unexpected type: ") + error.what(), ErrorKind::input);
    } catch (const std::bad_alloc&) {
      raise_error("this takes more memory than there is", ErrorKind::input);
    } catch (const std::exception& error) {
      raise_error(error.what(), ErrorKind::input);
    }
  });

  module.def("studies", list_of_studies);
  module.def("parameters", parameters, py::arg("target"));
  module.def("theory",
             theory,
             py::arg("target"),
             py::arg("preset") = "",
             py::arg("assignments") = py::list());
  module.def("theory_figure", theory_figure);
  module.def("program", program, py::arg("arguments"));
  module.def("options", options, py::arg("verb"));
  module.def("nearest", nearest, py::arg("word"), py::arg("candidates"));
  module.def("read_table", read_table, py::arg("bytes"), py::arg("source"));

  module.def("agreement",
             agreement,
             py::arg("theory"),
             py::arg("simulation"),
             py::arg("relative"),
             py::arg("absolute"),
             py::arg("tails"),
             py::arg("cap"),
             py::arg("match") = std::nullopt,
             py::arg("partial") = false,
             py::arg("ordered") = false);
  module.def("looks", looks, py::arg("cap"), py::arg("points"));
  module.def("serial_correlation", serial_correlation_of, py::arg("points"));

  bind_training(module);

  module.def("ridge_errors",
             ridge_errors,
             py::arg("covariance"),
             py::arg("samples"),
             py::arg("lambdas"),
             py::arg("order"));
  module.def(
      "flow", flow, py::arg("covariance"), py::arg("samples"), py::arg("times"), py::arg("order"));
  module.def("descent",
             descent,
             py::arg("covariance"),
             py::arg("samples"),
             py::arg("steps"),
             py::arg("eta"),
             py::arg("order"));
  module.def("spectrum", spectrum, py::arg("covariance"));
  module.def("site_spectrum", site_spectrum, py::arg("covariance"), py::arg("site"));
  module.def(
      "ridge_kappa",
      [](const Eigen::ArrayXd& eigenvalues, double samples, double lambda) {
        return ridge_kappa(eigenvalues, samples, lambda);
      },
      py::arg("eigenvalues"),
      py::arg("samples"),
      py::arg("lam"));
  module.def("ar1_covariance", ar1_covariance, py::arg("sites"), py::arg("rho"));
  module.def("equi_covariance", equi_covariance, py::arg("sites"), py::arg("rho"));
  module.def("arrow_covariance", arrow_covariance, py::arg("sites"), py::arg("rho"));
}

/// @file
/// @brief A theory that is the training theory of the user's own model: `training`, a command that
/// stays and answers passes.

#include "attica/sources/training.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/input_files.hpp"
#include "attica/core/parallel.hpp"
#include "attica/sources/answering_model.hpp"
#include "attica/sources/command_template.hpp"
#include "attica/sources/expression.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/theory/training/first_order.hpp"
#include "attica/theory/training/flow.hpp"

namespace attica::sources {
namespace {

using Eigen::VectorXd;

const std::string kSide = "theory.training";

std::string key_of(const std::string& name) { return kSide + "." + name; }

bool has(const Configuration& c, const std::string& name) {
  return c.declares(key_of(name)) && c.has(key_of(name));
}

/// A formula of numbers of [model] and [sim], or a number.
double number(const Configuration& c, const std::string& name, double otherwise) {
  if (!has(c, name)) return otherwise;
  const std::string key = key_of(name);
  const auto* text = std::get_if<std::string>(&c.at(key));
  if (text == nullptr) return c.real(key);
  Expression formula(key, *text);
  const auto numbers = model_numbers(c);
  std::vector<std::string> known;
  for (const auto& [known_name, value] : numbers) known.push_back(known_name);
  formula.require_names(known);
  return formula([&](const std::string& wanted) {
    return std::ranges::find(numbers, wanted, [](const auto& one) { return one.first; })->second;
  });
}

std::int64_t whole(const Configuration& c, const std::string& name, std::int64_t otherwise) {
  constexpr double kMost = 1e9;
  const double found = number(c, name, static_cast<double>(otherwise));
  require(found >= 0 && found <= kMost && found == std::round(found),
          key_of(name),
          found,
          "a whole number >= 0");
  return static_cast<std::int64_t>(found);
}

/// Numbers as a list, or those of a file.
VectorXd numbers(const Configuration& c, const std::string& name) {
  const std::string key = key_of(name);
  if (std::holds_alternative<List>(c.at(key))) {
    const std::vector<double> all = c.reals(key);
    return Eigen::Map<const VectorXd>(all.data(), std::ssize(all));
  }
  const Eigen::MatrixXd all =
      input_numbers(c.inputs, c.input_file(key), CsvHeader::optional).values;
  if (all.rows() != 1 && all.cols() != 1) {
    throw invalid_parameter(key,
                            fmt::format("{} x {} numbers", all.rows(), all.cols()),
                            "a single column or a single row");
  }
  return all.reshaped();
}

template <class Choice>
Choice choice(const Configuration& c,
              const std::string& name,
              const std::map<std::string, Choice>& all,
              Choice otherwise) {
  return has(c, name) ? all.at(c.text(key_of(name))) : otherwise;
}

/// The number K of a name "theta_K".
std::optional<Eigen::Index> entry_of(const std::string& name, Eigen::Index parameters) {
  const std::string prefix = "theta_";
  if (!name.starts_with(prefix) || name.size() == prefix.size() || name.size() > 15) return {};
  const std::string digits = name.substr(prefix.size());
  if (digits.find_first_not_of("0123456789") != std::string::npos) return {};
  const Eigen::Index k = std::stoll(digits);
  if (k >= parameters) {
    throw invalid_parameter(
        key_of("observables"), name, fmt::format("theta_0 to theta_{}", parameters - 1));
  }
  return k;
}

/// The steps or times at which values are wanted, and how x says so.
struct Grid {
  std::vector<double> x;
  bool times = false;
  std::string key;  ///< that says so
};

class TrainingSide : public Side {
 public:
  TrainingSide(Configuration& c, const SideRequest& request)
      : request_(request), command_(with_command(c), kSide), c_(c) {
    if (!has(c, "start")) {
      throw Error(
          ErrorKind::input,
          "[theory.training] has no 'start': expected theta at step 0, a list of numbers or "
          "a file of them",
          key_of("start"));
    }
    start_ = numbers(c, "start");
    for (const std::string& name : names_in(c, key_of("observables"))) {
      const std::string key = key_of("observables." + name);
      static_cast<void>(Expression(key, formula_text(key)));
      if (std::ranges::count(kOwnSeries, name) > 0)
        throw invalid_parameter(key, name, "a name other than loss, train_loss and batch_loss");
    }
    if (!command_.loops().empty()) {
      throw invalid_parameter(key_of("command"),
                              "{" + command_.loops().front().name + "}",
                              "keys with one value: the command stays for all steps");
    }
    static_cast<void>(plan({}));
    static_cast<void>(method());
    if (has(c, "steps") && has(c, "times")) {
      throw Error(ErrorKind::input,
                  "[theory.training] has 'steps' and 'times'; expected one of them",
                  key_of("times"));
    }
    if (is_flow()) {
      for (const char* name : {"batch", "samples", "momentum", "optimiser", "steps"}) {
        if (!has(c, name)) continue;
        throw Error(ErrorKind::input,
                    fmt::format("[theory.training] has '{}', but no 'rate'; without it, times are "
                                "those of gradient flow",
                                name),
                    key_of(name));
      }
    }
  }

  TheoryResult theory(TheoryGrid wanted, const Side* simulation) const override {
    command_.require_own();
    Grid grid = grid_of(simulation);
    // Derivatives that are held begin anew at every step that is recorded.
    if (wanted == TheoryGrid::run && method().hold == 1) add_places_of_line(grid);
    AnsweringModel model(key_of("command"), command_.fill({}, {}, 0), start_);
    if (has(c_, "weights")) model.set_weights(key_of("weights"), numbers(c_, "weights"));
    std::vector<std::string> names;
    const std::vector<Observable> observables = observables_of(model, names);
    // One command answers: more threads would wait for each other.
    const ThreadLimit one(1);
    TheoryResult result = is_flow() ? flow(model, grid, observables, names)
                                    : descent(model, grid, observables, names);
    result.diagnostics = {{"parameters", static_cast<std::int64_t>(model.parameters())},
                          {"population", static_cast<std::int64_t>(model.weights().size())},
                          {"passes", model.passes()}};
    return result;
  }

  std::vector<Outcome> simulate(const Piece& /*piece*/,
                                const std::vector<Prediction>& /*predicted*/) const override {
    throw Error(ErrorKind::input, "[simulation] takes no 'training'", "simulation.training");
  }

  void require_usable() const override {
    command_.require_own();
    command_.require_inputs();
  }

  std::vector<std::string> warnings() const override { return command_.watched().warnings; }

 private:
  static constexpr double kNear = 1e-9;  ///< of places that are the same
  static constexpr std::array<const char*, 3> kOwnSeries = {"loss", "train_loss", "batch_loss"};

  static Configuration& with_command(Configuration& c) {
    if (!has(c, "command")) {
      throw Error(ErrorKind::input,
                  "[theory.training] has no 'command': expected a program that answers passes, a "
                  "list of arguments",
                  key_of("command"));
    }
    return c;
  }

  bool is_flow() const { return !has(c_, "rate"); }

  std::string formula_text(const std::string& key) const {
    const auto* text = std::get_if<std::string>(&c_.at(key));
    return text != nullptr ? *text : fmt::format("{}", c_.real(key));
  }

  /// Where values are wanted: as the key says, else at the x of the run.
  Grid grid_of(const Side* simulation) const {
    Grid grid;
    if (has(c_, "steps") || has(c_, "times")) {
      grid.times = has(c_, "times");
      grid.key = key_of(grid.times ? "times" : "steps");
      grid.x = c_.reals(grid.key);
    } else {
      grid.times = is_flow() || request_.x_name == "t" || request_.x_name == "time";
      grid.key = "sweep." + request_.x_name;
      std::set<double> all;
      if (const std::optional<Loop> x = loop_named(c_, request_.x_name)) {
        all.insert(x->values.begin(), x->values.end());
      } else if (const auto places = simulation == nullptr ? std::nullopt : simulation->places()) {
        for (const Series& s : places->series) {
          if (s.x_name == request_.x_name) all.insert(s.x.begin(), s.x.end());
        }
      }
      if (all.empty()) {
        throw Error(ErrorKind::input,
                    fmt::format("[theory.training] needs steps: expected 'steps' or 'times' there, "
                                "or [sweep] {} = [...]",
                                request_.x_name),
                    key_of("steps"));
      }
      grid.x.assign(all.begin(), all.end());
    }
    for (std::size_t k = 0; k < grid.x.size(); ++k) {
      require(grid.x[k] >= 0 && (k == 0 || grid.x[k] > grid.x[k - 1]),
              grid.key,
              grid.x[k],
              "ascending numbers >= 0");
    }
    return grid;
  }

  /// Places between those wanted, by which a figure's line has no corners; steps are whole ones.
  void add_places_of_line(Grid& grid) const {
    constexpr double kLine = 60;
    if (grid.x.size() < 2) return;
    const double unit = is_flow() ? 0 : grid.times ? rate_of(0) : 1;
    const double last = grid.x.back();
    const auto first = std::ranges::find_if(grid.x, [](double x) { return x > 0; });
    const bool log = c_.text("figure.x.scale") == "log";
    const double start = log ? *first : grid.x.front();
    std::set<double> all(grid.x.begin(), grid.x.end());
    for (double k = 1; k < kLine; ++k) {
      double x =
          log ? start * std::pow(last / start, k / kLine) : start + (last - start) * k / kLine;
      if (unit > 0) x = std::round(x / unit) * unit;
      const auto near = all.lower_bound(x - kNear * last);
      if (near == all.end() || *near > x + kNear * last) all.insert(x);
    }
    grid.x.assign(all.begin(), all.end());
  }

  /// @param steps recorded ones
  TrainingPlan plan(std::vector<std::uint64_t> steps) const {
    static const std::map<std::string, Update> kUpdates = {
        {"descent", Update::descent}, {"heavy_ball", Update::heavy_ball}, {"adam", Update::adam}};
    static const std::map<std::string, Revisit> kRevisits = {
        {"epoch", Revisit::epoch}, {"replace", Revisit::replace}, {"without", Revisit::without}};
    TrainingPlan plan;
    plan.start = start_;
    plan.momentum = number(c_, "momentum", 0);
    plan.update =
        choice(c_, "optimiser", kUpdates, plan.momentum > 0 ? Update::heavy_ball : Update::descent);
    plan.decay = number(c_, "decay", 0);
    plan.decoupled = has(c_, "decoupled") && c_.flag(key_of("decoupled"));
    if (has(c_, "betas")) {
      const std::vector<double> betas = c_.reals(key_of("betas"));
      require(betas.size() == 2, key_of("betas"), double(betas.size()), "two numbers");
      plan.beta1 = betas[0];
      plan.beta2 = betas[1];
    }
    plan.epsilon = number(c_, "epsilon", plan.epsilon);
    plan.clip_norm = number(c_, "clip_norm", 0);
    plan.batch = whole(c_, "batch", 0);
    plan.samples = whole(c_, "samples", 0);
    plan.revisit = choice(c_, "revisit", kRevisits, Revisit::epoch);
    if (!is_flow()) {
      auto rates = std::make_shared<std::vector<double>>();
      for (std::uint64_t step = 0; step <= (steps.empty() ? 0 : steps.back()); ++step) {
        rates->push_back(rate_of(step));
        if (step == 0 && !rate_changes()) break;
      }
      plan.rate = [rates](std::uint64_t step) {
        return (*rates)[std::min<std::size_t>(step, rates->size() - 1)];
      };
    }
    plan.recorded = std::move(steps);
    return plan;
  }

  bool rate_changes() const {
    const auto* text = std::get_if<std::string>(&c_.at(key_of("rate")));
    if (text == nullptr) return false;
    const Expression formula(key_of("rate"), *text);
    return std::ranges::count(formula.names(), "step") > 0;
  }

  /// Of a step, which the formula may use.
  double rate_of(std::uint64_t step) const {
    double rate = 0;
    if (rate_changes()) {
      Expression formula(key_of("rate"), c_.text(key_of("rate")));
      auto known = model_numbers(c_);
      known.insert(known.begin(), {"step", static_cast<double>(step)});
      std::vector<std::string> names;
      for (const auto& [name, value] : known) names.push_back(name);
      formula.require_names(names);
      rate = formula([&](const std::string& wanted) {
        return std::ranges::find(known, wanted, [](const auto& one) { return one.first; })->second;
      });
    } else {
      rate = number(c_, "rate", 0);
    }
    require(std::isfinite(rate) && rate >= 0, key_of("rate"), rate, "a number >= 0");
    return rate;
  }

  TheoryMethod method() const {
    static const std::map<std::string, TheoryMethod::Kind> kKinds = {
        {"low_rank", TheoryMethod::Kind::low_rank},
        {"dense", TheoryMethod::Kind::dense},
        {"pairs", TheoryMethod::Kind::pairs}};
    TheoryMethod method;
    method.kind = choice(c_, "method", kKinds, method.kind);
    method.rank = whole(c_, "rank", method.rank);
    method.pairs = static_cast<int>(whole(c_, "pairs", 0));
    method.hold = static_cast<std::uint64_t>(whole(c_, "hold", 1));
    method.step = number(c_, "difference", method.step);
    method.seed = static_cast<std::uint64_t>(whole(c_, "seed", 1));
    return method;
  }

  /// Formulas of theta_0, theta_1, ..., of numbers of the configuration, and of what the command
  /// answers besides.
  std::vector<Observable> observables_of(AnsweringModel& model,
                                         std::vector<std::string>& series) const {
    const auto known = model_numbers(c_);
    std::set<std::string> further;
    std::vector<Observable> all;
    for (const std::string& name : names_in(c_, key_of("observables"))) {
      const std::string key = key_of("observables." + name);
      const auto formula = std::make_shared<Expression>(key, formula_text(key));
      struct Name {
        std::optional<Eigen::Index> entry;
        std::optional<double> value;
      };
      auto meanings = std::make_shared<std::map<std::string, Name>>();
      for (const std::string& used : formula->names()) {
        Name& meaning = (*meanings)[used];
        meaning.entry = entry_of(used, model.parameters());
        const auto at = std::ranges::find(known, used, [](const auto& one) { return one.first; });
        if (at != known.end()) meaning.value = at->second;
        if (!meaning.entry && !meaning.value) further.insert(used);
      }
      series.push_back(name);
      all.emplace_back([formula, meanings, &model](const VectorXd& theta) {
        return (*formula)([&](const std::string& used) {
          const Name& meaning = meanings->at(used);
          if (meaning.entry) return theta[*meaning.entry];
          return meaning.value ? *meaning.value : model.observable(theta, used);
        });
      });
    }
    model.set_observables({further.begin(), further.end()});
    return all;
  }

  /// A curve of the result, to which points are added.
  void add(TheoryResult& result,
           const std::string& series,
           double x,
           const Moment& moment,
           bool described) const {
    auto at = std::ranges::find(
        result.predictions, series, [](const Prediction& p) { return p.series.name; });
    if (at == result.predictions.end()) {
      at = result.predictions.insert(at,
                                     Prediction{.series = {series, {}, request_.x_name, {}, {}}});
    }
    at->series.x.push_back(x);
    at->series.y.push_back(moment.value());
    at->finite_size.push_back(moment.finite_size());
    at->numerical_error.push_back(moment.numerical_error);
    at->compared.push_back(described && x > 0);  // at the start all runs are equal
  }

  TheoryResult flow(const AnsweringModel& model,
                    const Grid& grid,
                    const std::vector<Observable>& observables,
                    const std::vector<std::string>& names) const {
    TheoryResult result;
    for (const TrainingFlowRecord& record :
         training_flow(model, start_, grid.x, observables, number(c_, "decay", 0))) {
      add(result, "loss", record.time, record.loss, true);
      for (std::size_t k = 0; k < names.size(); ++k)
        add(result, names[k], record.time, record.observed[k], true);
    }
    return result;
  }

  TheoryResult descent(const AnsweringModel& model,
                       const Grid& grid,
                       const std::vector<Observable>& observables,
                       const std::vector<std::string>& names) const {
    std::vector<std::uint64_t> steps;
    if (grid.times && rate_changes())
      throw invalid_parameter(key_of("rate"), c_.text(key_of("rate")), "one rate, with times");
    const double unit = grid.times ? rate_of(0) : 1;
    for (const double x : grid.x) {
      constexpr double kMost = 1e9;
      constexpr double kRounding = 1e-6;
      const double step = std::round(x / unit);
      require(
          step <= kMost && std::abs(step * unit - x) <= kRounding * std::max(x, unit),
          grid.key,
          x,
          grid.times ? fmt::format("a multiple of rate = {}", unit) : "a whole number of steps");
      steps.push_back(static_cast<std::uint64_t>(step));
    }
    const TrainingPlan training = plan(std::move(steps));
    const auto records = training_theory(model, training, observables, method());
    TheoryResult result;
    for (std::size_t k = 0; k < records.size(); ++k) {
      const TrainingTheoryRecord& record = records[k];
      const bool described = record.undescribed.empty();
      add(result, "loss", grid.x[k], record.loss, described);
      if (training.samples > 0) add(result, "train_loss", grid.x[k], record.train_loss, described);
      if (training.batch > 0) add(result, "batch_loss", grid.x[k], record.batch_loss, described);
      for (std::size_t m = 0; m < names.size(); ++m)
        add(result, names[m], grid.x[k], record.observed[m], described);
    }
    if (!records.empty() && !records.back().undescribed.empty())
      result.warnings.push_back("training theory: nothing is predicted " +
                                records.back().undescribed);
    if (records.size() < grid.x.size()) {
      result.warnings.push_back(
          fmt::format("training theory: the descent on the population is not finite at {} = {}",
                      request_.x_name,
                      grid.x[records.size()]));
    }
    return result;
  }

  SideRequest request_;
  CommandTemplate command_;
  Configuration c_;
  VectorXd start_;
};

}  // namespace

SourceKind training_kind() {
  return {.key = "training",
          .parameters = [](const std::string&) { return std::vector<Parameter>(); },
          .given =
              [](const Configuration& c, const std::string& side) {
                return side == "theory" && std::ranges::any_of(c.entries(), [](const auto& entry) {
                         return entry.first.starts_with(kSide + ".");
                       });
              },
          .make = [](Configuration& c, const SideRequest& request) -> std::unique_ptr<Side> {
            return std::make_unique<TrainingSide>(c, request);
          }};
}

}  // namespace attica::sources

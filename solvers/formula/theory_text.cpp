#include "attica/solvers/formula/theory_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gsl/gsl_multiroots.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/words.hpp"
#include "attica/solvers/formula/evaluator.hpp"
#include "attica/solvers/gsl.hpp"
#include "attica/solvers/ode_order8.hpp"

namespace attica::formula {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
constexpr double kCoarser = 100;  // the second flow, whose difference is the error: its tolerance
constexpr double kSmall = 1e-3;   // absolute tolerance in units of the relative one
constexpr double kFloor = 50;  // least error of a flow, in units of the tolerance: two paths cross
constexpr double kFewestSteps = 16, kFewestCoarser = 13;  // of a flow: no longer pulse goes unseen
constexpr double kNoDigit = 0.1;     // error beside the largest value so far: none is left
constexpr double kOfStates = 1e-3;   // and beside the states: a series that is zero has rounding
constexpr double kFound = 1e-3;      // and where there was none before: two paths cross by chance
constexpr double kUncertain = 1e-3;  // error of a state beside it: beyond, formulas may bend
constexpr std::size_t kMostStates = 100'000;
constexpr std::size_t kMostStiff = 500;
constexpr std::int64_t kMostInPairs = 20'000;  // what takes longer is done one by one

TextPoint nothing(std::size_t series, const std::string& reason, std::size_t branch = 0) {
  TextPoint point{.branch = branch, .values = {}};
  point.values.assign(series, {kNoValue, 0, reason});
  return point;
}

std::string joined_names(const Texts& texts) {
  std::vector<std::string> all;
  for (const auto& [name, formula] : texts) all.push_back(name);
  return fmt::format("{}", fmt::join(all, ", "));
}

const std::string* formula_of(const Texts& texts, const std::string& name) {
  for (const auto& [known, formula] : texts) {
    if (known == name) return &formula;
  }
  return nullptr;
}

/// Demands a formula in `others` for each name of `names`, and none for any other.
void require_same_names(const Texts& names,
                        const std::string& names_where,
                        const Texts& others,
                        const std::string& others_where) {
  for (const auto& [name, formula] : names) {
    if (formula_of(others, name) == nullptr)
      throw Error(
          ErrorKind::input,
          fmt::format("{}: no formula for '{}', which {} has", others_where, name, names_where),
          others_where);
  }
  for (const auto& [name, formula] : others) {
    if (formula_of(names, name) != nullptr) continue;
    std::vector<std::string> known;
    for (const auto& [k, v] : names) known.push_back(k);
    const std::string near = nearest(name, known);
    throw Error(ErrorKind::input,
                fmt::format("{}: '{}' is not in {} ({}){}",
                            others_where,
                            name,
                            names_where,
                            joined_names(names),
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                others_where + "." + name);
  }
}

}  // namespace

// ---------------------------------------------------------------------------------------- compiled

struct TextTheory::Compiled {
  TheoryText text;
  std::vector<std::string> scalars;
  Effort effort;
  Sheet sheet;
  std::vector<int> scalar_slots;
  std::vector<std::string> series_names;
  std::size_t time = 0;  ///< which of the scalars

  // States or unknowns: places next to each other.
  int first = 0;
  std::size_t states = 0;
  std::vector<std::string> state_names;  ///< "m", "a[1]", ...
  Group start_one, start_each;
  std::vector<std::pair<std::string, Group>> more_starts;
  Group next_one, next_each;
  std::optional<Group> event;
  std::vector<Group> series;  ///< one formula each
  std::vector<Group> conditions;
  std::optional<Group> choose;
  bool exact = true;   ///< nothing but arithmetic: no second evaluation is needed
  bool halves = true;  ///< values differ at half the effort
  bool flow_in_pairs = false, series_in_pairs = false;  ///< EvaluatorPair takes their formulas

  Compiled(TheoryText t, std::vector<std::string> s, const Effort& e)
      : text(std::move(t)), scalars(std::move(s)), effort(e) {
    for (const std::string& name : scalars) {
      if (name != moving_time())
        scalar_slots.push_back(sheet.scalar(name));
      else
        scalar_slots.push_back(-1);
    }
    for (const auto& [name, formula] : text.let)
      sheet.define(name, {text.where + ".let." + name, formula});
    for (const ListText& list : text.lists) sheet.define(list);
    if (text.series.empty())
      throw Error(ErrorKind::input,
                  text.where + ".series: no series; expected one formula at least, as y = \"m\"",
                  text.where + ".series");
    if (text.kind == TheoryText::Kind::flow || text.kind == TheoryText::Kind::map) compile_flow();
    if (text.kind == TheoryText::Kind::solve) compile_solve();
    for (const auto& [name, formula] : text.series) {
      series_names.push_back(name);
      series.push_back(sheet.compile({{series_where(name), formula}}));
    }
    sheet.require_used();
    exact = sheet.states() == 0;
    halves = !sheet.exact();
    const auto in_pairs = [&](const Group& group) { return EvaluatorPair::takes(sheet, group); };
    flow_in_pairs = text.kind == TheoryText::Kind::flow && !text.stiff && !event &&
                    next_each.roots.empty() && in_pairs(next_one);
    series_in_pairs = std::ranges::all_of(series, in_pairs);
  }

  std::string series_where(const std::string& name) const {
    if (text.kind != TheoryText::Kind::expression) return text.where + ".series." + name;
    return text.where + ".expression" + (text.series.size() == 1 && name == "y" ? "" : "." + name);
  }
  std::string section() const {
    switch (text.kind) {
      case TheoryText::Kind::flow:
        return text.where + ".flow";
      case TheoryText::Kind::map:
        return text.where + ".map";
      case TheoryText::Kind::solve:
        return text.where + ".solve";
      default:
        return text.where;
    }
  }
  std::string moving_time() const {
    const bool flows = text.kind == TheoryText::Kind::flow || text.kind == TheoryText::Kind::map;
    return flows ? text.time : std::string();
  }

  void compile_flow() {
    const std::string where = section();
    const std::string rate_key = text.kind == TheoryText::Kind::flow ? "rate" : "next";
    const auto at = std::find(scalars.begin(), scalars.end(), text.time);
    if (text.time.empty() || at == scalars.end()) {
      const std::string near = nearest(text.time, scalars);
      throw invalid_parameter(where + ".time",
                              text.time,
                              fmt::format("the name of x or of another number{}; known are {}",
                                          near.empty() ? "" : fmt::format(", as '{}'", near),
                                          fmt::join(scalars, ", ")));
    }
    time = static_cast<std::size_t>(at - scalars.begin());
    if (text.start.empty())
      throw Error(ErrorKind::input, where + ".start: no states; expected as {m = \"0.1\"}", where);
    require_same_names(text.start, where + ".start", text.rate, where + "." + rate_key);
    Texts one, each;
    for (const auto& [name, formula] : text.start) {
      const auto open = name.find('[');
      if (open == std::string::npos) {
        one.emplace_back(name, formula);
        continue;
      }
      if (text.index.empty() || name.substr(open) != "[" + text.index + "]") {
        throw invalid_parameter(
            where + ".start",
            name,
            text.index.empty()
                ? std::string("each = {k = 50} with states that have an index k")
                : fmt::format("the index of each: {}[{}]", name.substr(0, open), text.index));
      }
      each.emplace_back(name, formula);
    }
    if (each.empty() && !text.index.empty())
      throw invalid_parameter(where + ".each",
                              text.index,
                              fmt::format("a state with that index, as a[{}]", text.index));
    if (text.count > kMostStates || (text.count == 0 && !each.empty()))
      throw invalid_parameter(
          where + ".each", static_cast<double>(text.count), "1 to 100000 states");
    const auto texts = [&](const Texts& names, const Texts& formulas, const std::string& key) {
      std::vector<Text> all;
      for (const auto& [name, ignored] : names)
        all.push_back({where + "." + key + "." + name, *formula_of(formulas, name)});
      return all;
    };
    // Before time and states have names: a start that uses them is refused.
    start_one = sheet.compile(texts(one, text.start, "start"));
    if (!each.empty())
      start_each = sheet.compile(texts(each, text.start, "start"), text.index, text.count);
    scalar_slots[time] = sheet.scalar(text.time, true);
    first = static_cast<int>(sheet.slots());
    for (const auto& [name, formula] : one) {
      sheet.scalar(name, true, where + ".start." + name);
      state_names.push_back(name);
    }
    for (const auto& [name, formula] : each) {
      const std::string base = name.substr(0, name.find('['));
      sheet.array(base, text.count, where + ".start." + name);
      for (std::size_t k = 1; k <= text.count; ++k)
        state_names.push_back(fmt::format("{}[{}]", base, k));
    }
    states = state_names.size();
    if (states > kMostStates)
      throw invalid_parameter(
          where + ".each", static_cast<double>(states), "at most 100000 states");
    if (text.stiff && states > kMostStiff)
      throw invalid_parameter(where + ".stiff", "true", "at most 500 states, or stiff = false");
    next_one = sheet.compile(texts(one, text.rate, rate_key));
    if (!each.empty())
      next_each = sheet.compile(texts(each, text.rate, rate_key), text.index, text.count);
    if (!text.event.empty()) event = sheet.compile({{where + ".event", text.event}});
  }

  void compile_solve() {
    const std::string where = section();
    if (text.unknowns.empty())
      throw Error(ErrorKind::input, where + ".unknowns: none; expected as {kappa = \"1\"}", where);
    if (text.fixed.empty() == text.zero.empty())
      throw Error(
          ErrorKind::input,
          where + ": expected one of fixed = {kappa = \"...\"} and zero = {kappa = \"...\"}",
          where);
    const Texts& equations = text.fixed.empty() ? text.zero : text.fixed;
    const std::string key = text.fixed.empty() ? "zero" : "fixed";
    require_same_names(text.unknowns, where + ".unknowns", equations, where + "." + key);
    constexpr std::size_t kMostUnknowns = 200;
    if (text.unknowns.size() > kMostUnknowns)
      throw invalid_parameter(
          where + ".unknowns", static_cast<double>(text.unknowns.size()), "at most 200");
    const auto start_texts = [&](const Texts& values, const std::string& name) {
      std::vector<Text> all;
      for (const auto& [unknown, ignored] : text.unknowns)
        all.push_back({where + "." + name + "." + unknown, *formula_of(values, unknown)});
      return all;
    };
    start_one = sheet.compile(start_texts(text.unknowns, "unknowns"));
    for (const auto& [name, values] : text.starts) {
      Texts full = values;
      for (const auto& [unknown, formula] : text.unknowns) {
        if (formula_of(full, unknown) == nullptr) full.emplace_back(unknown, formula);
      }
      require_same_names(text.unknowns, where + ".unknowns", full, where + ".starts." + name);
      more_starts.emplace_back(name, sheet.compile(start_texts(full, "starts." + name)));
    }
    first = static_cast<int>(sheet.slots());
    for (const auto& [name, formula] : text.unknowns) {
      sheet.scalar(name, true, where + ".unknowns." + name);
      state_names.push_back(name);
    }
    states = state_names.size();
    std::vector<Text> texts;
    for (const std::string& name : state_names)
      texts.push_back({where + "." + key + "." + name, *formula_of(equations, name)});
    next_one = sheet.compile(texts);
    for (const auto& [name, condition] : text.domain)
      conditions.push_back(sheet.compile({{where + ".domain." + name, condition}}));
    if (!text.choose.empty()) {
      constexpr std::string_view kLowest = "lowest ";
      if (!text.choose.starts_with(kLowest))
        throw invalid_parameter(where + ".choose", text.choose, "\"lowest FORMULA\"");
      choose = sheet.compile({{where + ".choose", text.choose.substr(kLowest.size())}});
    }
    if (text.branches && choose)
      throw Error(ErrorKind::input, where + ": expected one of choose and branches", where);
    std::string along = text.follow;
    if (along.starts_with("-")) along.erase(0, 1);
    if (!text.follow.empty()) {
      const auto at = std::find(scalars.begin(), scalars.end(), along);
      if (at == scalars.end())
        throw invalid_parameter(
            where + ".follow",
            text.follow,
            fmt::format("the name of x or of another number: {}", fmt::join(scalars, ", ")));
      time = static_cast<std::size_t>(at - scalars.begin());
    }
  }

  void set(Evaluator& e, const std::vector<double>& place) const {
    for (std::size_t k = 0; k < scalars.size(); ++k) e[scalar_slots[k]] = place[k];
  }
  void set_states(Evaluator& e, const VectorXd& x) const { set_states(e, x.data(), x.size()); }
  void set_states(Evaluator& e, const double* x, Eigen::Index n) const {
    double* const to = &e[first];
    for (Eigen::Index k = 0; k < n; ++k) to[k] = x[k];
  }

  /// The groups of one state each and of states with an index, side by side.
  void evaluate(Evaluator& e, const Group& one, const Group& each, std::span<double> out) const {
    const std::size_t n = one.roots.size();
    if (n > 0) e.evaluate(one, out.subspan(0, n));
    if (!each.roots.empty()) e.evaluate(each, out.subspan(n));
  }

  /// "m = 1, q = 2", the first ten.
  std::string shown(Evaluator& e) const {
    std::vector<std::string> all;
    constexpr std::size_t kShown = 12;
    for (std::size_t k = 0; k < scalars.size() && all.size() < kShown; ++k)
      all.push_back(fmt::format("{} = {:.6g}", scalars[k], e[scalar_slots[k]]));
    for (std::size_t k = 0; k < states && all.size() < kShown; ++k)
      all.push_back(fmt::format("{} = {:.6g}", state_names[k], e[first + static_cast<int>(k)]));
    return fmt::format("{}", fmt::join(all, ", "));
  }

  /// The series of both evaluators of a pair, where the numbers and states were set; false where
  /// one is not finite, and the evaluators say why.
  bool add_values(EvaluatorPair& both, TextPoint& point) const {
    point.values.reserve(series.size());
    for (const Group& one : series) {
      EvaluatorPair::Pair value;
      both.evaluate(one, &value);
      point.values.push_back({value[0], std::abs(value[0] - value[1]), {}});
      if (std::isfinite(value[0]) && std::isfinite(value[1])) continue;
      point.values.clear();
      return false;
    }
    return true;
  }
  /// The series with fine and half effort, where the numbers and states were set.
  TextPoint values(Evaluator& fine, Evaluator* half) const {
    TextPoint point;
    add_values(fine, half, point);
    return point;
  }
  void add_values(Evaluator& fine, Evaluator* half, TextPoint& point) const {
    point.values.reserve(series.size());
    for (const Group& one : series) {
      TextValue value;
      try {
        value.value = fine.value(one);
        if (half != nullptr) value.numerical_error = std::abs(value.value - half->value(one));
        if (!std::isfinite(value.value)) {
          value.reason = fmt::format("{} is {} ({})", one.where[0], value.value, shown(fine));
        } else if (!std::isfinite(value.numerical_error)) {
          value.reason = fmt::format("{} is not finite at half the nodes", one.where[0]);
          value.value = kNoValue;
        }
      } catch (const Error& error) {
        value = {kNoValue, 0, error.what()};
      }
      if (!value.reason.empty()) value.numerical_error = 0;
      point.values.push_back(std::move(value));
    }
  }

  /// Of states with few certain digits: how far the series move if the states lie on the other side
  /// of the error. Beyond zero, where a formula may end, the state is zero.
  void add_bends(Evaluator& e, const VectorXd& x, const VectorXd& off, TextPoint& point) const {
    for (std::size_t s = 0; s < series.size(); ++s) {
      TextValue& v = point.values[s];
      if (!v.reason.empty()) continue;
      double other = kNoValue;
      VectorXd moved = x + off;
      for (const bool last : {false, true}) {
        try {
          set_states(e, moved);
          other = e.value(series[s]);
        } catch (const Error&) {
        }
        if (last || std::isfinite(other)) break;
        for (Eigen::Index i = 0; i < moved.size(); ++i) {
          if (moved[i] * x[i] < 0) moved[i] = 0;
        }
      }
      v.numerical_error = std::max(v.numerical_error, std::abs(other - v.value));
      if (std::isfinite(other)) continue;
      Eigen::Index worst = 0;
      (off.array().abs() - kUncertain * x.array().abs()).maxCoeff(&worst);
      v = {kNoValue,
           0,
           fmt::format("no digit is certain: {} is {:.2g} with an error of {:.2g}, within which {} "
                       "is not finite",
                       state_names[static_cast<std::size_t>(worst)],
                       x[worst],
                       std::abs(off[worst]),
                       series[s].where[0])};
    }
  }
};

// ------------------------------------------------------------------------------------ flow and map

namespace {

/// Places that differ in one scalar alone, in the order of that scalar.
std::map<std::vector<double>, std::vector<std::size_t>> by_others(
    const std::vector<std::vector<double>>& places, std::size_t one) {
  std::map<std::vector<double>, std::vector<std::size_t>> all;
  std::vector<double> rest;
  auto last = all.end();
  for (std::size_t k = 0; k < places.size(); ++k) {
    rest = places[k];
    rest[one] = 0;
    if (last == all.end() || last->first != rest) last = all.try_emplace(rest).first;
    last->second.push_back(k);
  }
  const auto before = [&](std::size_t a, std::size_t b) { return places[a][one] < places[b][one]; };
  for (auto& [others, members] : all) {
    if (!std::is_sorted(members.begin(), members.end(), before))
      std::stable_sort(members.begin(), members.end(), before);
  }
  return all;
}

/// States at times, as far as they were reached.
struct Trajectory {
  MatrixXd states;  ///< a column a time, as far as they were reached
  Eigen::Index reached = 0;
  std::string reason;  ///< why the later ones are missing
  VectorXd units;      ///< of the states, for tolerances; empty: all are 1
};

/// Units of states that begin small but not at zero, powers of 2: in units of 1, the absolute
/// tolerance would be larger than they are. Empty: all are 1.
VectorXd units_of(const VectorXd& start) {
  constexpr double kLeast = 1e-290;
  VectorXd units;
  for (Eigen::Index k = 0; k < start.size(); ++k) {
    const double size = std::abs(start[k]);
    if (size == 0 || size >= kSmall) continue;
    if (units.size() == 0) units = VectorXd::Ones(start.size());
    units[k] = std::exp2(std::floor(std::log2(std::max(size, kLeast) / kSmall)));
  }
  return units;
}

/// The flow at times. Its states, and what `why` names, are those of the equations; the steps see
/// them in units_of(start).
template <class Compiled>
Trajectory integrate(const Compiled& c,
                     Evaluator& e,
                     const VectorXd& start,
                     const std::vector<double>& times,
                     double tolerance,
                     double fewest_steps) {
  Trajectory path;
  std::string why;
  const VectorXd units = units_of(start);
  const bool unit = units.size() == 0;
  const auto set = [&](double t, const VectorXd& x) {
    e[c.scalar_slots[c.time]] = t;
    if (unit) {
      c.set_states(e, x);
    } else {
      c.set_states(e, x.cwiseProduct(units));
    }
  };
  const auto rhs = [&](double t, const VectorXd& x, VectorXd& dxdt) {
    set(t, x);
    try {
      c.evaluate(e, c.next_one, c.next_each, {dxdt.data(), static_cast<std::size_t>(dxdt.size())});
      if (!unit) dxdt.array() /= units.array();
      double zero = 0;  // 0 * inf and 0 * NaN are NaN
      for (Eigen::Index k = 0; k < dxdt.size(); ++k) zero += 0.0 * dxdt[k];
      if (zero != 0.0 && x.allFinite()) {
        for (Eigen::Index k = 0; k < dxdt.size(); ++k) {
          if (!std::isfinite(dxdt[k]))
            why = fmt::format(
                "the rate of {} is {}", c.state_names[static_cast<std::size_t>(k)], dxdt[k]);
        }
      }
    } catch (const Error& error) {
      why = error.what();
      dxdt.setConstant(std::numeric_limits<double>::quiet_NaN());
    }
  };
  const VectorXd begin = unit ? start : VectorXd(start.cwiseQuotient(units));
  {
    VectorXd first = VectorXd::Zero(start.size());
    rhs(times.front(), begin, first);
    if (!first.allFinite()) {
      path.reason = fmt::format("{} at the start ({})", why, c.shown(e));
      return path;
    }
  }
  path.states = start;
  path.reached = 1;
  if (times.size() == 1) return path;
  OdeOptions options{.method = OdeMethod::rosenbrock4,
                     .relative_tolerance = tolerance,
                     .absolute_tolerance = tolerance * kSmall,
                     .max_step = times.back() / fewest_steps,
                     .max_steps = c.effort.steps};
  if (c.text.stiff) {
    options.jacobian = [&](double t, const VectorXd& x, MatrixXd& jacobian, VectorXd& dfdt) {
      VectorXd at(x.size()), above(x.size()), below(x.size());
      constexpr double kStep = 6e-6;  // the cube root of rounding
      at = x;
      for (Eigen::Index k = 0; k < x.size(); ++k) {
        const double h = kStep * std::max(std::abs(x[k]), 1e-3);
        at[k] = x[k] + h;
        rhs(t, at, above);
        at[k] = x[k] - h;
        rhs(t, at, below);
        at[k] = x[k];
        jacobian.col(k) = (above - below) / (2 * h);
      }
      const double h = kStep * std::max(std::abs(t), 1e-3);
      rhs(t + h, x, above);
      rhs(std::max(t - h, 0.0), x, below);
      dfdt = (above - below) / (t + h - std::max(t - h, 0.0));
    };
  }
  if (c.event) {
    options.event = [&](double t, const VectorXd& x) {
      set(t, x);
      return e.value(*c.event);
    };
  }
  OdeResult result = c.text.stiff ? solve_ode(rhs, begin, times, options)
                                  : solve_ode_order8(rhs, begin, times, options);
  path.states = std::move(result.states);
  if (!unit) path.states = units.asDiagonal() * path.states;
  path.units = units;
  path.reached = path.states.cols();
  if (result.status == OdeStatus::event) {
    path.reason = fmt::format("the event ends the flow at {} = {:.6g}", c.text.time, result.time);
  } else if (!result.finished()) {
    const std::string hint =
        result.status != OdeStatus::step_limit ? ""
        : c.text.stiff
            ? fmt::format(" after {} steps: the rates may jump there", c.effort.steps)
            : fmt::format(" after {} steps: the rates may jump there, or need stiff = true",
                          c.effort.steps);
    path.reason = fmt::format("the flow ends: {} at {} = {:.6g}{}{}",
                              to_string(result.status),
                              c.text.time,
                              result.time,
                              hint,
                              why.empty() ? "" : " (" + why + ")");
  }
  return path;
}

/// The flow at times twice, at the tolerance and at one coarser by `kCoarser`, step by step side by
/// side. Empty where one of them ends early: why, `integrate` says.
template <class Compiled>
std::optional<std::array<Trajectory, 2>> integrate_pair(const Compiled& c,
                                                        EvaluatorPair& e,
                                                        const std::array<VectorXd, 2>& starts,
                                                        const std::vector<double>& times) {
  using Eigen::Array2d;
  using Eigen::Array2Xd;
  Array2Xd begin(2, starts[0].size()), units = Array2Xd::Ones(2, begin.cols());
  bool unit = true;
  std::array<Trajectory, 2> paths;
  std::array<OdeOptions, 2> options;
  for (const std::size_t p : {0, 1}) {
    const auto row = static_cast<Eigen::Index>(p);
    paths[p].units = units_of(starts[p]);
    begin.row(row) = starts[p].transpose().array();
    if (paths[p].units.size() > 0) {
      unit = false;
      units.row(row) = paths[p].units.transpose().array();
    }
    const double tolerance = (p == 0 ? 1 : kCoarser) * c.effort.flow_tolerance;
    options[p].relative_tolerance = tolerance;
    options[p].absolute_tolerance = tolerance * kSmall;
    options[p].max_step = times.back() / (p == 0 ? kFewestSteps : kFewestCoarser);
    options[p].max_steps = std::min(kMostInPairs, c.effort.steps);
  }
  if (!unit) begin /= units;
  const int time = c.scalar_slots[c.time];
  const auto rhs = [&](const Array2d& t, const Array2Xd& x, Array2Xd& dxdt) {
    e[time] = t;
    Array2d* const states = &e[c.first];
    for (Eigen::Index k = 0; k < x.cols(); ++k) {
      states[k] = x.col(k);
      if (!unit) states[k] *= units.col(k);
    }
    e.evaluate(c.next_one, reinterpret_cast<Array2d*>(dxdt.data()));
    if (!unit) dxdt /= units;
  };
  auto states = solve_ode_pair_order8(rhs, begin, times, options);
  if (!states) return std::nullopt;
  for (const std::size_t p : {0, 1}) {
    Trajectory& path = paths[p];
    path.states = std::move((*states)[p]);
    if (path.units.size() > 0) path.states = path.units.asDiagonal() * path.states;
    path.reached = path.states.cols();
  }
  return paths;
}

/// Adds times between the first and the last one, at which a path that loses its digits is seen.
void add_checks(std::vector<double>& times, std::vector<bool>& seen, bool whole, int checks) {
  std::vector<double> all;
  std::vector<bool> all_seen;
  all.reserve(times.size() + static_cast<std::size_t>(checks));
  all_seen.reserve(times.size() + static_cast<std::size_t>(checks));
  const double last = times.back();
  std::size_t next = 0;
  for (int k = 0; k <= checks; ++k) {
    double check = k < checks ? last * k / checks : last;
    if (whole) check = std::floor(check);
    for (; next < times.size() && times[next] <= check; ++next) {
      all.push_back(times[next]);
      all_seen.push_back(seen[next]);
    }
    if (all.back() < check) {
      all.push_back(check);
      all_seen.push_back(true);
    } else if (k < checks) {
      all_seen.back() = true;
    }
  }
  times = std::move(all);
  seen = std::move(all_seen);
}

/// How many digits two paths of the same flow share, from the start on.
class Digits {
 public:
  Digits(const Trajectory& first, const Trajectory& second, const std::vector<bool>& seen)
      : first_(first), second_(second), seen_(seen) {}

  /// Whether the states have lost all digits at a time up to this one: what agrees later may do so
  /// by chance.
  bool lost(Eigen::Index at) {
    for (; at_ <= at; ++at_) {
      if (!seen_[static_cast<std::size_t>(at_)]) continue;
      const auto x = first_.states.col(at_), y = second_.states.col(at_);
      if (at_ == 0) largest_ = x.cwiseAbs();
      double all = 0;
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        largest_[i] = std::max(largest_[i], std::abs(x[i]));
        all = std::max(all, largest_[i]);
      }
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        const double off = std::abs(x[i] - y[i]);
        lost_ = lost_ || (off > kNoDigit * largest_[i] && off > kOfStates * all);
      }
    }
    return lost_;
  }

 private:
  const Trajectory& first_;
  const Trajectory& second_;
  const std::vector<bool>& seen_;
  VectorXd largest_;
  Eigen::Index at_ = 0;
  bool lost_ = false;
};

/// @param moved every state a rounding off where it first is not zero, and some a last digit at
/// every step: what that grows to is the error of a map. A map that only shifts digits, as
/// 2 u - floor(2 u), would run out of them in both paths alike.
template <class Compiled>
Trajectory iterate(const Compiled& c,
                   Evaluator& e,
                   const VectorXd& start,
                   const std::vector<double>& times,
                   bool moved) {
  Trajectory path;
  path.states.resize(start.size(), static_cast<Eigen::Index>(times.size()));
  VectorXd x = start, next(start.size());
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  std::vector<bool> began(static_cast<std::size_t>(x.size()), false);
  std::uint64_t bits = 1;  // the same ones for every path
  const auto move = [&] {
    for (Eigen::Index k = 0; k < x.size(); ++k) {
      constexpr std::uint64_t kTimes = 6364136223846793005, kPlus = 1442695040888963407;
      bits = bits * kTimes + kPlus;
      const bool first = !began[static_cast<std::size_t>(k)] && x[k] != 0;
      if (first) began[static_cast<std::size_t>(k)] = true;
      if (first) {
        x[k] *= 1 + 4 * kRounding;
      } else if (bits >> 63 == 1) {
        x[k] *= 1 + kRounding;
      }
    }
  };
  if (moved) move();
  double t = 0;
  for (const double wanted : times) {
    for (; t < wanted; ++t) {
      e[c.scalar_slots[c.time]] = t;
      c.set_states(e, x);
      try {
        c.evaluate(
            e, c.next_one, c.next_each, {next.data(), static_cast<std::size_t>(next.size())});
      } catch (const Error& error) {
        path.reason = fmt::format("step {}: {}", t + 1, error.what());
        return path;
      }
      for (Eigen::Index k = 0; k < next.size(); ++k) {
        if (std::isfinite(next[k])) continue;
        path.reason = fmt::format("{} is {} after step {} ({})",
                                  c.state_names[static_cast<std::size_t>(k)],
                                  next[k],
                                  t + 1,
                                  c.shown(e));
        return path;
      }
      x.swap(next);
      if (moved) move();
    }
    path.states.col(path.reached++) = x;
  }
  return path;
}

// ------------------------------------------------------------------------------------------ solve

/// A solution of the equations, or why there is none.
struct Solution {
  VectorXd u;
  VectorXd rest;      ///< the residual there
  MatrixXd jacobian;  ///< of the residual; empty: not known at u
  double residual = 0;
  std::size_t iterations = 0;
  double radius = 0;
  bool leaves = false;  ///< of fixed: iterates beside it go away
  std::string reason;   ///< empty: it is one
};

/// Solutions of one start at the last places along the number that is followed.
struct Track {
  double at = 0, at_before = 0;  ///< that number
  VectorXd u, before;            ///< empty: none
  MatrixXd jacobian;             ///< at u

  void add(double place, const Solution* s) {
    before = s != nullptr ? u : VectorXd();
    at_before = at;
    at = place;
    u = s != nullptr ? s->u : VectorXd();
    if (s != nullptr) jacobian = s->jacobian;
  }
  /// On the line through the last two, unless it is far away.
  VectorXd expected(double place) const {
    constexpr double kFarthest = 2;
    const double ratio = (place - at) / (at - at_before);
    if (before.size() == 0 || !(std::abs(ratio) <= kFarthest)) return u;
    return u + ratio * (u - before);
  }
};

template <class Compiled>
class Solver {
 public:
  Solver(const Compiled& c, Evaluator& e) : c_(c), e_(e), fixed_(!c.text.fixed.empty()) {}

  /// The solution next to where the last ones lead: Broyden's method from their Jacobian. Empty
  /// where that does not converge fast, or leads elsewhere.
  std::optional<Solution> next_to(const Track& track, double place) const {
    constexpr double kDone = 1e-13, kStalled = 1e-10, kShrinks = 0.3, kFar = 0.1;
    constexpr std::size_t kMostBroyden = 12;
    try {
      Solution s;
      const VectorXd start = track.expected(place);
      s.u = start;
      if (!inside(s.u)) return std::nullopt;
      s.rest = residual(s.u, e_);
      MatrixXd b = track.jacobian;
      double left = std::numeric_limits<double>::infinity();
      for (; s.iterations < kMostBroyden; ++s.iterations) {
        if (!s.rest.allFinite()) return std::nullopt;
        const VectorXd step = solved(b, s.rest);
        const double now = size(fixed_ ? s.rest : step, s.u);
        if (now <= kDone || (left <= kStalled && !(now <= kShrinks * left))) break;
        if (!step.allFinite() || !(now <= kShrinks * left)) return std::nullopt;
        left = now;
        const VectorXd next = s.u - step;
        if (!inside(next)) return std::nullopt;
        s.u = next;
        s.rest = residual(s.u, e_);
        b -= s.rest * (step.transpose() / step.squaredNorm());
      }
      if (s.iterations == kMostBroyden || !((s.u - start).norm() <= kFar * start.norm()))
        return std::nullopt;
      s.jacobian = jacobian(s.u);
      double radius = 0;
      if (fixed_ && !(growth(s.jacobian, radius) <= 1 + kGrowth)) return std::nullopt;
      judge(s);
      if (!s.reason.empty()) return std::nullopt;
      return s;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::input) throw;
      return std::nullopt;
    }
  }

  /// The place farthest from a solution along a direction where the equations hold nearly as well:
  /// next to a multiple zero it is far away. The solution itself where the slope there is that of
  /// the equations around it.
  VectorXd as_good(const Solution& s, VectorXd direction) const {
    constexpr double kAround = 1e-2, kCurved = 1e-2, kAsGood = 64, kTimes = 2;
    if (!direction.allFinite() || direction.norm() == 0) return s.u;
    direction *= s.u.norm() > 0 ? s.u.norm() / direction.norm() : 1 / direction.norm();
    const auto off = [&](double way) -> double {
      const VectorXd there = s.u + way * direction;
      if (!inside(there)) return kNoValue;
      try {
        return residual(there, e_).norm();
      } catch (const Error&) {
        return kNoValue;
      }
    };
    if (!((kAround * s.jacobian * direction).norm() < kCurved * off(kAround))) return s.u;
    // The residual may be zero there by chance of rounding: as it is a few digits beside.
    double way = std::numeric_limits<double>::epsilon(), most = s.rest.norm();
    for (const double digits : {1, 3, 7}) {
      for (const double side : {way, -way}) {
        const double beside = off(digits * side);
        if (std::isfinite(beside)) most = std::max(most, beside);
      }
    }
    most *= kAsGood;
    while (way < kAround && off(way) <= most && off(-way) <= most) way *= kTimes;
    return s.u + way * direction;
  }

  /// Of fixed, map(u) - u.
  VectorXd residual(const VectorXd& u, Evaluator& e) const {
    VectorXd out(u.size());
    c_.set_states(e, u);
    e.evaluate(c_.next_one, {out.data(), static_cast<std::size_t>(out.size())});
    if (fixed_) out -= u;
    return out;
  }

  bool inside(const VectorXd& u) const {
    if (!u.allFinite()) return false;
    c_.set_states(e_, u);
    return std::all_of(c_.conditions.begin(), c_.conditions.end(), [&](const Group& condition) {
      const double holds = e_.value(condition);
      return holds != 0 && !std::isnan(holds);
    });
  }

  Solution from(const VectorXd& start) {
    Solution s;
    s.u = start;
    s.iterations = 0;
    try {
      if (!start.allFinite()) throw Error(ErrorKind::numerical, "starting values are not finite");
      if (!inside(start)) {
        throw Error(ErrorKind::numerical,
                    fmt::format("the starting values are outside the domain ({})", shown(start)));
      }
      if (fixed_) {
        iterate(s);
      } else {
        powell(s);
      }
      if (s.reason.empty()) polish(s);
      if (s.reason.empty() && !inside(s.u))
        s.reason = fmt::format("the solution is outside the domain ({})", shown(s.u));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::input) throw;
      s.reason = error.what();
    }
    return s;
  }

 private:
  static constexpr double kGrowth = 1e-6;  // of an iteration beside its solution: rounding

  std::string shown(const VectorXd& u) const {
    c_.set_states(e_, u);
    return c_.shown(e_);
  }

  /// The largest relative size of r beside u.
  static double size(const VectorXd& r, const VectorXd& u) {
    const double largest = std::max(u.cwiseAbs().maxCoeff(), 1e-300);
    return (r.array().abs() / (u.array().abs().max(1e-8 * largest))).maxCoeff();
  }

  /// @param known the residual at u, for steps to one side; null: central differences
  MatrixXd jacobian(const VectorXd& u, const VectorXd* known = nullptr) const {
    MatrixXd j(u.size(), u.size());
    VectorXd at = u;
    const double largest = u.cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < u.size(); ++k) {
      // Central differences; one-sided where the other side has no value.
      const double scale = std::max({std::abs(u[k]), 1e-6 * largest, 1e-12});
      const double h = (known != nullptr ? 2e-8 : 6e-6) * scale;
      const auto value = [&](double step) -> VectorXd {
        at[k] = u[k] + step;
        VectorXd r = VectorXd::Constant(u.size(), std::numeric_limits<double>::quiet_NaN());
        try {
          r = residual(at, e_);
        } catch (const Error&) {
        }
        at[k] = u[k];
        return r;
      };
      const VectorXd above = value(h);
      if (known != nullptr && above.allFinite()) {
        j.col(k) = (above - *known) / h;
        continue;
      }
      const VectorXd below = value(-h);
      if (above.allFinite() && below.allFinite()) {
        j.col(k) = (above - below) / (2 * h);
      } else {
        const VectorXd here = residual(u, e_);
        j.col(k) = above.allFinite() ? VectorXd((above - here) / h) : VectorXd((here - below) / h);
      }
    }
    return j;
  }

  static VectorXd solved(const MatrixXd& j, const VectorXd& r) {
    if (j.size() == 1) return r / j(0, 0);
    return j.fullPivLu().solve(r);
  }

  /// One step of Newton; empty where it has no use.
  std::optional<VectorXd> newton(const VectorXd& u, const VectorXd& r) const {
    const MatrixXd j = jacobian(u, &r);
    if (!j.allFinite()) return std::nullopt;
    VectorXd next = u - solved(j, r);
    if (!next.allFinite() || !inside(next)) return std::nullopt;
    return next;
  }

  /// The largest real part of the map's eigenvalues, from the Jacobian of the residual.
  static double growth(const MatrixXd& j, double& radius) {
    if (!j.allFinite()) return 0;
    const MatrixXd map = j + MatrixXd::Identity(j.rows(), j.cols());
    if (map.size() == 1) {
      radius = std::abs(map(0, 0));
      return map(0, 0);
    }
    const Eigen::VectorXcd values = map.eigenvalues();
    radius = values.cwiseAbs().maxCoeff();
    return values.real().maxCoeff();
  }

  /// Damped iteration, and Newton's steps once it converges: never to a solution that the iteration
  /// leaves.
  void iterate(Solution& s) {
    constexpr std::size_t kMostIterations = 5000;
    const VectorXd start = s.u;
    constexpr std::size_t kOften = 64;
    constexpr double kNear = 0.1, kDone = 1e-13, kLeast = 1.0 / 64;
    double damping = 1, before = std::numeric_limits<double>::infinity();
    VectorXd last;
    int falling = 0;
    std::size_t newton_from = 0;
    while (s.iterations < kMostIterations) {
      ++s.iterations;
      VectorXd r = residual(s.u, e_);
      if (!r.allFinite())
        throw Error(ErrorKind::numerical, fmt::format("no finite iterate ({})", shown(s.u)));
      const double now = size(r, s.u);
      if (now <= kDone) {
        s.rest = r;
        return;
      }
      falling = now < before ? falling + 1 : 0;
      if (falling >= 2 && now < kNear && s.iterations >= newton_from) {
        VectorXd u = s.u, rest = r;
        double left = now;
        bool converged = false;
        for (int step = 0; step < 30; ++step) {
          const auto next = newton(u, rest);
          if (!next) break;
          const VectorXd new_rest = residual(*next, e_);
          if (!new_rest.allFinite()) break;
          const double new_left = size(new_rest, *next);
          ++s.iterations;
          if (new_left >= 0.5 * left) {
            converged = left < 1e-10;
            break;
          }
          u = *next;
          rest = new_rest;
          left = new_left;
          if (left <= kDone) {
            converged = true;
            break;
          }
        }
        double radius = 0;
        if (converged) {
          MatrixXd j = jacobian(u);
          if (growth(j, radius) <= 1 + kGrowth) {
            s.u = u;
            s.rest = rest;
            s.jacobian = std::move(j);
            return;
          }
        }
        newton_from = s.iterations + 10;
      }
      if (s.iterations % kOften == 0 && shrinks_to_zero(s, start)) return;
      if (last.size() > 0 && now >= before && last.dot(r) < 0)
        damping = std::max(damping / 2, kLeast);
      last = r;
      before = now;
      VectorXd next = s.u + damping * r;
      for (int halved = 0; halved < 60 && !inside(next); ++halved) next = 0.5 * (next + s.u);
      if (!inside(next))
        throw Error(ErrorKind::numerical,
                    fmt::format("the iteration leaves the domain ({})", shown(s.u)));
      s.u = next;
    }
    s.reason = fmt::format("not converged after {} iterations: relative change {:.2g} ({})",
                           s.iterations,
                           before,
                           shown(s.u));
  }

  /// Iterates that fall to zero do so forever, by the same factor or more and more slowly, and
  /// never converge beside their own size. Zero is taken if it is a solution, stable, the start is
  /// far behind, and all unknowns fall on the whole way to it.
  bool shrinks_to_zero(Solution& s, const VectorXd& start) const {
    constexpr double kBehind = 0.05, kFine = 0.9, kRounding = 1e-15;
    constexpr int kFineSteps = 20, kSteps = 80;
    if (!(s.u.array().abs() <= kBehind * start.array().abs()).all()) return false;
    VectorXd u = VectorXd::Zero(s.u.size());
    if (!inside(u)) return false;
    const VectorXd rest = residual(u, e_);
    if (!rest.allFinite() || rest.cwiseAbs().maxCoeff() > 0) return false;
    MatrixXd j = jacobian(u);
    double radius = 0;
    if (!j.allFinite() || growth(j, radius) > 1 + kGrowth) return false;
    u = s.u;
    for (int step = 0; step < kSteps; ++step, u *= step < kFineSteps ? kFine : 0.5) {
      if (!inside(u)) return false;
      const VectorXd r = residual(u, e_);
      for (Eigen::Index k = 0; k < u.size(); ++k) {
        // Close to zero, what it falls by may be below rounding.
        const double change = r[k] / u[k];
        if (!(step < kFineSteps ? change < 0 : change <= kRounding)) return false;
      }
    }
    s.u.setZero();
    s.rest = rest;
    s.jacobian = std::move(j);
    return true;
  }

  /// Powell's hybrid method (GSL).
  void powell(Solution& s) {
    struct Called {
      const Solver& solver;
      std::string why = {};
      static int call(const gsl_vector* x, void* self, gsl_vector* out) {
        Called& called = *static_cast<Called*>(self);
        VectorXd u(static_cast<Eigen::Index>(x->size));
        for (std::size_t k = 0; k < x->size; ++k)
          u[static_cast<Eigen::Index>(k)] = gsl_vector_get(x, k);
        try {
          const VectorXd r = called.solver.residual(u, called.solver.e_);
          if (!r.allFinite()) return GSL_EBADFUNC;
          for (std::size_t k = 0; k < x->size; ++k)
            gsl_vector_set(out, k, r[static_cast<Eigen::Index>(k)]);
          return GSL_SUCCESS;
        } catch (const std::exception& error) {
          called.why = error.what();
          return GSL_EBADFUNC;
        }
      }
    };
    disable_gsl_handler();
    const auto n = static_cast<std::size_t>(s.u.size());
    Called called{*this};
    gsl_multiroot_function function{&Called::call, n, &called};
    const std::unique_ptr<gsl_multiroot_fsolver, decltype(&gsl_multiroot_fsolver_free)> solver(
        gsl_multiroot_fsolver_alloc(gsl_multiroot_fsolver_hybrids, n), gsl_multiroot_fsolver_free);
    const std::unique_ptr<gsl_vector, decltype(&gsl_vector_free)> start(gsl_vector_alloc(n),
                                                                        gsl_vector_free);
    if (!solver || !start) check_gsl(GSL_ENOMEM, "solve");
    for (std::size_t k = 0; k < n; ++k)
      gsl_vector_set(start.get(), k, s.u[static_cast<Eigen::Index>(k)]);
    int code = gsl_multiroot_fsolver_set(solver.get(), &function, start.get());
    constexpr std::size_t kMostPowell = 500;
    while (code == GSL_SUCCESS && s.iterations < kMostPowell) {
      ++s.iterations;
      code = gsl_multiroot_fsolver_iterate(solver.get());
      if (code == GSL_SUCCESS &&
          gsl_multiroot_test_delta(solver->dx, solver->x, 1e-300, 1e-10) == GSL_SUCCESS) {
        break;
      }
    }
    for (std::size_t k = 0; k < n; ++k)
      s.u[static_cast<Eigen::Index>(k)] = gsl_vector_get(solver->x, k);
    if (code != GSL_EBADFUNC) return;
    if (called.why.empty() && s.u.allFinite() && residual(s.u, e_).allFinite()) {
      s.reason = fmt::format("no step from here: the equations have no slope ({})", shown(s.u));
      return;
    }
    s.reason = fmt::format("the equations have no finite value on the way ({}{})",
                           shown(s.u),
                           called.why.empty() ? "" : "; " + called.why);
  }

  /// Newton's steps as long as they shrink the residual, and what is to be told of the end.
  void polish(Solution& s) const {
    constexpr double kDone = 1e-13;
    VectorXd r = s.rest.size() > 0 ? s.rest : residual(s.u, e_);
    for (int step = 0; step < 20 && !(fixed_ && size(r, s.u) <= kDone); ++step) {
      const auto next = newton(s.u, r);
      if (!next) break;
      const VectorXd rest = residual(*next, e_);
      if (!rest.allFinite() || !(rest.norm() < r.norm())) break;
      s.u = *next;
      r = rest;
      s.jacobian.resize(0, 0);
    }
    s.rest = r;
    if (s.jacobian.size() == 0) s.jacobian = jacobian(s.u);
    judge(s);
  }

  /// Whether the end of an iteration is a solution.
  void judge(Solution& s) const {
    constexpr double kConverged = 1e-9;
    const VectorXd& r = s.rest;
    if (!s.jacobian.allFinite()) {
      s.reason = fmt::format("the equations have no derivative at the solution ({})", shown(s.u));
      return;
    }
    // In units of their own: unknowns and equations may be of any size.
    MatrixXd scaled = s.jacobian;
    for (Eigen::Index k = 0; k < scaled.rows(); ++k) {
      const double size = scaled.row(k).cwiseAbs().maxCoeff();
      if (size > 0) scaled.row(k) /= size;
    }
    for (Eigen::Index k = 0; k < scaled.cols(); ++k) {
      const double size = scaled.col(k).cwiseAbs().maxCoeff();
      if (size > 0) scaled.col(k) /= size;
    }
    auto lu = scaled.fullPivLu();
    constexpr double kSingular = 1e-11;
    lu.setThreshold(kSingular);
    if (s.u.size() > 1 && !lu.isInvertible()) {
      s.reason = fmt::format("the equations do not fix the solution: it may move along a line ({})",
                             shown(s.u));
      return;
    }
    const double largest_rest = r.cwiseAbs().maxCoeff();
    if (!fixed_ && s.u.size() == 1 && s.jacobian(0, 0) == 0 && largest_rest > 0) {
      s.reason =
          fmt::format("no solution: the equations have no slope at the end, residual {:.2g} ({})",
                      largest_rest,
                      shown(s.u));
      return;
    }
    const VectorXd step =
        s.u.size() == 1 && largest_rest == 0 ? r : VectorXd(s.jacobian.fullPivLu().solve(r));
    s.residual = fixed_ ? size(r, s.u) : size(step, s.u);
    // A residual that falls to nothing far away, as 1/u does, is no zero.
    constexpr double kNothing = 1e-14, kNear = 1e-6;
    const bool zero = largest_rest <= kNothing &&
                      (step.array().abs() / s.u.array().abs().max(1.0)).maxCoeff() <= kNear;
    if (!(s.residual <= kConverged) && !zero) {
      s.reason = fmt::format("not converged: residual {:.2g} ({})", s.residual, shown(s.u));
      return;
    }
    if (fixed_) s.leaves = growth(s.jacobian, s.radius) > 1 + kGrowth;
  }

  const Compiled& c_;
  Evaluator& e_;
  bool fixed_;
};

}  // namespace

// --------------------------------------------------------------------------------------- the whole

TextTheory::TextTheory(const TheoryText& text,
                       const std::vector<std::string>& scalars,
                       const Effort& effort)
    : compiled_(std::make_unique<Compiled>(text, scalars, effort)) {}
TextTheory::~TextTheory() = default;
TextTheory::TextTheory(TextTheory&&) noexcept = default;

const std::vector<std::string>& TextTheory::series() const { return compiled_->series_names; }
bool TextTheory::arithmetic() const { return compiled_->exact; }

TextResult TextTheory::evaluate(const std::vector<std::vector<double>>& places,
                                std::size_t given) const {
  const Compiled& c = *compiled_;
  const std::size_t n = c.series_names.size();
  std::vector<TextPoints> all(places.size());
  Effort less = c.effort;
  less.half = true;
  Evaluator fine(c.sheet, c.effort), half(c.sheet, less);
  if (c.text.kind == TheoryText::Kind::expression) {
    for (std::size_t k = 0; k < places.size(); ++k) {
      try {
        for (Evaluator* e : {&fine, &half}) {
          c.set(*e, places[k]);
          e->prepare();
        }
        c.add_values(fine, c.exact ? nullptr : &half, all[k].emplace_back());
      } catch (const Error& error) {
        all[k] = {nothing(n, error.what())};
      }
    }
    return {std::move(all), fine.remarks()};
  }

  if (c.text.kind != TheoryText::Kind::solve) {
    const bool map = c.text.kind == TheoryText::Kind::map;
    for (const auto& [others, members] : by_others(places, c.time)) {
      std::vector<double> times{0};
      std::vector<bool> seen{true};  // whether the digits there count: at given places
      for (const std::size_t k : members) {
        const double t = places[k][c.time];
        constexpr double kMostIterations = 1e7;
        std::string wrong;
        if (!(t >= 0)) wrong = fmt::format("{} = {}: expected times >= 0", c.text.time, t);
        if (map && t != std::round(t) && k < given)
          wrong = fmt::format("{} = {}: expected whole numbers of steps", c.text.time, t);
        if (map && t > kMostIterations)
          wrong = fmt::format("{} = {}: expected at most 1e7 steps", c.text.time, t);
        if (map && wrong.empty() && t != std::round(t)) wrong = "between two steps";
        if (!wrong.empty()) {
          all[k] = {nothing(n, wrong)};
        } else if (t > times.back()) {
          times.push_back(t);
          seen.push_back(k < given);
        } else if (k < given) {
          seen.back() = true;
        }
      }
      add_checks(times, seen, map, map ? 64 : c.text.stiff ? 0 : 8);
      try {
        std::array<VectorXd, 2> starts;
        std::array<Trajectory, 2> paths;
        const std::array<Evaluator*, 2> evaluators{&fine, &half};
        for (const std::size_t p : {0, 1}) {
          Evaluator& e = *evaluators[p];
          VectorXd& start = starts[p];
          start.resize(static_cast<Eigen::Index>(c.states));
          c.set(e, places[members.front()]);
          e.prepare();
          c.evaluate(e, c.start_one, c.start_each, {start.data(), c.states});
          for (std::size_t k = 0; k < c.states; ++k) {
            if (!std::isfinite(start[static_cast<Eigen::Index>(k)]))
              throw Error(ErrorKind::numerical,
                          fmt::format("the start of {} is {} ({})",
                                      c.state_names[k],
                                      start[static_cast<Eigen::Index>(k)],
                                      c.shown(e)));
          }
        }
        std::optional<EvaluatorPair> pair;
        if (c.flow_in_pairs && times.size() > 1) {
          pair.emplace(fine, half);
          auto both = integrate_pair(c, *pair, starts, times);
          if (both) paths = std::move(*both);
          if (!both || !c.series_in_pairs) pair.reset();
        }
        for (const std::size_t p : {0, 1}) {
          if (paths[p].reached > 0) continue;
          paths[p] = map ? iterate(c, *evaluators[p], starts[p], times, p == 1)
                         : integrate(c,
                                     *evaluators[p],
                                     starts[p],
                                     times,
                                     (p == 1 ? kCoarser : 1) * c.effort.flow_tolerance,
                                     p == 1 ? kFewestCoarser : kFewestSteps);
        }
        const double scale_at_start =
            paths[0].states.cols() > 0 ? paths[0].states.col(0).cwiseAbs().maxCoeff() : 0;
        std::vector<double> largest(n, 0.0);  // of each series, so far
        Digits digits(paths[0], paths[1], seen);
        for (const std::size_t k : members) {
          if (!all[k].empty()) continue;
          const double t = places[k][c.time];
          const Eigen::Index at = std::lower_bound(times.begin(), times.end(), t) - times.begin();
          if (at >= std::min(paths[0].reached, paths[1].reached)) {
            const bool first = at >= paths[0].reached;
            all[k] = {nothing(n, paths[first ? 0 : 1].reason)};
            continue;
          }
          const auto set = [&] {
            for (const std::size_t p : {0, 1}) {
              Evaluator& e = *evaluators[p];
              e[c.scalar_slots[c.time]] = t;
              c.set_states(e, paths[p].states.col(at).data(), paths[p].states.rows());
            }
          };
          if (pair) {
            (*pair)[c.scalar_slots[c.time]] = EvaluatorPair::Pair::Constant(t);
            EvaluatorPair::Pair* const to = &(*pair)[c.first];
            for (Eigen::Index i = 0; i < paths[0].states.rows(); ++i)
              to[i] = {paths[0].states(i, at), paths[1].states(i, at)};
          }
          TextPoint& point = all[k].emplace_back();
          if (!pair || !c.add_values(*pair, point)) {
            set();
            c.add_values(fine, &half, point);
          }
          const auto state = paths[0].states.col(at), other = paths[1].states.col(at);
          const bool lost = digits.lost(at);
          // A state below the absolute tolerance has no more digits than it where two paths agree.
          const double least = map ? 0 : c.effort.flow_tolerance * kSmall;
          const auto known_to = [&](Eigen::Index i) {
            const double unit = paths[0].units.size() > 0 ? paths[0].units[i] : 1;
            return state[i] != 0 ? least * unit : 0;
          };
          bool uncertain = false, same = true;
          for (Eigen::Index i = 0; i < state.size(); ++i) {
            const double off = std::abs(state[i] - other[i]);
            uncertain = uncertain || std::max(off, known_to(i)) > kUncertain * std::abs(state[i]);
            same = same && off == 0;
          }
          if (uncertain) {
            set();
            VectorXd off = state - other;
            for (Eigen::Index i = 0; i < off.size(); ++i) {
              if (std::abs(off[i]) < known_to(i)) off[i] = -std::copysign(known_to(i), state[i]);
            }
            c.add_bends(half, state, off, point);
            c.set_states(half, other.data(), other.size());
          }
          // Two paths by the same steps, as of states far below the tolerance.
          const bool moved = !map && state != paths[0].states.col(0);
          same = same && moved;
          const auto depends = [&](std::size_t number, double value) {
            set();
            c.set_states(half, VectorXd(state.array() * (1 + 1e-6) + 1e-9));
            bool changes = true;
            try {
              changes = half.value(c.series[number]) != value;
            } catch (const Error&) {
            }
            set();
            return changes;
          };
          for (std::size_t s = 0; s < n; ++s) {
            TextValue& v = point.values[s];
            if (!v.reason.empty()) continue;
            // Two paths may meet by chance: the error is none only of what does not depend on
            // states.
            if (!map && (v.numerical_error > 0 || same || (moved && depends(s, v.value))))
              v.numerical_error =
                  std::max(v.numerical_error, kFloor * c.effort.flow_tolerance * std::abs(v.value));
            const double scale = std::max(scale_at_start, state.cwiseAbs().maxCoeff());
            const double none = lost ? kFound : kNoDigit;
            if (v.numerical_error > none * std::max(std::abs(v.value), largest[s]) &&
                v.numerical_error > kOfStates * scale) {
              set();
              const std::string two =
                  fmt::format("{:.3g} and {:.3g}", v.value, half.value(c.series[s]));
              v = {kNoValue,
                   0,
                   map ? fmt::format(
                             "no digit is certain: {} from starts that differ by a rounding", two)
                       : fmt::format("no digit is certain: {} at tolerances {:.0e} and {:.0e}; the "
                                     "flow is singular or chaotic there, or has a short pulse",
                                     two,
                                     c.effort.flow_tolerance,
                                     kCoarser * c.effort.flow_tolerance)};
            } else if (k < given) {
              largest[s] = std::max(largest[s], std::abs(v.value));
            }
          }
        }
      } catch (const Error& error) {
        for (const std::size_t k : members) {
          if (all[k].empty()) all[k] = {nothing(n, error.what())};
        }
      }
    }
    return {std::move(all), fine.remarks()};
  }

  // Solve: given places first, along `follow` where that is asked for; then the others, each from
  // the solution that lies before it.
  std::vector<std::string> remarks;
  std::string unstable;
  const bool follows = !c.text.follow.empty();
  const bool down = c.text.follow.starts_with("-");
  std::vector<const Group*> starts{&c.start_one};
  for (const auto& [name, group] : c.more_starts) starts.push_back(&group);
  if (!c.more_starts.empty()) starts.erase(starts.begin());
  using Tracks = std::vector<Track>;  // by start
  const auto solve_at = [&](std::size_t k, Tracks* tracks) {
    std::vector<std::optional<Solution>> found(starts.size());
    std::vector<std::pair<std::size_t, Solution>> solutions;
    std::string reason;
    try {
      for (Evaluator* e : {&fine, &half}) {
        if (e == &half && !c.halves) continue;
        c.set(*e, places[k]);
        e->prepare();
      }
      Solver solver(c, fine);
      for (std::size_t s = 0; s < starts.size(); ++s) {
        VectorXd start(static_cast<Eigen::Index>(c.states));
        Solution solution;
        bool done = false;
        if (tracks != nullptr && (*tracks)[s].u.size() > 0) {
          const Track& track = (*tracks)[s];
          std::optional<Solution> near = solver.next_to(track, places[k][c.time]);
          solution = near ? std::move(*near) : solver.from(track.u);
          done = solution.reason.empty();
        }
        if (!done) {
          fine.evaluate(*starts[s], {start.data(), c.states});
          solution = solver.from(start);
        }
        if (!solution.reason.empty()) {
          reason = solution.reason;
          continue;
        }
        found[s] = solution;
        if (solution.leaves && !c.text.branches && unstable.empty()) {
          c.set_states(fine, solution.u);
          unstable = fmt::format(
              "{}: the iteration leaves the solution that it started on ({}), eigenvalue {:.3g}; "
              "another starting value may find a stable one",
              c.section(),
              c.shown(fine),
              solution.radius);
        }
        constexpr double kSame = 1e-6;
        const bool known = std::ranges::any_of(solutions, [&](const auto& other) {
          return (other.second.u - solution.u).norm() <=
                 kSame * (other.second.u.norm() + solution.u.norm());
        });
        if (!known) solutions.emplace_back(s, std::move(solution));
      }
      if (c.choose && solutions.size() > 1) {
        std::size_t best = 0;
        std::vector<double> depths;
        for (const auto& [number, solution] : solutions) {
          c.set_states(fine, solution.u);
          depths.push_back(fine.value(*c.choose));
          if (std::isnan(depths.back())) {
            throw Error(ErrorKind::numerical,
                        fmt::format("{} is not a number at one of {} solutions ({})",
                                    c.choose->where[0],
                                    solutions.size(),
                                    c.shown(fine)));
          }
          if (depths.back() < depths[best]) best = depths.size() - 1;
        }
        constexpr double kEqual = 1e-9;
        if (std::ranges::count_if(depths, [&](double d) {
              return d - depths[best] <= kEqual * std::max(1.0, std::abs(depths[best]));
            }) > 1) {
          const std::string text =
              fmt::format("{} is the same at several solutions; the first of them was taken",
                          c.choose->where[0]);
          if (std::ranges::find(remarks, text) == remarks.end()) remarks.push_back(text);
        }
        solutions = {std::move(solutions[best])};
      }
      if (!c.text.branches && !c.choose && solutions.size() > 1) {
        reason =
            fmt::format("{} solutions; expected choose = \"lowest FORMULA\" or branches = true",
                        solutions.size());
        solutions.clear();
      }
      for (auto& [s, solution] : solutions) {
        c.set_states(fine, solution.u);
        // With half the nodes the equations have another residual, and so another solution.
        const auto lu = solution.jacobian.fullPivLu();
        const VectorXd sharper = solution.u - lu.solve(solution.rest);
        if (c.halves) {
          const VectorXd moved = solution.u - lu.solve(solver.residual(solution.u, half));
          c.set_states(half, moved);
        }
        c.set_states(fine, solution.u);
        TextPoint point = c.values(fine, c.halves ? &half : nullptr);
        if (sharper != solution.u) {
          c.set_states(fine, sharper);
          const TextPoint other = c.values(fine, nullptr);
          for (std::size_t y = 0; y < n; ++y) {
            // At a double zero a step of Newton's goes half of the way.
            constexpr double kMultiplicity = 4;
            const double rest =
                kMultiplicity * std::abs(other.values[y].value - point.values[y].value);
            if (point.values[y].reason.empty() && std::isfinite(rest))
              point.values[y].numerical_error += rest;
          }
        }
        if (const VectorXd other =
                solver.as_good(solution, lu.solve(VectorXd::Ones(sharper.size())));
            other != solution.u) {
          c.set_states(fine, other);
          const TextPoint moved = c.values(fine, nullptr);
          for (std::size_t y = 0; y < n; ++y) {
            const double off = std::abs(moved.values[y].value - point.values[y].value);
            TextValue& v = point.values[y];
            if (v.reason.empty() && std::isfinite(off))
              v.numerical_error = std::max(v.numerical_error, off);
          }
        }
        point.branch = c.text.branches ? s + 1 : 0;
        point.residual = solution.residual;
        point.iterations = solution.iterations;
        point.radius = solution.radius;
        all[k].push_back(std::move(point));
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::input) throw;
      reason = error.what();
    }
    if (all[k].empty()) all[k] = {nothing(n, reason, c.text.branches ? 1 : 0)};
    // Where a branch has no solution the next point begins anew.
    for (std::size_t s = 0; tracks != nullptr && s < found.size(); ++s)
      (*tracks)[s].add(places[k][c.time], found[s] ? &*found[s] : nullptr);
  };
  if (!follows) {
    for (std::size_t k = 0; k < places.size(); ++k) solve_at(k, nullptr);
  } else {
    for (auto [others, members] : by_others(places, c.time)) {
      if (down) std::reverse(members.begin(), members.end());
      const bool smooth = std::ranges::any_of(members, [&](std::size_t k) { return k >= given; });
      std::map<std::size_t, Tracks> known;
      Tracks last(starts.size());
      for (const std::size_t k : members) {
        if (k >= given) continue;
        solve_at(k, &last);
        if (smooth) known[k] = last;
      }
      last.assign(starts.size(), {});
      for (const std::size_t k : members) {
        if (!smooth) break;
        if (k < given) {
          last = known[k];
        } else {
          solve_at(k, &last);
        }
      }
    }
  }
  if (!unstable.empty()) remarks.push_back(std::move(unstable));
  remarks.insert(remarks.end(), fine.remarks().begin(), fine.remarks().end());
  return {std::move(all), std::move(remarks)};
}

std::vector<Text> formulas_of(const TheoryText& text) {
  std::vector<Text> all;
  const std::string section = text.where + (text.kind == TheoryText::Kind::flow    ? ".flow"
                                            : text.kind == TheoryText::Kind::map   ? ".map"
                                            : text.kind == TheoryText::Kind::solve ? ".solve"
                                                                                   : "");
  const auto add = [&](const std::string& where, const Texts& texts) {
    for (const auto& [name, formula] : texts) all.push_back({where + "." + name, formula});
  };
  const bool closed = text.kind == TheoryText::Kind::expression;
  const bool one = text.series.size() == 1 && text.series.front().first == "y";
  add(text.where + ".let", text.let);
  if (closed && one) {
    all.push_back({text.where + ".expression", text.series.front().second});
  } else {
    add(text.where + (closed ? ".expression" : ".series"), text.series);
  }
  add(section + ".start", text.start);
  add(section + (text.kind == TheoryText::Kind::map ? ".next" : ".rate"), text.rate);
  add(section + ".unknowns", text.unknowns);
  add(section + ".fixed", text.fixed);
  add(section + ".zero", text.zero);
  add(section + ".domain", text.domain);
  for (const auto& [start, texts] : text.starts) add(section + ".starts." + start, texts);
  if (!text.event.empty()) all.push_back({section + ".event", text.event});
  constexpr std::string_view kLowest = "lowest ";
  if (text.choose.starts_with(kLowest))
    all.push_back({section + ".choose", text.choose.substr(kLowest.size())});
  return all;
}

std::vector<std::string> needed_names(const TheoryText& text) {
  std::set<std::string> needed, defined;
  const auto base = [](const std::string& name) { return name.substr(0, name.find('[')); };
  const auto read = [&](const Text& formula, const std::string& except) {
    if (formula.formula.empty()) return;
    for (const std::string& name : parse(formula).names()) {
      if (name != except) needed.insert(name);
    }
  };
  for (const Text& formula : formulas_of(text)) read(formula, text.index);
  for (const ListText& list : text.lists) {
    read({list.where + ".value", list.value}, list.index);
    read({list.where + ".weight", list.weight}, list.index);
    if (!list.index.empty()) {
      read({list.where + ".from", list.from}, {});
      read({list.where + ".to", list.to}, {});
    }
    defined.insert(list.name);
  }
  if (!text.time.empty()) needed.insert(text.time);
  const std::string along = text.follow.starts_with("-") ? text.follow.substr(1) : text.follow;
  if (!along.empty()) needed.insert(along);
  for (const auto& [name, formula] : text.let) defined.insert(name);
  for (const auto& [name, formula] : text.start) defined.insert(base(name));
  for (const auto& [name, formula] : text.unknowns) defined.insert(name);
  std::vector<std::string> all;
  for (const std::string& name : needed) {
    if (defined.count(name) == 0) all.push_back(name);
  }
  return all;
}

}  // namespace attica::formula

/// @file
/// @brief A side that is formulas: `expression`, and a theory that is equations: `flow`, `map`,
/// `solve`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/matching.hpp"
#include "attica/sources/expression.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/sources/theory_text.hpp"

namespace attica::sources {
namespace {

/// The formulas of a side, by series, with the key that each stands at.
struct Formula {
  std::string series;
  std::string key;
  std::string text;
};

std::vector<Formula> formulas_of(const Configuration& c, const std::string& side) {
  const std::string key = side + ".expression";
  std::vector<Formula> all;
  if (side == "theory" && !theory_text_kinds(c).empty()) {
    for (const std::string& series : theory_text_series(c))
      all.push_back({series, "theory.series." + series, {}});
    return all;
  }
  if (c.has(key)) return {{"y", key, c.text(key)}};
  for (const std::string& series : names_in(c, key)) {
    const std::string one = key + "." + series;
    all.push_back({series, one, c.text(one)});
  }
  return all;
}

/// Where a theory has values: points and x of one series.
struct Places {
  std::string series;
  Point point;
  std::string x_name;
  std::vector<double> x;
  std::size_t given = 0;  ///< of x, the first ones; those after it only make the line smooth
};

void add_places(std::vector<Places>& all, const Series& s) {
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

class FormulaSide : public Side {
 public:
  FormulaSide(Configuration& c, const SideRequest& request)
      : request_(request),
        c_(c),
        formulas_(formulas_of(c, request.name)),
        text_(request.name == "theory" &&
              (!theory_text_kinds(c).empty() || theory_text_needed(c))) {}

  TheoryResult theory(TheoryGrid grid, const Side* simulation) const override {
    if (text_) return predicted(grid, simulation);
    require_names(simulation);
    TheoryResult result;
    for (const Places& places : theory_places(grid, simulation, nullptr)) {
      Prediction p{.series = {places.series, places.point, places.x_name, places.x, {}}};
      Expression formula = expression(places.series);
      for (const double x : places.x)
        p.series.y.push_back(value_of(formula, places.point, places.x_name, x));
      if (places.given < places.x.size()) {
        p.compared.assign(places.x.size(), false);
        std::fill_n(p.compared.begin(), places.given, true);
      }
      result.predictions.push_back(std::move(p));
    }
    return result;
  }

  std::vector<Outcome> simulate(const Piece& piece,
                                const std::vector<Prediction>& /*predicted*/) const override {
    return std::vector<Outcome>(piece.replicates, evaluated());
  }

  void require_names(const Side* simulation) const override {
    if (text_) {
      static_cast<void>(ConfiguredText(c_, known_names(simulation)));
      return;
    }
    const std::vector<std::string> known = known_names(simulation);
    for (const Formula& f : formulas_) {
      const Expression formula(f.key, f.text);
      for (const std::string& name : formula.names()) {
        const std::string key = "model." + name;
        if (std::ranges::find(known, name) != known.end() || !c_.declares(key) || !c_.has(key)) {
          continue;
        }
        const auto* const text = std::get_if<std::string>(&c_.at(key));
        throw Error(
            ErrorKind::input,
            fmt::format("parameter '{}' is {}: expected a number, since {} is a formula of it",
                        key,
                        text != nullptr ? fmt::format("the text \"{}\"", *text) : "no number",
                        f.key),
            key);
      }
      formula.require_names(known);
    }
  }

 private:
  Expression expression(const std::string& series) const {
    const auto formula = std::ranges::find(formulas_, series, &Formula::series);
    return {formula->key, formula->text};
  }

  /// The keys that formulas may use, besides coordinates.
  std::vector<std::string> known_names(const Side* simulation) const {
    std::vector<std::string> known{request_.x_name};
    for (const auto& [name, value] : model_numbers(c_)) known.push_back(name);
    for (const auto& [key, value] : c_.entries()) {
      if (key.starts_with("sweep.") && loop_named(c_, key.substr(6)))
        known.push_back(key.substr(6));
    }
    if (simulation != nullptr) {
      for (std::string& name : simulation->coordinate_names()) known.push_back(std::move(name));
    }
    const auto sort = [&] {
      std::sort(known.begin(), known.end());
      known.erase(std::unique(known.begin(), known.end()), known.end());
    };
    sort();
    if (simulation == nullptr || std::ranges::includes(known, needed_names())) return known;
    // Numbers that tell the curves of a built-in study apart; they cost its theory.
    if (const std::optional<SimulatedPlaces> places = simulation->places()) {
      for (const Series& s : places->series) {
        for (const auto& [name, value] : s.point) {
          if (std::holds_alternative<double>(value)) known.push_back(name);
        }
      }
    }
    sort();
    return known;
  }

  /// What the formulas take from outside, in rising order.
  std::vector<std::string> needed_names() const {
    if (text_) return theory_text_names(c_);
    std::set<std::string> all;
    for (const Formula& f : formulas_) {
      const Expression formula(f.key, f.text);
      all.insert(formula.names().begin(), formula.names().end());
    }
    return {all.begin(), all.end()};
  }

  double value_of(Expression& formula,
                  const Point& point,
                  const std::string& x_name,
                  double x) const {
    return formula([&](const std::string& name) {
      return number_named(name, point, x_name, x, formula.where());
    });
  }

  /// What a name of a formula means at a place.
  double number_named(const std::string& name,
                      const Point& point,
                      const std::string& x_name,
                      double x,
                      const std::string& where) const {
    if (name == x_name || (name == "x" && !scalar_named(c_, "x"))) return x;
    for (const auto& [coordinate, value] : point) {
      const auto* number = std::get_if<double>(&value);
      if (coordinate == name && number != nullptr) return *number;
    }
    for (const auto& [key, value] : model_numbers(c_)) {
      if (key == name) return value;
    }
    throw Error(
        ErrorKind::input,
        fmt::format(
            "{}: '{}' has no value at {}", where, name, describe(joined(point, {{x_name, x}}))),
        where);
  }

  /// What the theory's text says.
  TheoryResult predicted(TheoryGrid grid, const Side* simulation) const {
    const ConfiguredText text(c_, known_names(simulation));
    std::vector<ConfiguredText::Wanted> wanted;
    for (const Places& p : theory_places(grid, simulation, &text)) {
      wanted.push_back({p.series, p.point, p.x_name, p.x, p.given, {}});
      for (const double x : p.x) {
        std::vector<double>& numbers = wanted.back().numbers.emplace_back();
        for (const std::string& name : text.names())
          numbers.push_back(number_named(name, p.point, p.x_name, x, "theory"));
      }
    }
    ConfiguredText::Result found = text.predict(wanted);
    // What margins cannot bear is computed with smaller tolerances, and told if that does not help.
    for (int sharper = 1; sharper <= 2 && !inexact(found.predictions).empty(); ++sharper)
      found = text.predict(wanted, sharper);
    const std::vector<std::string> places = inexact(found.predictions);
    constexpr std::size_t kShown = 5;
    if (!places.empty()) {
      const std::vector<std::string> shown(
          places.begin(),
          places.begin() + static_cast<std::ptrdiff_t>(std::min(places.size(), kShown)));
      found.warnings.push_back(fmt::format(
          "the numerical error of the theory is above a third of its margin at {}{}",
          fmt::join(shown, "; "),
          places.size() > kShown ? fmt::format(" and {} more", places.size() - kShown) : ""));
    }
    return {std::move(found.predictions), std::move(found.diagnostics), std::move(found.warnings)};
  }

  /// Compared points whose numerical error is above a third of the margin.
  std::vector<std::string> inexact(const std::vector<Prediction>& predictions) const {
    constexpr double kShare = 1.0 / 3;
    std::vector<std::string> places;
    for (const Prediction& p : predictions) {
      const std::string key = "agreement." + p.series.name + ".";
      if (p.numerical_error.empty() || !c_.declares(key + "relative")) continue;
      const double relative = c_.real(key + "relative"), absolute = c_.real(key + "absolute");
      if (relative == 0 && absolute == 0) continue;
      for (std::size_t k = 0; k < p.series.x.size(); ++k) {
        if (!p.compared.empty() && !p.compared[k]) continue;
        if (p.numerical_error[k] <= kShare * (absolute + relative * std::abs(p.series.y[k])))
          continue;
        places.push_back(
            fmt::format("{} at {}",
                        p.series.name,
                        describe(joined(p.series.point, {{p.series.x_name, p.series.x[k]}}))));
      }
    }
    return places;
  }

  /// Where the formulas of the theory are evaluated: where the simulation has values.
  std::vector<Places> theory_places(TheoryGrid grid,
                                    const Side* simulation,
                                    const ConfiguredText* text) const {
    std::vector<Places> all;
    const std::optional<SimulatedPlaces> known =
        simulation == nullptr ? std::nullopt : simulation->places();
    if (known) {
      for (const Series& s : known->series) {
        if (std::ranges::find(formulas_, s.name, &Formula::series) != formulas_.end())
          add_places(all, s);
      }
      if (!known->line) return all;
    } else {
      for (const Formula& f : formulas_) {
        const std::vector<std::string> names =
            text != nullptr ? text->names() : expression(f.series).names();
        for (Places& p : swept_places(f, names)) all.push_back(std::move(p));
      }
    }
    for (Places& p : all) {
      p.given = p.x.size();
      if (grid == TheoryGrid::run && (text == nullptr || !text->steps())) smooth(p);
    }
    return all;
  }

  /// The grid of [sweep] that a formula names: x, and lists of a built-in study.
  std::vector<Places> swept_places(const Formula& formula,
                                   const std::vector<std::string>& names) const {
    std::vector<Loop> loops;
    for (const std::string& name : names) {
      if (name == request_.x_name || scalar_named(c_, name)) continue;
      if (auto loop = loop_named(c_, name)) loops.push_back(std::move(*loop));
    }
    const std::optional<Loop> x = loop_named(c_, request_.x_name);
    if (!x && std::find(names.begin(), names.end(), request_.x_name) != names.end()) {
      throw Error(ErrorKind::input,
                  fmt::format("{} = '{}' needs values of {}: expected [sweep] {} = [...]",
                              formula.key,
                              formula.text,
                              request_.x_name,
                              request_.x_name),
                  formula.key);
    }
    std::vector<Places> all;
    for (const auto& values : combinations(loops)) {
      Places p{formula.series,
               {},
               x ? request_.x_name : "none",
               x ? x->values : std::vector<double>{0},
               0};
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
    for (const Formula& f : formulas_) {
      Expression formula = expression(f.series);
      for (const Places& p : swept_places(f, formula.names())) {
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

  SideRequest request_;
  Configuration c_;
  std::vector<Formula> formulas_;
  bool text_ = false;  ///< the theory has definitions, averages or equations
};

std::vector<Parameter> expression_parameters(const std::string& side) {
  return {text_parameter(side + ".expression", "formula for the " + side)};
}

bool has_expression(const Configuration& c, const std::string& side) {
  const std::string key = side + ".expression";
  const bool table = !names_in(c, key).empty();
  if (table && c.has(key)) {
    throw Error(
        ErrorKind::input,
        fmt::format("[{}]: expression is a formula and a table of formulas; expected one", side),
        key);
  }
  return table || c.has(key);
}

std::unique_ptr<Side> formula_side(Configuration& c, const SideRequest& request) {
  return std::make_unique<FormulaSide>(c, request);
}

/// [theory.KIND]: its keys are declared as they are written (theory_text_parameter).
template <int number>
SourceKind equations() {
  static constexpr std::array<const char*, 3> kKinds = {"flow", "map", "solve"};
  return {.key = kKinds[number],
          .parameters = [](const std::string&) { return std::vector<Parameter>(); },
          .given =
              [](const Configuration& c, const std::string& side) {
                return side == "theory" &&
                       !names_in(c, std::string("theory.") + kKinds[number]).empty();
              },
          .make = formula_side};
}

}  // namespace

SourceKind expression_kind() {
  return {.key = "expression",
          .parameters = expression_parameters,
          .given = has_expression,
          .make = formula_side};
}

SourceKind flow_kind() { return equations<0>(); }
SourceKind map_kind() { return equations<1>(); }
SourceKind solve_kind() { return equations<2>(); }

}  // namespace attica::sources

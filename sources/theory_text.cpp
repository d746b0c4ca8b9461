#include "attica/sources/theory_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/input_files.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/core/words.hpp"
#include "attica/sources/keys.hpp"

namespace attica::sources {
namespace {

using formula::ListText;
using formula::Texts;
using formula::TheoryText;

std::vector<std::string> parts_of(const std::string& key) {
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

/// A formula, which may be written as a number.
std::string formula_text(const Configuration& c, const std::string& key) {
  const Value& value = c.at(key);
  if (const auto* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* t = std::get_if<std::string>(&value)) return *t;
  throw invalid_parameter(key, "a list", "a formula");
}

std::string text_or(const Configuration& c, const std::string& key, const std::string& otherwise) {
  return c.declares(key) && c.has(key) ? formula_text(c, key) : otherwise;
}

bool flag_or_false(const Configuration& c, const std::string& key) {
  return c.declares(key) && c.has(key) && c.flag(key);
}

/// Formulas below a key, by name.
Texts texts(const Configuration& c, const std::string& key) {
  Texts all;
  for (const std::string& name : names_in(c, key))
    all.emplace_back(name, formula_text(c, key + "." + name));
  return all;
}

/// The numbers of a column of a table with a header.
std::vector<double> column_of(const NumericTable& table,
                              const std::string& name,
                              const std::string& key) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), name);
  if (at == table.columns.end()) {
    throw invalid_parameter(
        key, name, fmt::format("a column of the file: {}", fmt::join(table.columns, ", ")));
  }
  const Eigen::VectorXd column = table.values.col(at - table.columns.begin());
  return {column.begin(), column.end()};
}

ListText list_text(const Configuration& c, const std::string& name) {
  const std::string key = "theory.lists." + name;
  ListText list{.where = key, .name = name};
  const auto has = [&](const std::string& part) {
    return c.declares(key + part) && c.has(key + part);
  };
  const int kinds = int(has("")) + int(has(".file")) + int(has(".eigenvalues")) + int(has(".for"));
  if (kinds != 1) {
    throw Error(ErrorKind::input,
                fmt::format("{}: expected one of [numbers], {{file = \"...\", column = \"...\"}}, "
                            "{{eigenvalues = \"...\"}}, {{for = \"k\", from = 1, to = 40, value = "
                            "\"...\"}}",
                            key),
                key);
  }
  if (has("")) {
    list.values = c.reals(key);
  } else if (has(".file")) {
    const NumericTable table = read_numeric_csv(c.input_file(key + ".file"), CsvHeader::optional);
    if (has(".column")) {
      list.values = column_of(table, c.text(key + ".column"), key + ".column");
    } else if (table.values.cols() == 1) {
      list.values.assign(table.values.data(), table.values.data() + table.values.rows());
    } else {
      throw invalid_parameter(
          key + ".column",
          "unset",
          fmt::format("a column of the file: {}", fmt::join(table.columns, ", ")));
    }
    if (has(".weight")) list.weights = column_of(table, c.text(key + ".weight"), key + ".weight");
  } else if (has(".eigenvalues")) {
    const Eigen::MatrixXd m =
        input_numbers(c.inputs, c.input_file(key + ".eigenvalues"), CsvHeader::optional).values;
    constexpr double kSymmetric = 1e-8;
    constexpr Eigen::Index kLargest = 4000;
    if (m.rows() != m.cols() || m.rows() == 0 || m.rows() > kLargest ||
        (m - m.transpose()).cwiseAbs().maxCoeff() > kSymmetric * m.cwiseAbs().maxCoeff()) {
      throw invalid_parameter(key + ".eigenvalues",
                              fmt::format("{} x {} numbers", m.rows(), m.cols()),
                              "a symmetric matrix of at most 4000 rows");
    }
    const Eigen::VectorXd values =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues();
    list.values.assign(values.begin(), values.end());
  } else {
    list.index = c.text(key + ".for");
    list.from = text_or(c, key + ".from", "1");
    list.to = text_or(c, key + ".to", "");
    list.value = text_or(c, key + ".value", "");
    list.weight = text_or(c, key + ".weight", "");
    for (const auto& [part, text] : {std::pair{"to", list.to}, std::pair{"value", list.value}}) {
      if (text.empty())
        throw Error(ErrorKind::input, fmt::format("{} has no '{}'", key, part), key);
    }
  }
  return list;
}

void read_flow(const Configuration& c, const std::string& key, TheoryText& text) {
  const bool flow = text.kind == TheoryText::Kind::flow;
  text.time = text_or(c, key + ".time", c.text("x"));
  text.start = texts(c, key + ".start");
  text.rate = texts(c, key + (flow ? ".rate" : ".next"));
  const std::vector<std::string> each = names_in(c, key + ".each");
  for (const auto& [name, formula] : text.start) {
    if (each.empty() && name.find('[') != std::string::npos) {
      throw invalid_parameter(
          key + ".start", name, "[" + key + "] each = {k = 50} with states that have an index k");
    }
  }
  if (each.size() > 1) {
    throw invalid_parameter(
        key + ".each", fmt::format("{}", fmt::join(each, ", ")), "one index, as {k = 50}");
  }
  if (!each.empty()) {
    const std::string& name = key + ".each." + each.front();
    constexpr double kMost = 1e5;
    double count = 0;
    if (const auto* d = std::get_if<double>(&c.at(name))) count = *d;
    if (const auto* t = std::get_if<std::string>(&c.at(name))) {
      // The number may be a key of [model].
      for (const auto& [known, value] : model_numbers(c)) {
        if (known == *t) count = value;
      }
    }
    if (!(count >= 1) || count > kMost || count != std::round(count))
      throw invalid_parameter(name,
                              formula_text(c, name),
                              "a whole number from 1 to 100000, or the name of one in [model]");
    text.index = each.front();
    text.count = static_cast<std::size_t>(count);
  }
  if (flow) {
    text.stiff = flag_or_false(c, key + ".stiff");
    text.event = text_or(c, key + ".event", "");
  }
}

void read_solve(const Configuration& c, TheoryText& text) {
  const std::string key = "theory.solve";
  text.unknowns = texts(c, key + ".unknowns");
  text.fixed = texts(c, key + ".fixed");
  text.zero = texts(c, key + ".zero");
  text.domain = texts(c, key + ".domain");
  text.follow = text_or(c, key + ".follow", "");
  text.choose = text_or(c, key + ".choose", "");
  text.branches = flag_or_false(c, key + ".branches");
  for (const std::string& name : names_in(c, key + ".starts"))
    text.starts.emplace_back(name, texts(c, key + ".starts." + name));
}

TheoryText read_text(const Configuration& c) {
  TheoryText text;
  const std::vector<std::string> kinds = theory_text_kinds(c);
  text.let = texts(c, "theory.let");
  for (const std::string& name : names_in(c, "theory.lists"))
    text.lists.push_back(list_text(c, name));
  if (kinds.empty()) {
    text.series = texts(c, "theory.expression");
    if (c.has("theory.expression")) text.series = {{"y", c.text("theory.expression")}};
    return text;
  }
  text.series = texts(c, "theory.series");
  if (kinds.front() == "solve") {
    text.kind = TheoryText::Kind::solve;
    read_solve(c, text);
  } else {
    text.kind = kinds.front() == "flow" ? TheoryText::Kind::flow : TheoryText::Kind::map;
    read_flow(c, "theory." + kinds.front(), text);
  }
  return text;
}

/// Says what a key of [theory.flow], [theory.map], [theory.solve] or of a list may be, where it is
/// none.
void refuse_text_key(const std::string& key, const std::vector<std::string>& part) {
  static const std::map<std::string, std::vector<std::string>> kKeys = {
      {"flow", {"time", "start", "rate", "each", "stiff", "event"}},
      {"map", {"time", "start", "next", "each"}},
      {"solve", {"unknowns", "fixed", "zero", "domain", "follow", "starts", "choose", "branches"}},
      {"lists", {"file", "column", "weight", "eigenvalues", "for", "from", "to", "value"}}};
  const auto at = kKeys.find(part[1]);
  const bool list = part[1] == "lists";
  if (at == kKeys.end() || (list && part.size() < 4)) return;
  const std::string& name = part[list ? 3 : 2];
  const std::string where =
      list ? fmt::format("the list '{}'", part[2]) : fmt::format("[theory.{}]", part[1]);
  if (std::ranges::find(at->second, name) != at->second.end()) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' of {}: expected {}",
                            name,
                            where,
                            name == "starts"   ? "tables, as [{m = \"0.9\"}, {m = \"-0.9\"}]"
                            : part.size() == 3 ? "a table by name, as {m = \"...\"}"
                                               : "one formula for each name"),
                key);
  }
  const std::string near = nearest(name, at->second);
  throw Error(ErrorKind::input,
              fmt::format("unknown key '{}' in {}{}; known are {}",
                          name,
                          where,
                          near.empty() ? "" : fmt::format("; did you mean '{}'?", near),
                          fmt::join(at->second, ", ")),
              key);
}

/// Whether a formula may use a name: not every key of a configuration is one.
bool usable(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); }) &&
         !formula::constant(name) && formula::function_of_one(name) == nullptr;
}

}  // namespace

std::vector<std::string> theory_text_kinds(const Configuration& c) {
  std::vector<std::string> all;
  for (const std::string kind : {"flow", "map", "solve"}) {
    if (!names_in(c, "theory." + kind).empty()) all.push_back(kind);
  }
  return all;
}

void require_text_read(const Configuration& c) {
  const bool equations = !theory_text_kinds(c).empty();
  const bool closed = (c.declares("theory.expression") && c.has("theory.expression")) ||
                      !names_in(c, "theory.expression").empty();
  for (const std::string part : {"let", "lists", "series"}) {
    const std::vector<std::string> names = names_in(c, "theory." + part);
    if (equations || (closed && part != "series") || names.empty()) continue;
    throw Error(ErrorKind::input,
                fmt::format("[theory.{}] stands without {}[theory.flow], [theory.map] or "
                            "[theory.solve], which read it",
                            part,
                            part == "series" ? "" : "[theory] expression, "),
                "theory." + part + "." + names.front());
  }
}

bool theory_text_needed(const Configuration& c) {
  if (!names_in(c, "theory.let").empty() || !names_in(c, "theory.lists").empty()) return true;
  const std::function<bool(const formula::Syntax&)> binds = [&](const formula::Syntax& node) {
    return node.kind == formula::Kind::binder || std::ranges::any_of(node.parts, binds);
  };
  std::vector<std::pair<std::string, std::string>> formulas;
  if (c.has("theory.expression"))
    formulas.emplace_back("theory.expression", c.text("theory.expression"));
  for (const std::string& name : names_in(c, "theory.expression"))
    formulas.emplace_back("theory.expression." + name, c.text("theory.expression." + name));
  return std::ranges::any_of(formulas, [&](const auto& f) {
    return binds(formula::parse({f.first, f.second}));
  });
}

std::vector<std::string> theory_text_series(const Configuration& c) {
  return names_in(c, "theory.series");
}

std::vector<std::string> theory_text_names(const Configuration& c) {
  return formula::needed_names(read_text(c));
}

std::optional<Parameter> theory_text_parameter(const std::string& key, const Value& value) {
  const std::vector<std::string> part = parts_of(key);
  if (part.size() < 3 || part[0] != "theory") return std::nullopt;
  const auto declared = [&](const std::string& meaning) {
    Parameter p{
        .key = key, .type = ParameterType::text, .fallback = std::nullopt, .meaning = meaning};
    if (std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value))
      p.type = ParameterType::real;
    return p;
  };
  const std::string& section = part[1];
  const std::string& name = part[2];
  const bool one = part.size() == 3, two = part.size() == 4;
  if (section == "let" && one) return declared("definition of " + name);
  if (section == "series" && one) return declared("formula of the series " + name);
  if (section == "lists" && one && std::holds_alternative<List>(value)) {
    Parameter p = declared("numbers of the list " + name);
    p.type = ParameterType::real;
    p.list = true;
    return p;
  }
  if (section == "lists" && two) {
    if (part[3] == "file" || part[3] == "eigenvalues") {
      Parameter p = declared("file with the list " + name);
      p.type = ParameterType::file;
      return p;
    }
    static const std::set<std::string> kParts = {"column", "for", "from", "to", "value", "weight"};
    if (kParts.count(part[3]) != 0) return declared("part of the list " + name);
  }
  static const std::map<std::string, std::set<std::string>> kWords = {
      {"flow", {"time", "event"}}, {"map", {"time"}}, {"solve", {"follow", "choose"}}};
  static const std::map<std::string, std::set<std::string>> kFlags = {
      {"flow", {"stiff"}}, {"map", {}}, {"solve", {"branches"}}};
  static const std::map<std::string, std::set<std::string>> kTables = {
      {"flow", {"start", "rate", "each"}},
      {"map", {"start", "next", "each"}},
      {"solve", {"unknowns", "fixed", "zero", "domain"}}};
  const auto in = [&](const auto& tables) {
    const auto at = tables.find(section);
    return at != tables.end() && at->second.count(name) != 0;
  };
  if (one && in(kWords)) return declared("see [theory." + section + "]");
  if (one && in(kFlags)) {
    Parameter p = declared("see [theory." + section + "]");
    p.type = ParameterType::flag;
    return p;
  }
  if (two && in(kTables)) return declared(name + " of " + part[3]);
  if (section == "solve" && name == "starts" && part.size() == 5)
    return declared("start " + part[3] + " of " + part[4]);
  refuse_text_key(key, part);
  return std::nullopt;
}

ConfiguredText::ConfiguredText(const Configuration& c, const std::vector<std::string>& known)
    : text_(read_text(c)) {
  const std::vector<std::string> kinds = theory_text_kinds(c);
  // A name of the theory's own that is a key, too, would be read in one of the two senses.
  std::vector<std::pair<std::string, std::string>> own;
  for (const auto& [name, formula] : text_.let) own.emplace_back(name, "theory.let." + name);
  for (const ListText& list : text_.lists) own.emplace_back(list.name, list.where);
  for (const auto* states : {&text_.start, &text_.unknowns}) {
    for (const auto& [name, formula] : *states) {
      own.emplace_back(
          name.substr(0, name.find('[')),
          "theory." + kinds.front() + (states == &text_.start ? ".start." : ".unknowns.") + name);
    }
  }
  if (text_.kind != TheoryText::Kind::expression) {
    // Before their names are missed in the series.
    const bool solve = text_.kind == TheoryText::Kind::solve;
    if ((solve ? text_.unknowns : text_.start).empty()) {
      throw Error(ErrorKind::input,
                  fmt::format("[theory.{}] has no '{}'; expected as {} = {{m = \"0.1\"}}",
                              kinds.front(),
                              solve ? "unknowns" : "start",
                              solve ? "unknowns" : "start"),
                  "theory." + kinds.front());
    }
  }
  const std::vector<std::string> needed = formula::needed_names(text_);
  for (const auto& [name, key] : own) {
    const bool written = name == c.text("x") ||
                         (c.declares("model." + name) && c.given("model." + name)) ||
                         (c.declares("sweep." + name) && c.given("sweep." + name));
    if (written) {
      throw invalid_parameter(
          key,
          name,
          fmt::format("a name that is new: '{}' is a number of [model] or [sweep]", name));
    }
  }
  // So does a name that a binder binds.
  const auto refuse_bound = [&](const std::string& name, const std::string& key) {
    if (std::ranges::find(known, name) == known.end()) return;
    const auto written = [&](const std::string& k) { return c.declares(k) && c.given(k); };
    if (!written("model." + name) && !written("sweep." + name) && name != c.text("x")) return;
    throw invalid_parameter(
        key,
        name,
        fmt::format("another name to bind: '{}' is a number of [model] or [sweep]", name));
  };
  const std::function<void(const formula::Syntax&, const std::string&)> look =
      [&](const formula::Syntax& node, const std::string& key) {
        if (node.word != "d") {
          for (const std::string& name : node.bound) refuse_bound(name, key);
        }
        for (const formula::Syntax& part : node.parts) look(part, key);
      };
  for (const formula::Text& text : formula::formulas_of(text_))
    look(formula::parse(text), text.where);
  for (const ListText& list : text_.lists) {
    if (!list.index.empty()) refuse_bound(list.index, list.where + ".for");
  }
  if (!text_.index.empty())
    refuse_bound(text_.index, "theory." + kinds.front() + ".each." + text_.index);
  for (const std::string& name : known) {
    const bool taken = std::ranges::any_of(own, [&](const auto& o) { return o.first == name; });
    if (!taken && usable(name) && std::binary_search(needed.begin(), needed.end(), name))
      names_.push_back(name);
  }
  // What is not known is refused by its formula, which shows the place; here the nearest of all.
  for (const std::string& name : needed) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    std::vector<std::string> all = known;
    for (const auto& [n, key] : own) all.push_back(n);
    const std::string near = nearest(name, all);
    const auto [key, formula] = where_used(name);
    throw Error(ErrorKind::input,
                fmt::format("parameter '{}' = {}: there is no '{}'{}; known are {}",
                            key,
                            formula,
                            name,
                            near.empty() ? "" : fmt::format(", did you mean '{}'?", near),
                            fmt::join(all, ", ")),
                key);
  }
  const double seconds = c.has("theory.max_seconds") ? c.real("theory.max_seconds") : 0;
  effort_.seconds = seconds;
  theory_.emplace(text_, names_, effort_);
}

std::pair<std::string, std::string> ConfiguredText::where_used(const std::string& name) const {
  const auto uses = [&](const formula::Text& text) {
    const std::vector<std::string> names = formula::parse(text).names();
    return std::binary_search(names.begin(), names.end(), name);
  };
  for (const formula::Text& text : formula::formulas_of(text_)) {
    if (uses(text)) return {text.where, text.formula};
  }
  for (const ListText& list : text_.lists) {
    for (const auto& [part, formula] : {std::pair{".value", list.value},
                                        std::pair{".weight", list.weight},
                                        std::pair{".from", list.from},
                                        std::pair{".to", list.to}}) {
      if (!list.index.empty() && !formula.empty() && uses({list.where, formula}))
        return {list.where + part, formula};
    }
  }
  return text_.kind == TheoryText::Kind::solve
             ? std::pair{std::string("theory.solve.follow"), text_.follow}
             : std::pair{text_.kind == TheoryText::Kind::flow ? std::string("theory.flow.time")
                                                              : std::string("theory.map.time"),
                         name};
}

ConfiguredText::Result ConfiguredText::predict(const std::vector<Wanted>& wanted,
                                               int sharper) const {
  Result result;
  // Every place once, the given ones first.
  std::map<std::vector<double>, std::size_t> index;
  std::vector<std::vector<double>> places;
  std::size_t given = 0;
  for (const bool first : {true, false}) {
    for (const Wanted& w : wanted) {
      for (std::size_t k = first ? 0 : w.given; k < (first ? w.given : w.x.size()); ++k) {
        if (index.try_emplace(w.numbers[k], places.size()).second) places.push_back(w.numbers[k]);
      }
    }
    if (first) given = places.size();
  }
  std::optional<formula::TextTheory> sharp;
  if (sharper > 0) {
    formula::Effort effort = effort_;
    effort.tolerance *= sharper == 1 ? 0.1 : 0.01;
    effort.flow_tolerance *= sharper == 1 ? 0.01 : 0.001;
    sharp.emplace(text_, names_, effort);
  }
  const formula::TextResult found = (sharp ? *sharp : *theory_).evaluate(places, given);
  result.warnings = found.remarks;
  const std::vector<std::string>& series = theory_->series();
  std::map<std::string, std::vector<std::string>> missing;  // by reason
  bool any = false;
  for (const Wanted& w : wanted) {
    const auto at = static_cast<std::size_t>(std::find(series.begin(), series.end(), w.series) -
                                             series.begin());
    std::map<std::size_t, Prediction> branches;
    for (std::size_t k = 0; k < w.x.size(); ++k) {
      for (const formula::TextPoint& point : found.points[index.at(w.numbers[k])]) {
        const formula::TextValue& value = point.values[at];
        // A closed formula has its infinity, which says that the mathematics diverges.
        const bool closed = text_.kind == TheoryText::Kind::expression;
        if (!value.reason.empty() &&
            !(closed && theory_->arithmetic() && std::isinf(value.value))) {
          if (k >= w.given && !closed) continue;
          std::vector<std::string>& list = missing[value.reason];
          std::string place =
              fmt::format("{} at {}", w.series, describe(joined(w.point, {{w.x_name, w.x[k]}})));
          if (k < w.given && std::find(list.begin(), list.end(), place) == list.end())
            list.push_back(std::move(place));
          if (!closed) continue;
        }
        any = true;
        Prediction& p = branches[point.branch];
        if (p.series.x.empty()) {
          p.series = {w.series, w.point, w.x_name, {}, {}};
          if (point.branch > 0)
            p.series.point.emplace_back("branch", static_cast<double>(point.branch));
        }
        p.series.x.push_back(w.x[k]);
        p.series.y.push_back(value.value);
        p.numerical_error.push_back(value.numerical_error);
        p.compared.push_back(k < w.given);
      }
    }
    for (auto& [branch, p] : branches) {
      if (std::ranges::all_of(p.numerical_error, [](double e) { return e == 0; }))
        p.numerical_error.clear();
      if (std::ranges::all_of(p.compared, [](bool c) { return c; })) p.compared.clear();
      result.predictions.push_back(std::move(p));
    }
  }
  constexpr std::size_t kShown = 5;
  for (auto& [reason, list] : missing) {
    if (list.empty()) continue;
    const std::size_t count = list.size();
    if (list.size() > kShown) list.resize(kShown);
    result.warnings.push_back(
        fmt::format("no theory for {}{}: {}",
                    fmt::join(list, "; "),
                    count > kShown ? fmt::format(" and {} more", count - kShown) : "",
                    reason));
  }
  if (!any && !missing.empty())
    throw Error(ErrorKind::numerical,
                fmt::format("the theory has no value at any point: {}", missing.begin()->first));
  if (text_.kind == TheoryText::Kind::solve) {
    List solutions;
    for (std::size_t k = 0; k < given; ++k) {
      for (const formula::TextPoint& point : found.points[k]) {
        if (!point.values.empty() && !point.values.front().reason.empty()) continue;
        Table one;
        for (std::size_t n = 0; n < names_.size(); ++n) one.emplace_back(names_[n], places[k][n]);
        if (point.branch > 0) one.emplace_back("branch", point.branch);
        one.emplace_back("residual", point.residual);
        one.emplace_back("iterations", point.iterations);
        if (!text_.fixed.empty()) one.emplace_back("largest_eigenvalue", point.radius);
        solutions.emplace_back(std::move(one));
      }
    }
    result.diagnostics.emplace_back("solve", std::move(solutions));
  }
  return result;
}

}  // namespace attica::sources

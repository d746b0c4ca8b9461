#include "attica/solvers/formula/sheet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/words.hpp"

namespace attica::formula {
namespace {

constexpr std::size_t kMostSlots = 1'000'000;
constexpr std::size_t kMostCodes = 200'000;
constexpr int kDeepestDefinitions = 200;

bool is_formula_name(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Op operator_of(const std::string& word) {
  static const std::vector<std::pair<std::string, Op>> kAll = {{"+", Op::add},
                                                               {"-", Op::subtract},
                                                               {"*", Op::multiply},
                                                               {"/", Op::divide},
                                                               {"^", Op::power},
                                                               {"<", Op::less},
                                                               {"<=", Op::less_equal},
                                                               {">", Op::greater},
                                                               {">=", Op::greater_equal},
                                                               {"==", Op::equal},
                                                               {"!=", Op::different},
                                                               {"&&", Op::both},
                                                               {"||", Op::either}};
  for (const auto& [known, op] : kAll) {
    if (known == word) return op;
  }
  return Op::number;
}

/// The text of a node's head, for messages.
std::string head(const Syntax& node) {
  std::string all = node.word + "(" + fmt::format("{}", fmt::join(node.bound, ", "));
  if (!node.list.empty()) all += ", " + node.list;
  return all + ", ...)";
}

}  // namespace

double small_power(double x, int power) {
  switch (power) {
    case 2:
      return x * x;
    case 3:
      return x * x * x;
    case 4:
      return (x * x) * (x * x);
    case kRootPower:
      return std::sqrt(x);
    case kInverseRootPower:
      return 1 / std::sqrt(x);
    default:
      return 1 / x;
  }
}

void Sheet::require_name(const std::string& name, const std::string& where) const {
  if (!is_formula_name(name))
    throw invalid_parameter(
        where, name, "a name of letters, digits and _ that begins with a letter");
  if (constant(name) || (function_of_one(name) != nullptr && name != "floor"))
    throw invalid_parameter(
        where, name, fmt::format("another name: in formulas '{}' has a meaning of its own", name));
}

void Sheet::take(const std::string& name, const std::string& where, Name entry) {
  require_name(name, where);
  if (!names_.emplace(name, entry).second)
    throw invalid_parameter(
        where, name, fmt::format("a name that is new: '{}' is defined twice", name));
}

int Sheet::scalar(const std::string& name, bool moves, const std::string& where) {
  const int slot = new_slot();
  take(name,
       where.empty() ? name : where,
       {.what = Name::What::scalar, .slot = slot, .size = 1, .moves = moves});
  return slot;
}

int Sheet::array(const std::string& name, std::size_t size, const std::string& where) {
  if (size == 0 || size > kMostSlots)
    throw invalid_parameter(name, static_cast<double>(size), "1 to 100000 states");
  const int first = static_cast<int>(slots_);
  slots_ += size;
  take(name,
       where.empty() ? name : where,
       {.what = Name::What::array, .slot = first, .size = size, .moves = true});
  return first;
}

void Sheet::define(const std::string& name, const Text& text) {
  const int number = static_cast<int>(definitions_.size());
  definitions_.push_back({.text = text});
  take(name, text.where, {.what = Name::What::definition, .definition = number});
  definitions_.back().slot = new_slot();
}

void Sheet::define(ListText list) {
  const int number = static_cast<int>(definitions_.size());
  const std::string name = list.name, where = list.where;
  Definition made;
  made.text = {where, name};
  made.is_list = true;
  made.slot = lists_++;
  made.list = std::move(list);
  definitions_.push_back(std::move(made));
  take(name, where, {.what = Name::What::definition, .definition = number});
}

int Sheet::add(Code code) {
  constexpr std::size_t kFew = 32;  // of most theories
  if (codes_.empty()) codes_.reserve(kFew);
  if (codes_.size() >= kMostCodes)
    throw Error(ErrorKind::input, "formulas are too long together: at most 200000 operations");
  codes_.push_back(std::move(code));
  return static_cast<int>(codes_.size()) - 1;
}

void Sheet::unknown(const Syntax& node, const Compiling& c, const std::string& word) const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : names_) {
    if (name.find('\'') == std::string::npos) all.push_back(name);
  }
  for (const Bound& b : c.bound) all.push_back(b.name);
  const std::string near = nearest(word, all);
  constexpr std::size_t kShown = 30;
  const bool many = all.size() > kShown;
  if (many) all.resize(kShown);
  throw invalid_parameter(
      c.text.where,
      c.text.formula,
      fmt::format("known names only: there is no '{}' (at character {}){}. Known are {}{}",
                  word,
                  node.at + 1,
                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near),
                  all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", ")),
                  many ? ", ..." : ""));
}

void Sheet::resolve(int number) {
  Definition& entry = definitions_[static_cast<std::size_t>(number)];
  using Progress = Definition::Progress;
  if (entry.progress == Progress::done) return;
  if (entry.progress == Progress::compiling) {
    throw invalid_parameter(
        entry.text.where, entry.text.formula, "a definition that does not go in a circle");
  }
  if (++resolving_ > kDeepestDefinitions)
    throw invalid_parameter(
        entry.text.where, entry.text.formula, "at most 200 definitions that need each other");
  entry.progress = Progress::compiling;
  // Compiling may add definitions (of derivatives): `entry` is looked up anew afterwards.
  const Text text = entry.text;
  const ListText list = entry.list;
  Compiling c{text};
  Definition made = entry;
  if (!entry.is_list) {
    made.root = compile(parse(text), c).code;
    if (plain(made.root)) made.program.results.push_back(add_to(made.program, made.root));
  } else if (!list.index.empty()) {
    const Text from{list.where + ".from", list.from}, to{list.where + ".to", list.to};
    const Text value{list.where + ".value", list.value};
    const Text weight{list.where + ".weight", list.weight};
    const auto part = [&](const Text& one, bool with_index) {
      Compiling inner{one};
      if (with_index) inner.bound.push_back({list.index, made.index});
      const int code = compile(parse(one), inner).code;
      c.needs.insert(inner.needs.begin(), inner.needs.end());
      c.definitions.insert(inner.definitions.begin(), inner.definitions.end());
      c.moves = c.moves || inner.moves;
      return code;
    };
    require_name(list.index, list.where + ".for");
    if (known(list.index)) {
      throw invalid_parameter(list.where + ".for",
                              list.index,
                              fmt::format("another name: '{}' is defined already", list.index));
    }
    made.index = new_slot();
    made.from = part(from, false);
    made.to = part(to, false);
    made.root = part(value, true);
    if (!list.weight.empty()) made.weight = part(weight, true);
  }
  made.needs = c.needs;
  made.moves = c.moves;
  made.definitions.assign(c.definitions.begin(), c.definitions.end());
  made.progress = Progress::done;
  made.used = definitions_[static_cast<std::size_t>(number)].used;
  definitions_[static_cast<std::size_t>(number)] = std::move(made);
  order_.push_back(number);
  --resolving_;
}

void Sheet::use(int number, Compiling& c) {
  resolve(number);
  Definition& entry = definitions_[static_cast<std::size_t>(number)];
  entry.used = true;
  c.needs.insert(entry.needs.begin(), entry.needs.end());
  c.definitions.insert(entry.definitions.begin(), entry.definitions.end());
  c.definitions.insert(number);
  c.moves = c.moves || entry.moves;
}

Sheet::Compiled Sheet::compile_name(const Syntax& node, Compiling& c) {
  for (const Bound& b : c.bound) {
    if (b.name != node.word) continue;
    if (node.kind == Kind::element)
      throw invalid_parameter(
          c.text.where, c.text.formula, fmt::format("'{}' without [ ]: it is a number", node.word));
    return {add({.op = Op::variable, .slot = b.slot}), {b.slot}, false};
  }
  const auto at = names_.find(node.word);
  if (at == names_.end()) unknown(node, c, node.word);
  const Name entry = at->second;
  const bool list =
      entry.definition >= 0 && definitions_[static_cast<std::size_t>(entry.definition)].is_list;
  const bool many = list || entry.what == Name::What::array;
  if (many != (node.kind == Kind::element)) {
    throw invalid_parameter(
        c.text.where,
        c.text.formula,
        many ? fmt::format("'{0}[k]', an element of '{0}', or mean(v, {0}, f)", node.word)
             : fmt::format("'{}' without [ ]: it is a number", node.word));
  }
  if (entry.definition >= 0) {
    use(entry.definition, c);
    const int slot = definitions_[static_cast<std::size_t>(entry.definition)].slot;
    if (!list) return {add({.op = Op::variable, .slot = slot}), {}, false};
    Compiled index = compile(node.parts[0], c);
    index.code = add({.op = Op::list_element,
                      .slot = slot,
                      .parts = {index.code},
                      .careful = true,
                      .text = node.word});
    index.careful = true;  // there may be no such element where another branch is taken
    return index;
  }
  c.moves = c.moves || entry.moves;
  if (!many) {
    c.needs.insert(entry.slot);
    return {add({.op = Op::variable, .slot = entry.slot}), {}, false};
  }
  c.needs.insert(entry.slot);
  Compiled index = compile(node.parts[0], c);
  const Code& at_index = codes_[static_cast<std::size_t>(index.code)];
  if (at_index.op == Op::number && at_index.number == std::round(at_index.number) &&
      at_index.number >= 1 && at_index.number <= static_cast<double>(entry.size)) {
    index.code =
        add({.op = Op::variable, .slot = entry.slot + static_cast<int>(at_index.number) - 1});
    return index;
  }
  index.code = add({.op = Op::element,
                    .slot = entry.slot,
                    .size = static_cast<int>(entry.size),
                    .parts = {index.code},
                    .careful = true,
                    .text = node.word});
  index.careful = true;
  return index;
}

Sheet::Compiled Sheet::compile(const Syntax& node, Compiling& c) {
  if (node.kind == Kind::number) return {add({.op = Op::number, .number = node.number}), {}, false};
  if (node.kind == Kind::name || node.kind == Kind::element) return compile_name(node, c);
  if (node.kind == Kind::binder)
    return node.word == "d" ? compile_slope(node, c) : compile_binder(node, c);
  Compiled made;
  Code code;
  for (const Syntax& part : node.parts) {
    Compiled inner = compile(part, c);
    code.parts.push_back(inner.code);
    made.bound.merge(inner.bound);
    made.careful = made.careful || inner.careful;
  }
  code.careful = made.careful;
  if (node.kind == Kind::negative) {
    code.op = Op::negative;
    const Code& inner = codes_[static_cast<std::size_t>(code.parts[0])];
    if (inner.op == Op::number) {
      code = {.op = Op::number, .number = -inner.number};
      made.code = add(std::move(code));
      return made;
    }
  } else if (node.kind == Kind::choice) {
    code.op = Op::choice;
  } else if (node.kind == Kind::operation) {
    code.op = operator_of(node.word);
    const Code& exponent = codes_[static_cast<std::size_t>(code.parts[1])];
    if (code.op == Op::power && exponent.op == Op::number) {
      for (const int n : {2, 3, 4}) {
        if (exponent.number == n) code.small_power = n;
      }
      if (exponent.number == 0.5) code.small_power = kRootPower;
      if (exponent.number == -0.5) code.small_power = kInverseRootPower;
      if (exponent.number == -1) code.small_power = kInversePower;
    }
  } else if (node.word == "pow") {
    code.op = Op::power;
  } else if (node.word == "atan2") {
    code.op = Op::atan2;
  } else if (node.word == "min") {
    code.op = Op::minimum;
  } else if (node.word == "max") {
    code.op = Op::maximum;
  } else if (node.word == "sum") {
    code.op = Op::total;
  } else if (node.word == "avg") {
    code.op = Op::average;
  } else {
    code.op = Op::function;
    code.function = function_of_one(node.word);
  }
  made.code = add(std::move(code));
  return made;
}

Sheet::Compiled Sheet::compile_binder(const Syntax& node, Compiling& c) {
  Code code{.careful = true, .text = head(node)};
  Compiled made{.careful = true};
  static const std::vector<std::pair<std::string, Op>> kOps = {{"normal", Op::normal},
                                                               {"integral", Op::integral},
                                                               {"mean", Op::mean},
                                                               {"sum", Op::sum},
                                                               {"root", Op::root},
                                                               {"argmin", Op::argmin}};
  for (const auto& [word, op] : kOps) {
    if (word == node.word) code.op = op;
  }
  if (node.bound.size() == 2) code.op = Op::normal_pair;
  if (!node.list.empty()) {
    const auto at = names_.find(node.list);
    if (at == names_.end()) unknown(node, c, node.list);
    const int number = at->second.definition;
    if (number < 0 || !definitions_[static_cast<std::size_t>(number)].is_list) {
      throw invalid_parameter(c.text.where,
                              c.text.formula,
                              fmt::format("a list in mean(v, LIST, f), not '{}'; lists are those "
                                          "of [theory.lists]",
                                          node.list));
    }
    use(number, c);
    code.size = definitions_[static_cast<std::size_t>(number)].slot;
  }
  for (std::size_t k = 0; k + 1 < node.parts.size(); ++k) {
    Compiled outside = compile(node.parts[k], c);
    code.parts.push_back(outside.code);
    made.bound.merge(outside.bound);
  }
  for (std::size_t k = 0; k < node.bound.size(); ++k) {
    const std::string& name = node.bound[k];
    const bool hides =
        known(name) || std::ranges::any_of(c.bound, [&](const Bound& b) { return b.name == name; });
    if (hides) {
      throw invalid_parameter(
          c.text.where,
          c.text.formula,
          fmt::format("another name than '{}' in {} (at character {}): it hides the one that is "
                      "defined outside",
                      name,
                      head(node),
                      node.at + 1));
    }
    require_name(name, c.text.where);
    (k == 0 ? code.slot : code.slot2) = new_slot();
    c.bound.push_back({name, k == 0 ? code.slot : code.slot2});
  }
  Compiled inside = compile(node.parts.back(), c);
  code.parts.push_back(inside.code);
  if (code.op == Op::argmin) {
    // Its zero fixes the minimum to rounding; values do so to the square root of rounding only.
    const auto no_definition = [](const std::string&) { return std::string(); };
    if (const auto slope = derivative(node.parts.back(), node.bound.front(), no_definition))
      code.derivative = compile(*slope, c).code;
  }
  c.bound.resize(c.bound.size() - node.bound.size());
  made.bound.merge(inside.bound);
  made.bound.erase(code.slot);
  made.bound.erase(code.slot2);
  code.bound_used.assign(made.bound.begin(), made.bound.end());
  code.state = states_++;
  made.code = add(std::move(code));
  return made;
}

Sheet::Compiled Sheet::compile_slope(const Syntax& node, Compiling& c) {
  const std::string& by = node.bound.front();
  Code code{.op = Op::slope, .careful = true, .text = head(node)};
  const auto bound =
      std::find_if(c.bound.begin(), c.bound.end(), [&](const Bound& b) { return b.name == by; });
  if (bound != c.bound.end()) {
    code.slot = bound->slot;
  } else {
    const auto at = names_.find(by);
    if (at == names_.end()) unknown(node, c, by);
    if (at->second.what != Name::What::scalar) {
      throw invalid_parameter(
          c.text.where,
          c.text.formula,
          fmt::format("a number of [model], x, a state, an unknown or a bound name in {}, not '{}'",
                      head(node),
                      by));
    }
    code.slot = at->second.slot;
  }
  Compiling inner{c.text, c.bound};
  const Syntax& f = node.parts.front();
  Compiled made = compile(f, inner);
  for (const int number : inner.definitions) {
    if (definitions_[static_cast<std::size_t>(number)].needs.count(code.slot) != 0)
      code.definitions.push_back(number);
  }
  if (inner.needs.count(code.slot) == 0 && made.bound.count(code.slot) == 0) {
    throw invalid_parameter(c.text.where,
                            c.text.formula,
                            fmt::format("a formula in {} that depends on '{}'", head(node), by));
  }
  c.needs.merge(inner.needs);
  c.definitions.merge(inner.definitions);
  c.moves = c.moves || inner.moves;
  code.parts = {made.code};
  if (code.definitions.empty()) {
    const auto none = [](const std::string&) { return std::string(); };
    if (const auto slope = derivative(f, by, none)) {
      const Compiled by_rules = compile(*slope, c);
      made.careful = true;
      for (const Syntax& edge : edges(f)) code.edges.push_back(compile(edge, c).code);
      code.derivative = by_rules.code;
      code.inside = !c.bound.empty();
      code.bound_used.assign(made.bound.begin(), made.bound.end());
      made.code = code.edges.empty() ? by_rules.code : add(std::move(code));
      return made;
    }
  }
  std::sort(code.definitions.begin(), code.definitions.end(), [&](int a, int b) {
    return std::find(order_.begin(), order_.end(), a) < std::find(order_.begin(), order_.end(), b);
  });
  code.bound_used.assign(made.bound.begin(), made.bound.end());
  code.inside = !c.bound.empty();
  constexpr int kMostDifferences = 3;  // each takes the digits of the next, and eight evaluations
  if (differences(made.code) >= kMostDifferences) {
    throw invalid_parameter(c.text.where,
                            c.text.formula,
                            "at most three derivatives inside each other that no rule gives, as of "
                            "formulas of more than 500 operations");
  }
  code.state = states_++;
  made.careful = true;
  made.code = add(std::move(code));
  return made;
}

int Sheet::differences(int number) const {
  const Code& c = codes_[static_cast<std::size_t>(number)];
  int most = 0;
  for (const int part : c.parts) most = std::max(most, differences(part));
  return most + (c.op == Op::slope && c.derivative < 0 ? 1 : 0);
}

bool Sheet::plain(int number) const {
  const Code& c = codes_[static_cast<std::size_t>(number)];
  const bool known =
      c.op == Op::number || c.op == Op::variable || (c.op >= Op::negative && c.op <= Op::average);
  return known && std::ranges::all_of(c.parts, [&](int part) { return plain(part); });
}

int Sheet::constant_slot(double number) {
  constexpr std::size_t kLooked = 64;
  for (std::size_t k = constants_.size(), n = 0; k-- > 0 && n < kLooked; ++n) {
    const double known = constants_[k].second;
    if (known == number && std::signbit(known) == std::signbit(number)) return constants_[k].first;
  }
  constants_.emplace_back(new_slot(), number);
  return constants_.back().first;
}

int Sheet::add_to(Program& program, const Instruction& instruction) {
  // What was computed before, among the last ones.
  constexpr std::size_t kLooked = 64;
  for (std::size_t k = program.instructions.size(), n = 0; k-- > 0 && n < kLooked; ++n) {
    Instruction same = instruction;
    same.to = program.instructions[k].to;
    if (same == program.instructions[k]) return same.to;
  }
  program.instructions.push_back(instruction);
  return program.instructions.back().to = new_slot();
}

int Sheet::add_to(Program& program, int number) {
  const Code& c = codes_[static_cast<std::size_t>(number)];
  if (c.op == Op::number) return constant_slot(c.number);
  if (c.op == Op::variable) return c.slot;
  using Do = Instruction::Do;
  std::vector<int> parts;
  for (const int part : c.parts) {
    if (c.small_power != 0 && !parts.empty()) break;
    parts.push_back(add_to(program, part));
  }
  Instruction made{.a = parts[0], .function = c.function};
  switch (c.op) {
    case Op::negative:
      made.what = Do::negative;
      break;
    case Op::function: {
      static const auto kSqrt = function_of_one("sqrt");
      made.what = c.function == kSqrt ? Do::root : Do::function;
      break;
    }
    case Op::power: {
      static constexpr std::array kSmall = {
          Do::square, Do::cube, Do::fourth, Do::root, Do::inverse_root, Do::inverse};
      made.what =
          c.small_power == 0 ? Do::power : kSmall[static_cast<std::size_t>(c.small_power) - 2];
      break;
    }
    case Op::minimum:
    case Op::maximum:
    case Op::total:
    case Op::average: {
      made.what = c.op == Op::minimum ? Do::minimum : c.op == Op::maximum ? Do::maximum : Do::add;
      int all = parts[0];
      for (std::size_t k = 1; k < parts.size(); ++k)
        all = add_to(program, Instruction{.what = made.what, .a = all, .b = parts[k]});
      if (c.op != Op::average) return all;
      const int count = constant_slot(static_cast<double>(parts.size()));
      return add_to(program, Instruction{.what = Do::divide, .a = all, .b = count});
    }
    default: {
      // As they follow each other in both.
      const auto from = [&](Op op, Do what) {
        return static_cast<Do>(static_cast<int>(what) + static_cast<int>(c.op) -
                               static_cast<int>(op));
      };
      made.what = c.op <= Op::divide   ? from(Op::add, Do::add)
                  : c.op <= Op::choice ? from(Op::less, Do::less)
                                       : Do::atan2;
    }
  }
  if (made.what == Do::root) made.function = nullptr;
  if (parts.size() > 1) made.b = parts[1];
  if (parts.size() > 2) made.c = parts[2];
  return add_to(program, made);
}

Group Sheet::compile(const std::vector<Text>& texts) { return compile(texts, {}, 1); }

Group Sheet::compile(const std::vector<Text>& texts, const std::string& index, std::size_t count) {
  Group group;
  group.count = count;
  std::set<int> definitions;
  if (!index.empty()) {
    require_name(index, index);
    if (known(index))
      throw invalid_parameter("each", index, "a name of its own for the index of states");
    group.index = new_slot();
  }
  for (const Text& text : texts) {
    Compiling c{text};
    if (!index.empty()) c.bound.push_back({index, group.index});
    resolving_ = 0;
    group.roots.push_back(compile(parse(text), c).code);
    const std::size_t number = group.roots.size() - 1;
    if (index.empty() && plain(group.roots.back())) {
      group.program.results.push_back(add_to(group.program, group.roots.back()));
      group.programmed.push_back(number);
    } else {
      group.others.push_back(number);
    }
    group.where.push_back(text.where + " = '" + text.formula + "'");
    definitions.insert(c.definitions.begin(), c.definitions.end());
  }
  for (const int number : order_) {
    if (definitions.count(number) != 0 && definitions_[static_cast<std::size_t>(number)].moves)
      group.moving.push_back(number);
  }
  if (slots_ > kMostSlots) throw Error(ErrorKind::input, "at most 1000000 numbers in formulas");
  return group;
}

bool Sheet::exact() const {
  return std::ranges::none_of(codes_, [](const Code& c) {
    return c.op == Op::normal || c.op == Op::normal_pair || c.op == Op::integral ||
           c.op == Op::root || c.op == Op::argmin || (c.op == Op::slope && c.derivative < 0);
  });
}

void Sheet::require_used() const {
  for (const Definition& entry : definitions_) {
    if (entry.used) continue;
    throw invalid_parameter(entry.text.where,
                            entry.is_list ? entry.list.name : entry.text.formula,
                            "a formula that uses it: nothing does");
  }
}

}  // namespace attica::formula

#include "attica/solvers/formula/syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/words.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica::formula {
namespace {

constexpr std::size_t kLongest = 65536;
constexpr int kDeepest = 202;  // two for each pair of brackets
constexpr std::size_t kMostParts = 20000;
constexpr std::size_t kMostOperations = 1000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return std::string_view(" \t\n\r").find(c) != std::string_view::npos; }

/// What a character outside ASCII stands for in print, and how formulas write it.
std::string_view typed(std::string_view rest) {
  struct Sign {
    std::string_view printed;
    std::string_view formula;
  };
  static constexpr std::array<Sign, 13> kSigns = {{{"\u2212", "-"},
                                                   {"\u2013", "-"},
                                                   {"\u2010", "-"},
                                                   {"\u00d7", "*"},
                                                   {"\u00b7", "*"},
                                                   {"\u00f7", "/"},
                                                   {"\u2264", "<="},
                                                   {"\u2265", ">="},
                                                   {"\u2260", "!="},
                                                   {"\u00b2", "^2"},
                                                   {"\u221a", "sqrt()"},
                                                   {"\u221e", "inf"},
                                                   {"\u03c0", "pi"}}};
  for (const Sign& sign : kSigns) {
    if (rest.starts_with(sign.printed)) return sign.formula;
  }
  return {};
}

/// How a function of other languages is written here.
std::string_view written_otherwise(std::string_view function) {
  struct Other {
    std::string_view function;
    std::string_view formula;
  };
  static constexpr std::array<Other, 8> kOthers = {{{"gamma", "exp(lgamma(x)), for x > 0"},
                                                    {"tgamma", "exp(lgamma(x)), for x > 0"},
                                                    {"mod", "a - b*floor(a/b)"},
                                                    {"fmod", "a - b*floor(a/b)"},
                                                    {"round", "rint(x)"},
                                                    {"ceil", "-floor(-x)"},
                                                    {"cbrt", "sign(x)*abs(x)^(1/3)"},
                                                    {"heaviside", "x > 0"}}};
  for (const Other& other : kOthers) {
    if (other.function == function) return other.formula;
  }
  return {};
}

double natural_log(double x) { return std::log(x); }
double sign_of(double x) { return x < 0 ? -1 : x > 0 ? 1 : 0; }
double whole_below_half(double x) { return std::floor(x + 0.5); }
double of_log_gamma(double x) {
  return x > 0 && std::isfinite(x) ? log_gamma(x) : std::numeric_limits<double>::quiet_NaN();
}

struct OneArgument {
  std::string_view name;
  double (*function)(double);
};

using Unary = double (*)(double);
constexpr std::array<OneArgument, 27> kFunctions = {{
    {"sin", static_cast<Unary>(std::sin)},
    {"cos", static_cast<Unary>(std::cos)},
    {"tan", static_cast<Unary>(std::tan)},
    {"asin", static_cast<Unary>(std::asin)},
    {"acos", static_cast<Unary>(std::acos)},
    {"atan", static_cast<Unary>(std::atan)},
    {"sinh", static_cast<Unary>(std::sinh)},
    {"cosh", static_cast<Unary>(std::cosh)},
    {"tanh", static_cast<Unary>(std::tanh)},
    {"asinh", static_cast<Unary>(std::asinh)},
    {"acosh", static_cast<Unary>(std::acosh)},
    {"atanh", static_cast<Unary>(std::atanh)},
    {"exp", static_cast<Unary>(std::exp)},
    {"expm1", static_cast<Unary>(std::expm1)},
    {"log", natural_log},
    {"ln", natural_log},
    {"log1p", static_cast<Unary>(std::log1p)},
    {"log2", static_cast<Unary>(std::log2)},
    {"log10", static_cast<Unary>(std::log10)},
    {"sqrt", static_cast<Unary>(std::sqrt)},
    {"abs", static_cast<Unary>(std::fabs)},
    {"sign", sign_of},
    {"rint", whole_below_half},
    {"erf", static_cast<Unary>(std::erf)},
    {"erfc", static_cast<Unary>(std::erfc)},
    {"lgamma", of_log_gamma},
    {"floor", static_cast<Unary>(std::floor)},
}};

/// Arguments of a function: least and most; most 0: any number.
struct Arity {
  std::string_view name;
  std::size_t least;
  std::size_t most;
};
constexpr std::array<Arity, 6> kMany = {
    {{"atan2", 2, 2}, {"pow", 2, 2}, {"min", 1, 0}, {"max", 1, 0}, {"sum", 1, 0}, {"avg", 1, 0}}};

struct BinderForm {
  std::string_view name;
  std::size_t arguments;  ///< all of them, the bound names included
  std::size_t bound;      ///< how many of the first ones are names
  std::string_view form;
};
constexpr std::array<BinderForm, 8> kBinders = {{{"normal", 2, 1, "normal(z, f)"},
                                                 {"normal", 4, 2, "normal(z, w, rho, f)"},
                                                 {"integral", 4, 1, "integral(u, a, b, f)"},
                                                 {"mean", 3, 1, "mean(v, LIST, f)"},
                                                 {"sum", 4, 1, "sum(k, a, b, f)"},
                                                 {"root", 4, 1, "root(y, a, b, f)"},
                                                 {"argmin", 4, 1, "argmin(y, a, b, f)"},
                                                 {"d", 2, 1, "d(y, f)"}}};

/// Recursive descent over one text.
class Reader {
 public:
  explicit Reader(const Text& text) : where_(text.where), text_(text.formula) {}

  Syntax whole() {
    if (text_.size() > kLongest)
      throw invalid_parameter(where_, text_.substr(0, 40) + "...", "at most 65536 characters");
    if (const std::string expected = misread(text_); !expected.empty())
      throw invalid_parameter(where_, text_, expected);
    Syntax all = choice();
    skip();
    if (at_ < text_.size()) unexpected();
    return all;
  }

 private:
  /// One more level, as long as it lives.
  class Level {
   public:
    explicit Level(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > kDeepest) reader_.refuse("at most 100 levels of brackets and signs");
    }
    ~Level() { --reader_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Reader& reader_;
  };

  [[noreturn]] void refuse(const std::string& expected) const {
    throw invalid_parameter(where_, text_, expected);
  }

  [[noreturn]] void unexpected() {
    skip();
    if (at_ >= text_.size()) refuse("a formula: it ends too early");
    std::size_t end = at_ + 1;
    if (is_letter(text_[at_])) {
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    }
    // 2m, (a)(b): as on paper.
    std::size_t before = at_;
    while (before > 0 && is_space(text_[before - 1])) --before;
    const auto ends = [](char c) { return is_letter(c) || is_digit(c) || c == ')' || c == ']'; };
    const bool product = before > 0 && ends(text_[before - 1]) &&
                         (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '(');
    refuse(fmt::format("a formula: unexpected '{}' at character {}{}",
                       printable(text_.substr(at_, end - at_)),
                       at_ + 1,
                       product ? "; a product has its *, as 2*m" : ""));
  }

  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view symbol) {
    skip();
    if (!std::string_view(text_).substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) unexpected();
  }

  Syntax node(Kind kind, std::string word, std::vector<Syntax> parts, std::size_t at) {
    if (++nodes_ > kMostParts) refuse("at most 20000 numbers, names and operators");
    Syntax made{.kind = kind, .word = std::move(word), .parts = std::move(parts), .at = at};
    measure(made);
    return made;
  }
  /// Whoever walks through the tree goes as deep as it is.
  void measure(Syntax& made) const {
    for (const Syntax& part : made.parts) made.depth = std::max(made.depth, part.depth + 1);
    if (made.depth > kMostOperations)
      refuse("at most 1000 operators in a row; put parts of the formula into brackets");
  }
  Syntax operation(const std::string& word, Syntax left, Syntax right) {
    const std::size_t at = left.at;
    std::vector<Syntax> parts;
    parts.reserve(2);
    parts.push_back(std::move(left));
    parts.push_back(std::move(right));
    return node(Kind::operation, word, std::move(parts), at);
  }

  Syntax choice() {
    const Level level(*this);
    Syntax condition = chain(0);
    if (!take("?")) return condition;
    const std::size_t at = condition.at;
    std::vector<Syntax> parts;
    parts.push_back(std::move(condition));
    parts.push_back(choice());
    expect(":");
    parts.push_back(choice());
    return node(Kind::choice, "?", std::move(parts), at);
  }

  /// An operator of two formulas that binds from left to right; the loosest have precedence 0.
  struct Infix {
    std::string_view symbol;  ///< empty: there is none here
    std::size_t precedence = 0;
  };
  Infix infix() {
    static constexpr std::array<Infix, 12> kOperators = {{{"||", 0},
                                                          {"&&", 1},
                                                          {"<=", 2},
                                                          {">=", 2},
                                                          {"!=", 2},
                                                          {"==", 2},
                                                          {"<", 2},
                                                          {">", 2},
                                                          {"+", 3},
                                                          {"-", 3},
                                                          {"*", 4},
                                                          {"/", 4}}};
    skip();
    const std::string_view rest = std::string_view(text_).substr(at_);
    for (const Infix& one : kOperators) {
      if (rest.starts_with(one.symbol)) return one;
    }
    return {};
  }

  /// Formulas with operators of at least this precedence between them.
  Syntax chain(std::size_t precedence) {
    Syntax left = signed_power();
    while (true) {
      const Infix here = infix();
      if (here.symbol.empty() || here.precedence < precedence) return left;
      at_ += here.symbol.size();
      left = operation(std::string(here.symbol), std::move(left), chain(here.precedence + 1));
    }
  }

  Syntax signed_power() {
    skip();
    const std::size_t at = at_;
    if (next() == '-' || next() == '+') {
      const bool minus = text_[at_++] == '-';
      if (next() == '-' || next() == '+') unexpected();
      Syntax inner = power();
      if (!minus) return inner;
      std::vector<Syntax> parts;
      parts.push_back(std::move(inner));
      return node(Kind::negative, "-", std::move(parts), at);
    }
    return power();
  }

  Syntax power() {
    const Level level(*this);
    Syntax base = primary();
    if (!take("^")) return base;
    return operation("^", std::move(base), signed_power());
  }

  Syntax primary() {
    const char c = next();
    const std::size_t at = at_;
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
      return number();
    if (take("(")) {
      Syntax inner = choice();
      expect(")");
      return inner;
    }
    if (!is_letter(c)) unexpected();
    std::string word;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])))
      word += text_[at_++];
    if (take("(")) return call(word, at);
    if (take("[")) {
      std::vector<Syntax> parts;
      parts.push_back(choice());
      expect("]");
      return node(Kind::element, word, std::move(parts), at);
    }
    const bool many = std::any_of(
        kMany.begin(), kMany.end(), [&](const Arity& arity) { return arity.name == word; });
    if (many || (function_of_one(word) != nullptr && word != "floor")) {
      refuse(fmt::format(
          "a formula: function '{}' at character {} without its brackets", word, at + 1));
    }
    if (const auto known = constant(word)) {
      Syntax made = node(Kind::number, word, {}, at);
      made.number = *known;
      return made;
    }
    return node(Kind::name, word, {}, at);
  }

  Syntax number() {
    const std::size_t at = at_;
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, code] =
        std::from_chars(begin, text_.data() + text_.size(), value, std::chars_format::general);
    if (code == std::errc::result_out_of_range) refuse("numbers between 1e-308 and 1e308");
    if (code != std::errc()) unexpected();
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.')) unexpected();
    Syntax made = node(Kind::number, "", {}, at);
    made.number = value;
    return made;
  }

  Syntax call(const std::string& word, std::size_t at) {
    std::vector<Syntax> arguments;
    if (next() != ')') {
      do {
        arguments.push_back(choice());
      } while (take(","));
    }
    expect(")");
    if (const BinderForm* form = binder(word, arguments))
      return bind(*form, std::move(arguments), at);
    std::string known;
    if (function_of_one(word) != nullptr) {
      if (arguments.size() == 1) return node(Kind::call, word, std::move(arguments), at);
      known = fmt::format("{}(x)", word);
    }
    for (const Arity& arity : kMany) {
      if (arity.name != word) continue;
      if (arguments.size() >= arity.least && (arity.most == 0 || arguments.size() <= arity.most))
        return node(Kind::call, word, std::move(arguments), at);
      known = arity.most == 2 ? fmt::format("{}(a, b)", word) : fmt::format("{}(a, ...)", word);
    }
    for (const BinderForm& form : kBinders) {
      if (form.name == word) known += (known.empty() ? "" : " or ") + std::string(form.form);
    }
    if (known.empty()) {
      const std::string_view same = written_otherwise(word);
      const std::string near = same.empty() ? nearest(word, function_names()) : std::string();
      refuse(fmt::format("a formula: no function '{}'{}",
                         word,
                         !same.empty()  ? fmt::format("; write {}", same)
                         : near.empty() ? std::string()
                                        : fmt::format("; did you mean '{}'?", near)));
    }
    refuse(fmt::format("{} at character {}, not {} argument{}{}",
                       known,
                       at + 1,
                       arguments.size(),
                       arguments.size() == 1 ? "" : "s",
                       arguments.size() > 1 ? "; decimals are written with a point" : ""));
  }

  /// The form of binder that these are the arguments of; sum(a, b, c, d) of four formulas is none.
  static const BinderForm* binder(const std::string& word, const std::vector<Syntax>& arguments) {
    for (const BinderForm& form : kBinders) {
      if (form.name != word || form.arguments != arguments.size()) continue;
      if (word == "sum" && arguments.front().kind != Kind::name) return nullptr;
      return &form;
    }
    return nullptr;
  }

  Syntax bind(const BinderForm& form, std::vector<Syntax> arguments, std::size_t at) {
    Syntax made = node(Kind::binder, std::string(form.name), {}, at);
    for (std::size_t k = 0; k < form.bound; ++k) {
      if (arguments[k].kind != Kind::name)
        refuse(fmt::format("a name as argument {} of {}, not a formula", k + 1, form.form));
      made.bound.push_back(arguments[k].word);
    }
    if (made.bound.size() == 2 && made.bound[0] == made.bound[1])
      refuse(fmt::format("two different names in {}", form.form));
    std::size_t first = form.bound;
    if (form.name == "mean") {
      if (arguments[1].kind != Kind::name)
        refuse("the name of a list as second argument of mean(v, LIST, f)");
      made.list = arguments[1].word;
      first = 2;
    }
    for (std::size_t k = first; k < arguments.size(); ++k)
      made.parts.push_back(std::move(arguments[k]));
    measure(made);
    const std::vector<std::string> inside = made.parts.back().names();
    for (const std::string& name : made.bound) {
      if (std::binary_search(inside.begin(), inside.end(), name)) continue;
      // d(F, x) swapped, or a sum of four numbers: what binds a name and does not use it is not
      // meant.
      if (form.name == "d") continue;  // the name may be used through a definition
      refuse(fmt::format("the last argument of {} to use '{}', which it binds", form.form, name));
    }
    return made;
  }

  const std::string& where_;
  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t nodes_ = 0;
};

void collect(const Syntax& node, std::vector<std::string>& bound, std::set<std::string>& names) {
  const auto use = [&](const std::string& name) {
    if (std::find(bound.begin(), bound.end(), name) == bound.end()) names.insert(name);
  };
  if (node.kind == Kind::name || node.kind == Kind::element) use(node.word);
  if (!node.list.empty()) use(node.list);
  const bool binds = node.kind == Kind::binder && node.word != "d";
  if (node.kind == Kind::binder && !binds) use(node.bound.front());
  for (std::size_t k = 0; k < node.parts.size(); ++k) {
    const bool inside = binds && k + 1 == node.parts.size();
    if (inside) bound.insert(bound.end(), node.bound.begin(), node.bound.end());
    collect(node.parts[k], bound, names);
    if (inside) bound.resize(bound.size() - node.bound.size());
  }
}

}  // namespace

std::string misread(std::string_view formula) {
  struct Bracket {
    bool of_function = false;
    int comparisons = 0;  ///< since the last && || ? : or comma
  };
  std::vector<Bracket> open(1);
  char last = 0;  // before this one, spaces left out
  for (std::size_t k = 0; k < formula.size(); ++k) {
    const char c = formula[k];
    const char next = k + 1 < formula.size() ? formula[k + 1] : '\0';
    const char before = k > 0 ? formula[k - 1] : '\0';
    switch (c) {
      case '(':
        open.push_back({is_letter(last) || is_digit(last), 0});
        break;
      case ')':
        if (open.size() > 1) open.pop_back();
        break;
      case ',':
        if (!open.back().of_function) {
          return "one formula; decimals are written with a point (0.05), and commas stand between "
                 "the arguments of functions only";
        }
        if (is_digit(before) && is_digit(next)) {
          return fmt::format(
              "a point for a decimal ({0}.{1}), or a space after the comma between two arguments "
              "({0}, {1})",
              before,
              next);
        }
        open.back().comparisons = 0;
        break;
      case '?':
      case ':':
        open.back().comparisons = 0;
        break;
      case '&':
      case '|':
        if (next != c) return fmt::format("'{0}{0}' for '{0}'", c);
        open.back().comparisons = 0;
        ++k;
        break;
      case '=':
      case '<':
      case '>':
      case '!':
        if (c == '=' && next != '=') return "a formula without '='; equality is '=='";
        if (c == '!' && next != '=') return "no '!'; 'not c' is written 'c == 0'";
        if (next == '=') ++k;
        if (++open.back().comparisons > 1) {
          return "one comparison at a time: 'a < y && y < b' for 'a < y < b', or brackets";
        }
        break;
      case '*':
        if (next == '*') return "'^' for a power, not '**'";
        break;
      case '%':
        return "no '%': 5 % is 0.05";
      case '_':
        if (is_digit(before) && is_digit(next)) {
          std::size_t start = k;
          while (start > 0 && (is_digit(formula[start - 1]) || formula[start - 1] == '_')) --start;
          if (start == 0 || !is_letter(formula[start - 1]))
            return "digits without '_' between them";
        }
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x80) {
          const std::string_view sign = typed(formula.substr(k));
          return sign.empty() ? "ASCII characters only" : fmt::format("'{}' there", sign);
        }
        break;
    }
    if (!is_space(formula[k])) last = formula[k];
  }
  return {};
}

Syntax parse(const Text& text) { return Reader(text).whole(); }

std::vector<std::string> Syntax::names() const {
  std::vector<std::string> inside;
  std::set<std::string> all;
  collect(*this, inside, all);
  return {all.begin(), all.end()};
}

std::size_t Syntax::size() const {
  std::size_t total = 1;
  for (const Syntax& part : parts) total += part.size();
  return total;
}

const std::vector<std::string>& constants() {
  static const std::vector<std::string> kAll = {"pi", "_pi", "_e", "inf"};
  return kAll;
}

std::optional<double> constant(std::string_view name) {
  if (name == "pi" || name == "_pi") return std::numbers::pi;
  if (name == "_e") return std::numbers::e;
  if (name == "inf") return std::numeric_limits<double>::infinity();
  return std::nullopt;
}

double (*function_of_one(std::string_view name))(double) {
  for (const OneArgument& f : kFunctions) {
    if (f.name == name) return f.function;
  }
  return nullptr;
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (const OneArgument& f : kFunctions) all.emplace_back(f.name);
    for (const Arity& arity : kMany) all.emplace_back(arity.name);
    for (const BinderForm& form : kBinders) all.emplace_back(form.name);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }();
  return kAll;
}

}  // namespace attica::formula

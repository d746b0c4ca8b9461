#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "attica/solvers/formula/syntax.hpp"

namespace attica::formula {
namespace {

constexpr std::size_t kLargest = 500;  // what is differentiated grows with its square at most

using Definition = std::function<std::string(const std::string&)>;

Syntax number_node(double value) { return {.kind = Kind::number, .number = value}; }
bool is_number(const Syntax& node, double value) {
  return node.kind == Kind::number && node.number == value;
}

Syntax operation_node(const char* word, Syntax left, Syntax right) {
  Syntax made{.kind = Kind::operation, .word = word};
  made.parts.push_back(std::move(left));
  made.parts.push_back(std::move(right));
  return made;
}
Syntax plus(Syntax a, Syntax b) {
  if (is_number(a, 0)) return b;
  if (is_number(b, 0)) return a;
  return operation_node("+", std::move(a), std::move(b));
}
Syntax minus(Syntax a, Syntax b) {
  if (is_number(b, 0)) return a;
  return operation_node("-", std::move(a), std::move(b));
}
Syntax times(Syntax a, Syntax b) {
  if (is_number(a, 0) || is_number(b, 0)) return number_node(0);
  if (is_number(a, 1)) return b;
  if (is_number(b, 1)) return a;
  return operation_node("*", std::move(a), std::move(b));
}
Syntax over(Syntax a, Syntax b) {
  if (is_number(a, 0)) return number_node(0);
  return operation_node("/", std::move(a), std::move(b));
}
Syntax power_of(Syntax a, double exponent) {
  if (exponent == 1) return a;
  return operation_node("^", std::move(a), number_node(exponent));
}
Syntax apply(const char* word, Syntax argument) {
  Syntax made{.kind = Kind::call, .word = word};
  made.parts.push_back(std::move(argument));
  return made;
}
Syntax choose(Syntax condition, Syntax yes, Syntax no) {
  Syntax made{.kind = Kind::choice, .word = "?"};
  made.parts.push_back(std::move(condition));
  made.parts.push_back(std::move(yes));
  made.parts.push_back(std::move(no));
  return made;
}

/// Whether a value jumps or has a kink somewhere inside.
bool has_edges(const Syntax& node) {
  const std::string& w = node.word;
  if (node.kind == Kind::choice) return true;
  if (node.kind == Kind::call &&
      (w == "sign" || w == "rint" || w == "floor" || w == "abs" || w == "min" || w == "max")) {
    return true;
  }
  if (node.kind == Kind::operation &&
      std::string_view("<>=!&|").find(w.front()) != std::string_view::npos) {
    return true;
  }
  return std::any_of(node.parts.begin(), node.parts.end(), has_edges);
}

/// The rules; `failed` where there is none.
class Rules {
 public:
  Rules(std::string name, const Definition& definition)
      : name_(std::move(name)), definition_(definition) {}

  bool failed = false;

  Syntax of(const Syntax& f) {
    switch (f.kind) {
      case Kind::number:
        return number_node(0);
      case Kind::name:
        return of_name(f);
      case Kind::element:
        // a[k] itself is never the name; its index must not depend on it, nor a list's numbers.
        if (!is_number(of(f.parts[0]), 0) || !definition_(f.word).empty()) failed = true;
        return number_node(0);
      case Kind::negative: {
        Syntax inner = of(f.parts[0]);
        if (is_number(inner, 0)) return inner;
        return times(number_node(-1), std::move(inner));
      }
      case Kind::operation:
        return of_operation(f);
      case Kind::choice:
        return choose(f.parts[0], of(f.parts[1]), of(f.parts[2]));
      case Kind::call:
        return of_call(f);
      case Kind::binder:
        return of_binder(f);
    }
    failed = true;
    return number_node(0);
  }

 private:
  Syntax of_name(const Syntax& f) const {
    if (f.word == name_) return number_node(1);
    const std::string defined = definition_(f.word);
    if (defined.empty()) return number_node(0);
    return {.kind = Kind::name, .word = defined, .at = f.at};
  }

  Syntax of_operation(const Syntax& f) {
    const Syntax& u = f.parts[0];
    const Syntax& v = f.parts[1];
    switch (f.word.front()) {
      case '+':
        return plus(of(u), of(v));
      case '-': {
        Syntax first = of(u), second = of(v);
        if (is_number(first, 0)) return times(number_node(-1), std::move(second));
        return minus(std::move(first), std::move(second));
      }
      case '*':
        return plus(times(of(u), v), times(u, of(v)));
      case '/': {
        Syntax below = of(v);
        Syntax first = over(of(u), v);
        if (is_number(below, 0)) return first;
        return minus(std::move(first), over(times(u, std::move(below)), power_of(v, 2)));
      }
      case '^':
        return of_power(u, v);
      default:
        return number_node(0);  // conditions
    }
  }

  Syntax of_power(const Syntax& u, const Syntax& v) {
    Syntax base = of(u), exponent = of(v);
    if (is_number(exponent, 0)) {
      if (is_number(base, 0)) return base;
      if (v.kind == Kind::number)
        return times(times(v, power_of(u, v.number - 1)), std::move(base));
      return times(times(v, operation_node("^", u, minus(v, number_node(1)))), std::move(base));
    }
    Syntax inner =
        plus(times(std::move(exponent), apply("log", u)), over(times(v, std::move(base)), u));
    return times(operation_node("^", u, v), std::move(inner));
  }

  Syntax of_call(const Syntax& f) {
    const std::string& w = f.word;
    if (w == "pow") return of_power(f.parts[0], f.parts[1]);
    if (w == "sum" || w == "avg") {
      Syntax total = number_node(0);
      for (const Syntax& part : f.parts) total = plus(std::move(total), of(part));
      return w == "sum" ? total : over(std::move(total), number_node(double(f.parts.size())));
    }
    if (w == "min" || w == "max") {
      if (f.parts.size() <= 2) return of_extreme(f);
      failed = true;
      return number_node(0);
    }
    const Syntax& u = f.parts[0];
    Syntax inner = of(u);
    if (f.parts.size() > 1) {
      for (std::size_t k = 1; k < f.parts.size(); ++k) {
        if (!is_number(of(f.parts[k]), 0)) failed = true;
      }
      if (!is_number(inner, 0)) failed = true;
      return number_node(0);
    }
    if (is_number(inner, 0)) return inner;
    return times(outer(w, u), std::move(inner));
  }

  Syntax outer(const std::string& w, const Syntax& u) {
    const Syntax one = number_node(1);
    if (w == "exp") return apply("exp", u);
    if (w == "expm1") return apply("exp", u);
    if (w == "log" || w == "ln") return over(one, u);
    if (w == "log1p") return over(one, plus(one, u));
    if (w == "log2") return over(number_node(1 / std::numbers::ln2), u);
    if (w == "log10") return over(number_node(1 / std::numbers::ln10), u);
    if (w == "sqrt") return over(number_node(0.5), apply("sqrt", u));
    if (w == "sin") return apply("cos", u);
    if (w == "cos") return times(number_node(-1), apply("sin", u));
    if (w == "tan") return plus(one, power_of(apply("tan", u), 2));
    if (w == "sinh") return apply("cosh", u);
    if (w == "cosh") return apply("sinh", u);
    if (w == "tanh") return minus(one, power_of(apply("tanh", u), 2));
    if (w == "asin") return over(one, apply("sqrt", minus(one, power_of(u, 2))));
    if (w == "acos") return over(number_node(-1), apply("sqrt", minus(one, power_of(u, 2))));
    if (w == "atan") return over(one, plus(one, power_of(u, 2)));
    if (w == "asinh") return over(one, apply("sqrt", plus(one, power_of(u, 2))));
    if (w == "acosh") return over(one, apply("sqrt", minus(power_of(u, 2), one)));
    if (w == "atanh") return over(one, minus(one, power_of(u, 2)));
    if (w == "erf" || w == "erfc") {
      const double factor = (w == "erf" ? 2 : -2) * std::numbers::inv_sqrtpi;
      return times(number_node(factor), apply("exp", times(number_node(-1), power_of(u, 2))));
    }
    if (w == "abs") return apply("sign", u);
    if (w == "sign" || w == "rint" || w == "floor") return number_node(0);
    failed = true;
    return number_node(0);
  }

  Syntax of_extreme(const Syntax& f) {
    if (f.parts.size() == 1) return of(f.parts[0]);
    Syntax ahead = operation_node(f.word == "min" ? "<=" : ">=", f.parts[0], f.parts[1]);
    return choose(std::move(ahead), of(f.parts[0]), of(f.parts[1]));
  }

  Syntax of_binder(const Syntax& f) {
    if (f.word == "d") {
      Rules inside(f.bound.front(), definition_);
      const Syntax first = inside.of(f.parts[0]);
      failed = failed || inside.failed || first.size() > kLargest;
      return failed ? number_node(0) : of(first);
    }
    const bool bound = std::find(f.bound.begin(), f.bound.end(), name_) != f.bound.end();
    const Syntax& last = f.parts.back();
    Syntax inside = bound ? number_node(0) : of(last);
    bool outside = !f.list.empty() && !definition_(f.list).empty();
    for (std::size_t k = 0; k + 1 < f.parts.size(); ++k)
      outside = outside || !is_number(of(f.parts[k]), 0);
    if (!outside && is_number(inside, 0)) return inside;
    if (outside || f.word == "root" || f.word == "argmin" || has_edges(last)) {
      failed = true;
      return number_node(0);
    }
    // A bound name that the derivative lacks is one that parse would refuse; here it is no mistake.
    Syntax made = f;
    made.parts.back() = std::move(inside);
    return made;
  }

  std::string name_;
  const Definition& definition_;
};

void measure_depth(Syntax& node) {
  node.depth = 0;
  for (Syntax& part : node.parts) {
    measure_depth(part);
    node.depth = std::max(node.depth, part.depth + 1);
  }
}

}  // namespace

std::optional<Syntax> derivative(const Syntax& of,
                                 const std::string& name,
                                 const Definition& definition) {
  constexpr std::size_t kDeepest = 300;
  if (of.size() > kLargest || of.depth > kDeepest) return std::nullopt;
  Rules rules(name, definition);
  Syntax made = rules.of(of);
  if (rules.failed) return std::nullopt;
  measure_depth(made);
  return made;
}

std::vector<Syntax> edges(const Syntax& of) {
  std::vector<Syntax> all;
  if (of.kind == Kind::binder && of.word != "d") return all;
  for (const Syntax& part : of.parts) {
    for (Syntax& edge : edges(part)) all.push_back(std::move(edge));
  }
  const std::string& w = of.word;
  const auto add_sign = [&](Syntax u) {
    all.push_back(apply("sign", std::move(u)));
    measure_depth(all.back());
  };
  if (of.kind == Kind::call) {
    if (w == "abs" || w == "sign") add_sign(of.parts[0]);
    if (w == "floor" || w == "rint") all.push_back(of);
    for (std::size_t k = 0; (w == "min" || w == "max") && k < of.parts.size(); ++k) {
      for (std::size_t j = 0; j < k; ++j) add_sign(minus(of.parts[j], of.parts[k]));
    }
  }
  if (of.kind == Kind::operation &&
      std::string_view("<>=!").find(w.front()) != std::string_view::npos)
    add_sign(minus(of.parts[0], of.parts[1]));
  return all;
}

}  // namespace attica::formula

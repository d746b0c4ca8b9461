// Any bytes are either a formula, which has the same value each time and in brackets, or an Error
// of kind input; evaluating it may be refused as a numerical one.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "attica/core/error.hpp"
#include "attica/sources/expression.hpp"

namespace {

std::optional<double> value_of(attica::sources::Expression& formula) {
  try {
    return formula([](const std::string& name) {
      return 0.25 * static_cast<double>(name.size()) +
             static_cast<double>(static_cast<unsigned char>(name.front()));
    });
  } catch (const attica::Error& error) {
    if (error.kind() != attica::ErrorKind::numerical) std::abort();
    return std::nullopt;
  }
}

bool same(std::optional<double> a, std::optional<double> b) {
  return a.has_value() == b.has_value() && (!a || *a == *b || (std::isnan(*a) && std::isnan(*b)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    sources::Expression formula("formula", text);
    for (const std::string& name : formula.names()) {
      if (name.empty()) std::abort();
    }
    formula.require_names(formula.names());
    const std::optional<double> value = value_of(formula);
    if (!same(value, value_of(formula))) std::abort();
    sources::Expression bracketed("formula", "(" + text + ")");
    if (bracketed.names() != formula.names() || !same(value_of(bracketed), value)) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}

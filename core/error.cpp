#include "attica/core/error.hpp"

#include <fmt/format.h>

namespace attica {

Error invalid_parameter(std::string_view parameter,
                        std::string_view value,
                        std::string_view expected) {
  return {ErrorKind::input,
          fmt::format("parameter '{}' = {}: expected {}", parameter, value, expected),
          std::string(parameter)};
}

Error invalid_parameter(std::string_view parameter, double value, std::string_view expected) {
  return invalid_parameter(parameter, fmt::format("{}", value), expected);
}

void require(bool condition, std::string_view parameter, double value, std::string_view expected) {
  if (!condition) throw invalid_parameter(parameter, value, expected);
}

}  // namespace attica

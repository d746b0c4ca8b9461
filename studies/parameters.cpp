#include "attica/studies/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace attica {

Parameter real_parameter(const std::string& key,
                         double fallback,
                         const std::string& meaning,
                         Range range) {
  return {.key = key,
          .type = ParameterType::real,
          .fallback = Value(fallback),
          .meaning = meaning,
          .range = range};
}

Parameter reals_parameter(const std::string& key,
                          const std::vector<double>& fallback,
                          const std::string& meaning,
                          Range range) {
  return {.key = key,
          .type = ParameterType::real,
          .fallback = Value(fallback),
          .meaning = meaning,
          .list = true,
          .range = range};
}

Parameter integer_parameter(const std::string& key,
                            std::int64_t fallback,
                            const std::string& meaning,
                            Range range) {
  return {.key = key,
          .type = ParameterType::integer,
          .fallback = Value(fallback),
          .meaning = meaning,
          .range = range};
}

Parameter integers_parameter(const std::string& key,
                             List fallback,
                             const std::string& meaning,
                             Range range) {
  return {.key = key,
          .type = ParameterType::integer,
          .fallback = Value(std::move(fallback)),
          .meaning = meaning,
          .list = true,
          .range = range};
}

Parameter word_parameter(const std::string& key,
                         const std::string& fallback,
                         const std::string& meaning,
                         std::vector<std::string> choices) {
  return {.key = key,
          .type = ParameterType::text,
          .fallback = Value(fallback),
          .meaning = meaning,
          .choices = std::move(choices)};
}

Parameter flag_parameter(const std::string& key, bool fallback, const std::string& meaning) {
  return {.key = key, .type = ParameterType::flag, .fallback = Value(fallback), .meaning = meaning};
}

Parameter optional_parameter(Parameter parameter) {
  parameter.fallback.reset();
  return parameter;
}

Parameter file_parameter(const std::string& key, const std::string& meaning) {
  return {.key = key, .type = ParameterType::file, .fallback = {}, .meaning = meaning};
}

std::vector<Parameter> together(std::vector<std::vector<Parameter>> parts) {
  std::vector<Parameter> all;
  for (std::vector<Parameter>& part : parts) {
    all.insert(
        all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  }
  return all;
}

std::vector<Parameter> without(std::vector<Parameter> parameters,
                               const std::vector<std::string>& keys) {
  std::erase_if(parameters, [&](const Parameter& p) {
    return std::find(keys.begin(), keys.end(), p.key) != keys.end();
  });
  return parameters;
}

Parameter steps_parameter(List fallback, double least) {
  return integers_parameter("sim.steps",
                            std::move(fallback),
                            "recorded steps, the last one being the length",
                            {.low = least, .high = kCount.high});
}

Parameter replicates_parameter(std::int64_t fallback, const std::string& meaning) {
  return integer_parameter("sim.replicates", fallback, meaning);
}

std::string power_label(double value) {
  const double exponent = std::log10(value);
  const double whole = std::round(exponent);
  if (whole > -2 || std::abs(exponent - whole) > 1e-9) return fmt::format("{:g}", value);
  return fmt::format("10^{{−{:g}}}", -whole);
}

}  // namespace attica

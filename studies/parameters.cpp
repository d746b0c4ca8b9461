#include "attica/studies/parameters.hpp"

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

Parameter steps_parameter(List fallback, double least) {
  return integers_parameter("sim.steps",
                            std::move(fallback),
                            "recorded steps, the last one being the length",
                            {.low = least, .high = kCount.high});
}

Parameter replicates_parameter(std::int64_t fallback, const std::string& meaning) {
  return integer_parameter("sim.replicates", fallback, meaning);
}

Parameter full_width_parameter() {
  return word_parameter(
      "plot.width", "full", "half: one column; full: the page's text width", {"half", "full"});
}

}  // namespace attica

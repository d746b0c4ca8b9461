#pragma once
/// @file
/// @brief A study with some of its parameters set, as tests want it.

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/studies/study.hpp"

namespace attica::testing {

/// @brief The study's defaults with overrides; files are looked up in the repository's data.
inline Configuration configured(const Study& study, const Table& overrides) {
  std::vector<Parameter> parameters = study.parameters;
  parameters.push_back({.key = "sim.seed",
                        .type = ParameterType::integer,
                        .fallback = Value(std::int64_t{1}),
                        .meaning = "master seed"});
  Configuration c(study.name, parameters);
  c.input_directories = {std::string(ATTICA_SOURCE_DIR) + "/data"};
  for (const auto& [key, value] : overrides) c.set(key, value, true);
  return c;
}

/// @brief The experiment.
inline std::unique_ptr<Experiment> made(const Study& study, const Table& overrides) {
  Configuration c = configured(study, overrides);
  return study.make(c);
}

/// @brief The message with which bad input is refused, by `make` or, if that accepts it, by the
/// theory where `with_theory`; "accepted" if it is not.
inline std::string refusal(const Study& study, const Table& overrides, bool with_theory = false) {
  try {
    const std::unique_ptr<Experiment> experiment = made(study, overrides);
    if (with_theory) static_cast<void>(experiment->theory(TheoryGrid::requested));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

/// @brief The theory's curves of a series.
inline std::vector<Series> curves_of(const TheoryResult& theory, const std::string& series) {
  std::vector<Series> found;
  for (const Prediction& p : theory.predictions) {
    if (p.series.name == series) found.push_back(p.series);
  }
  return found;
}

/// @brief Whether a prediction is compared at x[k]; marks that say nothing are left out.
inline bool is_compared(const Prediction& p, std::size_t k) {
  return p.compared.empty() || p.compared.at(k);
}

}  // namespace attica::testing

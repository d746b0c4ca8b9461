/// @file
/// @brief The theory of any study through the library, without the program:
/// any-study STUDY [KEY=NUMBER...], as `any-study gauss-flow model.rho=0.5`. Prints series, point,
/// name of x, x and value, separated by tabulators; numbers read back to the same double.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/studies/study.hpp"

namespace {

/// Sets "model.rho=0.5" in the type that the study's table of parameters states.
void set(attica::Configuration& configuration,
         const attica::Study& study,
         const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  for (const attica::Parameter& parameter : study.parameters) {
    if (parameter.key != key || equals == std::string::npos) continue;
    const std::string number = assignment.substr(equals + 1);
    const attica::Value value = parameter.type == attica::ParameterType::integer
                                    ? attica::Value(std::int64_t{std::stoll(number)})
                                    : attica::Value(std::stod(number));
    configuration.set(key, parameter.checked(value, key), true);
    return;
  }
  throw attica::Error(
      attica::ErrorKind::input,
      "'" + assignment + "': expected KEY=NUMBER with a parameter of " + study.name);
}

}  // namespace

int main(int count, char** words) try {
  if (count < 2) {
    std::fputs("usage: any-study STUDY [KEY=NUMBER...]\n", stderr);
    return 2;
  }
  const attica::Study& study = attica::study_named(words[1]);
  // Every study may draw random numbers; their seed is not in the table of any.
  std::vector<attica::Parameter> parameters = study.parameters;
  parameters.push_back({.key = "sim.seed",
                        .type = attica::ParameterType::integer,
                        .fallback = attica::Value(std::int64_t{1}),
                        .meaning = "master seed"});
  attica::Configuration configuration(study.name, parameters);
  for (int k = 2; k < count; ++k) set(configuration, study, words[k]);
  const std::unique_ptr<attica::Experiment> experiment = study.make(configuration);
  for (const attica::Prediction& p :
       experiment->theory(attica::TheoryGrid::requested).predictions) {
    const attica::Series& s = p.series;
    for (std::size_t k = 0; k < s.x.size(); ++k) {
      std::printf("%s\t%s\t%s\t%.17g\t%.17g\n",
                  s.name.c_str(),
                  attica::describe(s.point).c_str(),
                  s.x_name.c_str(),
                  s.x[k],
                  s.y[k]);
    }
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "any-study: %s\n", error.what());
  return 2;
}

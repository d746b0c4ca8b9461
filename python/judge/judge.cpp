#include "judge.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attica/app/run/json.hpp"
#include "attica/app/verdict/check.hpp"
#include "attica/core/error.hpp"
#include "attica/solvers/statistics/planning.hpp"

namespace attica {
namespace {

using app::Json;

std::vector<double> numbers(const Json& list, const char* name) {
  if (!list.is_array())
    throw Error(ErrorKind::input, std::string("'") + name + "': expected a list");
  std::vector<double> all;
  for (const Json& value : list)
    all.push_back(value.is_number() ? value.get<double>()
                                    : std::numeric_limits<double>::quiet_NaN());
  return all;
}

/// One number for all points, or one each.
std::vector<double> allowance(const Json& request, const char* name, std::size_t points) {
  if (!request.contains(name)) return {};
  const Json& given = request.at(name);
  std::vector<double> values =
      given.is_array() ? numbers(given, name) : std::vector<double>(points, given.get<double>());
  if (values.size() != points)
    throw Error(ErrorKind::input, std::string("'") + name + "': expected one number a point");
  return values;
}

Json verdict(const Json& request) {
  const std::vector<double> theory = numbers(request.at("theory"), "theory");
  const Json& samples = request.at("replicates");
  std::vector<double> x(theory.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k);
  if (request.contains("x")) x = numbers(request.at("x"), "x");
  if (theory.empty() || !samples.is_array() || samples.size() != theory.size() ||
      x.size() != theory.size())
    throw Error(ErrorKind::input,
                "'theory', 'replicates', 'x': expected as many rows as theory values");
  const Prediction prediction{.series = {.name = request.value("series", "y"),
                                         .point = {},
                                         .x_name = "x",
                                         .x = x,
                                         .y = theory},
                              .finite_size = allowance(request, "finite_size", x.size()),
                              .numerical_error = allowance(request, "numerical_error", x.size()),
                              .compared = {}};
  const Margin margin{.absolute = request.value("absolute", 0.0),
                      .relative = request.value("margin", 0.0)};
  validate(margin);
  const std::string tails = request.value("tails", "guarded");
  if (tails != "guarded" && tails != "normal" && tails != "rate")
    throw invalid_parameter("tails", tails, "guarded, normal or rate");
  const AgreementRule rule{.series = prediction.series.name,
                           .relative = margin.relative,
                           .absolute = margin.absolute,
                           .tails = tails == "normal" ? Tails::normal : Tails::guarded};
  std::map<std::uint64_t, Outcome> outcomes;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::vector<double> values = numbers(samples[k], "replicates");
    for (std::size_t r = 0; r < values.size(); ++r) {
      Outcome& outcome = outcomes[r];
      if (outcome.series.empty())
        outcome.series.push_back(
            {.name = prediction.series.name, .point = {}, .x_name = "x", .x = {}, .y = {}});
      outcome.series.front().x.push_back(x[k]);
      outcome.series.front().y.push_back(values[r]);
      if (!std::isfinite(values[r])) outcome.failed = true;
    }
  }
  app::Replicates replicates;
  for (auto& [number, outcome] : outcomes) {
    if (outcome.failed) outcome.message = "a value is not finite";
    replicates.add({.first_replicate = number, .outcomes = {std::move(outcome)}, .seconds = 0}, {});
  }
  replicates.finish();
  const std::vector<AgreementRule> rules{rule};
  const std::vector<Prediction> predictions{prediction};
  const app::CheckRecord record =
      app::check({.study = "own",
                  .run = "",
                  .rules = rules,
                  .theory = predictions,
                  .simulation = &replicates,
                  .claims = {},
                  .post_hoc_margin = std::nullopt,
                  .replicates = outcomes.size(),
                  .failed = !replicates.failures().empty(),
                  .brought = true,
                  .rates = tails == "rate" ? std::vector<std::string>{prediction.series.name}
                                           : std::vector<std::string>{},
                  .from_table = true,
                  .ordered = !request.value("independent", false)});
  Json answer = app::to_json(record);
  answer["text"] = app::text(record);
  return answer;
}

Json plan(const Json& request) {
  const double margin = request.at("margin").get<double>();
  const double sd = request.at("sd").get<double>();
  const PlanGoal goal{.power = request.value("power", 0.9),
                      .points = request.value("points", std::size_t{1})};
  const std::optional<std::size_t> count =
      planned_replicates(margin, request.value("difference", 0.0), sd, goal);
  Json answer;
  answer["replicates"] = nullptr;
  if (count) answer["replicates"] = *count;
  return answer;
}

}  // namespace
}  // namespace attica

char* attica_judge(const char* request) {
  using attica::app::Json;
  std::string text;
  try {
    const Json asked = Json::parse(request);
    const std::string verb = asked.value("verb", "judge");
    if (verb != "judge" && verb != "plan")
      throw attica::invalid_parameter("verb", verb, "judge or plan");
    text = attica::app::dump(verb == "judge" ? attica::verdict(asked) : attica::plan(asked), 0);
  } catch (const std::exception& error) {
    text = Json({{"error", error.what()}}).dump();
  }
  auto* const answer = static_cast<char*>(std::malloc(text.size() + 1));  // NOLINT: freed by C
  if (answer != nullptr) std::memcpy(answer, text.c_str(), text.size() + 1);
  return answer;
}

void attica_judge_free(char* answer) { std::free(answer); }  // NOLINT

const char* attica_judge_version() { return ATTICA_JUDGE_VERSION; }

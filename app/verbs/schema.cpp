/// @file
/// @brief `attica schema`: JSON Schemas of what users write, for editors that complete and check,
/// and of the records of a run, for programs that read them.

#include <cmath>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/record_schemas.hpp"
#include "attica/app/verbs/verbs.hpp"

namespace attica::app {
namespace {

constexpr const char* kDialect = "https://json-schema.org/draft/2020-12/schema";

/// A scalar of a parameter.
Json scalar_schema(const Parameter& p) {
  Json schema = Json::object();
  switch (p.type) {
    case ParameterType::flag:
      schema["type"] = "boolean";
      break;
    case ParameterType::text:
    case ParameterType::file:
      schema["type"] = "string";
      if (!p.choices.empty()) schema["enum"] = p.choices;
      break;
    case ParameterType::integer:
    case ParameterType::real:
      schema["type"] = p.type == ParameterType::integer ? "integer" : "number";
      if (std::isfinite(p.range.low))
        schema[p.range.low_open ? "exclusiveMinimum" : "minimum"] = p.range.low;
      if (std::isfinite(p.range.high))
        schema[p.range.high_open ? "exclusiveMaximum" : "maximum"] = p.range.high;
      if (!p.choices.empty()) return {{"anyOf", {schema, {{"enum", p.choices}}}}};
      break;
  }
  return schema;
}

/// {log = [low, high], n = N}, or the same with linear.
Json range_schema() {
  const Json ends = {
      {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
  return {{"type", "object"},
          {"properties",
           {{"log", ends}, {"linear", ends}, {"n", {{"type", "integer"}, {"minimum", 1}}}}},
          {"required", {"n"}},
          {"additionalProperties", false}};
}

Json list_schema(const Parameter& p) {
  const Json scalar = scalar_schema(p);
  Json items = scalar;
  if (p.rows) items = {{"anyOf", {scalar, {{"type", "array"}, {"items", scalar}}}}};
  Json any = {scalar, {{"type", "array"}, {"items", items}, {"minItems", 1}}};
  if (p.type == ParameterType::real || p.type == ParameterType::integer)
    any.push_back(range_schema());
  return {{"anyOf", any}};
}

Json parameter_schema(const Parameter& p, bool swept) {
  Json schema = p.list || swept ? list_schema(p) : scalar_schema(p);
  schema["description"] = p.meaning;
  if (p.fallback && !swept) schema["default"] = to_json(*p.fallback);
  return schema;
}

Json object_schema(Json properties, bool closed) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", !closed}};
}

/// Of a study's configurations.
Json configuration_schema(const Study& study) {
  Json sections = Json::object();
  Json top = {{"study", {{"const", study.name}}}, {"experiment", {{"const", study.name}}}};
  const std::vector<Parameter> parameters = all_parameters(study);
  for (const Parameter& p : parameters) {
    if (p.key.find('.') == std::string::npos) {
      top[p.key] = parameter_schema(p, false);
      continue;
    }
    Json& schema = sections[p.section()][p.name()] = parameter_schema(p, false);
    if (p.name() == "expression")  // one formula, or one for each series
      schema = {{"anyOf", {schema, {{"type", "object"}}}}};
    const bool scalar = (p.section() == "model" || p.section() == "sim") && !p.list &&
                        p.key != "sim.seed" && p.key != "sim.replicates";
    if (scalar && !sections["sweep"].contains(p.name()))
      sections["sweep"][p.name()] = parameter_schema(p, true);
  }
  sections["figure"];
  for (auto& [name, properties] : sections.items()) {
    if (properties.is_null()) properties = Json::object();
    // Keys of a user's own, and those of figures, are no parameters of the study.
    top[name] = object_schema(properties, !study.defined_by && name != "figure");
  }
  top["bound"] = {{"type", "array"}, {"items", {{"type", "object"}}}};
  Json schema = object_schema(std::move(top), !study.defined_by);
  schema["$schema"] = kDialect;
  schema["title"] = "Configuration of " + study.name;
  schema["description"] = study.question;
  return schema;
}

Json text_schema(const char* meaning) { return {{"type", "string"}, {"description", meaning}}; }

Json tables_schema(const char* meaning, Json properties, bool closed) {
  return {
      {"type", "array"},
      {"description", meaning},
      {"items", {{"anyOf", {{{"type", "string"}}, object_schema(std::move(properties), closed)}}}}};
}

/// Of cards: what describes a study, attica's or a user's own.
Json card_schema() {
  const Json number = {{"type", "number"}};
  const Json flag = {{"type", "boolean"}};
  const Json texts = {
      {"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
  const Json when = {{"type", "object"}, {"description", "settings for which it holds"}};
  Json keys = {
      {"name", text_schema("name of the study; without it, folder and file")},
      {"question", text_schema("what is asked")},
      {"approximation", text_schema("what the theory leaves out")},
      {"not_compared", text_schema("which points are not compared, and why")},
      {"base", texts},
      {"experiment", text_schema("study whose code computes it")},
      {"size_coordinate", text_schema("coordinate that is the size")},
      {"size_power", number},
      {"shown", texts},
      {"renamed", {{"type", "object"}}},
      {"words", {{"type", "object"}}},
      {"figure", {{"type", "object"}}},
      {"parameter",
       tables_schema("what can be configured",
                     {{"key", text_schema("section and name")},
                      {"meaning", text_schema("one line, with units")},
                      {"default", Json::object()},
                      {"type", {{"enum", {"real", "integer", "flag", "text", "file"}}}},
                      {"list", flag},
                      {"rows", flag},
                      {"choices", texts},
                      {"range", text_schema("such as \"0 <= rho < 1\"")}},
                     true)},
      {"series",
       tables_schema("quantities that theory or simulation yield",
                     {{"name", text_schema("name in tables")},
                      {"symbol", text_schema("as in the literature")},
                      {"meaning", text_schema("one line, with its normalisation")},
                      {"diagnostic", flag},
                      {"control", flag}},
                     true)},
      {"preset",
       tables_schema("named settings",
                     {{"name", text_schema("name")}, {"meaning", text_schema("what it is for")}},
                     false)},
      {"reference_run",
       tables_schema(
           "a run with a known verdict",
           {{"name", text_schema("name")},
            {"meaning", text_schema("why it comes out so")},
            {"preset", text_schema("preset that it changes")},
            {"fetched", flag},
            {"expected", {{"enum", {"AGREE", "DISAGREE", "INCONCLUSIVE", "CLAIMS HOLD"}}}}},
           false)},
      {"perturbed",
       tables_schema("a theory that is wrong on purpose",
                     {{"name", text_schema("name")},
                      {"meaning", text_schema("whose mistake it is")},
                      {"scale", {{"type", "object"}}}},
                     false)},
      {"margin",
       tables_schema("how a series is compared",
                     {{"series", texts},
                      {"relative", number},
                      {"absolute", number},
                      {"tails", {{"enum", {"guarded", "normal"}}}},
                      {"deterministic", flag},
                      {"when", when}},
                     true)},
      {"limit", tables_schema("margin of the limit of large size", Json::object(), false)},
      {"answers",
       tables_schema("statements of papers that the study answers",
                     {{"paper", text_schema("key of the paper")},
                      {"row", number},
                      {"statement", text_schema("as the paper says it, in short")},
                      {"result", text_schema("what is found, in short")},
                      {"run", text_schema("preset or reference run that answers it")},
                      {"with", texts},
                      {"by", text_schema("Markdown in place of the studies' names")}},
                     true)},
      {"sources", tables_schema("papers", Json::object(), false)}};
  Json schema = object_schema(std::move(keys), false);
  schema["$schema"] = kDialect;
  schema["title"] = "Card of a study";
  return schema;
}

}  // namespace

int schema_verb(const Options& options, const Registry& registry) {
  const auto put_schema = [](const Json& schema) { put("{}\n", dump(schema, 2)); };
  if (options.target == "card") {
    put_schema(card_schema());
    return kExitDone;
  }
  if (const auto schema = record_schema(options.target)) {
    put_schema(*schema);
    return kExitDone;
  }
  if (options.second_target.empty()) {
    throw Error(ErrorKind::input,
                "expected the name of a study: `attica schema config gauss-lambda`; `attica list` "
                "shows them");
  }
  put_schema(configuration_schema(find_study(options.second_target, registry)));
  return kExitDone;
}

}  // namespace attica::app

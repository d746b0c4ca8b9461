#include "attica/app/verbs/mcp_server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "attica/app/command/command_line.hpp"
#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/version.hpp"
#include "attica/core/named_arrays.hpp"
#include "attica/core/unique_json.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/study.hpp"

namespace attica::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kTools{
    "list", "claims", "theory", "judge", "plan", "fit", "bound"};
/// Options that write where the asker likes, or that every call has anyway.
constexpr std::array kKeptBack{Takes::out,
                               Takes::figures,
                               Takes::collapse,
                               Takes::drawing,
                               Takes::anew,
                               Takes::edits,
                               Takes::threads,
                               Takes::name,
                               Takes::json,
                               Takes::always};
constexpr int kDeepest = 32;

// Codes of JSON-RPC 2.0.
constexpr int kNoJson = -32700;
constexpr int kNoRequest = -32600;
constexpr int kNoMethod = -32601;
constexpr int kNoParameters = -32602;

struct Refusal {
  int code;
  std::string message;
};

Json response(Json id) { return {{"jsonrpc", "2.0"}, {"id", std::move(id)}}; }

std::string refused(const Json& id, const Refusal& why) {
  Json object = response(id);
  object["error"] = {{"code", why.code}, {"message", why.message}};
  return dump(object);
}

std::string property(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// "STUDY|CONFIG" is target, "THEORYcsv" theory, "[WORD]" word.
std::string property_of(const Target& target) {
  if (target.name.find('|') != std::string::npos) return "target";
  std::string name;
  for (const char c : target.name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

/// Whether an option names what is written or read besides the targets, which are looked at.
bool names_a_file(const Option& option) {
  const std::string value = option.value();
  return value == "FILE" || value == "DIR";
}

std::vector<Option> offered(const Verb& verb) {
  std::vector<Option> options = options_of(verb);
  std::erase_if(options, [](const Option& o) {
    return std::ranges::find(kKeptBack, o.group) != kKeptBack.end() || names_a_file(o);
  });
  return options;
}

Json schema_of(const Option& option) {
  Json one{{"type", option.value().empty() ? Json("boolean") : Json({"string", "number"})}};
  if (!option.words.empty()) one = {{"type", "string"}, {"enum", option.words}};
  if (option.flag() == "--set")
    return {{"type", "object"},
            {"description", "parameters by their dotted keys, such as {\"model.rho\": 0.3}"}};
  if (option.value().starts_with('[')) one["type"] = {"string", "number", "boolean"};
  Json schema = one;
  if (option.repeatable) schema = {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}};
  schema["description"] = option.meaning;
  return schema;
}

Json tool(const Verb& verb) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Target& target : targets_of(verb)) {
    properties[property_of(target)] = {{"type", "string"}, {"description", target.meaning}};
    if (!target.optional()) required.push_back(property_of(target));
  }
  for (const Option& option : offered(verb))
    properties[property(option.long_flag().substr(2))] = schema_of(option);
  return {{"name", verb.name},
          {"description", verb.summary},
          {"inputSchema",
           {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}}}};
}

const Verb& verb_of(const std::string& name) {
  const auto found = std::ranges::find(verbs(), name, &Verb::name);
  if (found == verbs().end() || std::ranges::find(kTools, name) == kTools.end())
    throw Refusal{kNoParameters,
                  fmt::format("no tool '{}': expected one of {}", name, fmt::join(kTools, ", "))};
  return *found;
}

/// A scalar as the command line takes it.
std::string word(const std::string& name, const Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.find('\0') != std::string::npos)
      throw invalid_parameter(name, printable(text), "text without zero bytes");
    return text;
  }
  if (value.is_number()) return value.dump();
  throw invalid_parameter(name, printable(dump(value)), "text or a number");
}

/// TOML for `--set`.
std::string toml_word(const std::string& key, const Json& value, int depth = 0) {
  if (depth > kDeepest) throw invalid_parameter(key, "", "lists that are less deep");
  if (value.is_boolean() || value.is_number()) return value.dump();
  if (value.is_string()) return to_toml(Value(word(key, value)));
  if (value.is_array()) {
    std::string list;
    for (const Json& element : value)
      list += (list.empty() ? "" : ", ") + toml_word(key, element, depth + 1);
    return "[" + list + "]";
  }
  throw invalid_parameter(key, printable(dump(value)), "a number, text, true, false, or a list");
}

bool is_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

McpServer::McpServer(const Registry& registry, const fs::path& folder, Runner run)
    : registry_(registry), folder_(fs::weakly_canonical(folder)), run_(std::move(run)) {}

void McpServer::require_inside(const std::string& what, const fs::path& file) const {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(folder_ / file, none);
  const auto [end, rest] =
      std::mismatch(folder_.begin(), folder_.end(), whole.begin(), whole.end());
  if (none || end != folder_.end()) {
    throw invalid_parameter(
        what, printable(file.string()), fmt::format("a file in '{}'", printable(folder_.string())));
  }
}

void McpServer::require_harmless(const std::string& target, const Json& arguments) const {
  const bool study = registry_.find(target) != nullptr || target == study_of_sides().name;
  std::string file = target;
  if (!study) {
    require_inside("target", target);
    file = (folder_ / target).string();
    if (fs::is_directory(file)) file = (fs::path(file) / "config.resolved.toml").string();
    if (!file.ends_with(".toml")) return;  // a table
  }
  ConfigurationRequest request{.target = file, .preset = {}, .overrides = {}};
  if (arguments.contains("preset")) request.preset = word("preset", arguments["preset"]);
  const Json changes = arguments.value("set", Json::object());
  for (const auto& [key, value] : changes.items()) {
    const std::string assignment = key + "=" + toml_word(key, value);
    request.overrides.push_back({.shown = "set " + assignment, .assignment = assignment});
  }
  const CheckedConfiguration checked = read_configuration(request, registry_);
  if (const std::string key = sources::command_key(checked.values); !key.empty()) {
    throw Error(ErrorKind::input,
                "the configuration names a command, which tools do not start: read it, then "
                "use `attica` on a command line",
                key);
  }
  for (const Parameter& p : all_parameters(*checked.study)) {
    if (p.type != ParameterType::file || !checked.values.has(p.key)) continue;
    const std::vector<std::string> files =
        p.list ? checked.values.texts(p.key) : std::vector{checked.values.text(p.key)};
    for (const std::string& named : files) {
      const std::string name = array_address(named).file;
      require_inside(p.key, study ? fs::path(name) : fs::path(file).parent_path() / name);
    }
  }
}

std::vector<std::string> McpServer::command(const Json& parameters) const {
  if (!parameters.is_object() || !parameters.contains("name") || !parameters["name"].is_string())
    throw Refusal{kNoParameters, "expected the name of a tool"};
  const Verb& verb = verb_of(parameters["name"]);
  const Json arguments = parameters.value("arguments", Json::object());
  if (!arguments.is_object()) throw Refusal{kNoParameters, "arguments: expected an object"};

  std::vector<std::string> words{verb.name, "--json"};
  std::vector<std::string> targets;
  std::vector<std::string> known;
  for (const Target& target : targets_of(verb)) {
    const std::string name = property_of(target);
    known.push_back(name);
    if (!arguments.contains(name)) {
      if (target.optional()) continue;
      throw Error(ErrorKind::input, "expected " + target.meaning, name);
    }
    if (!arguments[name].is_string())
      throw invalid_parameter(name, printable(dump(arguments[name])), "text");
    targets.push_back(word(name, arguments[name]));
    if (target.name.find("csv") != std::string::npos) require_inside(name, targets.back());
  }
  for (const Option& option : offered(verb)) {
    const std::string flag = option.long_flag();
    const std::string name = property(flag.substr(2));
    known.push_back(name);
    if (!arguments.contains(name)) continue;
    const Json& value = arguments[name];
    if (name == "set") {
      if (!value.is_object()) throw invalid_parameter(name, printable(dump(value)), "an object");
      for (const auto& [key, element] : value.items())
        words.push_back(flag + "=" + key + "=" + toml_word(key, element));
    } else if (value.is_boolean()) {
      if (!option.value().empty() && !option.value().starts_with('['))
        throw invalid_parameter(name, dump(value), option.meaning);
      if (value.get<bool>()) words.push_back(flag);
    } else if (option.value().empty()) {
      throw invalid_parameter(name, printable(dump(value)), "true or false");
    } else if (value.is_array() && option.repeatable) {
      for (const Json& element : value) words.push_back(flag + "=" + word(name, element));
    } else {
      words.push_back(flag + "=" + word(name, value));
    }
  }
  for (const auto& [name, value] : arguments.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string near = nearest(name, known);
    throw Error(ErrorKind::input,
                fmt::format("not an argument of '{}'{}",
                            verb.name,
                            near.empty() ? "" : "; did you mean '" + near + "'?"),
                printable(name));
  }
  const std::vector<Target> all = targets_of(verb);
  if (!all.empty() && property_of(all.front()) == "target")
    require_harmless(targets.front(), arguments);
  words.emplace_back("--");
  words.insert(words.end(), targets.begin(), targets.end());
  return words;
}

Json McpServer::call(const Json& parameters) const {
  const auto text = [](const std::string& what, bool failed) {
    return Json{{"content", {{{"type", "text"}, {"text", what}}}}, {"isError", failed}};
  };
  try {
    const ChildEnd end = run_(command(parameters));
    const Json output = Json::parse(end.output, nullptr, false);
    // Replicates that failed are a finding, too: the record names them.
    const bool done = end.code == kExitDone || end.code == kExitDisagree ||
                      end.code == kExitInconclusive ||
                      (end.code == kExitNumerical && output.is_object());
    if (!done)
      return text(end.talk.empty() ? fmt::format("exit code {}", end.code) : end.talk, true);
    Json object = text(end.output, false);
    // How a table was read and the like: what a reader of the answer has to know.
    if (!end.talk.empty()) object["content"].push_back({{"type", "text"}, {"text", end.talk}});
    if (output.is_object()) object["structuredContent"] = output;
    if (output.is_array()) object["structuredContent"] = {{"elements", output}};
    return object;
  } catch (const Error& error) {
    return text(printable(error.what()), true);
  }
}

Json McpServer::result(const std::string& method, const Json& parameters) const {
  if (method == "initialize") {
    return {{"protocolVersion", "2025-06-18"},
            {"capabilities", {{"tools", Json::object()}}},
            {"serverInfo", {{"name", "attica"}, {"version", kVersion}}},
            {"instructions",
             "Says whether a theory agrees with a simulation within a declared margin. Files are "
             "named relative to the folder that the server was started in."}};
  }
  if (method == "ping") return Json::object();
  if (method == "tools/list") {
    Json tools = Json::array();
    for (const std::string_view name : kTools) tools.push_back(tool(verb_of(std::string(name))));
    return {{"tools", std::move(tools)}};
  }
  if (method == "tools/call") return call(parameters);
  throw Refusal{kNoMethod, fmt::format("no method '{}'", printable(method))};
}

std::optional<std::string> McpServer::answer(std::string_view message) const {
  Json id;
  try {
    if (is_deep(message)) return refused(id, {kNoRequest, "nested too deeply"});
    std::string twice;
    const Json request = parse_unique_json<Json>(message, twice);
    if (request.is_discarded()) return refused(id, {kNoJson, "this is no JSON"});
    if (!twice.empty())
      return refused(id,
                     {kNoRequest, fmt::format("key '{}' twice in an object", printable(twice))});
    if (const std::string_view tiny = tiny_number_of_json(message); !tiny.empty())
      return refused(
          id, {kNoRequest, fmt::format("{}: a number that no double holds", printable(tiny))});
    if (!request.is_object() || !request.contains("method") || !request["method"].is_string() ||
        request.value("jsonrpc", Json()) != "2.0") {
      return refused(id, {kNoRequest, "expected a request of JSON-RPC 2.0"});
    }
    if (!request.contains("id")) return std::nullopt;
    if (!request["id"].is_string() && !request["id"].is_number_integer())
      return refused(id, {kNoRequest, "id: expected text or an integer"});
    id = request["id"];
    Json object = response(id);
    object["result"] = result(request["method"], request.value("params", Json::object()));
    return dump(object);
  } catch (const Refusal& why) {
    return refused(id, why);
  } catch (const std::exception& error) {
    return refused(id, {kNoParameters, printable(error.what())});
  }
}

}  // namespace attica::app

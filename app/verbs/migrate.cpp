/// @file
/// @brief `attica migrate`: a configuration with the names of today in place of older ones.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/studies/toml_reader.hpp"

namespace attica::app {
namespace {

/// A name in a document that is another today.
struct OldName {
  toml::source_position at;
  std::string old;
  std::string now;
};

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

/// What a key of a section is called today; empty: the same.
std::string name_today(const Study& study, const std::string& section, const std::string& name) {
  for (const auto& [old, now] : study.renamed) {
    if (old == section + "." + name) return last_part(now);
    // A scalar that [sweep] takes over stands there by its name alone.
    if (section == "sweep" && last_part(old) == name && !old.starts_with("sweep."))
      return last_part(now);
  }
  return {};
}

std::vector<OldName> old_names(const toml::table& document, const Study& study) {
  std::vector<OldName> found;
  for (auto&& [section, node] : document) {
    const toml::table* table = node.as_table();
    if (table == nullptr) continue;
    for (auto&& [key, value] : *table) {
      const std::string name(key.str());
      const std::string now = name_today(study, std::string(section.str()), name);
      if (!now.empty()) found.push_back({key.source().begin, name, now});
    }
  }
  std::sort(found.begin(), found.end(), [](const OldName& a, const OldName& b) {
    return toml_io::before(a.at, b.at);
  });
  return found;
}

}  // namespace

int migrate_verb(const Options& options, const Registry& registry) {
  const std::string& file = options.target;
  const std::optional<std::string> text = read_bytes(file);
  if (!text)
    throw Error(ErrorKind::input, fmt::format("cannot read configuration file '{}'", file));
  const toml::table document = toml_io::parsed(*text, file, true);
  const toml::node* named = document.get("study");
  if (named == nullptr) named = document.get("experiment");
  std::vector<OldName> names;
  // A file that names no study brings its own sides, whose keys were never renamed.
  if (named != nullptr && named->is_string())
    names = old_names(document, find_study(named->as_string()->get(), registry));
  std::vector<std::string> lines;
  std::istringstream rest(*text);
  for (std::string line; std::getline(rest, line);) lines.push_back(line);
  // From behind: what stands before a name in its line keeps its column.
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    std::string& line = lines.at(name->at.line - 1);
    const std::size_t at = line.find(name->old, name->at.column - 1);
    if (at == std::string::npos) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: error: '{}' is now '{}'; the key is written in a way that "
                              "`attica migrate` does not rewrite",
                              toml_io::position(file, name->at),
                              name->old,
                              name->now));
    }
    line.replace(at, name->old.size(), name->now);
  }
  if (names.empty()) {
    put("{}: nothing to change\n", file);
    return kExitDone;
  }
  std::string changed;
  for (const std::string& line : lines) changed += line + "\n";
  write_atomically(file, changed);
  for (const OldName& name : names)
    put("{}: {} is now {}\n", toml_io::position(file, name.at), name.old, name.now);
  return kExitDone;
}

}  // namespace attica::app

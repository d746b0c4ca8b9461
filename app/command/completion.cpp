/// @file
/// @brief `attica completion`: verbs, options, their values and the studies, for bash, zsh and
/// fish.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "attica/app/command/command_line.hpp"
#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"

namespace attica::app {
namespace {

/// What may follow a verb.
std::vector<std::string> words_after(const Verb& verb, const Registry& registry) {
  std::vector<std::string> words{"--help"};
  for (const Option& option : options_of(verb)) words.push_back(option.long_flag());
  for (const Target& target : targets_of(verb)) {
    words.insert(words.end(), target.words.begin(), target.words.end());
    if (!target.takes_studies()) continue;
    for (std::size_t k = 0; k < registry.size(); ++k) words.emplace_back(registry.name(k));
  }
  return words;
}

/// Presets and keys of every study, as cases of its name: what may follow --preset and --set.
std::string cases_of_studies(const Registry& registry) {
  std::string cases;
  for (const Study& study : registry) {
    std::vector<std::string> presets;
    for (const Preset& preset : study.presets) presets.push_back(preset.name);
    std::vector<std::string> keys;
    for (const Parameter& p : all_parameters(study)) keys.push_back(p.key + "=");
    cases += fmt::format("    {}) presets='{}' keys='{}' ;;\n",
                         study.name,
                         fmt::join(presets, " "),
                         fmt::join(keys, " "));
  }
  return cases;
}

/// In single quotes, as fish reads them.
std::string quoted_for_fish(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// What fish asks for the words behind --preset or --set.
std::string fish_function(const std::string& name,
                          const Registry& registry,
                          const std::function<std::vector<std::string>(const Study&)>& words) {
  std::string text = fmt::format(
      "function {}\n"
      "  set -l words (commandline -opc)\n"
      "  set -l study $words[3]\n"
      "  if contains -- \"$study\" show keys; set study $words[4]; end\n"
      "  switch \"$study\"\n",
      name);
  for (const Study& study : registry) {
    const std::vector<std::string> all = words(study);
    if (!all.empty())
      text +=
          fmt::format("    case {}\n      printf '%s\\n' {}\n", study.name, fmt::join(all, " "));
  }
  return text + "  end\nend\n";
}

int fish_completion(const Registry& registry) {
  put("{}", fish_function("__attica_presets", registry, [](const Study& study) {
        std::vector<std::string> names;
        for (const Preset& preset : study.presets) names.push_back(preset.name);
        return names;
      }));
  put("{}", fish_function("__attica_keys", registry, [](const Study& study) {
        std::vector<std::string> keys;
        for (const Parameter& p : all_parameters(study)) keys.push_back(p.key + "=");
        return keys;
      }));
  put("complete -c attica -n __fish_use_subcommand -f -l help -l version\n");
  for (const Verb& verb : verbs()) {
    const std::string after =
        fmt::format("complete -c attica -n '__fish_seen_subcommand_from {}'", verb.name);
    put("complete -c attica -n __fish_use_subcommand -f -a {} -d {}\n",
        verb.name,
        quoted_for_fish(verb.summary));
    put("{} -l help -d 'what it does'\n", after);
    for (const Option& option : options_of(verb)) {
      std::string values;
      if (option.long_flag() == "--preset") values = " -x -a '(__attica_presets)'";
      if (option.long_flag() == "--set") values = " -x -a '(__attica_keys)'";
      if (!option.words.empty())
        values = fmt::format(" -x -a {}",
                             quoted_for_fish(fmt::format("{}", fmt::join(option.words, " "))));
      if (values.empty() && !option.value().empty()) values = " -r";
      put("{} -l {}{} -d {}\n",
          after,
          option.long_flag().substr(2),
          values,
          quoted_for_fish(option.meaning));
    }
    std::vector<std::string> words;
    for (const Target& target : targets_of(verb)) {
      words.insert(words.end(), target.words.begin(), target.words.end());
      if (!target.takes_studies()) continue;
      for (std::size_t k = 0; k < registry.size(); ++k) words.emplace_back(registry.name(k));
    }
    if (!words.empty()) put("{} -a '{}'\n", after, fmt::join(words, " "));
  }
  return kExitDone;
}

}  // namespace

int completion_verb(const Options& options, const Registry& registry) {
  if (options.target == "fish") return fish_completion(registry);
  std::vector<std::string> names;
  std::set<std::string> values;  // cases of the options that take one of a few words
  for (const Verb& verb : verbs()) {
    names.push_back(verb.name);
    for (const Option& option : options_of(verb)) {
      if (option.words.empty()) continue;
      std::string flags = option.flag();
      std::replace(flags.begin(), flags.end(), ',', '|');
      values.insert(fmt::format("    {}) words='{}' ;;\n", flags, fmt::join(option.words, " ")));
    }
  }
  // zsh runs bash's completion through its own emulation.
  if (options.target == "zsh") put("autoload -U +X bashcompinit && bashcompinit\n");
  put("_attica() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} words=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\")); return\n"
      "  fi\n"
      "  local presets= keys= study=${{COMP_WORDS[2]}}\n"
      "  case $study in show|keys) study=${{COMP_WORDS[3]}} ;;\n"
      "    *.toml) study=$(sed -n 's/^ *study *= *\"\\(.*\\)\".*/\\1/p' \"$study\" 2>/dev/null) ;; "
      "esac\n"
      "  case $study in\n{}  esac\n"
      "  case ${{COMP_WORDS[COMP_CWORD-1]}} in\n{}    --preset) words=$presets ;;\n"
      "    --set) words=$keys; compopt -o nospace 2>/dev/null ;;\n  esac\n"
      "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); return; fi\n"
      "  case $verb in\n",
      fmt::join(names, " "),
      cases_of_studies(registry),
      fmt::join(values, ""));
  for (const Verb& verb : verbs())
    put("    {}) words='{}' ;;\n", verb.name, fmt::join(words_after(verb, registry), " "));
  put("  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
      "}}\n"
      "complete -o filenames -F _attica attica\n");
  return kExitDone;
}

}  // namespace attica::app

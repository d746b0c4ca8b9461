/// @file
/// @brief What studies and configurations hold: list, show, init, config, cite.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/run_folder.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/version.hpp"
#include "attica/sources/study.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

std::string type_text(const Parameter& p) {
  const std::string words = fmt::format("{}", fmt::join(p.choices, " | "));
  // Of an integer they stand for a number, next to others.
  if (!p.choices.empty() && p.type != ParameterType::integer) return words;
  constexpr std::array kNames{"real", "integer", "true | false", "text", "file"};
  const std::string type =
      kNames.at(static_cast<std::size_t>(p.type)) + (p.choices.empty() ? "" : " | " + words);
  return p.list ? "list of " + type : type;
}

std::string default_text(const Parameter& p) {
  constexpr std::size_t kLongest = 60;
  if (!p.fallback) return "unset";
  const std::string text = to_toml(*p.fallback);
  return text.size() <= kLongest ? text
                                 : fmt::format("{} values", std::get<List>(*p.fallback).size());
}

bool has_range(const Parameter& p) {
  return std::isfinite(p.range.low) || std::isfinite(p.range.high);
}

/// A line or two about every parameter.
std::string parameter_text(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters) {
    text += fmt::format("  {:<22} {}\n  {:<22}   {}; default {}{}\n",
                        p.key,
                        p.meaning,
                        "",
                        type_text(p),
                        default_text(p),
                        has_range(p) ? "; " + p.range.describe(p.name()) : "");
  }
  return text;
}

Json parameter_json(const std::vector<Parameter>& parameters) {
  Json list = Json::array();
  for (const Parameter& p : parameters) {
    Json entry{{"key", p.key}, {"type", type_text(p)}, {"meaning", p.meaning}};
    if (p.fallback) entry["default"] = to_json(*p.fallback);
    if (has_range(p)) entry["range"] = p.range.describe(p.name());
    list.push_back(std::move(entry));
  }
  return list;
}

/// A study, and who owns it if a configuration defines it.
struct Shown {
  std::shared_ptr<const Study> owner;
  const Study* study = nullptr;
};

/// The study a target names: a study, a configuration or a run folder.
Shown shown_study(const std::string& target, const Registry& registry) {
  const fs::path recorded = fs::path(target) / "config.resolved.toml";
  const bool is_run = fs::exists(fs::path(target) / "run.json");
  if (!is_run && !fs::path(target).has_extension()) return {{}, &find_study(target, registry)};
  CheckedConfiguration c = read_configuration(
      {.target = is_run ? recorded.string() : target, .preset = {}, .overrides = {}}, registry);
  return {c.defined, c.study};
}

/// The family that a study belongs to: what its name begins with. A few names are older than their
/// families.
std::string family(const std::string& study) {
  const std::string word = study.substr(0, study.find('-'));
  if (word == "body4") return "potts";
  if (study.starts_with("tree-filtered-")) return "trees";
  if (word == "tree" || word == "deep") return "joma";
  if (word == "token" || word == "positional") return "icl";
  return word;
}

/// A title whose capitals styles leave alone: words with a capital behind their first letter in
/// braces.
std::string bibtex_title(const std::string& title) {
  std::string text;
  for (std::size_t at = 0; at < title.size();) {
    const std::size_t end = std::min(title.find(' ', at), title.size());
    const std::string word = title.substr(at, end - at);
    const bool keep = std::any_of(word.begin() + (word.empty() ? 0 : 1), word.end(), [](char c) {
      return c >= 'A' && c <= 'Z';
    });
    text += (at == 0 ? "" : " ") + (keep ? "{" + word + "}" : word);
    at = end + 1;
  }
  return text;
}

std::string bibtex(const Source& source) {
  std::string authors;
  for (const char c : source.authors) {
    if (c == ',') {
      authors += " and";
    } else {
      authors += c;
    }
  }
  // What of the paper is used is a comment: a note would be printed in the bibliography.
  std::string text = fmt::format("% {}: {}\n@misc{{{},\n  title = {{{}}},\n",
                                 source.key,
                                 source.used,
                                 source.key,
                                 bibtex_title(source.title));
  text += fmt::format("  author = {{{}}},\n  year = {{{}}}", authors, source.year);
  if (!source.arxiv.empty()) {
    text += fmt::format(
        ",\n  eprint = {{{0}}},\n  archivePrefix = {{arXiv}},\n  doi = {{10.48550/arXiv.{0}}},\n"
        "  url = {{https://arxiv.org/abs/{0}}}",
        source.arxiv);
  }
  return text + "\n}\n";
}

}  // namespace

namespace {

/// A row of `attica list`.
struct Listed {
  std::string name;
  std::string question;
};

}  // namespace

int list_verb(const Options& options, const Registry& registry) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    return text;
  };
  const std::string word = lower(options.target);
  std::vector<Listed> shown;
  for (std::size_t k = 0; k < registry.size(); ++k) {
    const Listed study{std::string(registry.name(k)), std::string(registry.question(k))};
    for (const std::string& text : {family(study.name), study.name, study.question}) {
      if (lower(text).find(word) == std::string::npos) continue;
      shown.push_back(study);
      break;
    }
  }
  if (shown.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("no study has '{}' in its family, name or question; `attica list` "
                            "names them all",
                            options.target));
  }
  if (options.json) {
    Json list = Json::array();
    for (const Listed& study : shown) {
      list.push_back(
          {{"name", study.name}, {"family", family(study.name)}, {"question", study.question}});
    }
    print("study", list);
    return kExitDone;
  }
  for (const Listed& study : shown)
    put("{:<24} {:<8} {}\n", study.name, family(study.name), study.question);
  if (!absent_families().empty()) say(left_out() + "\n");
  return kExitDone;
}

int show_verb(const Options& options, const Registry& registry) {
  const Shown target = shown_study(options.target, registry);
  const Study& study = *target.study;
  if (options.json) {
    Json object{{"name", study.name},
                {"question", study.question},
                {"approximation", study.approximation},
                {"not_compared", study.not_compared},
                {"parameters", parameter_json(all_parameters(study))},
                {"series", Json::array()},
                {"presets", Json::array()},
                {"sources", Json::array()}};
    for (const SeriesInfo& s : study.series) {
      object["series"].push_back({{"name", s.name}, {"symbol", s.symbol}, {"meaning", s.meaning}});
    }
    for (const Preset& p : study.presets) {
      object["presets"].push_back({{"name", p.name}, {"meaning", p.meaning}});
    }
    for (const Source& s : study.sources) {
      object["sources"].push_back({{"authors", s.authors},
                                   {"year", s.year},
                                   {"title", s.title},
                                   {"arxiv", s.arxiv},
                                   {"used", s.used}});
    }
    print("study", object);
    return kExitDone;
  }
  put("{}: {}\n\n{}{}\n\nParameters\n{}",
      study.name,
      study.question,
      approximation_sentence(study.approximation),
      study.not_compared.empty() ? "" : "\nNot compared: " + study.not_compared + ".",
      parameter_text(all_parameters(study)));
  put("\nAny scalar of [model] or [sim] may be swept: name it in [sweep] instead.\n\nSeries\n");
  for (const SeriesInfo& s : study.series) put("  {:<22} {}: {}\n", s.name, s.symbol, s.meaning);
  put("\nPresets\n");
  for (const Preset& p : study.presets) put("  {:<22} {}\n", p.name, p.meaning);
  put("\nSources\n");
  for (const Source& s : study.sources) {
    put("  {} ({}). {}. arXiv:{} ({})\n", s.authors, s.year, s.title, s.arxiv, s.used);
  }
  return kExitDone;
}

int init_verb(const Options& options, const Registry& registry) {
  put("{}", configuration_template(find_study(options.target, registry), options.preset));
  return kExitDone;
}

int config_verb(const Options& options, const Registry& registry) {
  Options inner = options;
  inner.target = options.second_target;
  if (options.target == "show") {
    const Work work = requested_work(inner, registry);
    put("{}",
        options.json ? dump(parameters_object(work.configuration), 2) + "\n"
                     : to_toml(work.configuration));
  } else {
    const std::vector<Parameter> parameters =
        all_parameters(*shown_study(inner.target, registry).study);
    put("{}",
        options.json ? parameter_json(parameters).dump(2) + "\n" : parameter_text(parameters));
  }
  return kExitDone;
}

int cite_verb(const Options& options, const Registry& registry) {
  for (const Source& source : shown_study(options.target, registry).study->sources)
    put("{}\n", bibtex(source));
  put("@software{{attica,\n  title = {{attica: attention theory in {{C++}}}},\n  author = {{{{the "
      "attica authors}}}},\n"
      "  version = {{{}}},\n  year = {{2026}}\n}}\n",
      kVersion);
  return kExitDone;
}

}  // namespace attica::app

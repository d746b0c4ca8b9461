/// @file
/// @brief `attica claims`: the statements of papers, what answers each and with which verdict.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/figures/paper_figures.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/core/error.hpp"
#include "attica/plots/html.hpp"
#include "attica/studies/answers.hpp"

namespace attica::app {

/// docs/notes/resolutions.md, embedded by the build.
extern const std::string_view resolutions_md;

namespace {

/// The cells of a row of a Markdown table.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  if (!line.starts_with("| ")) return cells;
  line.remove_prefix(2);
  for (auto end = line.find(" |"); end != line.npos; end = line.find(" |")) {
    std::string_view cell = line.substr(0, end);
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    cells.emplace_back(cell);
    line.remove_prefix(end + 2);
    if (line.starts_with(' ')) line.remove_prefix(1);
  }
  return cells;
}

/// Study -> the smallest and the largest error that its quick settings would detect, as recorded.
std::map<std::string, std::string> recorded_resolutions() {
  std::map<std::string, std::string> all;
  std::string_view text = resolutions_md;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> cells = cells_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (cells.size() < 3 || cells[0].size() < 3 || cells[0].front() != '`') continue;
    if (!cells[2].empty()) all[cells[0].substr(1, cells[0].size() - 2)] = cells[2];
  }
  return all;
}

/// A statement with its verdict and command.
struct Claim {
  const Answer* answer = nullptr;
  std::string verdict = {};     ///< that is expected; empty: no study answers it
  std::string resolution = {};  ///< recorded; empty: none was
  std::string command = {};
};

std::string expected_verdict(const Study& study, const std::string& run) {
  const auto reference = std::ranges::find(study.reference_runs, run, &ReferenceRun::name);
  if (reference != study.reference_runs.end()) return std::string(describe(reference->expected));
  return std::string(describe(quick_verdict(study)));
}

std::string command_of(const Study& study, const std::string& run) {
  if (run.empty()) return "attica run " + study.name;
  const auto reference = std::ranges::find(study.reference_runs, run, &ReferenceRun::name);
  if (reference == study.reference_runs.end())
    return fmt::format("attica run {} --preset {}", study.name, run);
  std::string command = "attica run " + study.name;
  if (!reference->preset.empty()) command += " --preset " + reference->preset;
  for (const auto& [key, value] : reference->values)
    command += fmt::format(" --set '{}={}'", key, to_toml(value));
  return command;
}

std::vector<Claim> all_claims(const Registry& registry) {
  const std::map<std::string, std::string> resolutions = recorded_resolutions();
  std::vector<Claim> claims;
  for (const Answer& answer : answers()) {
    Claim claim{.answer = &answer};
    const Study* study = registry.find(answer.study);
    if (study == nullptr) {
      if (!answer.study.empty()) continue;  // of a family that was not built
    } else {
      claim.verdict = expected_verdict(*study, answer.run);
      claim.command = command_of(*study, answer.run);
      const auto resolution = resolutions.find(answer.study);
      if (resolution != resolutions.end() && answer.run.empty())
        claim.resolution = resolution->second;
    }
    claims.push_back(std::move(claim));
  }
  return claims;
}

Json to_json(const Claim& claim) {
  const Answer& a = *claim.answer;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json studies = Json::array();
  if (!a.study.empty()) studies.push_back(a.study);
  for (const std::string& name : a.with) studies.push_back(name);
  return {{"statement", a.statement},
          {"paper",
           {{"key", a.paper.key},
            {"arxiv", a.paper.arxiv},
            {"authors", a.paper.authors},
            {"year", a.paper.year},
            {"title", a.paper.title}}},
          {"section", a.section},
          {"row", a.row},
          {"card", or_null(a.card)},
          {"studies", std::move(studies)},
          {"run", or_null(a.run)},
          {"by", or_null(a.by)},
          {"result", a.result},
          {"verdict", or_null(claim.verdict)},
          {"resolution", or_null(claim.resolution)},
          {"command", or_null(claim.command)}};
}

/// The verdict that is expected, or why there is none: a row without a study may have its answer
/// on a page.
std::string_view expectation(const Claim& claim) {
  if (!claim.verdict.empty()) return claim.verdict;
  return claim.answer->result.find("**not ") != std::string::npos ? "not offered" : "see its page";
}

}  // namespace

int claims_verb(const Options& options, const Registry& registry) {
  std::vector<Claim> shown;
  const std::string word = lower_case(options.target);
  for (Claim& claim : all_claims(registry)) {
    const Answer& a = *claim.answer;
    const bool asked = std::ranges::any_of(
        std::vector<std::string>{
            a.statement, a.study, a.section, a.paper.arxiv, a.paper.authors, a.result},
        [&](const std::string& text) { return lower_case(text).find(word) != std::string::npos; });
    if (asked) shown.push_back(std::move(claim));
  }
  if (shown.empty()) {
    throw Error(
        ErrorKind::input,
        fmt::format("no statement has '{}' in it; `attica claims` prints all", options.target));
  }
  if (options.json) {
    Json list = Json::array();
    for (const Claim& claim : shown) list.push_back(to_json(claim));
    print("claim", list);
    return kExitDone;
  }
  std::string paper;
  put("{:<24} {:<13} {:<18} {}\n", "study", "expected", "detectable error", "statement");
  for (const Claim& claim : shown) {
    const Answer& a = *claim.answer;
    if (a.paper.key != paper) {
      paper = a.paper.key;
      put("\n{} {}{}\n",
          surnames(a.paper.authors),
          a.paper.year,
          a.paper.arxiv.empty() ? "" : ", arXiv:" + a.paper.arxiv);
    }
    put("{:<24} {:<13} {:<18} {}\n",
        a.study.empty() ? "-" : a.study,
        expectation(claim),
        claim.resolution.empty() ? "-" : claim.resolution,
        a.statement);
  }
  put("\n`attica claims --json` has results and commands; `attica run STUDY` makes the verdict.\n");
  return kExitDone;
}

}  // namespace attica::app

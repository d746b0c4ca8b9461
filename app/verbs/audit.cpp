/// @file
/// @brief audit: tables of publications, theory and simulation, judged again, each against the
/// verdict that its audit.toml expects.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/json.hpp"
#include "attica/app/run/run.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/core/error.hpp"
#include "attica/sources/keys.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kAuditFile = "audit.toml";

/// An entry of the folder and what came of it.
struct Audit {
  std::string name;  ///< of its folder
  std::string file;
  std::map<std::string, std::string> told;  ///< of [audit]
  Work work;
  RunEnd end = {};

  std::string verdict() const { return std::string(describe(end.verdict->verdict)); }
  bool as_expected() const { return verdict() == told.at("expected"); }
  /// Of AGREE, the smallest relative error of the theory that would have been detected; else null.
  Json resolution() const {
    if (end.verdict->verdict != Verdict::agree) return nullptr;
    return to_json(*end.verdict).value("coarsest_resolution", Json(nullptr));
  }
};

/// The entries' files, by the names of their folders; a folder without such a file is told of,
/// since it may be meant as an entry.
std::vector<fs::path> audit_files(const Options& options) {
  const std::string& folder = options.target;
  const fs::path root(folder);
  if (!fs::is_directory(root))
    throw Error(ErrorKind::input, fmt::format("'{}' is no folder; expected one of audits", folder));
  if (fs::is_regular_file(root / kAuditFile)) return {root / kAuditFile};
  std::set<fs::path> files;
  std::set<std::string> others;
  const fs::path runs = fs::weakly_canonical(options.out.value_or("runs"));
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (fs::is_regular_file(entry.path() / kAuditFile)) {
      files.insert(entry.path() / kAuditFile);
    } else if (entry.is_directory() && !entry.path().filename().string().starts_with('.') &&
               fs::weakly_canonical(entry.path()) != runs) {
      others.insert(entry.path().string());
    }
  }
  if (files.empty()) {
    throw Error(
        ErrorKind::input,
        fmt::format(
            "'{0}' has no {1}, nor has a folder in it; expected {0}/NAME/{1}", folder, kAuditFile));
  }
  for (const std::string& other : others)
    warn(options.quiet, {fmt::format("'{}' has no {} and is left out", other, kAuditFile)});
  return {files.begin(), files.end()};
}

/// What an entry lacks or must not have, at the place of [audit] as far as that is known.
void require_audit(const CheckedConfiguration& c, const std::string& file) {
  const auto place = [&](const std::string& key) {
    const auto at = c.locations.find(key);
    return at == c.locations.end() ? fmt::format("{}:1:1", file) : at->second;
  };
  std::string section = fmt::format("{}:1:1", file);
  for (const char* key :
       {"audit.finding", "audit.expected", "audit.used", "audit.source", "audit.claim"}) {
    if (c.locations.contains(key)) section = place(key);
  }
  std::vector<std::string> mistakes;
  const auto refuse = [&](const std::string& where, const std::string& what) {
    mistakes.push_back(fmt::format("{}: error: {}", where, what));
  };
  for (const auto& [key, meaning] : std::initializer_list<std::pair<const char*, const char*>>{
           {"claim", "what the publication says, in a sentence"},
           {"source", "authors, year, arXiv identifier or address"},
           {"used", "figure, curve, file or columns that the tables hold"},
           {"expected", "AGREE, DISAGREE or INCONCLUSIVE"}}) {
    const std::string full = fmt::format("audit.{}", key);
    if (!c.values.has(full)) {
      refuse(section, fmt::format("[audit] has no '{}'; expected {}", key, meaning));
    } else if (c.values.text(full).find_first_not_of(" \t\n") == std::string::npos) {
      refuse(place(full), fmt::format("'{}' of [audit] is empty; expected {}", key, meaning));
    }
  }
  // A folder from elsewhere starts no programs.
  for (const std::string key : sources::kCommandKeys) {
    if (c.values.declares(key) && c.values.has(key))
      refuse(place(key), "an audit runs no commands; expected a table, file = \"...\"");
  }
  if (!c.values.has("simulation.file"))
    refuse(section, "no [simulation] file; expected the table of the published simulation");
  if (sources::names_in(c.values, "agreement").empty())
    refuse(section, "no margin; expected [agreement.SERIES] with relative or absolute");
  if (!mistakes.empty())
    throw Error(ErrorKind::input, fmt::format("{}", fmt::join(mistakes, "\n")));
}

/// All entries, checked before the first is judged; their mistakes all at once.
std::vector<Audit> audits_of(const Options& options, const Registry& registry) {
  std::vector<Audit> all;
  std::vector<std::string> mistakes;
  for (const fs::path& file : audit_files(options)) {
    try {
      CheckedConfiguration c =
          read_configuration({.target = file.string(), .preset = {}, .overrides = {}}, registry);
      if (c.study->defined_by == nullptr) {
        throw Error(ErrorKind::input,
                    fmt::format("{}:1:1: error: names study '{}'; expected [theory] and "
                                "[simulation], and no key 'study'",
                                file.string(),
                                c.study->name));
      }
      require_audit(c, file.string());
      Audit audit{.name = fs::canonical(file).parent_path().filename().string(),
                  .file = file.string(),
                  .told = {{"finding", ""}},
                  .work = {}};
      for (const std::string& key : sources::names_in(c.values, "audit"))
        audit.told[key] = c.values.text("audit." + key);
      audit.work = prepare(std::move(c));
      require_simulable(audit.work);
      all.push_back(std::move(audit));
    } catch (const Error& error) {
      mistakes.emplace_back(error.what());
    }
  }
  if (!mistakes.empty())
    throw Error(ErrorKind::input, fmt::format("{}", fmt::join(mistakes, "\n")));
  return all;
}

Json audit_object(const Audit& a, const std::vector<std::string>& remarks) {
  return {{"name", a.name},
          {"file", a.file},
          {"claim", a.told.at("claim")},
          {"source", a.told.at("source")},
          {"used", a.told.at("used")},
          {"verdict", a.verdict()},
          {"expected", a.told.at("expected")},
          {"as_expected", a.as_expected()},
          {"resolution", a.resolution()},
          {"margin", a.end.verdict->margin()},
          {"summary", summary(*a.end.verdict)},
          {"finding", a.told.at("finding")},
          {"remarks", remarks},
          {"run", a.end.folder.string()}};
}

void put_audit(const Audit& a, const std::vector<std::string>& remarks) {
  constexpr double kPercent = 100;
  const Json resolution = a.resolution();
  put("{:<13} {:<13} {:>10}  {}\n",
      a.verdict(),
      a.told.at("expected"),
      resolution.is_number() ? fmt::format("{:.2g} %", kPercent * resolution.get<double>()) : "-",
      a.name);
  if (!a.as_expected()) put("  not as expected: {}\n", summary(*a.end.verdict));
  for (const std::string& r : remarks) put("  {}\n", r);
  std::fflush(stdout);
}

}  // namespace

int audit_verb(const Options& options, const Registry& registry) {
  std::vector<Audit> all = audits_of(options, registry);
  Json entries = Json::array();
  std::ptrdiff_t good = 0;
  ExitOnSignal signals;
  if (!options.json)
    put("{:<13} {:<13} {:>10}  {}\n", "verdict", "expected", "resolution", "audit");
  for (Audit& a : all) {
    std::vector<std::string> remarks = a.work.warnings;
    RunRequest request = run_request(options);
    request.name = a.name;
    request.quiet = true;
    request.draw = false;
    // The hash of a run is that of its tables: the same question has the same answer.
    if (!options.force) request.mode = FolderMode::resume;
    a.end = carry_out(std::move(a.work), request, signals);
    if (!a.end.verdict) return a.end.exit_code;
    if (a.as_expected()) ++good;
    if (!a.end.verdict->without_rule.empty()) {
      remarks.push_back(fmt::format("not compared, as no [agreement.NAME] names them: series {}",
                                    fmt::join(a.end.verdict->without_rule, ", ")));
    }
    if (options.json) {
      entries.push_back(audit_object(a, remarks));
    } else {
      put_audit(a, remarks);
    }
  }
  const auto count = static_cast<std::ptrdiff_t>(all.size());
  if (options.json) {
    print("audit", {{"audits", count}, {"as_expected", good}, {"entries", std::move(entries)}});
  } else {
    put("{} of {} as expected; a verdict is a finding about the table, not about the theorem\n",
        good,
        count);
  }
  return good == count ? kExitDone : kExitDisagree;
}

}  // namespace attica::app

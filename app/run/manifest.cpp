#include "attica/app/run/manifest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"
#include "attica/core/error.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kManifest = "manifest.json";
/// What check, plot, report, fit, compare and merge read.
constexpr std::array kSealed = {"run.json",
                                "config.toml",
                                "config.resolved.toml",
                                "provenance.json",
                                "theory.json",
                                "replicates.csv",
                                "results.csv",
                                "check.json"};

std::string without_carriage_returns(const std::string& content) {
  std::string text;
  text.reserve(content.size());
  for (std::size_t k = 0; k < content.size(); ++k) {
    if (content[k] == '\r' && k + 1 < content.size() && content[k + 1] == '\n') continue;
    text += content[k];
  }
  return text;
}

Json entry(const fs::path& file) {
  const std::string content = without_carriage_returns(read_whole(file));
  return {{"sha256", sha256(content)}, {"size", content.size()}};
}

Json read_manifest(const fs::path& run) {
  const fs::path path = run / kManifest;
  if (!fs::exists(path)) {
    throw Error(ErrorKind::storage,
                fmt::format("'{}' has no {}: the run did not finish; `attica run --resume` "
                            "completes it",
                            run.string(),
                            kManifest));
  }
  try {
    return Json::parse(read_whole(path)).at("files");
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::storage, fmt::format("'{}' is damaged", path.string()));
  }
}

void write_manifest(const fs::path& run, const Json& files) {
  write_atomically(run / kManifest, dump(versioned("manifest", {{"files", files}}), 2) + "\n");
}

/// Runs of the first format have none; one that lies there counts, whatever run.json says.
bool has_manifest(const fs::path& run) {
  if (fs::exists(run / kManifest)) return true;
  try {
    return Json::parse(read_whole(run / "run.json")).at("format").get<int>() > 1;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::storage, fmt::format("'{}' is damaged", (run / "run.json").string()));
  }
}

}  // namespace

void seal(const fs::path& run) {
  Json files = Json::object();
  for (const char* name : kSealed) {
    if (fs::exists(run / name)) files[name] = entry(run / name);
  }
  write_manifest(run, files);
}

void seal_again(const fs::path& run, const std::string& name) {
  if (!has_manifest(run)) return;
  Json files = read_manifest(run);
  files[name] = entry(run / name);
  write_manifest(run, files);
}

std::vector<std::string> edited_files(const fs::path& run) {
  if (!has_manifest(run)) return {};
  std::vector<std::string> edited;
  const Json files = read_manifest(run);
  for (const auto& [name, recorded] : files.items()) {
    if (!fs::exists(run / name) || entry(run / name) != recorded) edited.push_back(name);
  }
  return edited;
}

std::vector<std::string> accepted_edits(const fs::path& run, bool accept) {
  std::vector<std::string> edited = edited_files(run);
  if (!edited.empty() && !accept) {
    throw Error(
        ErrorKind::storage,
        fmt::format("'{}': {} changed since the run wrote {}; check, plot, report, fit and compare "
                    "go on all the same with --accept-edits, and the verdict says so",
                    run.string(),
                    fmt::join(edited, ", "),
                    edited.size() == 1 ? "it" : "them"));
  }
  return edited;
}

}  // namespace attica::app

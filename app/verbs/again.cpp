/// @file
/// @brief Verbs for those who do not believe a run: rerun repeats it and compares bytes, artifact
/// packs runs so that others can.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/archive.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/judge_run.hpp"
#include "attica/app/version.hpp"
#include "attica/core/named_arrays.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

RunRecord finished_run(const std::string& folder) {
  RunRecord run = read_run(without_slash(folder));
  if (!run.complete || run.shard) {
    throw Error(ErrorKind::storage,
                fmt::format("run '{}' is {}: expected a finished run",
                            run.path.string(),
                            run.shard ? "a shard" : "not finished"));
  }
  return run;
}

/// Input files of a run by their parameters: (key, path as configured). Those of a sweep too.
std::vector<std::pair<std::string, std::string>> input_files(const CheckedConfiguration& c) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Parameter& p : all_parameters(*c.study)) {
    if (p.type != ParameterType::file || p.list) continue;
    if (c.values.has(p.key) && !c.is_swept(p.key))
      files.emplace_back(p.key, array_address(c.values.text(p.key)).file);
    for (const SweptScalar& s : c.swept) {
      if (s.key != p.key) continue;
      for (const Value& value : s.values)
        files.emplace_back(p.key, array_address(std::get<std::string>(value)).file);
    }
  }
  return files;
}

/// A file's name as every program unpacks it and sha256sum reads it, in one line: control
/// characters, backslashes and what is no UTF-8 as %XX.
std::string archived_name(const std::string& name) {
  std::string text;
  for (std::size_t k = 0; k < name.size();) {
    const auto c = static_cast<unsigned char>(name[k]);
    const std::size_t length = c < 0x80 ? 1 : (c >> 5) == 0x6 ? 2 : (c >> 4) == 0xe ? 3 : 4;
    bool good = c >= 0x20 && c != 0x7f && c != '\\' && c != '%' && (c < 0x80 || c >= 0xc2) &&
                c < 0xf5 && k + length <= name.size();
    for (std::size_t i = 1; good && i < length; ++i)
      good = (static_cast<unsigned char>(name[k + i]) >> 6) == 0x2;
    if (good) {
      text += name.substr(k, length);
      k += length;
    } else {
      text += fmt::format("%{:02X}", c);
      ++k;
    }
  }
  return text;
}

/// Where an artifact may have a file of the run's inputs: under its name, or with the key before
/// it if two inputs have one name.
std::vector<std::string> archived_names(const std::string& key, const fs::path& file) {
  const std::string name = archived_name(file.filename().string());
  return {key + "-" + name, name};
}

/// Where the files of a sweep lay that the run read: it keeps their names as they were given,
/// which are coordinates of its tables. Empty if there are none.
fs::path folder_of_swept(const RunRecord& run, const CheckedConfiguration& c) {
  const Json provenance = Json::parse(read_whole(run.path / "provenance.json"));
  for (const auto& [key, name] : input_files(c)) {
    if (!c.is_swept(key) || fs::path(name).is_absolute()) continue;
    const std::string end = "/" + fs::path(name).lexically_normal().generic_string();
    for (const auto& [path, digest] : provenance.at("inputs").items()) {
      if (path.ends_with(end)) return path.substr(0, path.size() - end.size());
    }
  }
  return {};
}

/// The recorded configuration, its input files taken from the run's own inputs/ where they are
/// there: an artifact brings them along.
CheckedConfiguration configuration_of(const RunRecord& run, const Registry& registry) {
  CheckedConfiguration c = recorded_configuration(run, registry);
  const fs::path inputs = run.path / "inputs";
  if (!fs::is_directory(inputs)) {
    if (const fs::path folder = folder_of_swept(run, c); !folder.empty()) c.directory = folder;
    return c;
  }
  c.directory = inputs;  // relative names of a sweep
  for (const auto& [key, name] : input_files(c)) {
    if (c.is_swept(key)) continue;
    for (const std::string& brought : archived_names(key, name)) {
      if (!fs::exists(inputs / brought)) continue;
      const std::string arrays = array_address(c.values.text(key)).suffix();
      c.values.set(key, (inputs / brought).string() + arrays, true);
      break;
    }
  }
  return c;
}

/// Where two texts first differ, for a reader.
std::string first_difference(const std::string& a, const std::string& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto line = std::count(a.begin(), at, '\n') + 1;
  if (at == a.end() || other == b.end())
    return fmt::format("{} bytes and {} bytes, equal up to line {}", a.size(), b.size(), line);
  const auto line_of = [](const std::string& text, std::string::const_iterator place) {
    const auto end = std::find(place, text.end(), '\n');
    auto begin = place;
    while (begin != text.begin() && *(begin - 1) != '\n') --begin;
    return std::string(begin, end);
  };
  return fmt::format(
      "line {}:\n  recorded  {}\n  now       {}", line, line_of(a, at), line_of(b, other));
}

/// In what program and machine differ from those of the run, where that can change a last digit.
std::vector<std::string> differing_builds(const fs::path& a, const fs::path& b) {
  const Json first = Json::parse(read_whole(a / "provenance.json"), nullptr, false);
  const Json second = Json::parse(read_whole(b / "provenance.json"), nullptr, false);
  std::vector<std::string> lines;
  for (const char* key : {"attica", "revision", "compiler", "build_type", "native", "libraries"}) {
    const std::string then = first.is_object() ? first.value(key, "") : "";
    const std::string now = second.is_object() ? second.value(key, "") : "";
    if (then != now) lines.push_back(fmt::format("{}: {} then, {} now", key, then, now));
  }
  return lines;
}

constexpr std::array kCompared{"results.csv", "replicates.csv"};

/// Files of a run that an artifact holds, if they are there.
constexpr std::array kRecorded{"run.json",
                               "config.toml",
                               "config.resolved.toml",
                               "provenance.json",
                               "theory.json",
                               "results.csv",
                               "replicates.csv",
                               "check.json",
                               "report.html",
                               "manifest.json",
                               "scores.csv",
                               "scores_factored.csv"};

/// A row of the table of what the artifact claims.
std::string claim_row(const RunRecord& run, const Json& check, const Json& provenance) {
  return fmt::format("| `runs/{}-{}` | {} | {} | {} |\n",
                     run.name,
                     run.hash,
                     run.study,
                     check.value("summary", ""),
                     provenance.value("threads", 0));
}

constexpr std::string_view kReproduce = R"sh(#!/bin/sh
# Runs everything again and compares the tables byte for byte. Exit code 0: all equal; 1: some differ.
#   ./reproduce [--threads N]
cd "$(dirname "$0")" || exit 2
command -v attica >/dev/null || { echo "attica is not installed; see README.md" >&2; exit 2; }
sha256sum --check --quiet SHA256SUMS || { echo "files of this artifact have changed" >&2; exit 5; }
worst=0
for run in runs/*/; do
  attica rerun "$run" --out reruns "$@"
  code=$?
  [ $code -le $worst ] || worst=$code
done
[ $worst -eq 0 ] && echo "all tables are reproduced byte for byte"
exit $worst
)sh";

std::string artifact_readme(const std::string& rows, const Json& provenance) {
  return fmt::format(
      "# Artifact\n\n"
      "Theory and simulation by attica {0} ({1}): configurations, tables, figures and verdicts of "
      "the "
      "runs below, and what repeats them.\n\n"
      "## What is claimed\n\n"
      "| run | study | verdict | threads |\n|---|---|---|---|\n{2}\n"
      "`runs/*/plots` has the figures with their data and scripts, `runs/*/report.html` a page of "
      "each, `runs/*/results.csv` and `replicates.csv` all numbers.\n\n"
      "## Requirements\n\n"
      "Linux, two processor cores or more, a gigabyte of memory. attica {0}, revision {1}: from "
      "its "
      "package, or by `docker build -t artifact .` in this folder with attica_{0}_amd64.deb next "
      "to "
      "the Dockerfile. The tables were made with {3}, built with {4}; another build may differ in "
      "last digits, and `./reproduce` then says in which line.\n\n"
      "## Check that it works (a minute)\n\n"
      "```\nattica doctor\nattica check runs/NAME     # the verdict again, from the recorded "
      "replicates\nsha256sum --check SHA256SUMS\n```\n\n"
      "## Reproduce\n\n"
      "```\n./reproduce\n```\n\n"
      "simulates everything again into reruns/ and compares results.csv and replicates.csv byte "
      "for "
      "byte with those recorded; exit code 0 if all are equal. `attica run runs/NAME/"
      "config.resolved.toml --dry-run` estimates how long a run takes.\n\n"
      "## Reuse\n\n"
      "Change a value in a copy of config.toml and run it; `attica show STUDY` explains every key, "
      "`attica cite STUDY` names the papers to cite.\n",
      provenance.value("attica", kVersion),
      provenance.value("revision", kRevision),
      rows,
      provenance.value("libraries", ""),
      provenance.value("compiler", ""));
}

std::string artifact_dockerfile(const Json& provenance) {
  return fmt::format(
      "# docker build -t artifact . && docker run --rm artifact\n"
      "FROM debian:12-slim\n"
      "COPY attica_{0}_amd64.deb /tmp/\n"
      "RUN apt-get update && apt-get install -y --no-install-recommends /tmp/attica_{0}_amd64.deb "
      "&& rm -rf /var/lib/apt/lists/*\n"
      "COPY . /artifact\n"
      "WORKDIR /artifact\n"
      "CMD [\"./reproduce\"]\n",
      provenance.value("attica", kVersion));
}

}  // namespace

int rerun_verb(const Options& options, const Registry& registry) {
  const RunRecord run = finished_run(options.target);
  recorded_replicates(run);  // a damaged table is no reference
  ExitOnSignal signals;
  Work work = prepare(configuration_of(run, registry));
  const std::uint64_t replicates = run.cap.value_or(run.replicates);
  work.configuration.values.set("sim.replicates", static_cast<std::int64_t>(replicates), true);
  if (work.hash != run.hash) {
    remark(
        options.quiet,
        fmt::format("warning: the run is now called {} rather than {}: another version of attica, "
                    "or another input file",
                    work.hash,
                    run.hash));
  }
  RunRequest request = run_request(options);
  request.out = options.out.value_or("reruns");
  request.name = run.name;
  request.mode = FolderMode::force;
  request.until_decided = run.cap.has_value();
  if (fs::weakly_canonical(run_path(request, work)) == fs::weakly_canonical(run.path))
    throw invalid_parameter("--out", request.out.string(), "another folder than that of the run");
  const RunEnd end = carry_out(std::move(work), request, signals);
  if (!end.verdict) return end.exit_code;
  Json files = Json::array();
  std::string text;
  bool equal = true;
  for (const char* name : kCompared) {
    const std::string then = read_whole(run.path / name);
    const std::string now = read_whole(end.folder / name);
    equal = equal && then == now;
    files.push_back({{"file", name}, {"equal", then == now}, {"sha256", sha256(now)}});
    text += then == now ? fmt::format("equal      {} ({} bytes)\n", name, now.size())
                        : fmt::format("DIFFERENT  {}: {}\n", name, first_difference(then, now));
  }
  const std::vector<std::string> builds = differing_builds(run.path, end.folder);
  if (options.json) {
    print("rerun",
          {{"run", run.path.string()},
           {"rerun", end.folder.string()},
           {"equal", equal},
           {"files", std::move(files)},
           {"builds_differ", builds}});
  } else {
    for (const std::string& line : builds) text += line + '\n';
    put("{}rerun      {}\n", text, end.folder.string());
  }
  return equal ? kExitDone : kExitDisagree;
}

namespace {

/// An input of a run as its provenance has it.
struct RecordedInput {
  fs::path file;
  std::string digest;
};

/// Empty if the run did not read such a file.
RecordedInput recorded_input(const Json& provenance, const fs::path& input) {
  std::error_code unknown;
  const std::string here = fs::weakly_canonical(input, unknown).string();
  const std::string end =
      "/" + (input.is_absolute() ? input.filename() : input.lexically_normal()).generic_string();
  RecordedInput found;
  for (const auto& [path, digest] : provenance.at("inputs").items()) {
    if (path == here) return {path, digest.get<std::string>()};
    if (path.ends_with(end)) found = {path, digest.get<std::string>()};
  }
  // Of an unpacked artifact: the file lies beside the run.
  if (!found.file.empty() && input.is_absolute() && fs::exists(input)) found.file = input;
  return found;
}

std::string content_of(const RecordedInput& input) {
  std::string content = read_whole(input.file);
  if (sha256(content) != input.digest) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' has changed since the run", input.file.string()));
  }
  return content;
}

}  // namespace

int artifact_verb(const Options& options, const Registry& registry) {
  const fs::path target = options.archive;
  if (target.extension() != ".zip")
    throw invalid_parameter("--output", target.string(), "the name of a .zip file");
  std::vector<ArchivedFile> files;
  std::string rows;
  Json last_provenance;
  std::set<std::string> names;
  for (const std::string& folder : options.files) {
    const RunRecord run = finished_run(folder);
    recorded_replicates(run);
    const std::string name = run.name + "-" + run.hash;
    if (!names.insert(name).second)
      throw invalid_parameter("RUN", name, "runs of different names or configurations");
    const std::string place = "runs/" + name + "/";
    for (const char* file : kRecorded) {
      if (fs::exists(run.path / file)) files.push_back({place + file, read_whole(run.path / file)});
    }
    std::vector<fs::path> drawn;
    if (fs::is_directory(run.path / "plots")) {
      for (const auto& entry : fs::directory_iterator(run.path / "plots")) {
        if (entry.is_regular_file()) drawn.push_back(entry.path());
      }
    }
    std::sort(drawn.begin(), drawn.end());
    for (const fs::path& file : drawn)
      files.push_back({place + "plots/" + file.filename().string(), read_whole(file)});
    const Json provenance = Json::parse(read_whole(run.path / "provenance.json"));
    const CheckedConfiguration c = configuration_of(run, registry);
    std::map<std::string, std::string> brought;  // names in the archive, and what is there
    for (const auto& [key, input] : input_files(c)) {
      const RecordedInput recorded = recorded_input(provenance, input);
      if (recorded.file.empty()) continue;
      std::string inside = fs::path(input).lexically_normal().generic_string();
      if (!c.is_swept(key)) {
        const std::vector<std::string> names_there = archived_names(key, input);
        inside = names_there.back();
        const auto there = brought.find(inside);
        if (there != brought.end() && there->second != recorded.digest)
          inside = names_there.front();
      } else if (fs::path(input).is_absolute()) {
        inside = fs::path(input).filename().string();
      }
      if (inside.starts_with("..")) {
        throw Error(
            ErrorKind::input,
            fmt::format("parameter '{}' = {}: expected a file without '..' in its name, to be "
                        "packed",
                        key,
                        input));
      }
      const auto [there, fresh] = brought.try_emplace(inside, recorded.digest);
      if (!fresh) {
        if (there->second == recorded.digest) continue;
        throw Error(ErrorKind::input,
                    fmt::format("parameter '{}' = {}: another input of the run has that name; "
                                "expected files of different names, to be packed",
                                key,
                                input));
      }
      files.push_back({place + "inputs/" + inside, content_of(recorded)});
    }
    rows += claim_row(run, Json::parse(read_whole(run.path / "check.json")), provenance);
    last_provenance = provenance;
  }
  files.push_back({"README.md", artifact_readme(rows, last_provenance)});
  files.push_back({"Dockerfile", artifact_dockerfile(last_provenance)});
  files.push_back({"VERSIONS.json", dump(last_provenance, 2) + "\n"});
  files.push_back({"reproduce", std::string(kReproduce), true});
  std::string sums;
  for (const ArchivedFile& file : files)
    sums += fmt::format("{}  {}\n", sha256(file.content), file.name);
  files.push_back({"SHA256SUMS", sums});
  write_zip(fs::absolute(target), files);
  put("{}\n", target.string());
  return kExitDone;
}

}  // namespace attica::app

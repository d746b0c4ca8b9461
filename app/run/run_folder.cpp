#include "attica/app/run/run_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "attica/app/version.hpp"
#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

std::string now_text() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

Json parse_json(const fs::path& path) {
  try {
    return Json::parse(read_whole(path));
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::storage, fmt::format("'{}' is damaged: not valid JSON", path.string()));
  }
}

void check_format(const fs::path& path, const Json& run) {
  const int format = run.is_object() && run.value("format", Json()).is_number_integer()
                         ? run["format"].get<int>()
                         : 0;
  if (format < 1 || format > kRunFormat) {
    throw Error(ErrorKind::storage,
                fmt::format("'{}' has format {}; this attica reads formats 1 to {}",
                            path.string(),
                            format,
                            kRunFormat));
  }
}

/// The first free "<path>.old-<n>".
fs::path aside(const fs::path& path) {
  for (int n = 1;; ++n) {
    fs::path candidate = fmt::format("{}.old-{}", path.string(), n);
    if (!fs::exists(candidate)) return candidate;
  }
}

/// The stem of the piece whose state a file holds; empty: it holds none.
std::string stem_of_state(const fs::path& file) {
  return file.extension() == kStateExtension ? file.stem().stem().string() : std::string();
}

}  // namespace

struct RunFolder::Memory {
  std::mutex guard;
  std::map<std::string, PartRecord> parts;  ///< by file name, as their files say them
  std::size_t room = 256'000'000;           ///< bytes

  void keep(const std::string& name, PartRecord part) {
    const std::size_t size = size_of(part);
    // A file has no word for infinity.
    for (Outcome& outcome : part.outcomes) {
      for (Series& series : outcome.series) {
        for (double& y : series.y) y = std::isfinite(y) ? y : NAN;
      }
    }
    const std::scoped_lock lock(guard);
    if (size > room) return;
    room -= size;
    parts.insert_or_assign(name, std::move(part));
  }
  const PartRecord* find(const std::string& name) const {
    const auto at = parts.find(name);
    return at == parts.end() ? nullptr : &at->second;
  }

 private:
  static std::size_t size_of(const PartRecord& part) {
    constexpr std::size_t kOfSeries = 400;  // with its coordinates
    std::size_t size = 0;
    for (const Outcome& outcome : part.outcomes) {
      size += sizeof(Outcome) + outcome.message.size();
      for (const Series& series : outcome.series)
        size += kOfSeries + 2 * sizeof(double) * series.x.size();
    }
    return size;
  }
};

RunFolder::RunFolder(const fs::path& path, FolderMode mode)
    : path_(path), memory_(std::make_shared<Memory>()) {
  try {
    fs::create_directories(path.parent_path());
    bool fresh = fs::create_directory(path);
    if (!fresh && mode == FolderMode::create) {
      throw Error(ErrorKind::storage,
                  fmt::format("run folder '{}' exists; --resume continues it, --force starts again",
                              path.string()));
    }
    lock_ = std::make_unique<FolderLock>(path);
    if (!fresh && mode == FolderMode::force) {
      const fs::path old = aside(path);
      fs::rename(path, old);
      fs::create_directory(path);
      lock_ = std::make_unique<FolderLock>(path);
      log(fmt::format("an earlier run was moved to '{}'", old.string()));
    }
    fs::create_directory(path / "parts");
  } catch (const fs::filesystem_error& error) {
    throw Error(
        ErrorKind::storage,
        fmt::format("cannot make run folder '{}': {}", path.string(), error.code().message()));
  }
  if (fs::exists(path / "run.json")) check_format(path, parse_json(path / "run.json"));
}

void RunFolder::write(const std::string& name, std::string_view content) const {
  write_atomically(path_ / name, content);
}

void RunFolder::log(const std::string& line) const {
  std::ofstream file(path_ / "log.txt", std::ios::app);
  file << now_text() << "  " << line << '\n';
  if (!file.flush()) {
    throw Error(
        ErrorKind::storage,
        fmt::format("cannot write '{}': {}", (path_ / "log.txt").string(), std::strerror(errno)));
  }
}

void RunFolder::store(const PieceOfRun& piece, PartRecord part) const {
  write_atomically(path_ / "parts" / piece.file_name(), encode(part));
  memory_->keep(piece.file_name(), std::move(part));
  Piece kept = piece.piece;
  kept.state = states() / piece.stem();
  for (std::uint64_t r = 0; r < kept.replicates; ++r) {
    fs::remove(kept.state_file(kept.first_replicate + r));
  }
}

std::size_t RunFolder::begun(const std::vector<PieceOfRun>& pieces) const {
  std::set<std::string> stems;
  for (const PieceOfRun& piece : pieces) stems.insert(piece.stem());
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(states())) {
    const std::string stem = stem_of_state(entry.path());
    if (stems.count(stem) > 0) found.insert(stem);
  }
  return found.size();
}

std::vector<PieceOfRun> RunFolder::missing(const std::vector<PieceOfRun>& pieces) const {
  std::vector<PieceOfRun> left;
  for (const PieceOfRun& piece : pieces) {
    const fs::path file = path_ / "parts" / piece.file_name();
    if (fs::exists(file)) {
      try {
        const PartRecord part = decode(read_whole(file));
        if (part.first_replicate == piece.piece.first_replicate &&
            part.outcomes.size() == piece.piece.replicates) {
          continue;
        }
      } catch (const Error&) {
      }
      log(fmt::format("damaged part {}: computed again", piece.file_name()));
    }
    left.push_back(piece);
  }
  return left;
}

void RunFolder::tidy(const std::vector<PieceOfRun>& pieces) const {
  std::set<std::string> names;
  for (const PieceOfRun& piece : pieces) names.insert(piece.file_name());
  std::vector<fs::path> superfluous;
  for (const auto& entry : fs::directory_iterator(path_ / "parts")) {
    const std::string part = stem_of_state(entry.path()) + ".part";
    if (names.count(part) > 0 && !fs::exists(path_ / "parts" / part)) continue;
    if (names.count(entry.path().filename().string()) == 0) superfluous.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (entry.path().extension() == ".tmp") superfluous.push_back(entry.path());
  }
  for (const fs::path& file : superfluous) fs::remove(file);
}

Replicates RunFolder::collect(const Work& work, const std::vector<PieceOfRun>& pieces) const {
  Replicates all;
  constexpr std::size_t kAtOnce = 64;  // as many are in memory besides
  std::vector<PartRecord> parts(std::min(pieces.size(), kAtOnce));
  for (std::size_t first = 0; first < pieces.size(); first += kAtOnce) {
    const std::size_t count = std::min(pieces.size() - first, kAtOnce);
    in_parallel(count, [&](std::size_t k) {
      const std::string name = pieces[first + k].file_name();
      if (memory_->find(name) == nullptr) parts[k] = decode(read_whole(path_ / "parts" / name));
    });
    for (std::size_t k = 0; k < count; ++k) {
      const PieceOfRun& piece = pieces[first + k];
      const PartRecord* const stored = memory_->find(piece.file_name());
      const Problem& problem = work.problems[piece.problem];
      all.add(stored != nullptr ? *stored : parts[k],
              problem.coordinates,
              fmt::format("point {} of {}", piece.piece.point + 1, problem.experiment->points()));
    }
  }
  all.finish();
  return all;
}

RunRecord read_run(const fs::path& folder) {
  if (!fs::exists(folder / "run.json")) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' is not a run folder: it has no run.json", folder.string()));
  }
  const Json run = parse_json(folder / "run.json");
  check_format(folder, run);
  const Json theory = parse_json(folder / "theory.json");
  try {
    RunRecord record{.path = folder,
                     .study = run.at("study"),
                     .name = run.at("name"),
                     .hash = run.at("hash"),
                     .replicates = run.at("replicates"),
                     .seed = run.at("seed"),
                     .complete = run.at("complete"),
                     .rules = {},
                     .family = run.at("family"),
                     .cap = std::nullopt,
                     .statuses = run.value("statuses", Json::object()),
                     .failures = run.value("failures", Json()),
                     .theory = {},
                     .diagnostics = theory.at("diagnostics"),
                     .pieces = run.at("pieces"),
                     .shard = std::nullopt,
                     .perturbed = run.value(run.contains("planted") ? "planted" : "perturbed",
                                            std::vector<std::string>{}),
                     .edited = {},
                     .values = std::nullopt,
                     .looks = run.value("looks", std::vector<std::uint64_t>{}),
                     .judged_before = run.value("judged_before", ""),
                     .data_hash = run.value("data_hash", ""),
                     .expected = run.value("expected", ExpectedPoints{})};
    if (run.contains("values")) record.values = run.at("values").get<std::size_t>();
    if (run.contains("cap")) record.cap = run.at("cap").get<std::size_t>();
    if (run.contains("shard")) {
      const Json& shard = run.at("shard");
      record.shard = Shard{.index = shard.at("index"), .count = shard.at("count")};
    }
    for (const Json& rule : run.at("agreement")) {
      record.rules.push_back(
          {.series = rule.at("series"),
           .relative = rule.at("relative"),
           .absolute = rule.at("absolute"),
           .tails = rule.at("tails") == "normal" ? Tails::normal : Tails::guarded,
           .deterministic = rule.at("deterministic"),
           .control = rule.value("control", false)});
    }
    for (const Json& p : theory.at("predictions")) record.theory.push_back(prediction_from(p));
    return record;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::storage,
                fmt::format("run folder '{}' is damaged: {}", folder.string(), error.what()));
  }
}

std::string run_json(const Work& work, const RunFacts& facts) {
  Json agreement = Json::array();
  for (const AgreementRule& rule : facts.rules) {
    agreement.push_back({{"series", rule.series},
                         {"relative", rule.relative},
                         {"absolute", rule.absolute},
                         {"tails", rule.tails == Tails::normal ? "normal" : "guarded"},
                         {"deterministic", rule.deterministic}});
    if (rule.control) agreement.back()["control"] = true;
  }
  Json run{{"format", kRunFormat},
           {"study", work.configuration.study->name},
           {"name", facts.name},
           {"hash", work.hash},
           {"seed", work.seed()},
           {"replicates", work.replicates()},
           {"pieces", facts.pieces},
           {"family", work.configuration.values.text("check.family")},
           {"agreement", std::move(agreement)},
           {"complete", facts.finished != nullptr}};
  if (facts.cap) run["cap"] = *facts.cap;
  run["data_hash"] = work.data_hash;
  if (!work.configuration.expected.empty()) run["expected"] = work.configuration.expected;
  if (!facts.looks.empty()) run["looks"] = facts.looks;
  if (!facts.judged_before.empty()) run["judged_before"] = facts.judged_before;
  if (facts.shard) run["shard"] = {{"index", facts.shard->index}, {"count", facts.shard->count}};
  if (!facts.perturbed.empty()) run["perturbed"] = facts.perturbed;
  if (facts.finished != nullptr) {
    run["values"] = facts.finished->values();
    run["statuses"] = facts.finished->statuses();
    if (!facts.finished->failures().empty()) run["failures"] = facts.finished->failures();
  }
  return dump(versioned("run", std::move(run)), 2) + "\n";
}

std::string theory_json(const TheoryRecord& theory) {
  Json predictions = Json::array();
  for (const Prediction& p : theory.predictions) predictions.push_back(to_json(p));
  return dump(versioned("theory",
                        {{"predictions", std::move(predictions)},
                         {"diagnostics", to_json(theory.diagnostics)}})) +
         "\n";
}

std::string provenance_json(const Work& work,
                            const std::vector<std::string>& command_line,
                            int threads) {
  struct utsname machine = {};
  ::uname(&machine);
  Json provenance{
      {"attica", kVersion},
      {"revision", kRevision},
      {"compiler", kCompiler},
      {"build_type", kBuildType},
      {"native", kNative},
      {"libraries", kLibraries},
      {"system", fmt::format("{} {} {}", machine.sysname, machine.release, machine.machine)},
      {"host", machine.nodename},
      {"processors", std::thread::hardware_concurrency()},
      {"threads", threads},
      {"started", now_text()},
      {"command", command_line},
      {"inputs", to_json(work.input_digests)}};
  const Table versions = command_versions(work);
  if (!versions.empty()) provenance["command_versions"] = to_json(versions);
  return dump(versioned("provenance", std::move(provenance)), 2) + "\n";
}

fs::path run_path(const fs::path& out, const std::string& name, const Work& work) {
  return fs::absolute(out) / fmt::format("{}-{}", name, work.hash);
}

}  // namespace attica::app

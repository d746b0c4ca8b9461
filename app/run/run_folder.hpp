#pragma once
/// @file
/// @brief A run on disk: what is in its folder, how it is made, resumed and read back.
///
///     run.json  config.toml  config.resolved.toml  provenance.json  theory.json  log.txt
///     results.csv  replicates.csv  check.json  plots/  manifest.json (digests; written last)
///     parts/      one file per finished piece of work, renamed into place: existence = done

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attica/app/run/files.hpp"
#include "attica/app/run/results.hpp"
#include "attica/app/run/work.hpp"

namespace attica::app {

/// Version of the run folder's format; readers accept this and older ones.
inline constexpr int kRunFormat = 2;  // 2: manifest.json

enum class FolderMode {
  create,  ///< refuse an existing folder
  resume,  ///< carry on with an existing folder, or start it
  force,   ///< move an existing folder aside and start anew
};

/// @brief A run folder that this process writes, locked while the object lives.
class RunFolder {
 public:
  /// @throws Error of kind storage: exists, unwritable, locked, or of another format
  RunFolder(const std::filesystem::path& path, FolderMode mode);

  const std::filesystem::path& path() const { return path_; }
  /// @brief Writes a file of the folder, whole or not at all.
  void write(const std::string& name, std::string_view content) const;
  /// @brief Appends a line with the time to log.txt.
  void log(const std::string& line) const;

  /// @brief Where pieces under way keep their states.
  std::filesystem::path states() const { return path_ / "parts"; }
  /// @brief How many of `pieces` have kept a state to be carried on.
  std::size_t begun(const std::vector<PieceOfRun>& pieces) const;
  /// @brief Stores a piece's result; it exists from then on, whatever happens. States are removed.
  /// Called by several threads at once.
  void store(const PieceOfRun& piece, PartRecord part) const;
  /// @brief Those of `pieces` that have no valid part file. Damaged ones are named in the log and
  /// done again.
  std::vector<PieceOfRun> missing(const std::vector<PieceOfRun>& pieces) const;
  /// @brief Removes what a killed process left half written, and what is in parts/ besides
  /// `pieces` and states of unfinished ones: smaller last blocks that a larger number of replicates
  /// replaces.
  void tidy(const std::vector<PieceOfRun>& pieces) const;
  /// @brief All observations, in the order of `pieces`: from memory where this object stored them
  /// and there was room, else from their files.
  Replicates collect(const Work& work, const std::vector<PieceOfRun>& pieces) const;

 private:
  struct Memory;

  std::filesystem::path path_;
  std::unique_ptr<FolderLock> lock_;
  std::shared_ptr<Memory> memory_;  ///< what was stored
};

/// @brief What a finished or unfinished run recorded, as read back.
struct RunRecord {
  std::filesystem::path path;
  std::string study;
  std::string name;
  std::string hash;
  std::uint64_t replicates = 0;
  std::uint64_t seed = 0;
  bool complete = false;
  std::vector<AgreementRule> rules;
  std::string family;
  std::optional<std::size_t> cap;  ///< of a run that stops as soon as it is decided
  Json statuses;  ///< how many replicates ended with each status; finished runs only
  Json failures;  ///< messages of failed replicates; null if there are none
  std::vector<Prediction> theory;
  Json diagnostics;
  std::size_t pieces = 0;              ///< number of pieces of the run, or of the shard
  std::optional<Shard> shard;          ///< of a part of a run
  std::vector<std::string> perturbed;  ///< errors that its theory was given on purpose
  std::vector<std::string> edited;     ///< files that were changed after the run, accepted
  /// Number of values in replicates.csv; empty: a run of an older attica, or not finished.
  std::optional<std::size_t> values;
  std::vector<std::uint64_t> looks;  ///< numbers of replicates at which a verdict was told
  std::string judged_before;  ///< run whose verdict on these data was known; empty: there is none
  std::string data_hash;      ///< of everything that can change a number but not the margin
  /// How many points of each series its preset compares; empty: the run is of none, or it says not.
  ExpectedPoints expected = {};
};

/// @brief Reads run.json and theory.json. @throws Error of kind storage naming the file
RunRecord read_run(const std::filesystem::path& folder);

/// What run.json says besides what the Work knows.
struct RunFacts {
  std::string name;
  std::size_t pieces = 0;
  std::vector<AgreementRule> rules;
  std::optional<std::size_t> cap;           ///< of a run that stops as soon as it is decided
  std::optional<Shard> shard;               ///< of a part of a run
  const Replicates* finished = nullptr;     ///< all replicates, once the run is complete
  std::vector<std::string> perturbed = {};  ///< errors that its theory was given on purpose
  std::vector<std::uint64_t> looks = {};    ///< numbers of replicates at which a verdict was told
  std::string judged_before = {};  ///< run whose verdict on these data was known; empty: none
};

/// @brief The text of run.json.
std::string run_json(const Work& work, const RunFacts& facts);

/// @brief The text of theory.json: predictions with their allowances, and diagnostics.
std::string theory_json(const TheoryRecord& theory);

/// @brief The text of provenance.json: program, machine, inputs, command line.
std::string provenance_json(const Work& work,
                            const std::vector<std::string>& command_line,
                            int threads);

/// @brief <out>/<name>-<hash8>
std::filesystem::path run_path(const std::filesystem::path& out,
                               const std::string& name,
                               const Work& work);

}  // namespace attica::app

#pragma once
/// @file
/// @brief A run from its configuration to its verdict: what `run`, `demo`, `merge` and `gallery`
/// have in common.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attica/app/run/ranks.hpp"
#include "attica/app/run/run_folder.hpp"
#include "attica/app/run/runner.hpp"
#include "attica/app/run/work.hpp"
#include "attica/app/verdict/check.hpp"

namespace attica::app {

/// How a run is to be made; what it computes is in the Work.
struct RunRequest {
  std::filesystem::path out;          ///< folder that receives the run folder
  std::filesystem::path folder = {};  ///< the run folder itself; empty: in `out`, by name and hash
  std::string name;                   ///< first part of the run folder's name; empty: the study's
  FolderMode mode = FolderMode::create;
  std::optional<Shard> shard;  ///< only this part of the pieces, into a folder of its own
  bool until_decided = false;  ///< stop as soon as the verdict is known
  bool simulate = true;        ///< false: only what is on disk already
  bool draw = true;            ///< false: no figure and no page; `plot` and `report` make them
  /// The theory as another folder of this run recorded it: the text of theory.json.
  std::optional<std::string> theory_json = std::nullopt;
  int threads = 0;  ///< 0: all processors
  std::optional<double> max_seconds;
  bool quiet = false;
  std::vector<std::string> command_line;
  std::vector<std::string> perturbed = {};  ///< errors that the theory is given on purpose
  /// Gives them; needed with perturbed.
  std::function<std::vector<Prediction>(const std::vector<Prediction>&)> perturbation = {};
};

/// What came of it.
struct RunEnd {
  int exit_code = 0;
  std::filesystem::path folder;
  std::optional<CheckRecord> verdict;  ///< of a run that is complete
  std::vector<std::filesystem::path> figures;
  /// Why figure or page could not be written after the verdict was; the caller tells the verdict,
  /// then this.
  std::optional<Error> unfinished;
};

/// @brief A remark on standard error, unless quiet.
void remark(bool quiet, const std::string& text);
/// @brief Warnings on standard error, a line each, unless quiet.
void warn(bool quiet, const std::vector<std::string>& warnings);

/// @brief The study's agreement rules with the configured margin.
std::vector<AgreementRule> agreement_rules(const Work& work);

/// @brief The folder that the request writes. @throws Error of kind input for a bad name
std::filesystem::path run_path(const RunRequest& request, const Work& work);

/// @brief Refuses a run of more pieces than a folder can hold. @throws Error of kind input
void require_possible(const Work& work, std::span<const std::size_t> ends);

/// @brief How many pieces the request asks for, before an earlier run in its folder is looked at.
/// @throws Error of kind input for more shards than pieces
double requested_pieces(const RunRequest& request, const Work& work);

/// @brief Theory, simulation, tables, verdict, figure and page. Results go to the run folder alone;
/// remarks to standard error.
/// @param ranks other processes that take part
/// @param deadline that runs since before the work was prepared; empty: a new one of
/// `request.max_seconds`
RunEnd carry_out(Work work,
                 const RunRequest& request,
                 ExitOnSignal& signals,
                 const Ranks* ranks = nullptr,
                 Deadline* deadline = nullptr);

}  // namespace attica::app

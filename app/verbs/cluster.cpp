/// @file
/// @brief Verbs for runs on several machines: merge joins shards, slurm prints a job script.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <fstream>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/paths.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/manifest.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/run/run.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/app/verdict/judge_run.hpp"

namespace attica::app {

namespace fs = std::filesystem;

namespace {

/// @throws Error of kind input unless both are parts of one run
void require_same_run(const RunRecord& first, const RunRecord& other) {
  const auto differ = [&](const char* what, const auto& a, const auto& b) {
    if (a == b) return;
    throw Error(ErrorKind::input,
                fmt::format("'{}' and '{}' are not parts of one run: {} {} and {}",
                            first.path.string(),
                            other.path.string(),
                            what,
                            a,
                            b));
  };
  differ("study", first.study, other.study);
  differ("hash", first.hash, other.hash);
  differ("replicates", first.replicates, other.replicates);
  if (first.cap || other.cap) {
    throw Error(ErrorKind::input,
                fmt::format("'{}': a run with --until-decided cannot be merged",
                            (first.cap ? first : other).path.string()));
  }
  if (read_whole(first.path / "theory.json") != read_whole(other.path / "theory.json")) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' and '{}' have different theories: were they computed by the same "
                            "program on the same kind of machine?",
                            first.path.string(),
                            other.path.string()));
  }
}

/// A word for the directives of a job script, which know no quotes.
std::string directive_word(std::string word) {
  for (char& c : word) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return word;
}

constexpr long kMinute = 60;
constexpr long kHour = 60 * kMinute;

/// "1:05:00", as Slurm reads it.
std::string slurm_time(double seconds) {
  constexpr double kUnlimited = 1e9;
  if (seconds > kUnlimited) return "UNLIMITED";
  const long s = std::lround(std::ceil(seconds));
  return fmt::format("{}:{:02}:{:02}", s / kHour, s % kHour / kMinute, s % kMinute);
}

}  // namespace

int merge_verb(const Options& options, const Registry& registry) {
  std::vector<RunRecord> parts;
  for (const std::string& file : options.files) {
    parts.push_back(read_run(without_slash(file)));
    const fs::path& shard = parts.back().path;
    if (fs::exists(shard / "manifest.json")) accepted_edits(shard, false);
  }
  const RunRecord& first = parts.front();
  for (const RunRecord& part : parts) require_same_run(first, part);
  Work work = prepare(recorded_configuration(first, registry));
  if (work.hash != first.hash) {
    throw Error(ErrorKind::input,
                fmt::format("'{}' was made by another version of attica or from other input files: "
                            "its hash would now be {}",
                            first.path.string(),
                            work.hash));
  }
  ExitOnSignal signals;
  RunRequest request = run_request(options);
  if (!options.out) request.out = first.path.parent_path();
  if (request.name.empty()) request.name = first.name;
  request.mode = FolderMode::resume;
  request.simulate = false;
  request.theory_json = read_whole(first.path / "theory.json");
  {
    const RunFolder joined(run_path(request, work), FolderMode::resume);
    const std::vector<PieceOfRun> all = pieces(work, work.replicates());
    for (const PieceOfRun& piece : joined.missing(all)) {
      for (const RunRecord& part : parts) {
        const fs::path file = part.path / "parts" / piece.file_name();
        if (!fs::exists(file)) continue;
        try {
          joined.store(piece, decode(read_whole(file)));
        } catch (const Error& error) {
          remark(options.quiet, fmt::format("warning: '{}': {}", file.string(), error.what()));
        }
      }
    }
  }
  return announce(carry_out(std::move(work), request, signals), options.json);
}

int slurm_verb(const Options& options, const Registry& registry) {
  constexpr double kLeast = 180;  // seconds: two minutes before the end the task is stopped
  if (options.max_seconds.value_or(kLeast) < kLeast) {
    throw invalid_parameter("--max-time",
                            fmt::format("{:g} s", *options.max_seconds),
                            "3m or more: a task is stopped two minutes before its time is over");
  }
  const Work work = requested_simulation(options, registry);
  const std::size_t all = work.replicates();
  require_possible(work, std::span(&all, 1));
  const std::size_t count = pieces(work, all).size();
  const std::size_t shards = std::min(options.shards, count);
  const std::string name = options.name.empty() ? work.configuration.study->name : options.name;
  for (const std::string& word : {options.target, options.out.value_or("runs"), options.preset}) {
    if (has_control_characters(word))
      throw invalid_parameter("a word of the job script", printable(word), "no control characters");
  }
  std::vector<std::string> command{"attica", "run", options.target};
  if (!options.preset.empty()) command.insert(command.end(), {"--preset", options.preset});
  for (const Override& o : options.overrides)
    command.insert(command.end(), {"--set", o.assignment});
  command.insert(command.end(),
                 {"--name", name, "--out", options.out.value_or("runs"), "--quiet", "--resume"});
  for (std::string& word : command) word = shell_word(word);
  const fs::path joined = run_path(run_request(options), work);
  const int threads = options.threads > 0 ? options.threads : 1;
  put("#!/bin/bash\n"
      "# Study {}: {} pieces of work in {} tasks, each in a run folder of its own.\n"
      "#   sbatch job.sh     (the name of this file)\n"
      "# then, when all tasks have ended, in the same folder:\n"
      "#   attica merge {}-shard*of{}\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --array=1-{}\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --time={}\n"
      "# Two minutes before the time is over the program stops at a checkpoint and the task is "
      "queued again.\n"
      "#SBATCH --signal=USR1@120\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output={}-%A_%a.log\n\n"
      "srun {} --threads \"$SLURM_CPUS_PER_TASK\" --shard \"$SLURM_ARRAY_TASK_ID/{}\"\n"
      "code=$?\n"
      "if [ $code -eq {} ]; then\n"
      "  scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID\"\n"
      "fi\n"
      "exit $code\n",
      work.configuration.study->name,
      count,
      shards,
      shell_word(fs::path(options.out.value_or("runs")) / joined.filename()),
      shards,
      directive_word(name),
      shards,
      threads,
      slurm_time(options.max_seconds.value_or(kHour)),
      directive_word(name),
      fmt::join(command, " "),
      shards,
      kExitStopped);
  return kExitDone;
}

}  // namespace attica::app

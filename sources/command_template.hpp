#pragma once
/// @file
/// @brief The command of a side, with keys in braces: "{rate}", "{seed}", "{seeds}", "{replicate}".

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attica/sources/keys.hpp"
#include "attica/sources/process.hpp"
#include "attica/sources/watched.hpp"
#include "attica/studies/configuration.hpp"

namespace attica::sources {

/// @brief The arguments of a command, with the keys in braces found out. A brace itself is "{{".
class CommandTemplate {
 public:
  /// @brief Reads `<side>.command`; completes `<side>.directory`.
  /// @throws Error of kind input for unknown keys, or a folder that is none
  CommandTemplate(Configuration& c, const std::string& side);

  /// @brief Refuses the commands of a run folder (whoever was given one did not write them), and a
  /// program that cannot be started. @throws Error of kind input
  void require_own() const;
  /// @brief Refuses inputs of which there is nothing. @throws Error of kind input
  void require_inputs() const;

  /// @brief What the command names, imports and is said to depend on.
  WatchedFiles watched() const;

  /// @brief The lists of [sweep] that it names: it is run once for each combination.
  const std::vector<Loop>& loops() const { return loops_; }

  /// @brief Most replicates of a process: `<side>.batch`; 1 where it is not set.
  std::uint64_t batch() const { return batch_.value_or(1); }
  /// @brief Whether a process has several replicates, and a column that tells them apart.
  bool in_batches() const { return batch_.has_value(); }

  /// @param values of the loops
  /// @param seeds of the replicates, none for a theory
  /// @param first number of the first replicate
  Command fill(const std::vector<double>& values,
               std::span<const std::uint64_t> seeds,
               std::uint64_t first) const;

 private:
  struct Piece {
    bool key = false;
    std::string text;
  };

  void read(const std::string& argument);
  void resolve(const std::string& name, const std::string& argument);
  bool is_there(const std::string& program) const;
  std::optional<std::size_t> loop_index(const std::string& name) const;

  Configuration c_;
  std::string side_;
  std::string key_;
  std::vector<std::vector<Piece>> pieces_;
  std::vector<Loop> loops_;
  std::optional<double> max_seconds_;
  std::optional<std::uint64_t> batch_;
  std::filesystem::path home_;
  std::filesystem::path directory_;
};

}  // namespace attica::sources

#pragma once
/// @file
/// @brief What a configuration asks for, built: the problems of the sweep, their theory, the pieces
/// of their simulation, and the hash that names the run.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/run/json.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// One combination of the swept scalars.
struct Problem {
  Point coordinates;  ///< swept names and values, put before every point of the problem's series
  std::unique_ptr<Experiment> experiment;
  std::uint64_t first_point = 0;  ///< number of its first point in the whole run
};

/// A configuration with everything built that can be refused.
struct Work {
  CheckedConfiguration configuration;  ///< completed by the study
  std::vector<Problem> problems;
  Table input_digests;    ///< path -> SHA-256
  std::string hash;       ///< of everything that can change a number; 8 hexadecimal digits
  std::string data_hash;  ///< the same without the margin: equal for equal data
  std::vector<std::string> warnings;

  /// @brief What has to be said of the problems besides `warnings` by now: programs have printed.
  std::vector<std::string> new_warnings() const;
  std::uint64_t seed() const;
  std::uint64_t replicates() const;
};

/// @brief What the run puts before the points of a problem of its sweep: names and values.
Point swept_coordinates(const Table& combination);

/// @brief Builds all problems. @throws Error of kind input, with the place in the configuration
/// where it is known
Work prepare(CheckedConfiguration configuration);

/// @brief Lets every problem refuse a simulation that it could not carry out. @throws Error of kind
/// input, as `prepare`
void require_simulable(const Work& work);

/// @brief Of commands that run Python: its version and those of numpy, torch, jax and their like,
/// by side ("theory", "simulation"). Asks that Python.
Table command_versions(const Work& work);

/// @brief All predictions, ready to be recorded: no non-finite number is left in them.
struct TheoryRecord {
  std::vector<Prediction> predictions;
  Table diagnostics;    ///< with "diverged" and "failed": points left out, by series
  bool failed = false;  ///< some point failed numerically
  std::vector<std::string> warnings;
};
TheoryRecord compute_theory(const Work& work, TheoryGrid grid);

/// @brief All resolved values, by flat dotted key.
Json parameters_object(const CheckedConfiguration& configuration);

/// @brief The object that `attica theory --json` prints: {study, parameters, series with what they
/// neglect, diagnostics}.
Json theory_object(const Work& work, const TheoryRecord& theory);

/// A piece of work in the numbering of the run.
struct PieceOfRun {
  std::size_t problem = 0;
  Piece piece;
  /// @brief How the names of its files begin: "p00003-r000050-000099".
  std::string stem() const;
  /// @brief Name of its part file: "p00003-r000050-000099.part".
  std::string file_name() const;
};

/// @brief All pieces, in the order of the record.
/// @param ends replicate numbers at which the run may stop, rising; the last is the number of
/// replicates. No piece reaches across one.
std::vector<PieceOfRun> pieces(const Work& work, std::span<const std::size_t> ends);
std::vector<PieceOfRun> pieces(const Work& work, std::size_t replicates);
/// @brief Their number, without making them.
double count_pieces(const Work& work, std::span<const std::size_t> ends);

/// One of `count` parts of a run that are computed independently, perhaps on different machines.
struct Shard {
  std::size_t index = 1;  ///< 1 .. count
  std::size_t count = 1;
};

/// @brief The pieces of one shard: every count-th, so that all shards have about the same work.
std::vector<PieceOfRun> share(const std::vector<PieceOfRun>& pieces, const Shard& shard);

}  // namespace attica::app

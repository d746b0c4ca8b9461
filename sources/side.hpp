#pragma once
/// @file
/// @brief One side of a comparison, the theory or the simulation, wherever it comes from: a table,
/// a program, a study of attica's, formulas.
///
/// [theory] and [simulation] name a kind of source by its key. A kind declares the parameters that
/// it takes on a side and makes the side; `source_kinds` lists them all, and nothing else knows
/// which there are.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attica/sources/table.hpp"
#include "attica/studies/study.hpp"

namespace attica::sources {

/// Where a simulation has values before anything runs: curves whose y do not matter.
struct SimulatedPlaces {
  std::vector<Series> series;
  bool line = true;  ///< a theory's line may have points between those of a curve
};

/// What [theory] or [simulation] says, for a kind of source to be made of.
struct SideRequest {
  std::string name;  ///< "theory" or "simulation"
  std::string x_name;
  bool x_given = false;  ///< the configuration names x, rather than leaving it at "x"
};

/// @brief One side, ready. Used by many threads at once.
class Side {
 public:
  virtual ~Side() = default;

  /// @brief Its predictions, as a theory.
  /// @param simulation the other side; null if there is none
  virtual TheoryResult theory(TheoryGrid grid, const Side* simulation) const = 0;

  /// @brief As a simulation: number of independent points.
  virtual std::size_t points() const { return 1; }
  virtual std::uint64_t replicates_per_piece(std::size_t point) const;
  /// @param predicted what the theory is; may be empty
  virtual std::vector<Outcome> simulate(const Piece& piece,
                                        const std::vector<Prediction>& predicted) const = 0;
  /// @throws Error of kind input for what can be configured, but not carried out
  virtual void require_usable() const {}
  /// @brief Refuses names in formulas that nothing has. @param simulation may be null
  /// @throws Error of kind input
  virtual void require_names(const Side* /*simulation*/) const {}

  /// @brief Where a simulation has values; empty where its program alone knows.
  virtual std::optional<SimulatedPlaces> places() const { return std::nullopt; }
  /// @brief Names that formulas of the other side may use: coordinates.
  virtual std::vector<std::string> coordinate_names() const { return {}; }
  /// @brief Tables that a process prints must not state other units than this one does.
  /// @param other the table of the other side: a file, or what its program printed; none: it has no
  /// table
  virtual void compare_units_with(std::shared_ptr<const OutsideTable> /*other*/) const {}
  /// @brief Its table, if it is one.
  virtual std::shared_ptr<const OutsideTable> table() const { return nullptr; }
  /// @brief The columns of what its program printed last, without rows; none before it was run.
  virtual std::shared_ptr<const OutsideTable> printed() const { return nullptr; }

  virtual Table diagnostics() const { return {}; }
  /// @brief What the user should read before believing the results; of a program, which rows of
  /// what it has printed so far were left out or read in one of two ways.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// @brief A kind of source: a key of [theory] and [simulation].
struct SourceKind {
  std::string key;  ///< "file"
  /// Parameters that it takes on a side, by the side's name.
  std::vector<Parameter> (*parameters)(const std::string& side);
  /// Whether a side names it.
  bool (*given)(const Configuration& c, const std::string& side);
  /// Makes a side; may complete the configuration. @throws Error of kind input
  std::unique_ptr<Side> (*make)(Configuration& c, const SideRequest& request);
};

/// @brief All kinds, in the order in which messages name them.
const std::vector<SourceKind>& source_kinds();

/// @brief The kind that a side names; null if it names none.
/// @throws Error of kind input if it names several
const SourceKind* kind_of(const Configuration& c, const std::string& side);

/// @brief Whether a side is of the kind with that key.
bool is_of_kind(const Configuration& c, const std::string& side, const std::string& key);

// The kinds, a source file each.
SourceKind file_kind();
SourceKind command_kind();
SourceKind study_kind();
SourceKind expression_kind();
// Of a theory alone.
SourceKind flow_kind();
SourceKind map_kind();
SourceKind solve_kind();
SourceKind training_kind();

/// @brief The built-in study that a side names by `study` or `experiment`; null if it names none.
/// @throws Error of kind input for a name that is none
const Study* named_study(const std::string& key, const std::string& name);

/// @brief Columns of a side's table that the configuration names.
TableColumns columns_of(const Configuration& c, const std::string& side);

/// @brief Takes out the columns of a table that are keys of [model]: rows with other values go. A
/// key with the name of a column that is no coordinate is remarked upon.
/// @throws Error of kind input for such a key of `series` or of the replicates
void select_rows(const Configuration& c, OutsideTable& table);

/// @brief Sorts a curve by x, with all that belongs to its points.
void sort_by_x(Prediction& p);

}  // namespace attica::sources

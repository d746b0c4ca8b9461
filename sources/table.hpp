#pragma once
/// @file
/// @brief Tables of theory and simulation that come from outside: CSV files, and what a user's
/// program prints.
///
/// Whatever `TableReader` reads: CSV in every dress, JSON, compressed. Columns: x (or the name it
/// was given), value; of a theory also finite_size, numerical_error, compared, and replicate if a
/// second simulation stands in for it; of a simulation
/// replicate, or mean, sem (or sd) and n (or replicates) in place of value and replicate, or
/// several columns that are one replicate each; series where there are several. Every other column
/// is a coordinate of the point. A column has one meaning: what is named x is nothing else. `name
/// [unit]` in a header states a unit.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/input_files.hpp"
#include "attica/studies/study.hpp"

namespace attica::sources {

/// What a table is meant to hold.
enum class TableKind {
  theory,
  replicates,     ///< a simulation with a column replicate, or mean, sem and n
  one_replicate,  ///< what one run of a program prints: no column replicate is needed
};

/// Columns of a simulation, where they are not called as usual.
struct TableColumns {
  /// In place of `value`, or of `mean` if there is a column of its error; several: a replicate
  /// each.
  std::vector<std::string> values = {};
  std::string replicate = {};  ///< empty: "replicate"
  std::string sd = {};         ///< standard deviation of replicates, in place of sem; empty: "sd"
  /// Number of replicates: a whole number, "unknown", or a column; empty: the column "n", or
  /// "replicates". Unknown: the least that a verdict takes is assumed.
  std::string n = {};

  bool operator==(const TableColumns&) const = default;
};

/// Replicates that are assumed where their number is unknown: Student's t with one degree of
/// freedom, the widest.
inline constexpr std::size_t kUnknownReplicates = 2;

/// How a table is to be read.
struct TableFormat {
  TableKind kind = TableKind::theory;
  std::string x_name = "x";  ///< column of x; "x" stands for it too
  bool x_required = true;    ///< false: rows without x are constants
  bool infinite = false;     ///< a replicate's value may be infinite: it never reached its target
  /// Of a theory: one of `values`, and `replicate`, if the table has that column.
  TableColumns columns = {};
};

/// A row with its place.
struct TableRow {
  std::size_t line = 0;  ///< of a CSV file, or the number of the object of a list
  std::string series = "y";
  Point point = {};  ///< ordered by name
  double x = 0;
  std::size_t value_column = 1;  ///< where the value begins in its line
  double value = 0;  ///< NaN where it is missing; of a simulation also where it is not finite
  double finite_size = 0;
  double numerical_error = 0;
  bool compared = true;
  std::uint64_t replicate = 0;
  double sem = 0;     ///< with `summary` only
  std::size_t n = 0;  ///< with `summary` only
};

struct OutsideTable {
  std::string source;  ///< file or program, for messages
  std::size_t header_line = 1;
  std::vector<std::string> coordinates;            ///< names of the other columns, in rising order
  std::vector<std::size_t> coordinate_at;          ///< where each stands in its line
  std::vector<std::string> coordinate_units = {};  ///< empty: not stated
  std::vector<std::string> other_columns = {};     ///< names of those that are no coordinates
  std::string x_unit = {};
  std::string value_unit = {};
  bool has_x = true;
  bool summary = false;                   ///< mean, sem and n instead of replicates
  bool replicated = false;                ///< a theory that is a second simulation: has replicates
  std::vector<std::string> remarks = {};  ///< what a user should know of how it was read
  std::vector<TableRow> rows;
};

/// @brief What is said where the column x stands for one of another name.
std::string no_column_of_x(const std::string& source, const std::string& name);

/// @param text bytes of a file, compressed or not, or what a program printed
/// @param source name of the file or program, for messages
/// @throws Error of kind input as FILE:LINE:COLUMN: what is wrong
OutsideTable read_table(std::string_view text,
                        const std::string& source,
                        const TableFormat& format);

/// @brief The table of a file, read and parsed once. @param source its name, for messages
/// @throws Error of kind input as read_table, or for a file that cannot be read
std::shared_ptr<const OutsideTable> table_of_file(InputFiles& files,
                                                  const std::filesystem::path& path,
                                                  const std::string& source,
                                                  const TableFormat& format);

/// @brief The names of a table's columns, without their units. @throws Error of kind input as
/// read_table
std::vector<std::string> column_names(std::string_view text, const std::string& source);

/// @brief Whether columns of these names are those of a simulation, as far as a table of a theory
/// has none of them: `replicate`, `mean`, or what `columns` names.
bool is_simulation(const std::vector<std::string>& names, const TableColumns& columns = {});

/// @brief Refuses tables that cannot be compared: a coordinate that only one of them has, or
/// different units. @throws Error of kind input with the place
void require_same_columns(const OutsideTable& theory, const OutsideTable& simulation);

/// @brief Refuses two units of one quantity: of x, of values, of a coordinate that both have.
void require_same_units(const OutsideTable& theory, const OutsideTable& simulation);

/// @brief Keeps the rows whose column of that name has the value, and takes the column away; does
/// nothing if there is none. Numbers match by their digits (core/matching.hpp).
void keep_rows(OutsideTable& table, const std::string& column, const CoordinateValue& value);

/// @brief Replaces the replicates by the means of clusters, the rows that have one value of that
/// column, which is taken away; a cluster with a replicate that failed has failed. Clusters are
/// numbered in the order of the table. @throws Error of kind input if there is no such column, or
/// the table has no replicates
void take_cluster_means(OutsideTable& table, const std::string& column);

/// @brief The curves of a theory; with replicates, their means. @throws Error of kind input for two
/// rows of one x (and replicate)
std::vector<Prediction> predictions(const OutsideTable& table, const std::string& x_name);

/// The diagnostic of a theory that holds `theory_replicates`.
inline constexpr const char* kTheoryReplicates = "theory_replicates";

/// @brief Values of the replicates of such a theory in rising order of their names, with the place
/// of each list as `place_of` writes it.
std::vector<std::pair<std::string, std::vector<double>>> theory_replicates(
    const OutsideTable& table, const std::string& x_name);

/// @brief Records them among the diagnostics of a theory; nothing of a table without replicates.
void add_theory_replicates(TheoryResult& result,
                           const OutsideTable& table,
                           const std::string& x_name);

/// @brief "y at bath=cold, x=0.3"
std::string place_of(const std::string& series,
                     const Point& point,
                     const std::string& x_name,
                     double x);

/// Outcomes of recorded replicates, in rising order of their names.
struct RecordedOutcomes {
  std::vector<Outcome> outcomes;
  std::vector<std::uint64_t> names;  ///< the column replicate
};

/// @brief The replicates of a simulation. Of mean, sem and n, which are judged by Student's t
/// alone, stand-ins are made: n values of exactly that mean and standard error.
/// @throws Error of kind input for two rows of one x and replicate
RecordedOutcomes recorded_outcomes(const OutsideTable& table, const std::string& x_name);

}  // namespace attica::sources

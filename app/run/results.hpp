#pragma once
/// @file
/// @brief Observations on their way from a piece of work to results.csv: part files, the table of
/// all replicates, and the tidy files that users read.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attica/core/figure.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// Outcomes of a piece's replicates, in order, with the number of the first one.
struct PartRecord {
  std::uint64_t first_replicate = 0;
  std::vector<Outcome> outcomes;
  double seconds = 0;  ///< wall time of the piece
};

/// @brief A part file: a line with the SHA-256 of the rest, a header line, then one JSON line per
/// replicate.
/// @throws Error of kind numerical if an observation of a replicate that neither failed nor ended
/// otherwise than "finished" or "converged" is not finite
std::string encode(const PartRecord& part);

/// @brief Whether an outcome may have no value where others have one: it failed, or ended otherwise
/// than well.
bool may_miss(const Outcome& outcome);

/// @brief The inverse. @throws Error of kind storage if the content is damaged or truncated
PartRecord decode(std::string_view content);

/// @brief All replicates of a run.
class Replicates {
 public:
  /// @brief Adds a piece's outcomes; `coordinates` go before every point.
  /// @param place where these replicates are, in words, for those that failed before they had a
  /// point: "point 3 of 11"
  void add(const PartRecord& part, const Point& coordinates, const std::string& place = {});
  /// @brief Sorts x within each curve and computes the means. Call once, after the last add.
  void finish();

  const std::vector<ObservedCurve>& curves() const { return curves_; }
  /// @brief Number of values, missing ones not counted.
  std::size_t values() const;
  /// @brief How many replicates ended with each status.
  const std::map<std::string, std::size_t>& statuses() const { return statuses_; }
  /// @brief Messages of failed replicates: "replicate 3 at alpha=2: ...".
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  friend Replicates read_replicates(const std::filesystem::path& path);
  std::size_t place_of(const Series& series, const Point& point);

  /// Place of an x on a curve, which gets it if it is not there yet.
  std::size_t place_of_x(std::size_t curve, double x);

  std::vector<ObservedCurve> curves_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::unordered_map<double, std::size_t>> places_;  ///< of x, by curve
  std::map<std::string, std::size_t> statuses_;
  std::vector<std::string> failures_;
};

/// @brief study,series,<point columns>,x_name,x,replicate,value. A coordinate that is called as
/// another column, like `value`, has the column `point_value`.
std::string replicates_csv(const std::string& study, const Replicates& replicates);
/// @brief Reads it back. @throws Error of kind storage naming the line that is cut off, malformed
/// or there twice
Replicates read_replicates(const std::filesystem::path& path);

/// @brief study,series,kind,<point columns>,x_name,x,mean,sem,sd,n: theory first, then simulation.
std::string results_csv(const std::string& study,
                        std::span<const Prediction> theory,
                        const Replicates* simulation);

/// @brief What figures draw.
std::vector<RecordedCurve> recorded_curves(std::span<const Prediction> theory,
                                           const Replicates& simulation);

}  // namespace attica::app

/// @file
/// @brief A side that is a table: `file`.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/input_files.hpp"
#include "attica/core/matching.hpp"
#include "attica/solvers/statistics/simultaneous.hpp"
#include "attica/sources/interpolation.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/studies/parameters.hpp"

namespace attica::sources {
namespace {

/// How far a theory's values may be off, all at once, from the covariance of their errors: by row.
/// Empty if none is given.
std::vector<double> band_of(const Configuration& c, const OutsideTable& table) {
  const std::string key = "theory.covariance";
  if (!c.has(key)) return {};
  if (table.replicated) {
    throw invalid_parameter(
        key, c.text(key), "a theory.file without replicates, whose scatter is its error");
  }
  const Eigen::MatrixXd covariance =
      input_numbers(c.inputs, c.input_file(key), CsvHeader::optional).values;
  const auto rows = static_cast<Eigen::Index>(table.rows.size());
  if (covariance.rows() != rows || covariance.cols() != rows) {
    throw invalid_parameter(
        key,
        fmt::format("{} x {} numbers", covariance.rows(), covariance.cols()),
        fmt::format("{} x {}, one for each row of theory.file of this problem", rows, rows));
  }
  try {
    const Eigen::VectorXd band = simultaneous_band(covariance);
    return {band.begin(), band.end()};
  } catch (const Error& error) {
    throw Error(ErrorKind::input, fmt::format("{}: {}", key, error.what()), key);
  }
}

class TableSide : public Side {
 public:
  TableSide(Configuration& c, const SideRequest& request) : x_name_(request.x_name) {
    const std::string key = request.name + ".file";
    const bool theory = request.name == "theory";
    if (!c.inputs) c.inputs = std::make_shared<InputFiles>();
    table_ = *table_of_file(*c.inputs,
                            c.input_file(key),
                            c.text(key),
                            {.kind = theory ? TableKind::theory : TableKind::replicates,
                             .x_name = x_name_,
                             .x_required = true,
                             .columns = columns_of(c, request.name)});
    if (c.has("simulation.cluster") && (!theory || table_.replicated))
      take_cluster_means(table_, c.text("simulation.cluster"));
    select_rows(c, table_);
    c.set(key, std::filesystem::absolute(c.input_file(key)).string(), c.given(key));
    if (theory) {
      band_ = band_of(c, table_);
      if (c.has("check.match")) reach_ = c.real("check.match");
      interpolate_ = c.has("theory.interpolate");
      if (interpolate_ && (table_.replicated || !band_.empty())) {
        throw invalid_parameter("theory.interpolate",
                                c.text("theory.interpolate"),
                                "a theory.file without replicates and without theory.covariance");
      }
    } else {
      remark_swept_x(c);
      record(c);
    }
  }

  TheoryResult theory(TheoryGrid /*grid*/, const Side* simulation) const override {
    TheoryResult result;
    result.predictions = predictions(table_, x_name_);
    add_theory_replicates(result, table_, x_name_);
    for (std::size_t row = 0; row < band_.size(); ++row) {
      const TableRow& value = table_.rows[row];
      for (Prediction& p : result.predictions) {
        if (p.series.name != value.series || p.series.point != value.point) continue;
        const auto at = std::find(p.series.x.begin(), p.series.x.end(), value.x);
        p.numerical_error.resize(p.series.x.size(), 0.0);
        p.numerical_error[static_cast<std::size_t>(at - p.series.x.begin())] += band_[row];
      }
    }
    if (interpolate_ && simulation != nullptr) interpolate(result, *simulation);
    return result;
  }

  std::vector<Outcome> simulate(const Piece& piece,
                                const std::vector<Prediction>& /*predicted*/) const override {
    std::vector<Outcome> outcomes;
    for (std::uint64_t k = 0; k < piece.replicates && !piece.stop.stop_requested(); ++k) {
      const std::uint64_t r = piece.first_replicate + k;
      if (r < recorded_.outcomes.size()) {
        outcomes.push_back(recorded_.outcomes[r]);
      } else {  // a pilot, or another table of the sweep, has more
        outcomes.push_back({.series = {}, .status = "not in the table"});
      }
    }
    return outcomes;
  }

  std::optional<SimulatedPlaces> places() const override {
    SimulatedPlaces known;
    for (const Outcome& outcome : recorded_.outcomes)
      known.series.insert(known.series.end(), outcome.series.begin(), outcome.series.end());
    return known;
  }

  std::vector<std::string> coordinate_names() const override { return table_.coordinates; }
  std::shared_ptr<const OutsideTable> table() const override {
    return {std::shared_ptr<const OutsideTable>(), &table_};
  }

  Table diagnostics() const override {
    if (!table_.summary) return {};
    return {{"simulation", "mean, sem and n: no guard against heavy tails"}};
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> all = table_.remarks;
    if (interpolate_) {
      all.push_back(
          fmt::format("'{}' is interpolated linearly where the simulation has other x; the "
                      "estimated error of that is in numerical_error",
                      table_.source));
    }
    if (table_.summary) {
      all.push_back(
          fmt::format("'{}' has mean, sem and n in place of replicates: no guard against "
                      "heavy tails; replicates.csv holds stand-ins of that mean and error",
                      table_.source));
    }
    return all;
  }

 private:
  void interpolate(TheoryResult& result, const Side& simulation) const {
    const std::optional<SimulatedPlaces> places = simulation.places();
    if (!places) {
      throw Error(ErrorKind::input,
                  "theory.interpolate: which x a program simulates is not known before it runs; "
                  "expected simulation.file or simulation.study",
                  "theory.interpolate");
    }
    const Interpolation done = interpolate_linearly(result.predictions, places->series, reach_);
    result.diagnostics.emplace_back("interpolated", static_cast<std::int64_t>(done.values));
    result.diagnostics.emplace_back("interpolation_error", done.largest_error);
  }

  /// Values of x in [sweep] select no rows, as other keys do: says so where they are others.
  void remark_swept_x(const Configuration& c) {
    const std::optional<Loop> swept = loop_named(c, x_name_);
    if (!swept || !table_.has_x) return;
    std::set<double> values;
    for (const TableRow& row : table_.rows) values.insert(row.x);
    const std::vector<double> there(values.begin(), values.end());
    const auto first_without = [](const std::vector<double>& all,
                                  const std::vector<double>& other) {
      const auto places = match_numbers(all, other);
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (!places[k]) return std::optional(all[k]);
      }
      return std::optional<double>();
    };
    const std::optional<double> more = first_without(there, swept->values);
    const std::optional<double> fewer = first_without(swept->values, there);
    if (!more && !fewer) return;
    table_.remarks.push_back(fmt::format(
        "{}: every {} of the table is compared, {}; sweep.{} selects none of them",
        table_.source,
        x_name_,
        more ? fmt::format("{} too", *more) : fmt::format("and {} is not there", *fewer),
        x_name_));
  }

  /// What a file of replicates says of the run.
  void record(Configuration& c) {
    recorded_ = recorded_outcomes(table_, x_name_);
    const auto count = static_cast<std::int64_t>(recorded_.outcomes.size());
    if (c.given("sim.replicates")) {
      require(c.integer("sim.replicates") <= count,
              "sim.replicates",
              static_cast<double>(c.integer("sim.replicates")),
              fmt::format("at most {}: '{}' has no more", count, table_.source));
    } else {
      c.set("sim.replicates", count, false);
    }
    c.set("simulation.summary", table_.summary, false);
    if (table_.summary && c.text("check.family") == "maxt") {
      throw invalid_parameter(
          "check.family", "maxt", "holm: flips of whole replicates need replicates");
    }
  }

  std::string x_name_;
  OutsideTable table_;
  std::vector<double> band_;  ///< of a theory's rows; empty: no covariance is given
  bool interpolate_ = false;  ///< a theory has values at the simulation's x
  std::optional<double> reach_;
  RecordedOutcomes recorded_;  ///< of a simulation
};

std::vector<Parameter> file_parameters(const std::string& side) {
  return {file_parameter(side + ".file", "table with the " + side)};
}

}  // namespace

SourceKind file_kind() {
  return {.key = "file",
          .parameters = file_parameters,
          .given = [](const Configuration& c,
                      const std::string& side) { return c.has(side + ".file"); },
          .make = [](Configuration& c, const SideRequest& request) -> std::unique_ptr<Side> {
            return std::make_unique<TableSide>(c, request);
          }};
}

}  // namespace attica::sources

/// @file
/// @brief A side that is a program: `command`, run once a replicate, or once a batch of them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "attica/core/error.hpp"
#include "attica/core/matching.hpp"
#include "attica/core/random.hpp"
#include "attica/sources/command_template.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/sources/unmatched.hpp"
#include "attica/studies/parameters.hpp"

namespace attica::sources {
namespace {

/// The x that a process was asked for.
void set_x(OutsideTable& table, double x) {
  for (TableRow& row : table.rows) {
    if (table.has_x && !same_number(row.x, x)) {
      throw Error(
          ErrorKind::input,
          fmt::format(
              "{}:{}:1: error: x = {}, but {} was asked for", table.source, row.line, row.x, x));
    }
    row.x = x;
  }
  table.has_x = true;
}

/// A process that is not asked for one x has to print them all, and no other.
void require_x(OutsideTable& table, const std::vector<double>& wanted) {
  std::map<std::string, std::set<double>> seen;
  for (TableRow& row : table.rows) {
    const auto at =
        std::find_if(wanted.begin(), wanted.end(), [&](double x) { return same_number(x, row.x); });
    if (at == wanted.end()) {
      throw Error(ErrorKind::input,
                  fmt::format("{}:{}:1: error: x = {}, which [sweep] does not have",
                              table.source,
                              row.line,
                              row.x));
    }
    row.x = *at;
    seen[row.series + " " + describe(row.point)].insert(*at);
  }
  for (const auto& [curve, values] : seen) {
    for (const double x : wanted) {
      if (values.count(x) == 0) {
        throw Error(ErrorKind::input,
                    fmt::format("{}: too few rows: series {}has {} values of x, without {}",
                                table.source,
                                curve,
                                values.size(),
                                x));
      }
    }
  }
}

void merge(std::vector<Prediction>& all, Prediction p) {
  for (Prediction& q : all) {
    if (q.series.name != p.series.name || q.series.point != p.series.point ||
        q.series.x_name != p.series.x_name) {
      continue;
    }
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(q.series.x, p.series.x);
    append(q.series.y, p.series.y);
    append(q.finite_size, p.finite_size);
    append(q.numerical_error, p.numerical_error);
    append(q.compared, p.compared);
    return;
  }
  all.push_back(std::move(p));
}

class CommandSide : public Side {
 public:
  CommandSide(Configuration& c, const SideRequest& request)
      : request_(request), command_(c, request.name), c_(c) {}

  TheoryResult theory(TheoryGrid /*grid*/, const Side* /*simulation*/) const override {
    TheoryResult result;
    for (const auto& values : combinations(command_.loops())) {
      const OutsideTable table = run(values, {}, 0, {}).value().front();
      for (Prediction& p : predictions(table, x_of(table))) merge(result.predictions, std::move(p));
      add_theory_replicates(result, table, x_of(table));
    }
    return result;
  }

  std::size_t points() const override { return combinations(command_.loops()).size(); }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override {
    return command_.batch();
  }

  std::vector<Outcome> simulate(const Piece& piece,
                                const std::vector<Prediction>& predicted) const override {
    std::vector<Outcome> outcomes;
    for (std::uint64_t k = 0; k < piece.replicates; k += command_.batch()) {
      const std::uint64_t count = std::min(command_.batch(), piece.replicates - k);
      if (piece.stop.stop_requested() ||
          !add_replicates(piece, piece.first_replicate + k, count, predicted, outcomes)) {
        break;
      }
    }
    return outcomes;
  }

  void require_usable() const override {
    command_.require_own();
    command_.require_inputs();
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> all = command_.watched().warnings;
    const std::scoped_lock lock(guard_);
    all.insert(all.end(), remarks_.begin(), remarks_.end());
    return all;
  }

  void compare_units_with(std::shared_ptr<const OutsideTable> other) const override {
    const std::scoped_lock lock(guard_);
    other_ = std::move(other);
  }
  std::shared_ptr<const OutsideTable> printed() const override {
    const std::scoped_lock lock(guard_);
    return printed_;
  }

 private:
  /// Keeps what is said of a table that a process printed: once, since replicates print alike.
  void note(const OutsideTable& table) const {
    const std::scoped_lock lock(guard_);
    for (const std::string& remark : table.remarks) {
      // Without the arguments, which have a seed, and the line.
      const std::size_t begin = remark.starts_with(table.source) ? table.source.size() : 0;
      const std::string what = remark.substr(remark.find_first_not_of(":0123456789 ", begin));
      if (noted_.insert(what).second) remarks_.push_back(remark);
    }
    if (printed_) return;
    OutsideTable columns = table;
    columns.rows.clear();
    printed_ = std::make_shared<const OutsideTable>(std::move(columns));
  }
  std::shared_ptr<const OutsideTable> other_side() const {
    const std::scoped_lock lock(guard_);
    return other_;
  }

  std::string x_of(const OutsideTable& table) const {
    return table.has_x ? request_.x_name : "none";
  }

  /// Adds what one process gives; false if it was asked to stop.
  bool add_replicates(const Piece& piece,
                      std::uint64_t first,
                      std::uint64_t count,
                      const std::vector<Prediction>& predicted,
                      std::vector<Outcome>& outcomes) const {
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t k = 0; k < count; ++k)
      seeds.push_back(RandomStream(piece.stream(first + k)).bits());
    const auto tables =
        run(combinations(command_.loops()).at(piece.point), seeds, first, piece.stop);
    if (!tables) return false;
    for (const OutsideTable& table : *tables) {
      require_theory_of(table, predicted);
      outcomes.push_back(recorded_outcomes(table, x_of(table)).outcomes.front());
    }
    return true;
  }

  /// What one process printed, with the values it was asked for put in, a table a replicate; none
  /// if it was stopped. @param seeds none: a theory
  std::optional<std::vector<OutsideTable>> run(const std::vector<double>& values,
                                               std::span<const std::uint64_t> seeds,
                                               std::uint64_t first,
                                               const std::stop_token& stop) const {
    command_.require_own();
    const Command filled = command_.fill(values, seeds, first);
    const std::optional<std::string> printed = output_of(filled, stop);
    if (!printed) return std::nullopt;
    const std::string source = fmt::format("output of '{}'", fmt::join(filled.arguments, " "));
    const auto& loops = command_.loops();
    const bool x_asked = std::ranges::find(loops, request_.x_name, &Loop::name) != loops.end();
    const bool x_known = loop_named(c_, request_.x_name).has_value();
    OutsideTable table = read_table(*printed,
                                    source,
                                    {.kind = seeds.empty()           ? TableKind::theory
                                             : command_.in_batches() ? TableKind::replicates
                                                                     : TableKind::one_replicate,
                                     .x_name = request_.x_name,
                                     .x_required = !x_asked && (x_known || request_.x_given),
                                     .columns = columns_of(c_, request_.name)});
    if (const auto other = other_side()) require_same_units(*other, table);
    note(table);
    if (table.summary && !seeds.empty()) {
      throw Error(ErrorKind::input,
                  fmt::format("{}:{}:1: error: mean, sem and n; a process has replicates: expected "
                              "'value'",
                              table.source,
                              table.header_line));
    }
    std::vector<OutsideTable> tables;
    if (command_.in_batches() && !seeds.empty()) {
      tables = by_replicate(table, seeds.size());
    } else {
      if (!seeds.empty()) require_one(table);
      tables.push_back(std::move(table));
    }
    for (OutsideTable& one : tables) put_in(one, values);
    return tables;
  }

  static void require_one(OutsideTable& table) {
    for (TableRow& row : table.rows) {
      if (row.replicate == table.rows.front().replicate) continue;
      throw Error(ErrorKind::input,
                  fmt::format("{}:{}:1: error: replicates {} and {}; a process is one replicate "
                              "without simulation.batch",
                              table.source,
                              row.line,
                              table.rows.front().replicate,
                              row.replicate));
    }
    for (TableRow& row : table.rows) row.replicate = 0;
  }

  /// The rows of each replicate of a batch, whose column says its place among the seeds.
  static std::vector<OutsideTable> by_replicate(const OutsideTable& table, std::size_t count) {
    OutsideTable none = table;
    none.rows.clear();
    std::vector<OutsideTable> tables(count, none);
    for (const TableRow& row : table.rows) {
      if (row.replicate >= count) {
        throw Error(ErrorKind::input,
                    fmt::format("{}:{}:1: error: replicate {}; expected 0 to {}, the place of its "
                                "seed in {{seeds}}",
                                table.source,
                                row.line,
                                row.replicate,
                                count - 1));
      }
      TableRow& own = tables[row.replicate].rows.emplace_back(row);
      own.replicate = 0;
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (!tables[k].rows.empty()) continue;
      throw Error(
          ErrorKind::input,
          fmt::format("{}: no rows of replicate {}; expected 0 to {}, the place of its seed "
                      "in {{seeds}}",
                      table.source,
                      k,
                      count - 1));
    }
    return tables;
  }

  /// Puts the values that the process was asked for into a table, and refuses one that lacks
  /// something.
  void put_in(OutsideTable& table, const std::vector<double>& values) const {
    const auto& loops = command_.loops();
    select_rows(c_, table);
    bool x_asked = false;
    for (std::size_t k = 0; k < loops.size(); ++k) {
      if (loops[k].name == request_.x_name) {
        x_asked = true;
        set_x(table, values[k]);
      } else {
        keep_rows(table, loops[k].name, values[k]);
        for (TableRow& row : table.rows)
          row.point = sorted(joined(row.point, {{loops[k].name, values[k]}}));
      }
    }
    const std::optional<Loop> x = loop_named(c_, request_.x_name);
    if (!x_asked && x) require_x(table, x->values);
    for (const std::string& series : names_in(c_, "agreement")) {
      if (std::ranges::find(table.rows, series, &TableRow::series) != table.rows.end()) continue;
      throw Error(
          ErrorKind::input,
          fmt::format(
              "{}: no series '{}', which [agreement.{}] compares", table.source, series, series));
    }
  }

  /// Refuses, after the first process, a table of which no curve can have a theory: others will
  /// have the same columns. Needs a theory that was computed, and says nothing before.
  void require_theory_of(const OutsideTable& table,
                         const std::vector<Prediction>& predicted) const {
    if (predicted.empty()) return;
    const auto names = [](const Point& point) {
      std::set<std::string> all;
      for (const auto& [name, value] : point) all.insert(name);
      return all;
    };
    for (const std::string& series : names_in(c_, "agreement")) {
      const TableRow* first = nullptr;
      const bool any = std::ranges::any_of(table.rows, [&](const TableRow& row) {
        if (row.series != series) return false;
        if (first == nullptr) first = &row;
        return std::ranges::any_of(predicted, [&](const Prediction& p) {
          return p.series.name == series && p.series.x_name == x_of(table) &&
                 names(p.series.point) == names(row.point);
        });
      });
      if (any || first == nullptr) continue;
      throw Error(ErrorKind::input,
                  fmt::format("nothing can be compared in [agreement.{}]: {}",
                              series,
                              why_no_curve(predicted, {series, first->point, x_of(table), {}, {}})),
                  "agreement." + series + ".relative");
    }
  }

  SideRequest request_;
  CommandTemplate command_;
  mutable std::mutex guard_;
  mutable std::shared_ptr<const OutsideTable> other_;    ///< table of the other side
  mutable std::shared_ptr<const OutsideTable> printed_;  ///< columns of the first table
  mutable std::vector<std::string> remarks_;             ///< on tables that were printed
  mutable std::set<std::string> noted_;                  ///< of them, without their places
  Configuration c_;
};

/// An argument of a program is at most 128 KiB long on Linux, a seed up to 21 characters.
constexpr double kMostSeeds = 5000;

std::vector<Parameter> command_parameters(const std::string& side) {
  std::vector<Parameter> all = {
      text_parameter(
          side + ".command", "program that prints the " + side + ": a list of arguments", true),
      text_parameter(side + ".directory",
                     "folder in which the command runs; unset: that of the configuration"),
      text_parameter(side + ".inputs",
                     "further files on which the command depends, relative to that folder: "
                     "names, folders, patterns with * ? []",
                     true)};
  if (side == "simulation") {
    all.push_back(optional_parameter(integer_parameter(
        "simulation.batch",
        1,
        "replicates of a process, which {seeds} names; the column replicate has the place of the "
        "seed among them, 0 to batch - 1",
        {.low = 1, .high = kMostSeeds})));
  }
  return all;
}

}  // namespace

SourceKind command_kind() {
  return {.key = "command",
          .parameters = command_parameters,
          .given = [](const Configuration& c,
                      const std::string& side) { return c.has(side + ".command"); },
          .make = [](Configuration& c, const SideRequest& request) -> std::unique_ptr<Side> {
            return std::make_unique<CommandSide>(c, request);
          }};
}

}  // namespace attica::sources

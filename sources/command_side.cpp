/// @file
/// @brief A side that is a program: `command`, run once a replicate.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

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
      const OutsideTable table = run(values, 0, 0, TableKind::theory, {}).value();
      for (Prediction& p : predictions(table, x_of(table))) merge(result.predictions, std::move(p));
      add_theory_replicates(result, table, x_of(table));
    }
    return result;
  }

  std::size_t points() const override { return combinations(command_.loops()).size(); }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece,
                                const std::vector<Prediction>& predicted) const override {
    std::vector<Outcome> outcomes;
    for (std::uint64_t k = 0; k < piece.replicates && !piece.stop.stop_requested(); ++k) {
      std::optional<Outcome> outcome = replicate(piece, piece.first_replicate + k, predicted);
      if (!outcome) break;  // asked to stop
      outcomes.push_back(std::move(*outcome));
    }
    return outcomes;
  }

  void require_usable() const override {
    command_.require_own();
    command_.require_inputs();
  }

  std::vector<std::string> warnings() const override { return command_.watched().warnings; }

 private:
  std::string x_of(const OutsideTable& table) const {
    return table.has_x ? request_.x_name : "none";
  }

  std::optional<Outcome> replicate(const Piece& piece,
                                   std::uint64_t replicate,
                                   const std::vector<Prediction>& predicted) const {
    const std::uint64_t seed = RandomStream(piece.stream(replicate)).bits();
    const std::optional<OutsideTable> table = run(combinations(command_.loops()).at(piece.point),
                                                  seed,
                                                  replicate,
                                                  TableKind::one_replicate,
                                                  piece.stop);
    if (!table) return std::nullopt;
    if (table->summary) {
      throw Error(
          ErrorKind::input,
          fmt::format("{}:{}:1: error: mean, sem and n; a process is one replicate: expected "
                      "'value'",
                      table->source,
                      table->header_line));
    }
    require_theory_of(*table, predicted);
    return recorded_outcomes(*table, x_of(*table)).outcomes.front();
  }

  /// What one process printed, with the values it was asked for put in; none if it was stopped.
  std::optional<OutsideTable> run(const std::vector<double>& values,
                                  std::uint64_t seed,
                                  std::uint64_t replicate,
                                  TableKind kind,
                                  const std::stop_token& stop) const {
    command_.require_own();
    const Command filled = command_.fill(values, seed, replicate);
    const std::optional<std::string> printed = output_of(filled, stop);
    if (!printed) return std::nullopt;
    const std::string source = fmt::format("output of '{}'", fmt::join(filled.arguments, " "));
    const std::optional<Loop> x = loop_named(c_, request_.x_name);
    const auto& loops = command_.loops();
    const auto asked = std::find_if(
        loops.begin(), loops.end(), [&](const Loop& loop) { return loop.name == request_.x_name; });
    OutsideTable table =
        read_table(*printed,
                   source,
                   {.kind = kind,
                    .x_name = request_.x_name,
                    .x_required = asked == loops.end() && (x.has_value() || request_.x_given),
                    .columns = columns_of(c_, request_.name)});
    select_rows(c_, table);
    for (std::size_t k = 0; k < loops.size(); ++k) {
      if (loops[k].name == request_.x_name) {
        set_x(table, values[k]);
      } else {
        keep_rows(table, loops[k].name, values[k]);
        for (TableRow& row : table.rows)
          row.point = sorted(joined(row.point, {{loops[k].name, values[k]}}));
      }
    }
    if (asked == loops.end() && x) require_x(table, x->values);
    if (kind != TableKind::theory) {
      for (TableRow& row : table.rows) {
        if (row.replicate != table.rows.front().replicate) {
          throw Error(
              ErrorKind::input,
              fmt::format("{}:{}:1: error: replicates {} and {}; a process is one replicate",
                          source,
                          row.line,
                          table.rows.front().replicate,
                          row.replicate));
        }
      }
      for (TableRow& row : table.rows) row.replicate = 0;
    }
    for (const std::string& series : names_in(c_, "agreement")) {
      if (std::none_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
            return row.series == series;
          })) {
        throw Error(
            ErrorKind::input,
            fmt::format(
                "{}: no series '{}', which [agreement.{}] compares", source, series, series));
      }
    }
    return table;
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
  Configuration c_;
};

std::vector<Parameter> command_parameters(const std::string& side) {
  return {text_parameter(
              side + ".command", "program that prints the " + side + ": a list of arguments", true),
          text_parameter(side + ".directory",
                         "folder in which the command runs; unset: that of the configuration"),
          text_parameter(side + ".inputs",
                         "further files on which the command depends, relative to that folder: "
                         "names, folders, patterns with * ? []",
                         true)};
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

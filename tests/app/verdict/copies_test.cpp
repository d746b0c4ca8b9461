#include "attica/app/verdict/copies.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace attica;
using attica::app::copied_replicates;

namespace {

using Row = std::vector<double>;  // of a replicate: a value at every x

/// The table of replicates numbered from 0.
std::vector<ObservedCurve> simulation(const std::vector<Row>& rows) {
  ObservedCurve curve{.mean = {"y", {}, "x", {}, {}}, .values = {}, .replicates = {}};
  for (std::size_t k = 0; k < rows.front().size(); ++k) {
    curve.mean.x.push_back(static_cast<double>(k));
    curve.mean.y.push_back(0);
    curve.values.emplace_back();
    curve.replicates.emplace_back();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      curve.values.back().push_back(rows[r][k]);
      curve.replicates.back().push_back(r);
    }
  }
  return {curve};
}

std::vector<Row> normal_rows(std::size_t replicates, std::size_t places, double digits = 0) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  std::vector<Row> rows(replicates, Row(places));
  for (Row& row : rows) {
    for (double& y : row) {
      y = normal(generator);
      if (digits > 0) y = std::round(y * digits) / digits;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("copied_replicates: what was drawn once and counted twice", "[app]") {
  std::vector<Row> rows = normal_rows(12, 4);
  CHECK_FALSE(copied_replicates(simulation(rows)));
  std::vector<Row> one = rows;
  one.push_back(rows[3]);
  CHECK_FALSE(copied_replicates(simulation(one)));  // a single one
  std::vector<Row> twice = rows;
  twice.insert(twice.end(), rows.begin(), rows.end());
  const auto found = copied_replicates(simulation(twice));
  REQUIRE(found);
  CHECK(found->copies == 12);
  CHECK(found->replicates == 24);
  std::vector<Row> some = rows;
  some.insert(some.begin(), {rows[0], rows[5], rows[0]});
  REQUIRE(copied_replicates(simulation(some)));
  CHECK(copied_replicates(simulation(some))->copies == 3);
  // A replicate that failed is no copy of another that did.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Row> failed = rows;
  failed.insert(failed.end(), 3, Row(4, nan));
  CHECK_FALSE(copied_replicates(simulation(failed)));
  // A series that is the same in all does not count.
  for (Row& row : twice) row.push_back(0.1);
  CHECK(copied_replicates(simulation(twice)));
}

TEST_CASE("copied_replicates: what may be equal by chance is none", "[app]") {
  // Rates, all alike, few digits at few places, and thresholds along x.
  CHECK_FALSE(copied_replicates(simulation(std::vector<Row>(50, Row{1, 1, 1, 1}))));
  CHECK_FALSE(copied_replicates(simulation(normal_rows(200, 2, 10))));
  CHECK_FALSE(copied_replicates(simulation(normal_rows(2000, 3, 1))));
  std::vector<Row> reached;
  for (int r = 0; r < 100; ++r) {
    reached.emplace_back();
    for (int x = 0; x < 30; ++x) reached.back().push_back(x > r % 17 ? 1 : 0);
  }
  CHECK_FALSE(copied_replicates(simulation(reached)));
  const std::vector<Row> once = normal_rows(20, 1, 100);
  std::vector<Row> single = once;
  single.insert(single.end(), once.begin(), once.end());
  CHECK_FALSE(copied_replicates(simulation(single)));
}

TEST_CASE("copied_replicates: copies at a single place", "[app]") {
  // Rows of one x that stand there twice.
  std::vector<Row> rows = normal_rows(24, 3);
  std::vector<ObservedCurve> part = simulation(rows);
  ObservedCurve& curve = part.front();
  for (std::size_t r = 0; r < 24; ++r) {
    curve.values[1].push_back(curve.values[1][r]);
    curve.replicates[1].push_back(24 + r);
  }
  const auto found = copied_replicates(part);
  REQUIRE(found);
  CHECK(found->copies == 24);
  CHECK(found->replicates == 48);
  CHECK(found->place == "y at x=1");
  // At every place a seed of its own, of eight.
  std::vector<Row> few = normal_rows(40, 3);
  const std::vector<Row> eight = normal_rows(8, 3);
  for (std::size_t r = 0; r < few.size(); ++r) {
    for (std::size_t k = 0; k < 3; ++k) few[r][k] = eight[(r * (2 * k + 1) + k + r / 8) % 8][k];
  }
  REQUIRE(copied_replicates(simulation(few)));
  CHECK(copied_replicates(simulation(few))->copies == 32);
  // Means of whole numbers, and atoms at 0 and 1 beside what is continuous, are equal by chance.
  std::vector<Row> shares = normal_rows(200, 3, 1);
  std::vector<Row> atoms = normal_rows(60, 3);
  for (Row& row : shares) {
    for (double& y : row) y = (50 + 10 * y) / 100 / 3;
  }
  for (Row& row : atoms) {
    for (double& y : row) y = std::clamp(y, 0.0, 1.0);
  }
  CHECK_FALSE(copied_replicates(simulation(shares)));
  CHECK_FALSE(copied_replicates(simulation(atoms)));
  CHECK_FALSE(copied_replicates(simulation(normal_rows(200, 3, 1e4))));
}

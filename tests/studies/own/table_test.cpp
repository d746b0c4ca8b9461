#include "attica/studies/own/table.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/replicates.hpp"

using namespace attica;
using namespace attica::own;
using Catch::Contains;

namespace own_table_test {

OutsideTable theory(const std::string& text, const std::string& x = "x") {
  return read_table(text, "t.csv", {.kind = TableKind::theory, .x_name = x});
}
OutsideTable simulation(const std::string& text) {
  return read_table(text, "s.csv", {.kind = TableKind::replicates});
}
std::string refusal(const std::string& text, TableKind kind = TableKind::theory) {
  try {
    read_table(text, "t.csv", {.kind = kind});
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

TEST_CASE("read_table: the same table in every dress", "[studies][own]") {
  const std::vector<std::string> dresses = {
      "x,value,lambda\n1,2.5,0.1\n2,-3e-2,0.1\n",
      "x\tvalue\tlambda\n1\t2.5\t0.1\n2\t-3e-2\t0.1\n",
      "x;value;lambda\r\n1;2.5;0.1\r\n2;-3e-2;0.1\r\n",
      "\xEF\xBB\xBF# a remark\nlambda, value , \"x\"\n\n0.1, +2.5 ,\"1\"\n# another\n0.1,-0.03,2",
      R"([{"x": 1, "value": 2.5, "lambda": 0.1}, {"lambda": 0.1, "x": 2, "value": -0.03}])",
  };
  for (const std::string& text : dresses) {
    INFO(text);
    const std::vector<Prediction> curves = predictions(theory(text), "x");
    REQUIRE(curves.size() == 1);
    CHECK(curves[0].series.name == "y");
    CHECK(curves[0].series.point == Point{{"lambda", 0.1}});
    CHECK(curves[0].series.x == std::vector<double>{1, 2});
    CHECK(curves[0].series.y == std::vector<double>{2.5, -0.03});
  }
}

TEST_CASE("read_table: series, allowances, words, empty coordinates, a named x", "[studies][own]") {
  const OutsideTable table = theory(
      "series,model,alpha,value,finite_size,numerical_error,compared\n"
      "a,\"one, two\",1,2,0.5,1e-3,true\nb,,1,3,,,no\n",
      "alpha");
  const std::vector<Prediction> curves = predictions(table, "alpha");
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].series.point == Point{{"model", "one, two"}});
  CHECK(curves[0].series.x_name == "alpha");
  CHECK(curves[0].finite_size[0] == 0.5);
  CHECK(curves[0].numerical_error[0] == 1e-3);
  CHECK(curves[1].series.point.empty());
  CHECK_FALSE(curves[1].compared[0]);
}

TEST_CASE("read_table: mistakes are named by line and column", "[studies][own]") {
  CHECK_THAT(refusal("x,valeu\n1,2\n"), Contains("t.csv:1:3: error: missing column 'value'"));
  CHECK_THAT(refusal("y,value\n1,2\n"), Contains("missing column 'x'"));
  CHECK_THAT(refusal("x,value\n1,abc\n"), Contains("t.csv:2:3: error: value = 'abc'"));
  CHECK_THAT(refusal("x,value\n1,nan\n"), Contains("t.csv:2:3"));
  CHECK_THAT(refusal("x,value\n1,2,3\n"), Contains("t.csv:2:5: error: 3 fields, expected 2"));
  CHECK_THAT(refusal("x;value\n0,5;2\n"), Contains("decimals are written with a point"));
  CHECK_THAT(refusal("x,value\n1,2\n1,3\n"), Contains("accepted"));  // told by `predictions`
  CHECK_THAT(refusal("x,value,x\n1,2,1\n"), Contains("t.csv:1:9: error: column 'x' twice"));
  CHECK_THAT(refusal("x,value,\n1,2,1\n"), Contains("a column without a name"));
  CHECK_THAT(refusal("1,2\n3,4\n"), Contains("expected a header"));
  CHECK_THAT(refusal("x,value\n"), Contains("a header without rows"));
  CHECK_THAT(refusal(""), Contains("nothing, expected a header"));
  CHECK_THAT(refusal("x,value\n1,\"2\n"), Contains("a quote that is not closed"));
  CHECK_THAT(refusal(std::string("x,value\n1,\0002\n", 14)),
             Contains("t.csv:2:3: error: no UTF-8"));
  CHECK_THAT(refusal("x,value\n1,2\xff\n"), Contains("t.csv:2:4: error: no UTF-8"));
  CHECK_THAT(refusal("series,x,value\na b,1,2\n"), Contains("t.csv:2:1: error: series = 'a b'"));
  CHECK_THAT(refusal("x,value,finite_size\n1,2,-1\n"), Contains("a number >= 0"));
  CHECK_THAT(refusal("x,value,compared\n1,2,maybe\n"), Contains("true or false"));
  CHECK_THAT(refusal("[{\"x\": 1, \"value\": NaN}]"), Contains("no valid JSON"));
  CHECK_THAT(refusal("[{\"x\": 1, \"value\": 1}, {\"x\": 2}]"),
             Contains("t.csv:2:1: error: row without 'value'"));
  CHECK_THAT(refusal("[1, 2]"), Contains("a row that is no object"));
  CHECK_THAT(refusal("x,value\n1,2\n", TableKind::replicates),
             Contains("missing column 'replicate'"));
  CHECK_THAT(refusal("x,value,replicate\n1,2,0.5\n", TableKind::replicates), Contains("t.csv:2:5"));
  CHECK_THAT(refusal("x,mean,sem,n\n1,2,0.1,1\n", TableKind::replicates),
             Contains("replicates from 2"));
  CHECK_THROWS_WITH(predictions(theory("x,value\n1,2\n1,3\n"), "x"),
                    Contains("t.csv:3:1") && Contains("line 2 already"));
  CHECK_THROWS_WITH(recorded_outcomes(simulation("x,value,replicate\n1,2,0\n1,3,0\n"), "x"),
                    Contains("s.csv:3:1") && Contains("replicate 0"));
}

TEST_CASE("take_cluster_means: what replicates share is the replicate", "[studies][own]") {
  OutsideTable table = simulation(
      "x,value,replicate,teacher\n1,2,0,a\n1,4,1,a\n1,7,0,b\n2,1,0,a\n2,nan,1,a\n1,9,1,b\n");
  take_cluster_means(table, "teacher");
  CHECK(table.coordinates.empty());
  REQUIRE(table.rows.size() == 3);
  CHECK((table.rows[0].value == 3 && table.rows[0].replicate == 0));
  CHECK((table.rows[1].value == 8 && table.rows[1].replicate == 1));
  CHECK((std::isnan(table.rows[2].value) && table.rows[2].x == 2));
  const RecordedOutcomes outcomes = recorded_outcomes(table, "x");
  CHECK(outcomes.outcomes.size() == 2);
  CHECK_THROWS_WITH(take_cluster_means(table, "teacher"), Contains("no column 'teacher'"));
  OutsideTable without = simulation("x,value,replicate,teacher\n1,2,0,\n");
  CHECK_THROWS_WITH(take_cluster_means(without, "teacher"), Contains("no value of 'teacher'"));
  OutsideTable twice = simulation("x,value,replicate,teacher\n1,2,0,a\n1,3,0,a\n");
  CHECK_THROWS_WITH(take_cluster_means(twice, "teacher"), Contains("stands in line 2 already"));
}

TEST_CASE("require_same_columns: coordinates and units", "[studies][own]") {
  const OutsideTable with = theory("x [ms],value,lambda\n1,2,3\n");
  CHECK_THROWS_WITH(require_same_columns(with, simulation("x,value,replicate\n1,2,0\n")),
                    Contains("t.csv:1:14: error: column 'lambda' is not in 's.csv'"));
  CHECK_THROWS_WITH(
      require_same_columns(with, simulation("x [s],value,replicate,lambda\n1,2,0,3\n")),
      Contains("x in [s], but in [ms]"));
  CHECK_NOTHROW(require_same_columns(with, simulation("x [ms],value,replicate,lambda\n1,2,0,3\n")));
}

TEST_CASE("recorded_outcomes: replicates by name, x that differ in rounding, failures",
          "[studies][own]") {
  const RecordedOutcomes recorded = recorded_outcomes(
      simulation("x,value,replicate\n0.3,1,7\n0.30000000000000004,2,3\n1,,3\n"), "x");
  REQUIRE(recorded.names == std::vector<std::uint64_t>{3, 7});
  CHECK(recorded.outcomes[0].series[0].x == std::vector<double>{0.3, 1});
  CHECK(recorded.outcomes[1].series[0].y == std::vector<double>{1});
  CHECK(recorded.outcomes[0].failed);
  CHECK_THAT(recorded.outcomes[0].message, Contains("s.csv:4"));
  CHECK_FALSE(recorded.outcomes[1].failed);
}

TEST_CASE("recorded_outcomes: stand-ins have the mean and the standard error that are given",
          "[studies][own]") {
  for (const std::size_t n : {2U, 3U, 10U, 41U}) {
    const RecordedOutcomes recorded =
        recorded_outcomes(simulation("x,mean,sem,n\n1,5,0.25," + std::to_string(n) + "\n"), "x");
    REQUIRE(recorded.outcomes.size() == n);
    std::vector<double> values;
    for (const Outcome& outcome : recorded.outcomes) values.push_back(outcome.series[0].y[0]);
    const SampleSummary sample = summarise(values);
    CHECK(sample.mean == Approx(5).epsilon(1e-14));
    CHECK(sample.sem == Approx(0.25).epsilon(1e-13));
    CHECK(std::abs(sample.skewness) < 1e-10);
  }
}

TEST_CASE("keep_rows: a column that is a key selects its rows", "[studies][own]") {
  OutsideTable table = theory("x,value,N\n1,2,10\n1,3,20\n");
  keep_rows(table, "N", 20.0);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].value == 3);
  CHECK(table.coordinates.empty());
  OutsideTable other = theory("x,value,N\n1,2,10\n");
  CHECK_THROWS_WITH(keep_rows(other, "N", 5.0), Contains("no row with N = 5"));
}

}  // namespace own_table_test

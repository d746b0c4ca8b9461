#include "attica/sources/table.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/replicates.hpp"

using namespace attica;
using namespace attica::sources;
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

/// Text as Excel writes it: UTF-16, little-endian, with byte-order mark.
std::string utf16(const std::string& text) {
  std::string bytes = "\xff\xfe";
  for (const char c : text) {
    bytes += c;
    bytes += '\0';
  }
  return bytes;
}

TEST_CASE("read_table: the same table in every dress", "[studies][own]") {
  const std::vector<std::string> dresses = {
      "x,value,lambda\n1,2.5,0.1\n2,-3e-2,0.1\n",
      "x\tvalue\tlambda\n1\t2.5\t0.1\n2\t-3e-2\t0.1\n",
      "x;value;lambda\r\n1;2.5;0.1\r\n2;-3e-2;0.1\r\n",
      "\xEF\xBB\xBF# a remark\nlambda, value , \"x\"\n\n0.1, +2.5 ,\"1\"\n# another\n0.1,-0.03,2",
      "x,value,lambda\r1,2.5,0.1\r\r2,-3e-2,0.1\r",
      "\n# x of the run\n\nx value lambda\n1 2.5 0.1\n\n  2\t-0.03   0.1  \n",
      "# x value lambda\n1.0 2.5E0 1e-1\n2.0 -3.0e-02 1E-1\n",
      "# x, value, lambda\n1.0 2.5 0.1\n2.0 -.03 .1\n",
      "# x,value,lambda\n1.0,2.5,0.1\n2.0,-.03,.1\n",
      "x,\tvalue,\tlambda\n1,\t2.5,\t0.1\n2,\t-3e-2,\t0.1\n",
      "\"lambda\" \"x\" \"value\"\n0.1 1 2.5\n0.1 2 -3E-2\n",
      "sep=;\r\nx;value;lambda\r\n1;2.5;0.1\r\n2;-3e-2;0.1\r\n;;\r\n",
      "sep=\t\nx\tvalue\tlambda\n1\t2.5\t0.1\n2\t-3e-2\t0.1\n",
      "x,value,lambda\n1,2.5,0.1\n,,\n2,-3e-2,0.1\n,,\n,,\n",
      "# lambda is 0.1, all along\nx,value,lambda\n#1,7,0.1\n1,2.5,0.1\n2,-3e-2,0.1\n# end\n",
      utf16("x,value,lambda\n1,2.5,0.1\n2,-0.03,.1\n"),
      R"([{"x": 1, "value": 2.5, "lambda": 0.1}, {"lambda": 0.1, "x": 2, "value": -0.03}])",
      "{\"x\": 1, \"value\": 2.5, \"lambda\": 0.1}\n{\"lambda\": 0.1, \"x\": 2, \"value\": "
      "-3E-2}\n",
      R"({"x": {"0": 1, "1": 2}, "value": {"0": 2.5, "1": -0.03}, "lambda": {"0": 0.1, "1": 0.1}})",
      R"({"x": [1, 2], "value": [2.5, -0.03], "lambda": [0.1, 0.1]})",
      R"({"columns": ["x", "value", "lambda"], "index": [0, 1], "data": [[1, 2.5, 0.1], [2, -0.03, 0.1]]})",
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
  CHECK_THAT(refusal("x,valeu\n1,2\n"), Contains("did you mean 'valeu'? Call it 'value'"));
  CHECK_THAT(refusal("y,value\n1,2\n"), Contains("missing column 'x'"));
  CHECK_THAT(refusal("x,value\n1,abc\n"), Contains("t.csv:2:3: error: value = 'abc'"));
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
  CHECK_THAT(refusal("[{\"x\": 1, \"value\": nan}]"), Contains("no valid JSON"));
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

TEST_CASE("predictions: a second simulation in the theory's place", "[studies][own]") {
  const OutsideTable table = theory(
      "x,replicate,value,bath\n1,1,4,a\n1,0,2,a\n2,0,7,a\n1,0,5,b\n1.0000000000000002,1,nan,b\n");
  CHECK(table.replicated);
  CHECK(table.coordinates == std::vector<std::string>{"bath"});
  const std::vector<Prediction> curves = predictions(table, "x");
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].series.x == std::vector<double>{1, 2});
  CHECK(curves[0].series.y == std::vector<double>{3, 7});
  // In the order of their numbers.
  const auto replicates = theory_replicates(table, "x");
  REQUIRE(replicates.size() == 3);
  CHECK(replicates[0].first == "y at bath=a, x=1");
  CHECK(replicates[0].second == std::vector<double>{2, 4});
  CHECK(replicates[1].second == std::vector<double>{7});
  CHECK(curves[1].series.y == std::vector<double>{5});
  CHECK(std::isnan(replicates[2].second[1]));
  CHECK_THROWS_WITH(predictions(theory("x,replicate,value\n1,0,2\n1,0,2\n"), "x"),
                    Contains("replicate 0, stands there already"));
  // By another name, and clusters.
  OutsideTable clusters = read_table(
      "x,run,value,block\n1,0,1,a\n1,1,3,a\n1,2,8,b\n", "t.csv", {.columns = {.replicate = "run"}});
  take_cluster_means(clusters, "block");
  CHECK(theory_replicates(clusters, "x")[0].second == std::vector<double>{2, 8});
  CHECK_FALSE(theory("x,value\n1,2\n").replicated);
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

TEST_CASE("read_table: what other programs write and attica does not read is named",
          "[studies][own]") {
  const auto says = [](const std::string& text, const std::string& what) {
    INFO(text);
    CHECK_THAT(refusal(text), Contains(what));
  };
  // pandas: index, index written twice, MultiIndex of rows and of columns, orient="index", "table".
  says(",x,value\n0,1,2\n", "index=False");
  says("Unnamed: 0,x,value\n0,1,2\n", "index=False");
  says(",loss,loss\n,mean,std\nx,,\n1,2,3\n", "MultiIndex");
  says(R"({"0": {"x": 1, "value": 2}, "1": {"x": 2, "value": 3}})", "orient='records'");
  says(R"({"schema": {"fields": []}, "data": [{"x": 1}]})", "orient='records'");
  // R: names of rows.
  says("\"x\" \"value\"\n\"1\" 1 2\n", "row.names=FALSE");
  // HEPData: several blocks.
  says("#: name: Table 1\nx,value\n1,2\n\n#: name: Table 2\nx,value\n1,3\n", "the header again");
  says("x,value\n1,2\n\nx,value,stat\n1,3,4\n", "a second table");
  says("x,value\n1,2\n\npt,sigma\n1,3\n", "a second table");
  // gnuplot: data blocks.
  says("# x value\n1 2\n\n\n2 3\n", "t.csv:3:1: error: two blank lines between rows");
  says("# x value\n1 2\n\n# x value\n2 3\n", "t.csv:4:1: error: the header again");
  // Layouts that are none of a table's.
  says("| x | value |\n|---|---|\n| 1 | 2 |\n", "a Markdown table?");
  says("x|value\n1|2\n", "columns separated by '|'");
  says("x & value \\\\\n1 & 2 \\\\\n", "a LaTeX table");
  for (const char* mark : {"//", "%", ";", "!"}) {
    says(std::string(mark) + " made by hand\nx,value\n1,2\n",
         fmt::format("begins with '{}': comments begin with '#'", mark));
  }
  says("Results,,\nx,value,n\n1,2,3\n", "a title above the header?");
  says("x,value,,\n1,2,,\n", "the 3rd; does the line end with separators?");
  // A spreadsheet's errors are no comments.
  says("x,value\n#DIV/0!,2\n1,2\n", "t.csv:2:1: error: x = '#DIV/0!'");
  says("x,value\n#N/A,2\n1,2\n", "t.csv:2:1");
  says("x,value\n1,#DIV/0!\n", "a spreadsheet's error value");
  says("x,value\n1,1.5(2)\n", "an error has a column of its own");
  says("x,value\n1,1.5 \u00b1 0.2\n", "an error has a column of its own");
  says("x,value\n'1','2'\n", "quoted with double quotes");
  says("x,value\n1,5.*^-1\n", "an exponent is written with 'e'");
  says("x,value\n1\u00a0,2\n", "a no-break space");
  // TensorBoard: names with capitals, and JSON without names.
  says("Wall time,Step,Value\n1.5,0,2\n", "missing column 'x'");
  says("[[1611111111.1, 0, 0.5]]", "TensorBoard");
  // German Excel.
  says("x;value\n1;2,5\n", "decimals are written with a point");
  says("x;value\n1;1.234,5\n", "separators of thousands");
  says("x value\n1 2,5\n", "decimals are written with a point");
  says(
      "x,value\n1,\xE2\x88\x92"
      "2\n",
      "a minus sign");
  says("x,value\n1,1.0D+00\n", "an exponent is written with 'e'");
  says("x,value\n1,20%\n", "as a fraction");
  says("x,value\n1,2 # note\n", "a comment has a line of its own");
  says("x,value\n1,2,\n", "ends with a separator");
  says("x,value,\n1,2,\n", "end with a separator");
  says(R"({"x": 1, "value": {"a": 2}})", "JSON, expected a list of objects or an object a line");
  says(R"([{"x": 1, "value": {"a": 2}}])", "json_normalize");
  says(R"([{"x": 1, "value": 2, "value": 3}])", "key 'value' twice");
  says(R"({"x": {"0": 1, "0": 2}, "value": {"0": 1}})", "key '0' twice");
  says(R"({"x": {"0": 1}, "value": {"1": 1}})", "other rows");
  says("{\"x\": 1, \"value\": 2}\n[3]\n", "text behind JSON");
  says(std::string(100000, '['), "in one another");
  says("[", "no valid JSON");
  says("{}", "empty");
  says("[[]]", "expected");
  using std::literals::string_literals::operator""s;
  says("PAR1"s, "Parquet");
  says("ARROW1\0\0"s, "Feather");
  says("\x89HDF\r\n\x1a\n"s, "HDF5");
  says("PK\x03\x04 xl/workbook.xml"s, "Excel .xlsx");
  says("PK\x03\x04 arr_0.npy"s, ".npz");
  says("PK\x03\x04 archive/data.pkl"s, "PyTorch");
  says("\x80\x04\x95"s, "pickle");
  says("\x93NUMPY\x01\0"s, "no names");
  says(
      "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\x80\x2c\x1a\xe1\xd8\x41\x1a\x0d"
      "brain.Event:2"s,
      "tfevents");
  says("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"s, ".xls");
  says("<!DOCTYPE html><html>"s, "web page");
  says("\xff\xfe\0\0x\0\0\0"s, "UTF-32");
  says(
      "x\0,\0v\0\n\0"
      "1\0,\0"
      "2\0"s,
      "UTF-16");
  says("x,value\n1,\xe4\n", "Latin-1");
  says("\x1f\x8b\x08\0\0"s, "gzip");
}

TEST_CASE("read_table: values that are no numbers", "[studies][own]") {
  for (const char* none : {"", "nan", "NaN", "NA", "<NA>", "--", "null", "missing"}) {
    INFO(none);
    CHECK(std::isnan(theory(std::string("x,value\n1,") + none + "\n").rows[0].value));
    CHECK(
        std::isnan(simulation(std::string("x,replicate,value\n1,0,") + none + "\n").rows[0].value));
  }
  CHECK(theory("x,value\n1,inf\n").rows[0].value == HUGE_VAL);
  CHECK(theory("x,value\n1,-Infinity\n").rows[0].value == -HUGE_VAL);
  CHECK(theory(R"([{"x": 1, "value": Infinity}, {"x": 2, "value": -Infinity}])").rows[1].value ==
        -HUGE_VAL);
  CHECK(std::isnan(theory(R"([{"x": 1, "value": NaN}])").rows[0].value));
  CHECK(std::isnan(theory(R"([{"x": 1, "value": null}])").rows[0].value));
  CHECK(std::isnan(simulation("x,replicate,value\n1,0,inf\n").rows[0].value));
  // A number that no double holds: too small is 0, which is said, and too large is refused,
  // whatever the exponent's case.
  for (const char* zero : {"1e-400", "1E-400", "+1E-400", "0.0E-999", "0.00000001e-320"}) {
    INFO(zero);
    const OutsideTable table = theory(std::string("x,value\n1,") + zero + "\n");
    CHECK(table.rows[0].value == 0);
    CHECK(table.remarks.size() == (zero == std::string("0.0E-999") ? 0 : 1));
  }
  for (const std::string& large : {std::string("1e400"),
                                   std::string("1E+400"),
                                   std::string("12345678901E+300"),
                                   std::string(400, '9')}) {
    INFO(large);
    CHECK_THROWS_WITH(theory("x,value\n1," + large + "\n"), Catch::Contains("no double holds it"));
  }
  CHECK(theory("x,value\n1,0." + std::string(400, '0') + "1\n").rows[0].value == 0);
  CHECK(theory("x,value\n1,0." + std::string(400, '0') + "1\n").remarks.size() == 1);
  CHECK(theory("[{\"x\": 1, \"value\": 1E-400}]").rows[0].value == 0);
  CHECK(theory("[{\"x\": 1, \"value\": 1E-400}]").remarks.size() == 1);
  // A mean that was not measured is a point of failed replicates.
  const RecordedOutcomes none =
      recorded_outcomes(simulation("x,mean,sem,n\n1,2,0.1,3\n2,,,3\n3,nan,,0\n"), "x");
  REQUIRE(none.outcomes.size() == 3);
  CHECK(none.outcomes[0].series[0].x == std::vector<double>{1, 2, 3});
  CHECK(std::isnan(none.outcomes[2].series[0].y[1]));
}

TEST_CASE("read_table: columns by other names, wide tables, errors of the mean", "[studies][own]") {
  const auto read = [](const std::string& text, const TableColumns& columns, const char* x = "x") {
    return read_table(
        text, "s.csv", {.kind = TableKind::replicates, .x_name = x, .columns = columns});
  };
  const OutsideTable tall = simulation("x,replicate,value\n1,0,5\n1,1,6\n2,0,7\n2,1,8\n");
  for (const OutsideTable& other :
       {read("x,seed,loss\n1,0,5\n1,1,6\n2,0,7\n2,1,8\n",
             {.values = {"loss"}, .replicate = "seed"}),
        read("x,0,1\n1,5,6\n2,7,8\n", {.values = {"0", "1"}}),
        read("\"Step\",\"a - loss\",\"a - loss__MIN\",\"a - loss__MAX\",\"b - loss\"\n"
             "1,5,1,9,6\n2,7,7,7,8\n",
             {.values = {"a - loss", "b - loss"}},
             "Step")}) {
    REQUIRE(other.rows.size() == 4);
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(other.rows[k].x == tall.rows[k].x);
      CHECK(other.rows[k].value == tall.rows[k].value);
      CHECK(other.rows[k].replicate == tall.rows[k].replicate);
      CHECK(other.rows[k].point.empty());
    }
  }
  for (const OutsideTable& summary :
       {simulation("x,mean,sem,n\n1,5,0.5,16\n"),
        simulation("x,mean,sd,n\n1,5,2,16\n"),
        simulation("x,mean,sem,replicates\n1,5,0.5,16\n"),
        read("n,mean,sem,replicates\n1,5,0.5,16\n", {}, "n"),
        read("x,acc,std\n1,5,2\n", {.values = {"acc"}, .sd = "std", .n = "16"}),
        read("x,acc,std,count\n1,5,2,16\n", {.values = {"acc"}, .sd = "std", .n = "count"}),
        read("x,mean,sem\n1,5,0.5\n", {.n = "16"})}) {
    REQUIRE(summary.summary);
    CHECK(summary.rows[0].x == 1);
    CHECK(summary.rows[0].value == 5);
    CHECK(summary.rows[0].sem == 0.5);
    CHECK(summary.rows[0].n == 16);
    CHECK(summary.coordinates.empty());
  }
  const OutsideTable unknown = read("x,mean,sem\n1,5,0.5\n", {.n = "unknown"});
  CHECK(unknown.rows[0].n == kUnknownReplicates);
  CHECK(unknown.remarks.size() == 1);
  // A column whose own name says otherwise is not taken for standard deviations in silence.
  for (const std::string column : {"var", "Variance", "sem", "SE", "stderr"}) {
    const OutsideTable spread = read("x,mean," + column + ",n\n1,5,2,16\n", {.sd = column});
    REQUIRE(spread.remarks.size() == 1);
    CHECK_THAT(spread.remarks[0],
               Contains("column '" + column + "' is read as the standard deviation"));
  }
  CHECK(read("x,mean,std,n\n1,5,2,16\n", {.sd = "std"}).remarks.empty());
  const auto says = [&](const std::string& text,
                        const TableColumns& columns,
                        const std::string& what,
                        const char* x = "x") {
    INFO(text);
    CHECK_THROWS_WITH(read(text, columns, x), Contains(what));
  };
  says("n,mean,sem\n100,5,0.5\n", {}, "'n' is x here", "n");
  says("x,Mean,sem,n\n1,5,0.5,3\n", {}, "missing column");
  says("x,replicate,Value\n1,0,2\n", {}, "did you mean 'Value'? --value 'Value'");
  says("x,Replicate,value\n1,0,2\n", {}, "did you mean 'Replicate'? --replicate 'Replicate'");
  says("X,replicate,value\n1,0,2\n", {}, "did you mean 'X'? --x 'X'");
  says("x,loss\n1,2\n", {.values = {"Loss"}}, "did you mean 'loss'?");
  says("x,value\n1,2\n", {.values = {"x"}}, "'x' is x here");
  says("x,a,b,replicate\n1,2,3,0\n", {.values = {"a", "b"}}, "a replicate each");
  says("x,a,b\n1,2,3\n", {.values = {"a", "a"}}, "each column once");
  says("x,mean,sem,n\n1,2,0.1,1\n", {}, "one has no standard error");
  says("x,mean,sem,n\n1,2,,3\n", {}, "a number >= 0");
  says("x,mean,n\n1,2,3\n", {}, "missing column 'sem'");
  says("x,mean,sem\n1,2,3\n", {.n = "1"}, "from 2 to 1000000");
}

TEST_CASE("read_table: coordinates that follow x leave no curve of two points, which is said",
          "[studies][own]") {
  const auto remarks = [](const std::string& text) { return theory(text).remarks; };
  // TensorBoard's wall time; PyTorch Lightning's epoch and the other metric.
  REQUIRE(remarks("Wall time,x,value\n1.1,1,5\n2.2,2,4\n3.3,3,3\n").size() == 1);
  CHECK_THAT(remarks("Wall time,x,value\n1.1,1,5\n2.2,2,4\n3.3,3,3\n")[0],
             Contains("column Wall time") && Contains("no curve has two points"));
  CHECK_THAT(remarks("epoch,x,a,value\n0,1,5,1\n1,2,4,1\n2,3,3,1\n")[0],
             Contains("columns a, epoch"));
  REQUIRE(simulation("t,x,replicate,value\n1,1,0,5\n1,1,1,6\n2,2,0,4\n2,2,1,5\n3,3,0,3\n")
              .remarks.size() == 1);
  CHECK(remarks("lambda,x,value\n0.1,1,5\n0.1,2,4\n0.2,3,3\n").empty());
  CHECK(remarks("lambda,x,value\n0.1,1,5\n0.2,1,4\n0.3,1,3\n").empty());
  CHECK(remarks("x,value\n1,5\n2,4\n3,3\n").empty());
  // Rows of another metric, as PyTorch Lightning logs them.
  CHECK_THAT(remarks("epoch,x,value,loss\n0,1,5,\n0,1,,6\n1,2,4,\n1,2,,5\n2,3,3,\n2,3,,4\n").at(0),
             Contains("epoch, loss"));
}

TEST_CASE("require_same_columns: coordinates and units", "[studies][own]") {
  const OutsideTable with = theory("x [ms],value,lambda\n1,2,3\n");
  CHECK_THROWS_WITH(require_same_columns(with, simulation("x,value,replicate\n1,2,0\n")),
                    Contains("t.csv:1:14: error: column 'lambda' is not in 's.csv'"));
  CHECK_THROWS_WITH(
      require_same_columns(with, simulation("x [s],value,replicate,lambda\n1,2,0,3\n")),
      Contains("x in [s], but in [ms]"));
  CHECK_NOTHROW(require_same_columns(with, simulation("x [ms],value,replicate,lambda\n1,2,0,3\n")));
  const OutsideTable width = theory("x,value [m],width [nm]\n1,2,3\n");
  CHECK_THROWS_WITH(
      require_same_columns(width, simulation("x,value,replicate,width [um]\n1,2,0,3\n")),
      Contains("'width' in [um], but in [nm]"));
  CHECK_THROWS_WITH(
      require_same_units(width, simulation("x,value [mm],replicate,other [s]\n1,2,0,3\n")),
      Contains("values in [mm], but in [m]"));
  CHECK_NOTHROW(require_same_columns(width, simulation("x,value,replicate,width\n1,2,0,3\n")));
}

TEST_CASE("read_table: values, their errors and tolerances in one unit", "[studies][own]") {
  CHECK_THROWS_WITH(
      theory("x,value [m],finite_size [mm]\n1,2,3\n"),
      Contains("t.csv:1:13: error: column 'finite_size' in [mm], but 'value' in [m]"));
  CHECK_THROWS_WITH(theory("x,value,finite_size [m],numerical_error [mm]\n1,2,3,4\n"),
                    Contains("expected one unit"));
  CHECK_THROWS_WITH(simulation("x,mean [m],sem [mm],n\n1,2,3,9\n"), Contains("expected one unit"));
  CHECK(simulation("x,mean,sem [mm],n\n1,2,3,9\n").value_unit == "mm");
}

TEST_CASE("read_table: coordinates of more digits than a double holds", "[studies][own]") {
  for (const char* digits : {"9007199254740993", "-9007199254740993", "09007199254740993"}) {
    CHECK_THROWS_WITH(theory(fmt::format("x,run,value\n1,{},2\n", digits)),
                      Contains("expected a text, or a whole number that a double holds"));
  }
  for (const char* digits : {"9007199254740992",
                             "1152921504606846976",
                             "9007199254740993.0",
                             "a9007199254740993",
                             "00000000000000000012"}) {
    CHECK_NOTHROW(theory(fmt::format("x,run,value\n1,{},2\n", digits)));
  }
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

TEST_CASE("recorded_outcomes: rows in any order, of curves that take turns", "[studies][own]") {
  const std::string sorted = "k,x,mean,sem,n\n1,1,5,.1,3\n1,2,6,.1,2\n2,1,7,.1,3\n2,2,8,.1,3\n";
  const std::string turns = "k,x,mean,sem,n\n2,2,8,.1,3\n1,1,5,.1,3\n2,1,7,.1,3\n1,2,6,.1,2\n";
  // (k, x) -> value of every replicate
  const auto values = [](const std::string& text) {
    std::vector<std::map<std::pair<double, double>, double>> all;
    for (const Outcome& outcome : recorded_outcomes(simulation(text), "x").outcomes) {
      auto& of_one = all.emplace_back();
      for (const Series& s : outcome.series) {
        for (std::size_t j = 0; j < s.x.size(); ++j)
          of_one[{std::get<double>(s.point.at(0).second), s.x[j]}] = s.y[j];
      }
    }
    return all;
  };
  CHECK(values(sorted) == values(turns));
  CHECK(values(turns).at(2).size() == 3);
  for (const char* twice : {"1,1,5,.1,3\n", "2,2,8,.1,2\n", "1,1.0000000000000002,9,.1,2\n"}) {
    CHECK_THROWS_WITH(recorded_outcomes(simulation(turns + twice), "x"),
                      Contains("stands in line"));
  }
}

TEST_CASE("read_table: x stands for another name, but for no formula", "[studies][own]") {
  CHECK(theory("x,value\n1,2\n", "t").remarks.empty());
  CHECK(theory("t,value,x\n1,2,3\n", "t").remarks.empty());
  const OutsideTable mistyped = theory("time,x,value\n1,2,3\n", "tmie");
  REQUIRE(mistyped.remarks.size() == 1);
  CHECK(mistyped.remarks[0] == "t.csv: no column 'tmie': column 'x' is taken for it");
  for (const char* formula : {"x^2", "sqrt(x)", "2*x", "1/x"})
    CHECK_THROWS_WITH(theory("x,value\n1,2\n", formula), Contains("which is no name of one"));
  CHECK(theory("x^2,value\n1,2\n", "x^2").rows.size() == 1);
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

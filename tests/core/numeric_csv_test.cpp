#include "attica/core/numeric_csv.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "attica/core/error.hpp"
#include "attica/core/matrix_file.hpp"

using namespace attica;
namespace fs = std::filesystem;

namespace numeric_csv_test {

/// A file that lives as long as the object.
class File {
 public:
  explicit File(const std::string& content)
      : path_(fs::temp_directory_path() / ("attica-csv-" + std::to_string(::getpid()) + ".csv")) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~File() { fs::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

NumericTable read(const std::string& content, CsvHeader header = CsvHeader::required) {
  return read_numeric_csv(File(content).path(), header);
}

/// The message without the path: ":3: ...".
std::string error(const std::string& content, CsvHeader header = CsvHeader::required) {
  const File file(content);
  try {
    read_numeric_csv(file.path(), header);
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::input);
    const std::string text = e.what();
    CHECK(text.starts_with(file.path().string()));
    return text.substr(file.path().string().size());
  }
  return "(no error)";
}

TEST_CASE("read_numeric_csv: header and rows", "[core][csv]") {
  const NumericTable t = read("a,b,c\n1,2,3\n4,5.5,-6e-3\n");
  CHECK(t.columns == std::vector<std::string>{"a", "b", "c"});
  Eigen::MatrixXd expected(2, 3);
  expected << 1, 2, 3, 4, 5.5, -6e-3;
  CHECK(t.values == expected);
}

TEST_CASE("read_numeric_csv: byte-order mark, CRLF, spaces, quotes, signs, blank lines at the end",
          "[core][csv]") {
  const NumericTable t =
      read("\xEF\xBB\xBF\"x, y\" , \"say \"\"z\"\"\"\r\n +1 ,\t-2\r\n\"3\",4\r\n\r\n \n");
  CHECK(t.columns == std::vector<std::string>{"x, y", "say \"z\""});
  Eigen::MatrixXd expected(2, 2);
  expected << 1, -2, 3, 4;
  CHECK(t.values == expected);
  CHECK(read("a\n1").values(0, 0) == 1);  // no line end at the end of the file
}

TEST_CASE("read_numeric_csv: an optional header is one if a field of it is no number",
          "[core][csv]") {
  CHECK(read("1,2\n3,4\n", CsvHeader::optional).columns.empty());
  CHECK(read("1,2\n3,4\n", CsvHeader::optional).values.rows() == 2);
  CHECK(read("1,b\n3,4\n", CsvHeader::optional).columns == std::vector<std::string>{"1", "b"});
  CHECK_THAT(error("1,2\n3,4\n"),
             Catch::StartsWith(":1:1: error: numbers ('1', ...), expected a header"));
}

TEST_CASE("read_numeric_csv: numbers are read exactly", "[core][csv]") {
  for (const double x : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -123456.789}) {
    char text[64];
    std::snprintf(text, sizeof text, "x\n%.17g\n", x);
    CHECK(read(text).values(0, 0) == x);
  }
}

TEST_CASE("read_numeric_csv: mistakes are named with line and column", "[core][csv]") {
  const auto says =
      [](const std::string& text, const std::string& what, CsvHeader header = CsvHeader::required) {
        INFO(text);
        CHECK_THAT(error(text, header), Catch::StartsWith(what));
      };
  says("a,b\n1,2\n3,x\n", ":3:3: error: 'x' in b, expected a finite number");
  says("1,2\n3,nan\n", ":2:3: error: 'nan' in column 2, expected", CsvHeader::optional);
  says("nan,2\n3,4\n", ":1:1: error: 'nan' in column 1, expected", CsvHeader::optional);
  says("a,b\n1,inf\n", ":2:3: error: 'inf' in b, expected a finite number");
  says("a,b\n1,1e999\n", ":2:3: error: '1e999' in b, expected a finite number");
  says("a,b\n1,\n", ":2:3: error: '' in b, expected a finite number");
  says("a,b\n1,+-2\n", ":2:3: error: '+-2' in b, expected a finite number");
  says("a,b\n1,2 3\n", ":2:3: error: '2 3' in b, expected a finite number");
  says("a,b\n1,0x10\n", ":2:3: error: '0x10' in b, expected a finite number");
  says("a,b\n1\n", ":2:1: error: 1 fields, expected 2");
  says("a,b\n1,2,3\n", ":2:5: error: 3 fields, expected 2");
  says("a;b\n1,5;2\n", ":2:1: error: '1,5' in a, expected a finite number; decimals are written");
  says("1,5;2\n3,5;2\n", ":1:1: error: '1,5' is neither", CsvHeader::optional);
  says("1,2\n\n3,4\n", ":2:1: error: a blank line inside the table", CsvHeader::optional);
  says("", ":1:1: error: nothing, expected");
  says("a,b\n", ":1:1: error: no data, expected rows");
  says(std::string("a\n1\0\n", 5), ":2:2: error: no UTF-8 text");
  CHECK(read("a,b\n1,2\n\n3,4\n").values.rows() == 2);  // named columns: one table
}

TEST_CASE("parse_matrix: a first row that is mistyped is no header", "[core][csv]") {
  for (const char* first : {"\u22121",
                            "\u20131",
                            "NA",
                            "<NA>",
                            "None",
                            "missing",
                            "--",
                            "-",
                            "?",
                            "$5",
                            "\u20ac5",
                            "<1",
                            ">1",
                            "~1",
                            "\u00b11",
                            "'1"}) {
    INFO(first);
    const std::string text = std::string(first) + ",2\n3,4\n";
    CHECK_THROWS_WITH(
        parse_matrix(text, "file", CsvHeader::optional),
        Catch::Contains("file:1:1: error: '") && Catch::Contains("is neither a number nor"));
    CHECK_THROWS_WITH(parse_matrix("6," + text, "file", CsvHeader::optional),
                      Catch::Contains("file:1:3"));
    // Where names are required, they may be any.
    CHECK(parse_matrix(text, "file", CsvHeader::required).table.values.rows() == 1);
  }
  for (const char* name : {"alpha", "-x", "<x>", "\u03b1", "$x$", "x1", "%"}) {
    INFO(name);
    const std::string text = std::string(name) + ",y\n3,4\n";
    CHECK(parse_matrix(text, "file", CsvHeader::optional).table.columns.front() == name);
  }
}

TEST_CASE("read_numeric_csv: columns without a name of their own are refused", "[core][csv]") {
  // What a spreadsheet or data frame writes as its row numbers has no name and is no variable.
  CHECK_THAT(error(",a,b\n0,1,2\n"), Catch::Contains("a column without a name"));
  CHECK_THAT(error("a,b,a\n0,1,2\n"), Catch::Contains(":1:5: error: column 'a' twice"));
}

TEST_CASE("read_numeric_csv: a first line that counts the columns is a header", "[core][csv]") {
  // As pandas writes an array; a permutation's rows are such numbers themselves.
  const auto read_file = [](const std::string& content) {
    return read_matrix_file(File(content).path(), CsvHeader::optional);
  };
  const MatrixFile named = read_file("0,1,2\n0.5,1,2\n0,1,7\n");
  CHECK(named.table.columns == std::vector<std::string>{"0", "1", "2"});
  CHECK(named.table.values.rows() == 2);
  REQUIRE(named.remarks.size() == 1);
  CHECK_THAT(named.remarks[0], Catch::Contains("names of columns"));
  for (const char* matrix : {"0,1,2\n1,2,0\n2,0,1\n", "1,2\n0.5,1\n", "0,1,2\n", "0\n5\n"}) {
    INFO(matrix);
    const MatrixFile file = read_file(matrix);
    CHECK(file.table.columns.empty());
    CHECK(file.remarks.size() == (matrix[3] == ',' && matrix[6] == '1' ? 1 : 0));
  }
  // Different whole numbers above others may be names: a row, but a remark says so.
  for (const char* matrix :
       {"1,2,3\n0.5,0.25,0.1\n", "3,2,1\n0.5,0.25,0.1\n", "10,20\n0.5,1.5\n2,3\n"}) {
    INFO(matrix);
    const MatrixFile file = read_file(matrix);
    CHECK(file.table.columns.empty());
    CHECK(file.table.values(0, 1) == (matrix[1] == ',' ? 2 : 20));
    REQUIRE(file.remarks.size() == 1);
    CHECK_THAT(file.remarks[0], Catch::Contains("was read as a row of numbers"));
  }
  // Below names in a comment a blank line may separate matrices, as below none.
  CHECK_THROWS_WITH(read_file("# a b\n1 2\n\n3 4\n"), Catch::Contains(":3:1: error: a blank line"));
  CHECK(read_file("# a, b\n1 2\n3 4\n").table.columns == std::vector<std::string>{"a", "b"});
  CHECK(read_file("3,3,2\n0.5,0.25,0.1\n").remarks.empty());
}

TEST_CASE("read_numeric_csv: missing files and folders cannot be read", "[core][csv]") {
  for (const fs::path& path : {fs::path("/no/such/file.csv"), fs::temp_directory_path()}) {
    CHECK_THROWS_WITH(read_numeric_csv(path, CsvHeader::required),
                      "cannot read '" + path.string() + "'");
  }
}

TEST_CASE("parse_matrix: an end within a number is remarked on", "[core][csv]") {
  const std::string whole = "a,b\n3.5,0.125\n1,0.250\n4,0.375\n1,0.500\n5,10.625";
  const auto remarks = [](const std::string& text) {
    return parse_matrix(text, "t.csv", CsvHeader::required).remarks;
  };
  CHECK(remarks(whole).empty());
  CHECK(remarks(whole + "\n").empty());
  for (const std::size_t cut : {2, 3, 4, 5}) {
    const std::string text = whole.substr(0, whole.size() - cut);
    INFO(text);
    const std::string shown = text.substr(text.rfind(',') + 1);
    REQUIRE(remarks(text).size() == 1);
    CHECK_THAT(remarks(text)[0],
               Catch::Contains("t.csv:6: the last line has no end, and its last number, " + shown));
    CHECK(remarks(text + "\n").empty());  // written so
    CHECK(remarks(text + "\r\n").empty());
  }
  CHECK(remarks("a,b\n3.5,0.125\n1,0.250\n4,0.375\n1,0.").empty());  // too few rows to tell
  CHECK(remarks("a,b\n3.5,12\n1,1\n4,31\n1,10\n5,7").empty());       // as short as another
  CHECK(remarks("a,b\n3.5,0.125\n1,0.25\n4,0.375\n1,0.55\n5,0.7\n# end").empty());
}

TEST_CASE("parse_matrix: a first column that counts the rows is remarked on", "[core][csv]") {
  const auto remarks = [](const std::string& text) {
    return parse_matrix(text, "t.csv", CsvHeader::optional).remarks;
  };
  CHECK_THAT(remarks("row,a\n0,1.5\n1,2\n2,-1\n3,0\n").at(0),
             Catch::Contains("t.csv: the first column, 'row', counts the rows, 0 to 3"));
  CHECK_THAT(remarks("1 1.5\n2 2\n3 -1\n4 0\n").at(0), Catch::Contains("index=False"));
  CHECK(remarks("a,b\n0,1\n1,2\n2,3\n").empty());       // few rows: perhaps a count
  CHECK(remarks("a,b\n0,1\n1,2\n2,3\n4,5\n").empty());  // no index
  CHECK(remarks("a\n0\n1\n2\n3\n4\n").empty());         // nothing else
  // Times, in seconds or milliseconds.
  for (const char* times :
       {"0.1,3\n0.2,1\n0.3,4\n0.4,1\n0.5,5\n",
        "1700000000,3.5\n1700000060,1\n1700000120,4\n1700000180,1\n1700000240,5\n"})
    CHECK_THAT(remarks(times).at(0), Catch::Contains("rises in equal steps, from"));
  CHECK(remarks("0.1,3\n0.2,1\n0.3,4\n0.4,1\n0.51,5\n").empty());
  CHECK(remarks("5,3\n4,1\n3,4\n2,1\n1,5\n").size() == 1);  // falls; commas may be decimal ones
}

TEST_CASE("parse_matrix: a .npy file where columns have names", "[core][csv]") {
  CHECK_THROWS_WITH(parse_matrix("\x93NUMPY\x01", "t.npy", CsvHeader::required),
                    Catch::Contains("add_prefix('x').to_csv(FILE, index=False)"));
}

TEST_CASE("read_numeric_csv: stray quotes are refused, not removed", "[core][csv]") {
  CHECK_THAT(error("a,b\n3\"4\",1\n"), Catch::StartsWith(":2:1: error: a quote inside the field"));
  CHECK_THAT(error("a,b\n\"3\"4,1\n"), Catch::StartsWith(":2:1: error: text after a quoted field"));
  CHECK_THAT(error("a,b\n\"3,1\n"), Catch::StartsWith(":2:1: error: a quote that is not closed"));
  CHECK(read("a,\"b, \"\"quoted\"\"\"\n\"3\" , 1\n").columns[1] == "b, \"quoted\"");
  CHECK(read("a,b\n\"3\" , 1\n").values(0, 0) == 3);
}

TEST_CASE("read_numeric_csv: a wide table takes time in proportion to its columns", "[core][csv]") {
  std::string names;
  std::string row;
  constexpr int kColumns = 200000;  // comparing all pairs of names would take minutes
  for (int k = 0; k < kColumns; ++k) {
    names += (k == 0 ? "c" : ",c") + std::to_string(k);
    row += k == 0 ? "1" : ",1";
  }
  CHECK(read(names + "\n" + row + "\n").columns.size() == kColumns);
}

TEST_CASE("csv_field: quotes what RFC 4180 wants quoted", "[core][csv]") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field("\r") == "\"\r\"");
  CHECK(csv_field("").empty());
}

}  // namespace numeric_csv_test

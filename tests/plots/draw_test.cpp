#include "attica/plots/draw.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>

#include "attica/core/error.hpp"
#include "attica/plots/content.hpp"
#include "plots/samples.hpp"

using namespace attica;
using namespace attica::testing;
namespace fs = std::filesystem;

namespace draw_test {

/// A fresh folder that goes away with the test.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / fmt::format("attica-draw-{}", ::getpid())) {
    fs::remove_all(path_);
  }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Sets an environment variable for a while.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name), old_(std::getenv(name)) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { ::setenv(name_, old_.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string old_;
};

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Rows of a CSV file without quoted fields, by column name.
std::vector<std::map<std::string, std::string>> read_csv(const fs::path& path) {
  const auto fields = [](const std::string& line) {
    std::vector<std::string> parts;
    std::istringstream stream(line + ",");
    for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
    return parts;
  };
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  const auto names = fields(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(stream, line)) {
    const auto values = fields(line);
    REQUIRE(values.size() == names.size());
    rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) rows.back()[names[i]] = values[i];
  }
  return rows;
}

/// Runs a command in a folder and returns what it prints.
std::string output_of(const fs::path& folder, const std::string& command) {
  const std::string file = (folder / "output.txt").string();
  const std::string all = "cd '" + folder.string() + "' && " + command + " >'" + file + "' 2>&1";
  if (std::system(all.c_str()) != 0) return "failed: " + read(file);
  return read(file);
}

DrawOptions options(const Scratch& scratch, std::vector<std::string> formats = {"svg"}) {
  DrawOptions result;
  result.folder = scratch.path();
  result.formats = std::move(formats);
  return result;
}

ErrorKind kind_of(const Figure& figure,
                  const FigureData& data,
                  const DrawOptions& how,
                  std::string* message = nullptr) {
  try {
    draw(figure, data, how);
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.kind();
  }
  FAIL("drawn without an error");
  return ErrorKind::input;
}

TEST_CASE("draw: writes data, script and every format", "[plots]") {
  const Scratch scratch;
  const auto files =
      draw(one_panel(), double_descent({0.001, 0.1, 1}), options(scratch, {"svg", "pdf", "png"}));
  REQUIRE(files.size() == 5);
  for (const auto& file : files) CHECK(fs::file_size(file) > 1000);
  // Nothing else is left behind.
  CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 5);
}

TEST_CASE("draw: TikZ has the drawing, its labels as LaTeX, and the package that it needs",
          "[plots]") {
  const Scratch scratch;
  DrawOptions how = options(scratch, {"tex", "svg"});
  how.metadata = {{"run", "mine-0 -- 1"}};
  draw(one_panel(), double_descent({0.1}), how);
  const std::string tex = read(scratch.path() / "double_descent.tex");
  CHECK(tex.starts_with("\\begin{tikzpicture}"));
  CHECK(tex.find("\\end{tikzpicture}") != std::string::npos);
  // gnuplot's own head is a line of versions and one of the time, which would differ at each call.
  const auto versions = tex.find("\n%% generated with");
  REQUIRE(versions != std::string::npos);
  CHECK(tex.substr(tex.find('\n', versions + 1), 4) != "\n%% ");
  CHECK(tex.find("\\ensuremath{\\lambda} = 0.1") != std::string::npos);
  CHECK(tex.find("\\ensuremath{\\alpha} = \\ensuremath{M}/\\ensuremath{N}") != std::string::npos);
  CHECK(tex.find("{/:Italic") == std::string::npos);
  CHECK(tex.find("% run: mine-0 - - 1") != std::string::npos);
  CHECK(fs::exists(scratch.path() / "gnuplot-lua-tikz.sty"));
  CHECK(fs::exists(scratch.path() / "gnuplot-lua-tikz-common.tex"));
  // The other formats do not see it.
  const std::string svg = read(scratch.path() / "double_descent.svg");
  CHECK(svg.find("ensuremath") == std::string::npos);
  CHECK(svg.find("λ") != std::string::npos);
  const std::string both = output_of(scratch.path(), "gnuplot double_descent.gp");
  CHECK(both.empty());
  CHECK(read(scratch.path() / "double_descent.tex") == tex);
}

TEST_CASE("draw: an author's font, size and width are in the files", "[plots]") {
  const Scratch scratch;
  DrawOptions how = options(scratch);
  how.look.font = "DejaVu Serif";
  how.look.size = 12;
  how.look.width = 5;
  draw(one_panel(), double_descent({0.1}), how);
  const std::string svg = read(scratch.path() / "double_descent.svg");
  CHECK(svg.find("DejaVu Serif") != std::string::npos);
  constexpr int kPixelsPerInch = 96;
  CHECK(svg.find(fmt::format("width=\"{}\"", 5 * kPixelsPerInch)) != std::string::npos);
  const std::string script = read(scratch.path() / "double_descent.gp");
  CHECK(script.find("font 'DejaVu Serif,12'") != std::string::npos);
  how.look.font = "Serif', 12; system 'x";
  CHECK(kind_of(one_panel(), double_descent({0.1}), how) == ErrorKind::input);
}

TEST_CASE("draw: the data file holds every number exactly", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({1.0 / 3});
  draw(one_panel(), data, options(scratch));
  std::vector<std::vector<double>> found(2);
  std::size_t residuals = 0;
  for (const auto& row : read_csv(scratch.path() / "double_descent.csv")) {
    residuals += row.at("kind") == "residual" ? 1 : 0;
    if (row.at("series") != "test_error" || row.at("kind") == "residual") continue;
    CHECK(std::stod(row.at("lambda")) == 1.0 / 3);
    found[row.at("kind") == "theory" ? 0 : 1].push_back(std::stod(row.at("y")));
  }
  CHECK(found[0] == data.curves[0].mean.y);
  CHECK(found[1] == data.curves[1].mean.y);
  CHECK(residuals == found[1].size());
}

TEST_CASE("draw: SVG and PNG are the same bytes every time, and from the script alone", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({0.001, 0.1, 1});
  DrawOptions how = options(scratch, {"svg", "png"});
  draw(one_panel(), data, how);
  const std::string svg = read(scratch.path() / "double_descent.svg");
  const std::string png = read(scratch.path() / "double_descent.png");
  draw(one_panel(), data, how);
  CHECK(read(scratch.path() / "double_descent.svg") == svg);
  CHECK(read(scratch.path() / "double_descent.png") == png);

  fs::remove(scratch.path() / "double_descent.svg");
  REQUIRE(output_of(scratch.path(), "gnuplot double_descent.gp") == "");
  CHECK(read(scratch.path() / "double_descent.svg") == svg);
  CHECK(read(scratch.path() / "double_descent.png") == png);
}

TEST_CASE("draw: metadata is in every file, whatever characters it holds", "[plots]") {
  const Scratch scratch;
  DrawOptions how = options(scratch, {"svg", "pdf", "png"});
  how.metadata = {{"run", "demo-1234abcd"}, {"verdict", "AGREE ±5 % -- `echo \"x\"`"}};
  how.note = "5 % of {all} `touch harmful` a_b \\ \"quoted\" 'too'";
  draw(one_panel(), double_descent({0.1}), how);
  for (const char* extension : {"svg", "png", "gp"}) {
    CHECK(
        read(scratch.path() / fmt::format("double_descent.{}", extension)).find("demo-1234abcd") !=
        std::string::npos);
  }
  const std::string svg = read(scratch.path() / "double_descent.svg");
  CHECK(svg.find("<!-- verdict: AGREE ±5 % - - `echo \"x\"` -->") != std::string::npos);
  CHECK_FALSE(fs::exists(scratch.path() / "harmful"));
  REQUIRE(output_of(scratch.path(), "gnuplot double_descent.gp") == "");
  CHECK(read(scratch.path() / "double_descent.svg") == svg);

  if (std::system("command -v pdfinfo >/dev/null") == 0) {
    draw(one_panel(), double_descent({0.1}), how);
    const std::string information = output_of(scratch.path(), "pdfinfo double_descent.pdf");
    CHECK(information.find("run: demo-1234abcd; verdict: AGREE ±5 %") != std::string::npos);
    CHECK(information.find("243 x") != std::string::npos);  // 3.375 in
  }
}

TEST_CASE("draw: PDF fonts are embedded TrueType", "[plots]") {
  if (std::system("command -v pdffonts >/dev/null") != 0) return;
  const Scratch scratch;
  draw(one_panel(), double_descent({0.1}), options(scratch, {"pdf"}));
  std::istringstream fonts(output_of(scratch.path(), "pdffonts double_descent.pdf"));
  std::string line;
  std::getline(fonts, line);
  std::getline(fonts, line);
  int count = 0;
  while (std::getline(fonts, line)) {
    ++count;
    CHECK(line.find("TrueType") != std::string::npos);
    CHECK(line.find("Type 3") == std::string::npos);
    CHECK(line.find(" yes yes ") != std::string::npos);  // embedded, subset
  }
  CHECK(count >= 2);  // upright and italic
}

TEST_CASE("draw: numbers that are not finite are left out and counted beneath", "[plots]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  FigureData data = double_descent({0.1});
  data.curves[0].mean.y[7] = nan;
  data.curves[1].mean.y[2] = std::numeric_limits<double>::infinity();
  data.curves[1].sem[0] = nan;
  const plots::Content content = plots::arrange(one_panel(), data);
  CHECK(content.remarks ==
        std::vector<std::string>{"2 points and part of the theory not finite, not drawn"});
  // The line has a gap; the points beside those that are left out stand where they stood.
  std::vector<std::size_t> rows;
  for (const plots::DrawnCurve& curve : content.panels[0].curves)
    rows.push_back(curve.data->mean.x.size());
  CHECK(rows == std::vector<std::size_t>{7, 142, 10});
  CHECK(content.panels[0].legend ==
        plots::arrange(one_panel(), double_descent({0.1})).panels[0].legend);
  const Scratch scratch;
  draw(one_panel(), data, options(scratch));
  CHECK(read(scratch.path() / "double_descent.svg").find("not finite") != std::string::npos);
  const std::string table = read(scratch.path() / "double_descent.csv");
  CHECK(table.find("nan") == std::string::npos);
  CHECK(table.find("inf") == std::string::npos);

  // Nothing at all that is finite is no figure.
  for (double& y : data.curves[0].mean.y) y = nan;
  for (double& y : data.curves[1].mean.y) y = nan;
  std::string message;
  CHECK(kind_of(one_panel(), data, options(scratch), &message) == ErrorKind::input);
  CHECK(message.find("no finite number of its series (test_error)") != std::string::npos);
}

TEST_CASE("draw: refuses what cannot be drawn", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({0.1});
  std::string message;
  DrawOptions how = options(scratch, {"gif"});
  CHECK(kind_of(one_panel(), data, how, &message) == ErrorKind::input);
  CHECK(message.find("gif") != std::string::npos);
  how = options(scratch);
  how.style = "vogue";
  CHECK(kind_of(one_panel(), data, how, &message) == ErrorKind::input);
  CHECK(message.find("aps") != std::string::npos);
  Figure figure = one_panel();
  figure.name = "../elsewhere";
  CHECK(kind_of(figure, data, options(scratch)) == ErrorKind::input);
  figure = one_panel();
  figure.panels[0].layers[0].series = "unheard_of";
  CHECK(kind_of(figure, data, options(scratch), &message) == ErrorKind::input);
  CHECK(message.find("unheard_of") != std::string::npos);
  figure = one_panel();
  figure.panels[0].x.low = -1;  // on a logarithmic axis
  CHECK(kind_of(figure, data, options(scratch)) == ErrorKind::input);
}

TEST_CASE("draw: a script that was edited is replaced only when asked to", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({0.1});
  const fs::path script = scratch.path() / "double_descent.gp";
  CHECK_FALSE(was_edited(script));  // there is none
  draw(one_panel(), data, options(scratch));
  CHECK_FALSE(was_edited(script));
  std::string text = read(script);
  const auto title = text.find("set ");
  text.insert(title, "# mine\n");
  std::ofstream(script, std::ios::binary) << text;
  CHECK(was_edited(script));
  std::string message;
  DrawOptions how = options(scratch);
  CHECK(kind_of(one_panel(), data, how, &message) == ErrorKind::storage);
  CHECK(message.find("edited") != std::string::npos);
  CHECK(read(script) == text);
  how.replace_edited = true;
  draw(one_panel(), data, how);
  CHECK_FALSE(was_edited(script));
  // So are its data; gone, they are drawn again.
  const fs::path table = scratch.path() / "double_descent.csv";
  std::ofstream(table, std::ios::binary | std::ios::app) << "# mine\n";
  CHECK(was_edited(script));
  fs::remove(table);
  CHECK_FALSE(was_edited(script));
  draw(one_panel(), data, options(scratch));
  CHECK(fs::exists(table));
}

TEST_CASE("draw: a script of an earlier version vouches for itself alone", "[plots]") {
  const Scratch scratch;
  const fs::path script = scratch.path() / "old.gp";
  // CRC-32 of "set grid\n".
  std::ofstream(script, std::ios::binary)
      << "set grid\n# checksum of the lines above e4c1c037: attica replaces no script that was "
         "edited, unless asked to\n";
  std::ofstream(scratch.path() / "old.csv") << "x\n1\n";
  CHECK_FALSE(was_edited(script));
}

TEST_CASE("draw: what a killed process left behind goes, and formats are named once", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({0.1});
  // No process has this number: it is beyond the kernel's largest.
  fs::create_directories(scratch.path() / ".double_descent.999999999");
  fs::create_directories(scratch.path() / ".double_descent.notes");
  draw(one_panel(), data, options(scratch));
  CHECK_FALSE(fs::exists(scratch.path() / ".double_descent.999999999"));
  CHECK(fs::exists(scratch.path() / ".double_descent.notes"));
  DrawOptions how = options(scratch);
  how.formats = {"svg", "svg"};
  CHECK(kind_of(one_panel(), data, how) == ErrorKind::input);
}

TEST_CASE("draw: a failed redraw leaves the old figure alone", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({0.1});
  draw(one_panel(), data, options(scratch));
  const std::string before = read(scratch.path() / "double_descent.svg");
  std::string message;
  {
    const Environment no_programs("PATH", scratch.path().string());
    CHECK(kind_of(one_panel(), data, options(scratch), &message) == ErrorKind::input);
  }
  CHECK(message.find("gnuplot was not found") != std::string::npos);
  CHECK(read(scratch.path() / "double_descent.svg") == before);
  CHECK(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()) == 3);
}

TEST_CASE("draw: a gnuplot that fails or leaves a torn file is noticed", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({0.1});
  const auto pretend = [&](const std::string& program) {
    const fs::path folder = scratch.path() / "bin";
    fs::create_directories(folder);
    std::ofstream(folder / "gnuplot") << "#!/bin/sh\n" << program;
    fs::permissions(folder / "gnuplot", fs::perms::owner_all);
    return Environment("PATH", folder.string() + ":" + std::getenv("PATH"));
  };
  std::string message;
  {
    // Ends before it has read the script: writing to it must not kill this program either.
    const auto environment = pretend("echo 'line 7: undefined variable: mark'; exit 1\n");
    CHECK(kind_of(one_panel(), data, options(scratch), &message) == ErrorKind::input);
    CHECK(message.find("undefined variable: mark") != std::string::npos);
  }
  {
    const auto environment =
        pretend("cat >/dev/null; echo '<?xml <svg> cut' >double_descent.svg\n");
    CHECK(kind_of(one_panel(), data, options(scratch), &message) == ErrorKind::storage);
    CHECK(message.find("unfinished") != std::string::npos);
  }
  {
    const auto environment = pretend("cat >/dev/null\n");
    CHECK(kind_of(one_panel(), data, options(scratch)) == ErrorKind::storage);
  }
}

TEST_CASE("draw: an unwritable folder is an error of storage", "[plots]") {
  const Scratch scratch;
  fs::create_directories(scratch.path());
  std::ofstream(scratch.path() / "file") << "in the way";
  DrawOptions how = options(scratch);
  how.folder = scratch.path() / "file" / "plots";
  CHECK(kind_of(one_panel(), double_descent({0.1}), how) == ErrorKind::storage);
  how.folder = "/proc/attica";  // unwritable for root too
  CHECK(kind_of(one_panel(), double_descent({0.1}), how) == ErrorKind::storage);
}

TEST_CASE("draw: a full disk is an error of storage and keeps the old figure", "[plots]") {
  const Scratch scratch;
  const FigureData data = double_descent({0.001, 0.1, 1});
  draw(one_panel(), data, options(scratch));
  const std::string before = read(scratch.path() / "double_descent.svg");
  const auto csv_size = fs::file_size(scratch.path() / "double_descent.csv");
  REQUIRE(csv_size + 1000 < before.size());
  // A limit on the size of files stands for the full disk: the first fails in writing the data, the
  // second in gnuplot.
  for (const auto limit : {csv_size / 2, csv_size + 1000}) {
    rlimit old{};
    getrlimit(RLIMIT_FSIZE, &old);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{limit, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const ErrorKind kind = kind_of(one_panel(), data, options(scratch));
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    CHECK(kind == ErrorKind::storage);
    CHECK(read(scratch.path() / "double_descent.svg") == before);
  }
}

TEST_CASE("draw: a folder in the place of a figure is an error of storage", "[plots]") {
  const Scratch scratch;
  fs::create_directories(scratch.path() / "double_descent.svg");
  CHECK(kind_of(one_panel(), double_descent({0.1}), options(scratch)) == ErrorKind::storage);
}

TEST_CASE("draw: what logarithmic axes and fixed ranges hide is said", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1});
  data.curves[1].mean.y[2] = -0.1;
  data.curves[1].mean.y[3] = 0;
  Figure figure = one_panel();
  figure.panels[0].y.scale = AxisScale::log;
  figure.panels[0].y.high = 1;
  draw(figure, data, options(scratch));
  const std::string script = read(scratch.path() / "double_descent.gp");
  CHECK(script.find("2 points ≤ 0, not on the log axis") != std::string::npos);
  CHECK(script.find("beyond") != std::string::npos);
}

TEST_CASE("draw: extreme, single and empty-looking data give figures", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1});
  SECTION("one point") {
    for (RecordedCurve& curve : data.curves) {
      for (auto* column : {&curve.mean.x, &curve.mean.y, &curve.sem, &curve.sd}) {
        if (!column->empty()) column->erase(column->begin() + 1, column->end());
      }
      if (!curve.theory) curve.n = {20};
    }
    data.residuals.erase(data.residuals.begin() + 1, data.residuals.end());
  }
  SECTION("tiny") {
    for (RecordedCurve& curve : data.curves) {
      for (double& y : curve.mean.y) y *= 1e-200;
      for (double& sem : curve.sem) sem *= 1e-200;
    }
  }
  SECTION("huge") {
    for (RecordedCurve& curve : data.curves) {
      for (double& y : curve.mean.y) y *= 1e200;
      for (double& sem : curve.sem) sem *= 1e200;
    }
  }
  SECTION("all zero") {
    for (RecordedCurve& curve : data.curves) {
      for (double& y : curve.mean.y) y = 0;
      for (double& sem : curve.sem) sem = 0;
    }
    for (ResidualPoint& point : data.residuals) point.theory = 0;
  }
  CHECK(draw(one_panel(), data, options(scratch)).size() == 3);
}

TEST_CASE("draw: margins that differ by less than is visible are one band and one entry",
          "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.001, 0.1});
  const auto names_two = [&](double excess) {
    for (std::size_t k = 0; k < data.residuals.size(); ++k) {
      ResidualPoint& point = data.residuals[k];
      point.margin = 0.05 * point.theory * (2 * k < data.residuals.size() ? 1 + excess : 1);
    }
    const auto files = draw(one_panel(), data, options(scratch));
    const auto svg = std::ranges::find_if(
        files, [](const fs::path& file) { return file.extension() == ".svg"; });
    REQUIRE(svg != files.end());
    return read(*svg).find("narrowest") != std::string::npos;
  };
  CHECK_FALSE(names_two(0));
  CHECK_FALSE(names_two(1e-6));
  CHECK(names_two(0.1));
}

TEST_CASE("draw: a margin wider than the panel is cut off where its edge crosses it", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1});
  std::erase_if(data.residuals,
                [](const ResidualPoint& point) { return point.series != "test_error"; });
  for (ResidualPoint& point : data.residuals) point.margin = 0.05 * point.theory;
  data.residuals.back().margin = 100 * data.residuals.back().theory;
  const double x0 = data.residuals[data.residuals.size() - 2].x;
  const double x1 = data.residuals.back().x;
  draw(one_panel(), data, options(scratch));
  std::vector<std::pair<double, double>> corners;
  for (const auto& row : read_csv(scratch.path() / "double_descent.csv")) {
    if (row.at("kind") == "margin")
      corners.emplace_back(std::stod(row.at("x")), std::stod(row.at("y")));
  }
  REQUIRE(corners.size() == data.residuals.size() + 3);
  const double limit = corners.back().second;
  CHECK(limit < 100);
  const auto crossing = corners[corners.size() - 3];
  CHECK(crossing.second == limit);
  const double part = (limit - 5) / (1e4 - 5);
  const bool log = one_panel().panels[0].x.scale == AxisScale::log;
  CHECK_THAT(crossing.first,
             Catch::WithinRel(log ? x0 * std::pow(x1 / x0, part) : x0 + part * (x1 - x0), 1e-9));
}

TEST_CASE("draw: constants, references, marks and shared axes", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.001, 0.1, 1});
  RecordedCurve constant;
  constant.theory = true;
  constant.mean = {"bayes", {}, "none", {0}, {0.25}};
  data.curves.push_back(constant);
  Figure figure{"two", {test_error_panel(), train_error_panel()}, 1, ""};
  Layer reference{"bayes", "Bayes limit"};
  reference.reference = true;
  figure.panels[0].layers.push_back(reference);
  figure.panels[0].vertical_marks = {1};
  CHECK(draw(figure, data, options(scratch)).size() == 3);
  const std::string script = read(scratch.path() / "two.gp");
  const auto count = [&](const std::string& text) {
    std::size_t n = 0;
    for (auto at = script.find(text); at != std::string::npos; at = script.find(text, at + 1)) ++n;
    return n;
  };
  CHECK(count("\"{/:Italic λ} = 0.1{/=1   }\"") == 1);  // each point once in the legend
  CHECK(count("Bayes limit") == 1);
  CHECK(count("{/:Italic α} = {/:Italic M}/{/:Italic N}") ==
        1);  // the shared axis is labelled once
  CHECK(count("\"(a){") == 1);
  CHECK(count("\"(b){") == 1);
}

TEST_CASE("draw: marks at recorded constants have the colours of their curves", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1, 1});
  for (const double lambda : {0.1, 1.0, 7.0}) {  // of the last there is no curve
    RecordedCurve optimum;
    optimum.mean = {"best_alpha", {{"lambda", lambda}}, "none", {0}, {2 + lambda}};
    data.curves.push_back(optimum);
  }
  Figure figure = one_panel();
  figure.panels[0].recorded_marks = {"best_alpha"};
  draw(figure, data, options(scratch));
  const std::string script = read(scratch.path() / (figure.name + ".gp"));
  std::vector<std::string> colours;
  const std::string dash = "' dt (2,5)";
  for (auto at = script.find(dash); at != std::string::npos; at = script.find(dash, at + 1)) {
    const auto from = script.rfind('\'', at - 1);
    colours.push_back(script.substr(from + 1, at - from - 1));
  }
  const std::vector<std::string> both = {"#0072B2", "#D55E00"};  // the first two of the curves
  std::vector<std::string> distinct;
  for (const std::string& colour : colours) {
    if (std::find(distinct.begin(), distinct.end(), colour) == distinct.end())
      distinct.push_back(colour);
  }
  CHECK(distinct == both);
  // A layer of that series is no curve, but the name of the marks.
  figure.panels[0].layers.push_back({.series = "best_alpha", .label = "optimum"});
  draw(figure, data, options(scratch));
  const std::string named = read(scratch.path() / (figure.name + ".gp"));
  CHECK(named.find("optimum") != std::string::npos);
  CHECK(named.find("best_alpha") == std::string::npos);
  figure.panels[0].layers.pop_back();
  data.curves.back().mean.point = {{"lambda", 0.1}};
  data.curves.back().mean.y = {std::nan("")};
  CHECK_THROWS_WITH(draw(figure, data, options(scratch)),
                    Catch::Contains("series 'best_alpha' (lambda=0.1): mean"));
}

TEST_CASE("draw: figure names with dashes, dots and leading digits", "[plots]") {
  const Scratch scratch;
  Figure figure = one_panel();
  figure.name = "2-panels_v1.0";
  DrawOptions how = options(scratch);
  how.metadata = {{"run", "x"}};
  draw(figure, double_descent({0.1}), how);
  CHECK(fs::exists(scratch.path() / "2-panels_v1.0.svg"));
}

TEST_CASE("draw: many curves that differ in a number get a colour bar, not a legend", "[plots]") {
  const Scratch scratch;
  std::vector<double> lambdas;
  for (int i = 0; i < 12; ++i) lambdas.push_back(std::pow(10.0, -3 + 0.3 * i));
  draw(one_panel(), double_descent(lambdas), options(scratch));
  const std::string script = read(scratch.path() / "double_descent.gp");
  CHECK(script.find("set palette defined") != std::string::npos);
  CHECK(script.find("set logscale y; set logscale y2") != std::string::npos);
  CHECK(script.find("λ} = 0.001") == std::string::npos);
  CHECK(script.find("set label \"{/:Italic λ}{/=1   }\"") != std::string::npos);
}

TEST_CASE("draw: legends name the coordinates that a label leaves out", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1, 0.2});
  const std::size_t own = data.curves.size();
  for (std::size_t k = 0; k < own; ++k) {
    RecordedCurve other = data.curves[k];
    data.curves[k].mean.point.emplace_back("width", 16.0);
    other.mean.point.emplace_back("width", 32.0);
    data.curves.push_back(std::move(other));
  }
  Figure figure = one_panel();
  figure.panels[0].residuals = false;
  figure.panels[0].layers[0].label = "penalty {lambda}";
  draw(figure, data, options(scratch));
  const std::string script = read(scratch.path() / "double_descent.gp");
  CHECK(script.find("\"penalty 0.1, width = 16") != std::string::npos);
  CHECK(script.find("\"penalty 0.2, width = 32") != std::string::npos);
}

TEST_CASE("draw: what all entries of a legend would say again is said once", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1});
  const std::size_t own = data.curves.size();
  for (std::size_t k = 0; k < own; ++k) {
    RecordedCurve other = data.curves[k];
    data.curves[k].mean.point.emplace_back("width", 16.0);
    other.mean.point.emplace_back("width", 32.0);
    data.curves.push_back(std::move(other));
  }
  Figure figure = one_panel();
  figure.panels[0].residuals = false;
  figure.panels[0].layers[0].label = "test, {/:Italic λ} = {lambda}";
  draw(figure, data, options(scratch));
  const std::string script = read(scratch.path() / "double_descent.gp");
  const std::string shared = "\"{/:Italic λ} = 0.1";
  CHECK(script.find(shared) != std::string::npos);
  CHECK(script.find(shared) == script.rfind(shared));
  CHECK(script.find("\"test, width = 16") != std::string::npos);
  CHECK(script.find("\"test, width = 32") != std::string::npos);
}

TEST_CASE("draw: trajectories are lines, one legend entry for all", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1, 0.2, 0.3});
  std::erase_if(data.curves, [](const RecordedCurve& curve) { return curve.theory; });
  Figure figure = one_panel();
  figure.panels[0].residuals = false;
  figure.panels[0].layers[0].trajectories = true;
  figure.panels[0].layers[0].label = "runs";
  draw(figure, data, options(scratch));
  const std::string script = read(scratch.path() / "double_descent.gp");
  const auto first = script.find("\"runs");
  CHECK(first != std::string::npos);
  CHECK(script.find("\"runs", first + 1) == std::string::npos);
  CHECK(script.find("yerrorbars") == std::string::npos);
  CHECK(script.find("with points") == std::string::npos);
}

TEST_CASE("draw: trajectories with names of their own have styles of their own", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.1, 0.2, 0.3});
  std::erase_if(data.curves, [](const RecordedCurve& curve) { return curve.theory; });
  Figure figure = one_panel();
  figure.panels[0].residuals = false;
  figure.panels[0].layers[0].trajectories = true;
  figure.panels[0].layers[0].label = "runs at {lambda}";
  draw(figure, data, options(scratch));
  const std::string script = read(scratch.path() / "double_descent.gp");
  for (const std::string_view colour : {"#0072B2", "#D55E00", "#009E73"})
    CHECK(script.find(colour) != std::string::npos);
}

TEST_CASE("draw: a hollow layer has open markers", "[plots]") {
  const Scratch scratch;
  Figure figure = one_panel();
  figure.panels[0].residuals = false;
  const auto script = [&] {
    draw(figure, double_descent({0.1}), options(scratch));
    return read(scratch.path() / "double_descent.gp");
  };
  CHECK(script().find("pt 6 ") == std::string::npos);
  figure.panels[0].layers[0].hollow = true;
  CHECK(script().find("pt 6 ") != std::string::npos);  // gnuplot's open circle
}

TEST_CASE("draw: maps and scatter plots in every style, redrawn alike by the script", "[plots]") {
  const Scratch scratch;
  FigureData data = double_descent({0.001, 0.01, 0.1, 1});
  Panel map;
  map.kind = PanelKind::contours;
  map.x = alpha_axis();
  map.y = {"{/:Italic λ}", AxisScale::log};
  map.y_coordinate = "lambda";
  map.value = {"{/:Italic E}_{test}", AxisScale::log};
  map.layers = {{"test_error", ""}};
  Panel scatter = test_error_panel();
  scatter.kind = PanelKind::scatter;
  scatter.layers[0].theory = false;
  scatter.diagonal = true;
  scatter.residuals = false;
  const Figure figure{"pair", {map, scatter}, 2, ""};
  for (const std::string& style : style_names()) {
    DrawOptions how = options(scratch);
    how.style = style;
    how.width = FigureWidth::full;
    CHECK(draw(figure, data, how).size() == 3);
  }
  const std::string svg = read(scratch.path() / "pair.svg");
  REQUIRE(output_of(scratch.path(), "gnuplot pair.gp") == "");
  CHECK(read(scratch.path() / "pair.svg") == svg);
}

TEST_CASE("draw: several columns of panels take the page's width unless told otherwise",
          "[plots]") {
  const Scratch scratch;
  const auto pages = [&](std::size_t columns, std::optional<FigureWidth> width) {
    DrawOptions how = options(scratch);
    how.width = width;
    const Figure figure{"pair", {test_error_panel(), train_error_panel()}, columns, ""};
    draw(figure, double_descent({0.1}), how);
    const std::string svg = read(scratch.path() / "pair.svg");
    return svg.substr(0, svg.find("viewBox"));
  };
  CHECK(pages(1, {}) == pages(1, FigureWidth::half));
  CHECK(pages(2, {}) == pages(2, FigureWidth::full));
  CHECK(pages(2, {}) != pages(2, FigureWidth::half));
}

}  // namespace draw_test

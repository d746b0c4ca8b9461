#include "attica/app/configuration/configuration_file.hpp"

#include <catch2/catch.hpp>

#include "app/toy_study.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;

namespace configuration_file_test {

struct File {
  toy::Folder folder;
  std::string path;
  explicit File(const std::string& text) : path(folder.write("c.toml", text)) {}
  CheckedConfiguration read(std::vector<Override> overrides = {},
                            const std::string& preset = "") const {
    return read_configuration({.target = path, .preset = preset, .overrides = std::move(overrides)},
                              toy::registry());
  }
  /// The error's text with the folder cut out of it.
  std::string error(const std::vector<Override>& overrides = {}) const {
    std::string text = message_of([&] { read(overrides); });
    const std::string prefix = folder.path().string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }
};

Override set(const std::string& assignment) { return {"--set " + assignment, assignment}; }

CheckedConfiguration with(const std::vector<std::string>& assignments) {
  std::vector<Override> overrides;
  for (const auto& a : assignments) overrides.push_back(set(a));
  return read_configuration({.target = "toy-line", .preset = {}, .overrides = overrides},
                            toy::registry());
}
std::string error_of(const std::string& assignment) {
  return message_of([&] { with({assignment}); });
}
std::vector<double> reals_of(const List& list) {
  std::vector<double> numbers;
  for (const Value& v : list) numbers.push_back(std::get<double>(v));
  return numbers;
}

TEST_CASE("read_configuration: defaults, file, preset and overrides in rising order",
          "[app][config]") {
  const File file("study = \"toy-line\"\n[model]\na = 3\n");
  CHECK(file.read().values.real("model.a") == 3.0);  // an integer literal serves as a real
  CHECK(file.read().values.text("model.word") == "red");
  CHECK(file.read({}, "steep").values.real("model.a") == 3.0);
  CHECK(file.read({set("model.a=4"), set("model.a=4.5")}).values.real("model.a") == 4.5);
  CHECK(read_configuration({.target = "toy-line", .preset = "steep", .overrides = {}},
                           toy::registry())
            .values.real("model.a") == 5.0);
  CHECK(file.read().values.given("model.a"));
  CHECK_FALSE(file.read().values.given("model.word"));
  CHECK(file.read().directory == file.folder.path());
}

TEST_CASE("read_configuration: unknown names with the nearest known one", "[app][config]") {
  CHECK(File("study = \"toy-line\"\n\n[sim]\nreplicate = 3\n").error() ==
        "c.toml:4:1: error: unknown key 'replicate' in [sim]; did you mean 'replicates'?");
  CHECK(File("study = \"toy-line\"\n[sim]\n  a = 3\n").error() ==
        "c.toml:3:3: error: unknown key 'a' in [sim]; it belongs in [model]");
  CHECK(File("study = \"toy-line\"\n[modle]\na = 3\n").error() ==
        "c.toml:2:2: error: unknown section [modle]; did you mean [model]?");
  CHECK(File("study = \"toy-line\"\na = 3\n").error() ==
        "c.toml:2:1: error: key 'a' belongs in [model]");
  CHECK(File("study = \"toy-line\"\n[theory]\nfoo = 3\n").error() ==
        "c.toml:3:1: error: unknown key 'foo' in [theory]; the study has no parameters there");
  CHECK(File("study = \"toy-lime\"\n").error() ==
        "c.toml:1:9: error: unknown study 'toy-lime'; did you mean 'toy-line'?");
  CHECK(File("[model]\na = 3\n").error() ==
        "c.toml:1:1: error: missing key 'study'; expected the name of a study, or [theory] and "
        "[simulation]");
  CHECK(File("").error() ==
        "c.toml:1:1: error: missing key 'study'; expected the name of a study, or [theory] and "
        "[simulation]");
  CHECK(File("study = 3\n").error() ==
        "c.toml:1:9: error: 'study' is not a text; expected the name of a study");
  CHECK(message_of([] {
          read_configuration({.target = "toylime", .preset = {}, .overrides = {}}, toy::registry());
        }) == "unknown study 'toylime'; did you mean 'toy-line'?");
  CHECK_THAT(message_of([] {
               read_configuration({.target = "toy-line", .preset = "slow", .overrides = {}},
                                  toy::registry());
             }),
             Catch::Contains("'--preset' = slow: expected one of steep"));
  CHECK_THAT(message_of([] {
               read_configuration({.target = "no/such.toml", .preset = {}, .overrides = {}},
                                  toy::registry());
             }),
             Catch::Contains("cannot read configuration file 'no/such.toml'"));
}

TEST_CASE("read_configuration: a key that was called otherwise before, with its new name",
          "[app][config]") {
  CHECK(File("study = \"toy-line\"\n\n[model]\n  slope = 3\n").error() ==
        "c.toml:4:3: error: unknown key 'slope' in [model]; it is called 'model.a' now");
  CHECK(
      error_of("sim.abscissa=[1]") ==
      "--set sim.abscissa=[1]: error: unknown key 'abscissa' in [sim]; it is called 'sweep.x' now");
  // Also where [sweep] takes a scalar over.
  CHECK_THAT(error_of("sweep.slope=[1,2]"), Catch::EndsWith("it is called 'sweep.a' now"));
}

TEST_CASE("read_configuration: wrong types, values out of range and wrong words", "[app][config]") {
  CHECK(error_of("model.a=\"3\"") ==
        "--set model.a=\"3\": error: parameter 'model.a' = \"3\": expected a number");
  CHECK_THAT(error_of("model.a=0"),
             Catch::Contains("parameter 'model.a' = 0: expected 0 < a <= 10"));
  CHECK_THAT(error_of("model.a=10.5"), Catch::Contains("'model.a' = 10.5"));
  CHECK_THAT(error_of("model.a=nan"), Catch::Contains("'model.a' = nan: expected a finite number"));
  CHECK_THAT(error_of("model.a=inf"), Catch::Contains("'model.a' = inf: expected a finite number"));
  CHECK_THAT(error_of("model.a=true"), Catch::Contains("'model.a' = true: expected a number"));
  CHECK_THAT(error_of("model.a=[1,2]"), Catch::Contains("'model.a' = a list: expected a number"));
  CHECK_THAT(error_of("model.a={log=[1,2],n=3}"), Catch::Contains("'model.a' = a table"));
  CHECK_THAT(error_of("model.a=1979-05-27"), Catch::Contains("'model.a' = a date"));
  CHECK_THAT(error_of("sim.steps=2.5"), Catch::Contains("'sim.steps' = 2.5: expected an integer"));
  CHECK_THAT(error_of("sim.steps=2.0"), Catch::Contains("expected an integer"));
  CHECK_THAT(error_of("sim.steps=0"), Catch::Contains("expected 1 <= steps <= 1000"));
  CHECK_THAT(error_of("model.flag=1"), Catch::Contains("'model.flag' = 1: expected true or false"));
  CHECK_THAT(error_of("model.word=\"blue\""),
             Catch::Contains("'model.word' = \"blue\": expected \"red\" | \"green\""));
  CHECK_THAT(error_of("model.word=3"), Catch::Contains("'model.word' = 3"));
  CHECK_THAT(error_of("sim.seed=-1"), Catch::Contains("'sim.seed' = -1: expected seed >= 0"));
  CHECK_THAT(error_of("sim.replicates=0"), Catch::Contains("'sim.replicates' = 0"));
  CHECK_THAT(error_of("check.margin=-0.1"), Catch::Contains("'check.margin' = -0.1"));
  CHECK_THAT(error_of("plot.formats=[\"svg\",\"gif\"]"),
             Catch::Contains("'plot.formats[1]' = \"gif\""));
}

TEST_CASE(
    "read_configuration: all mistakes at once, in the order of the file, then of the command line",
    "[app][config]") {
  const File file(
      "study = \"toy-line\"\n"
      "zeta = 1\n"
      "[sweep]\n"
      "a = [1, 2]\n"
      "y = [1]\n"
      "[nonsense]\n"
      "[model]\n"
      "word = \"blue\"\n"
      "a = 3\n");
  CHECK(file.error({set("sim.steps=0"), set("model.flag"), set("model.b=1")}) ==
        "c.toml:2:1: error: unknown key 'zeta' outside any section\n"
        "c.toml:4:1: error: parameter 'model.a' is given and swept; expected one of the two\n"
        "c.toml:5:1: error: unknown key 'y' in [sweep]; did you mean 'x'?\n"
        "c.toml:6:2: error: unknown section [nonsense]; expected one of [check], [model], [plot], "
        "[sim], "
        "[sweep], [theory]\n"
        "c.toml:8:1: error: parameter 'model.word' = \"blue\": expected \"red\" | \"green\"\n"
        "--set sim.steps=0: error: parameter 'sim.steps' = 0: expected 1 <= steps <= 1000\n"
        "--set model.flag: error: expected key=value\n"
        "--set model.b=1: error: unknown key 'b' in [model]; did you mean 'a'?");
}

TEST_CASE("read_configuration: TOML syntax errors have a position", "[app][config]") {
  CHECK_THAT(File("study = \"toy-line\"\n[model]\na = = 3\n").error(),
             Catch::StartsWith("c.toml:3:5: error: "));
  CHECK_THAT(File("study = \"toy-line\"\n[model]\na = 3\na = 4\n").error(),
             Catch::StartsWith("c.toml:4:5: error: "));
  CHECK_THAT(File("study = \"toy\xff\"\n").error(), Catch::StartsWith("c.toml:1:"));
  CHECK_THAT(error_of("model.a="), Catch::StartsWith("--set model.a=: error: "));
  CHECK_THAT(error_of("model.word=green"), Catch::StartsWith("--set model.word=green: error: "));
  CHECK_THAT(error_of("=3"), Catch::StartsWith("--set =3: error: "));
}

TEST_CASE("sweeps: ranges have exact ends, lists and scalars stand as they are", "[app][config]") {
  const auto x = [](const std::string& text) {
    return with({"sweep.x=" + text}).values.reals("sweep.x");
  };
  const std::vector<double> log = x("{log = [0.1, 10], n = 24}");
  REQUIRE(log.size() == 24);
  CHECK(log.front() == 0.1);
  CHECK(log.back() == 10.0);
  for (std::size_t k = 1; k < log.size(); ++k) {
    CHECK(log[k] / log[k - 1] == Approx(std::pow(100.0, 1.0 / 23)).epsilon(1e-12));
  }
  CHECK(x("{linear = [0.3, 0.1], n = 3}") == std::vector<double>{0.3, 0.2, 0.1});
  CHECK(x("{linear = [0, 1], n = 2}") == std::vector<double>{0, 1});
  // Values have the decimals of the ends and the step; others stand as they come out.
  CHECK(x("{linear = [0.1, 0.9], n = 9}") ==
        std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9});
  CHECK(x("{linear = [0, 1], n = 41}")[3] == 0.075);
  CHECK(x("{linear = [1000.1, 1000.4], n = 4}") ==
        std::vector<double>{1000.1, 1000.2, 1000.3, 1000.4});
  CHECK(x("{linear = [0, 1e-6], n = 11}")[7] == 7e-7);
  CHECK(x("{linear = [0, 1], n = 4}")[1] == 1.0 / 3);
  CHECK(x("{linear = [0, 1000000], n = 4}")[1] == 1000000.0 * (1.0 / 3));
  CHECK(x("[3, 1.5]") == std::vector<double>{3, 1.5});
  CHECK(x("2") == std::vector<double>{2});
  for (const char* bad : {"{log = [0.1, 10]}",
                          "{n = 3}",
                          "{log = [1, 2, 3], n = 3}",
                          "{log = [1, 2], n = 2.5}",
                          "{log = [1, 2], n = 1e21}",
                          "{log = [1, 2], linear = [1, 2], n = 2}",
                          "{log = [\"a\", 2], n = 2}",
                          "{log = [1, nan], n = 2}",
                          "{logg = [1, 2], n = 2}"}) {
    CAPTURE(bad);
    CHECK_THAT(
        error_of("sweep.x=" + std::string(bad)),
        Catch::Contains("expected a list, {log = [lo, hi], n = N} or {linear = [lo, hi], n = N}"));
  }
  CHECK_THAT(error_of("sweep.x={log = [0, 2], n = 2}"),
             Catch::Contains("'sweep.x.log' = 0: expected positive ends"));
  CHECK_THAT(error_of("sweep.x={log = [1, 2], n = 1}"), Catch::Contains("'sweep.x.n' = 1"));
  CHECK_THAT(error_of("sweep.x=[]"),
             Catch::Contains("'sweep.x' = []: expected at least one value"));
  CHECK_THAT(error_of("sweep.x=[1, 2, 1.0]"),
             Catch::Contains("'sweep.x[2]' = 1.0: expected distinct values"));
  CHECK_THAT(error_of("sweep.x=[1, -1]"), Catch::Contains("'sweep.x[1]' = -1: expected x >= 0"));
  CHECK_THAT(error_of("sweep.x=[1, [2]]"), Catch::Contains("'sweep.x[1]' = a list"));
}

TEST_CASE("sweeps: scalars of [model] and [sim] make grids, the first in the file varying slowest",
          "[app][config]") {
  const File file(
      "study = \"toy-line\"\n[sweep]\nword = [\"green\", \"red\"]\na = {log = [1, 4], n = "
      "3}\nsteps = "
      "{linear = [1, 3], n = 5}\n");
  const CheckedConfiguration c = file.read();
  REQUIRE(c.swept.size() == 3);
  CHECK(c.swept[0].key == "model.word");
  CHECK(c.swept[1].key == "model.a");
  CHECK(c.swept[1].name == "a");
  CHECK(reals_of(c.swept[1].values) == std::vector<double>{1, 2, 4});
  CHECK(c.swept[2].values ==
        List{std::int64_t{1}, std::int64_t{2}, std::int64_t{3}});  // no duplicates
  const std::vector<Table> grid = combinations(c.swept);
  REQUIRE(grid.size() == 18);
  CHECK(std::get<std::string>(grid[0][0].second) == "green");
  CHECK(std::get<std::string>(grid[9][0].second) == "red");
  CHECK(std::get<double>(grid[3][1].second) == 2.0);
  CHECK(std::get<std::int64_t>(grid[1][2].second) == 2);
  CHECK(combinations({}).size() == 1);

  CHECK_THAT(error_of("sweep.a=[1, 11]"), Catch::Contains("'sweep.a[1]' = 11"));
  CHECK_THAT(error_of("sweep.seed=[1, 2]"), Catch::Contains("unknown key 'seed' in [sweep]"));
  CHECK_THAT(error_of("sweep.replicates=[1, 2]"),
             Catch::Contains("unknown key 'replicates' in [sweep]"));
  CHECK(file.error({set("model.word=\"red\"")}) ==
        "c.toml:3:1: error: parameter 'model.word' is given and swept; expected one of the two");
  // A preset's value is a default: the sweep takes over.
  CHECK(file.read({}, "steep").swept.size() == 3);
}

TEST_CASE("to_toml: what is written reads back to the same configuration", "[app][config]") {
  const std::string note = "quote \" back\\slash\ttab\nline \x01\x1f\x7f \xce\xb1 # = [x]";
  const CheckedConfiguration c = with({"model.note=" + to_toml(Value(note)),
                                       "model.a=0.1",
                                       "sweep.x=[1e-300, 0.30000000000000004, 1e22]",
                                       "sweep.flag=[true, false]",
                                       "sim.seed=9223372036854775807",
                                       "check.margin=1e-5"});
  CHECK(c.values.text("model.note") == note);
  const File file(to_toml(c));
  const CheckedConfiguration back = file.read();
  CHECK(back.values.entries() == c.values.entries());
  REQUIRE(back.swept.size() == 1);
  CHECK(back.swept[0].values == c.swept[0].values);
  CHECK(to_toml(back) == to_toml(c));
  for (const double x :
       {1.0, -0.0, 1e100, 5e-324, 1.7976931348623157e308, 0.1, 123456789012345680.0}) {
    CHECK(with({"sweep.x=" + to_toml(Value(std::abs(x)))}).values.reals("sweep.x")[0] ==
          std::abs(x));
    CHECK(to_toml(Value(x)).find_first_of(".e") != std::string::npos);  // never an integer literal
  }
}

TEST_CASE("--set: one key and one value", "[app][config]") {
  // What the configuration would read with a second key, a comment or a line break is refused.
  for (const char* text : {"model.a=4\nsim.seed=9",
                           "model.a=4\n[sim]\nseed=9",
                           "model.a=4\rsim.seed=9",
                           "model.a=4\t",
                           "model.a=4 # sim.seed=9",
                           "sweep.x=[1,\n2]",
                           "model.word='''a'b'''\nsim.seed=9",
                           "[sim]\nseed=9",
                           "model.a=4\x7f"}) {
    INFO(text);
    CHECK_THAT(error_of(text), Catch::Contains("error:"));
  }
  CHECK_THAT(error_of("model.a=4\nsim.seed=9"), Catch::Contains("line break"));
  CHECK(with({"model.word='red'"}).values.text("model.word") == "red");
  CHECK(with({"model.a=1e0"}).values.real("model.a") == 1);
}

TEST_CASE("names of lists of tables stand once", "[app][config]") {
  const auto of = [](const std::string& first, const std::string& second) {
    return File("study = \"own\"\n[simulation]\nexpression = \"1\"\n[[bound]]\n" + first +
                "series = \"y\"\nexpression = \"1\"\n[[bound]]\n" + second +
                "series = \"y\"\nexpression = \"2\"\n")
        .error();
  };
  CHECK_THAT(of("name = \"a\"\n", "name = \"a\"\n"),
             Catch::Contains("c.toml:9:8: error: name 'a' stands at [[bound]] 1 already"));
  CHECK_THAT(of("name = \"2\"\n", ""), Catch::Contains("is the number of this one"));
  CHECK_THAT(of("", "name = \"1\"\n"), Catch::Contains("name '1' stands at [[bound]] 1 already"));
  CHECK_THAT(of("name = 1\n", ""), Catch::Contains("is no text"));
  CHECK_THAT(of("name = \"\"\n", ""), Catch::Contains("expected letters, digits, _ and -"));
  CHECK_THAT(of("name = \"a.b\"\n", ""), Catch::Contains("expected letters, digits, _ and -"));
}

TEST_CASE("nearest: a slip of the fingers, not another word", "[app][config]") {
  CHECK(nearest("replicate", {"seed", "replicates"}) == "replicates");
  CHECK(nearest("seeed", {"seed", "replicates"}) == "seed");
  CHECK(nearest("xyzzy", {"seed", "replicates"}).empty());
  CHECK(nearest("", {"a"}) == "a");
  CHECK(nearest("a", {}).empty());
}

TEST_CASE("read_configuration: what a preset expects to compare, where its settings are those",
          "[app][configuration]") {
  const auto of = [](const std::vector<std::string>& assignments, const std::string& preset = "") {
    std::vector<Override> overrides;
    for (const auto& a : assignments) overrides.push_back(set(a));
    return read_configuration({.target = "gauss-lambda", .preset = preset, .overrides = overrides},
                              studies())
        .expected;
  };
  const auto cards = expected_points("gauss-lambda");
  CHECK(of({}) == cards.at("quick"));
  CHECK_FALSE(of({}).empty());
  CHECK(of({"sim.seed=7", "sim.replicates=99", "check.margin=0.5"}) == cards.at("quick"));
  CHECK(of({}, "paper") == cards.at("paper"));
  CHECK(of({"model.sites=30"}).empty());
  CHECK(of({"sweep.lambda=[1.0]"}).empty());
  CHECK(of({"sweep.rho=[0.2,0.4]"}).empty());
  CHECK(expected_points("toy-line").empty());
}

}  // namespace configuration_file_test

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "app/bowl_study.hpp"
#include "attica/app/command/exit_codes.hpp"
#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"
#include "attica/app/verbs/verbs.hpp"

using namespace attica;
using namespace attica::app;
using toy::bowl;
using toy::Bowl;
using toy::map_options;
using toy::message_of;
using toy::only_folder;

namespace validity_map_slow_test {

TEST_CASE("map: the region where a theory holds is found by runs, kept, and refined later",
          "[app][map][slow]") {
  const toy::Folder folder;
  const std::vector<Study> registry = bowl();
  Options options = map_options(folder);
  Bowl::simulated() = 0;
  REQUIRE(map_verb(options, registry) == kExitDone);
  const auto made = only_folder(folder / "maps");
  const auto check_cells = [&] {
    const Json map = Json::parse(read_whole(made / "map.json"));
    std::size_t errors = 0;
    for (const Json& cell : map["cells"]) {
      const double x = cell["x"].get<double>();
      const double y = cell["y"].get<double>();
      CAPTURE(x, y);
      if (x > 1.5) {
        ++errors;
        CHECK(cell["verdict"] == "ERROR");
        CHECK_THAT(cell["message"].get<std::string>(), Catch::Contains("a <= 1.5"));
        continue;
      }
      CHECK(cell["verdict"] == (x * x + y * y < 0.45 ? "AGREE" : "DISAGREE"));
      CHECK(cell["deviation"].get<double>() == Approx((x * x + y * y) / 0.45).margin(5e-3));
      CHECK(std::filesystem::exists(made / "cells" / cell["run"].get<std::string>() / "run.json"));
    }
    CHECK(errors > 0);
    return map;
  };
  const Json coarse = check_cells();
  const int runs = Bowl::simulated();
  CHECK(runs + coarse["counts"]["ERROR"].get<int>() == static_cast<int>(coarse["cells"].size()));
  CHECK(std::filesystem::exists(made / "plots" / "map.svg"));
  std::istringstream table(read_whole(made / "map.csv"));
  std::string header;
  std::getline(table, header);
  CHECK(header == "model.a,model.b,verdict,deviation,z,resolution,run,message");

  // Refused without --resume; with it nothing is simulated twice.
  CHECK_THAT(message_of([&] { map_verb(options, registry); }), Catch::Contains("--resume"));
  options.resume = true;
  REQUIRE(map_verb(options, registry) == kExitDone);
  CHECK(Bowl::simulated() == runs);
  options.depth = 3;
  REQUIRE(map_verb(options, registry) == kExitDone);
  const Json fine = check_cells();
  CHECK(fine["cells"].size() > coarse["cells"].size());
  CHECK(Bowl::simulated() + fine["counts"]["ERROR"].get<int>() ==
        static_cast<int>(fine["cells"].size()));
  // The edge, to half of the finest spacing.
  const double h = 1.0 / 8;
  REQUIRE(fine["edge"].size() == 1);
  for (const Json& vertex : fine["edge"][0])
    CHECK(std::abs(std::hypot(vertex[0].get<double>(), vertex[1].get<double>()) -
                   std::sqrt(0.45)) <= h / 2);
}

}  // namespace validity_map_slow_test

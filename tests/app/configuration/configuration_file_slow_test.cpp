#include <catch2/catch.hpp>

#include "app/toy_study.hpp"
#include "attica/app/configuration/configuration_file.hpp"

using namespace attica;
using namespace attica::app;

namespace configuration_file_slow_test {

TEST_CASE("configuration_template: every study and preset parses back to its values",
          "[app][config][slow]") {
  std::vector<Study> registry = studies();
  registry.push_back(toy::study());
  for (const Study& study : registry) {
    std::vector<std::string> presets{""};
    for (const Preset& p : study.presets) presets.push_back(p.name);
    for (const std::string& preset : presets) {
      CAPTURE(study.name, preset);
      const toy::Folder folder;
      const std::string path = folder.write("t.toml", configuration_template(study, preset));
      CheckedConfiguration read =
          read_configuration({.target = path, .preset = {}, .overrides = {}}, registry);
      CheckedConfiguration direct =
          read_configuration({.target = study.name, .preset = preset, .overrides = {}}, registry);
      CHECK(read.values.entries() == direct.values.entries());
      // The generated file is accepted by the study itself, too, and names the same problem.
      read.values.input_directories = direct.values.input_directories = {ATTICA_SOURCE_DIR "/data"};
      CHECK_NOTHROW(study.make(read.values));
      CHECK_NOTHROW(study.make(direct.values));
      CHECK(read.values.entries() == direct.values.entries());
      // So is the resolved configuration of a run.
      read.values.input_directories = {};
      const std::string resolved = folder.write("r.toml", to_toml(read));
      CheckedConfiguration again =
          read_configuration({.target = resolved, .preset = {}, .overrides = {}}, registry);
      again.values.input_directories = {ATTICA_SOURCE_DIR "/data"};
      CHECK_NOTHROW(study.make(again.values));
      CHECK(again.values.entries() == direct.values.entries());
    }
  }
}

}  // namespace configuration_file_slow_test

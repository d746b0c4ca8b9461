#include "attica/app/run/manifest.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "attica/app/run/files.hpp"
#include "attica/core/error.hpp"

using namespace attica;
using namespace attica::app;
namespace fs = std::filesystem;

namespace manifest_test {

/// A folder with the files that a run writes; gone afterwards.
struct Folder {
  fs::path path = fs::temp_directory_path() / "attica-manifest-test";
  explicit Folder(int format = 2) {
    fs::remove_all(path);
    fs::create_directories(path);
    write("run.json", "{\"format\": " + std::to_string(format) + "}\n");
    write("theory.json", "{}\n");
    write("replicates.csv", "study,value\na,1\n");
    write("check.json", "{}\n");
  }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
};

TEST_CASE("manifest: what was not touched is not edited", "[app][manifest]") {
  const Folder run;
  seal(run.path);
  CHECK(edited_files(run.path).empty());
  CHECK(accepted_edits(run.path, false).empty());
}

TEST_CASE("manifest: one changed byte, or a file that is gone, is named", "[app][manifest]") {
  const Folder run;
  seal(run.path);
  run.write("replicates.csv", "study,value\na,2\n");
  CHECK(edited_files(run.path) == std::vector<std::string>{"replicates.csv"});
  CHECK_THROWS_WITH(accepted_edits(run.path, false), Catch::Contains("replicates.csv changed"));
  CHECK(accepted_edits(run.path, true) == std::vector<std::string>{"replicates.csv"});
  fs::remove(run.path / "theory.json");
  CHECK(edited_files(run.path).size() == 2);
}

TEST_CASE("manifest: line ends are no content", "[app][manifest]") {
  const Folder run;
  seal(run.path);
  run.write("replicates.csv", "study,value\r\na,1\r\n");
  CHECK(edited_files(run.path).empty());
}

TEST_CASE("manifest: a verb that rewrites the verdict enters it, and nothing else",
          "[app][manifest]") {
  const Folder run;
  seal(run.path);
  run.write("theory.json", "{ }\n");
  run.write("check.json", "{ }\n");
  seal_again(run.path, "check.json");
  CHECK(edited_files(run.path) == std::vector<std::string>{"theory.json"});
}

TEST_CASE("manifest: needed since the second format of run folders", "[app][manifest]") {
  const Folder old(1);
  CHECK(edited_files(old.path).empty());
  const Folder lost;
  CHECK_THROWS_WITH(edited_files(lost.path), Catch::Contains("manifest.json"));
  lost.write("manifest.json", "{");
  CHECK_THROWS_WITH(edited_files(lost.path), Catch::Contains("damaged"));
}

}  // namespace manifest_test

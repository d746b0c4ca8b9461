#include "attica/app/run_folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "app/toy_study.hpp"

using namespace attica;
using namespace attica::app;
namespace fs = std::filesystem;

TEST_CASE("RunFolder: states of pieces under way stay until the piece is stored", "[app][run]") {
  const std::vector<Study> registry = toy::registry();
  const Work work =
      prepare(read_configuration({.target = "toy-line", .preset = {}, .overrides = {}}, registry));
  const std::vector<PieceOfRun> all = pieces(work, 6);
  REQUIRE(all.size() > 1);
  const toy::Folder place;
  const RunFolder folder(place / "run", FolderMode::create);
  const auto write = [](const fs::path& file) { std::ofstream(file) << "state"; };

  Piece piece = all[1].piece;
  CHECK(piece.state_file(3).empty());  // by default nothing is kept
  piece.state = folder.states() / all[1].stem();
  const fs::path kept = piece.state_file(piece.first_replicate + 1);
  CHECK(kept.parent_path() == folder.path() / "parts");
  const fs::path stranger = folder.states() / "p99999-r000000-000002.r000001.state";
  fs::path half = kept;
  half += ".tmp";
  for (const fs::path& file : {kept, stranger, half}) write(file);

  CHECK(folder.begun(all) == 1);
  folder.tidy(all);
  CHECK(fs::exists(kept));
  CHECK_FALSE(fs::exists(stranger));
  CHECK_FALSE(fs::exists(half));
  CHECK(folder.missing(all).size() == all.size());

  PartRecord part{.first_replicate = piece.first_replicate, .outcomes = {}, .seconds = 1};
  part.outcomes.resize(piece.replicates);
  folder.store(all[1], part);
  CHECK_FALSE(fs::exists(kept));
  CHECK(folder.begun(all) == 0);
  CHECK(folder.missing(all).size() == all.size() - 1);
  write(kept);  // as if killed between the part and its state
  folder.tidy(all);
  CHECK_FALSE(fs::exists(kept));
  CHECK(folder.missing(all).size() == all.size() - 1);
}

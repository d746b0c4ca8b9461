#include "attica/app/run/run_folder.hpp"

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

TEST_CASE("RunFolder: what it stored is what its files say", "[app][run]") {
  const std::vector<Study> registry = toy::registry();
  const Work work =
      prepare(read_configuration({.target = "toy-line", .preset = {}, .overrides = {}}, registry));
  const std::vector<PieceOfRun> all = pieces(work, 7);
  const toy::Folder place;
  Replicates from_memory;
  {
    const RunFolder folder(place / "run", FolderMode::create);
    for (const PieceOfRun& one : all) {
      PartRecord part{.first_replicate = one.piece.first_replicate, .outcomes = {}, .seconds = 1};
      for (std::uint64_t r = 0; r < one.piece.replicates; ++r) {
        const double x = 1 + static_cast<double>(one.piece.point);
        const std::uint64_t number = one.piece.first_replicate + r;
        Outcome outcome;
        const auto observe = [&](const char* name, const char* kind, double y) {
          outcome.series.push_back({name, {{"kind", std::string(kind)}}, "x", {x, -x}, {y, -0.0}});
        };
        // Not all replicates have the same curves in the same order.
        if (number % 3 == 1) observe("other", "a", 1e-300 / x);
        observe("y", "a", x / 3);
        if (number % 2 == 0) observe("y", "b", 1e17 * x);
        observe("z", "a", static_cast<double>(number));
        if (number == 5) {
          outcome.failed = true;
          outcome.message = "diverged";
          outcome.series.back().y = {std::numeric_limits<double>::infinity(), 1};
        }
        part.outcomes.push_back(std::move(outcome));
      }
      folder.store(one, part);
    }
    from_memory = folder.collect(work, all);
  }
  const RunFolder again(place / "run", FolderMode::resume);
  CHECK(again.missing(all).empty());
  const Replicates from_files = again.collect(work, all);
  CHECK(replicates_csv("toy", from_memory) == replicates_csv("toy", from_files));
  CHECK(from_memory.values() == from_files.values());
  CHECK(from_memory.statuses() == from_files.statuses());
  CHECK(from_memory.failures() == from_files.failures());
  const std::size_t curves = from_files.curves().size();
  CHECK(curves == 4);
  for (const ObservedCurve& curve : from_files.curves()) {
    const auto half =
        static_cast<std::size_t>(curve.mean.name == "other"                           ? 2
                                 : curve.mean.point[0].second == CoordinateValue("b") ? 4
                                                                                      : 7);
    REQUIRE(curve.mean.x == std::vector<double>{-3, -2, -1, 1, 2, 3});
    for (const auto& values : curve.values) CHECK(values.size() == half);
  }
}

#include "attica/app/verbs.hpp"

#include <catch2/catch.hpp>

#include "app/toy_study.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;

TEST_CASE("verbs: what cannot be simulated is refused before any work, and its theory is not",
          "[app][verbs]") {
  const toy::Folder folder;
  Options options;
  options.target = "toy-line";
  options.overrides = {{"--set model.a=10", "model.a=10"}};
  options.out = (folder / "runs").string();
  options.quiet = true;
  const auto refused = [&](int (*verb)(const Options&, const Registry&)) {
    return message_of([&] { verb(options, toy::registry()); });
  };
  const std::string expected =
      "--set model.a=10: error: parameter 'model.a' = 10: expected a < 10 to simulate it";
  CHECK(refused(run_verb) == expected);
  CHECK(refused(plan_verb) == expected);
  CHECK(refused(slurm_verb) == expected);
  options.dry_run = true;
  CHECK(refused(run_verb) == expected);
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));
  const Work work = requested_work(options, toy::registry());
  CHECK(compute_theory(work, TheoryGrid::requested).predictions[0].series.y[0] == 10.0);
}

#include "attica/app/verbs/verbs.hpp"

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

namespace verbs_test {

/// Every third replicate ends another way than those that count, and has nothing to tell.
class Sparse : public toy::Experiment {
 public:
  using toy::Experiment::Experiment;
  std::vector<Outcome> simulate(const Piece& piece) const override {
    std::vector<Outcome> outcomes = toy::Experiment::simulate(piece);
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
      if ((piece.first_replicate + k) % 3 == 0) outcomes[k] = {.series = {}, .status = "mirror"};
    }
    return outcomes;
  }
};

TEST_CASE("verbs: a replicate without values is no damage", "[app][verbs]") {
  const toy::Folder folder;
  Study study = toy::study();
  study.make = [](Configuration& c) -> std::unique_ptr<attica::Experiment> {
    return std::make_unique<Sparse>(c);
  };
  Options options;
  options.target = "toy-line";
  options.overrides = {{"--replicates 20", "sim.replicates=20"}};
  options.out = (folder / "runs").string();
  options.quiet = true;
  const std::vector<Study> registry{study};
  const int verdict = run_verb(options, registry);
  Options later;
  later.target = std::filesystem::directory_iterator(folder / "runs")->path().string();
  later.quiet = true;
  CHECK(check_verb(later, registry) == verdict);
}

}  // namespace verbs_test

/// masked-resampling-threshold agrees and rejects wrong theories.

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"

using namespace attica;
using attica::testing::check_agrees_and_rejects_perturbed;
using attica::testing::StudyRun;

TEST_CASE("masked-resampling-threshold: agrees and rejects wrong theories", "[agreement]") {
  check_agrees_and_rejects_perturbed(study_named("masked-resampling-threshold"));
}

TEST_CASE("masked-resampling-threshold: trained units find the threshold, and no other",
          "[agreement][slow]") {
  StudyRun run(study_named("masked-resampling-threshold"),
               {{"sim.place", "threshold"},
                {"sweep.masks", List{std::string("fresh")}},
                {"sweep.ratio", List{1.0}},
                {"sweep.dimension", List{std::int64_t{300}}},
                {"sim.sets", std::int64_t{32}},
                {"sim.replicates", std::int64_t{56}}});
  CHECK(run.points() == Verdict::agree);
  for (const double factor : {0.9, 1.1}) {
    CAPTURE(factor);
    StudyRun wrong = run;
    wrong.scale_theory("found_threshold", factor);
    CHECK(wrong.points() == Verdict::disagree);
  }
}

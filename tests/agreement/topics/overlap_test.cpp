/// @file
/// @brief Theory meets simulation in topics-overlap, and a theory without words in common is found.

#include "attica/sim/topics/overlap.hpp"

#include <catch2/catch.hpp>

#include "agreement/study_run.hpp"
#include "attica/core/random.hpp"

using namespace attica;

namespace agreement_topics_overlap_test {

using attica::testing::perturbed;
using attica::testing::StudyRun;

TEST_CASE("topics-overlap: agrees; disjoint topics and 3 % do not",
          "[agreement][study:topics-overlap]") {
  const StudyRun run(study_named("topics-overlap"), {});
  CHECK(run.points() == Verdict::agree);
  CHECK(perturbed(run, {.name = "", .series = "contrast_neighbour", .factor = 1.03}).points() ==
        Verdict::disagree);
  CHECK(perturbed(run, {.name = "", .series = "contrast_other", .factor = 0.97}).points() ==
        Verdict::disagree);
}

TEST_CASE("fit_overlap: the theory's contrast at other sizes, also where laws are dependent",
          "[agreement][study:topics-overlap]") {
  // Six topics of four words, two shared with either neighbour: the alternating sum of laws is 0.
  const OverlapDocuments d{.topics = 6,
                           .words = 4,
                           .shared = 2,
                           .topics_per_document = 2,
                           .mask_rate = 0.3,
                           .keep_rate = 0.2,
                           .random_rate = 0.1};
  RandomStream stream({.seed = 5});
  const OverlapContrast contrast = fit_overlap(d, 400000, stream);
  const double kappa = 1 - 0.8 * 0.3;
  CHECK(contrast.neighbour == Approx(0.5 / (kappa * 4)).epsilon(0.02));
  CHECK(contrast.other == Approx(1 / (kappa * 4)).epsilon(0.02));
}

}  // namespace agreement_topics_overlap_test

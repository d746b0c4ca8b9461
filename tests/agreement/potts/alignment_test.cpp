// Fits of alignments whose couplings are known: the scores find them, and data without couplings
// are refused the claim that context helps.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "agreement/study_run.hpp"
#include "attica/core/potts/ensembles.hpp"
#include "attica/sim/potts/sampler.hpp"

using namespace attica;
using attica::testing::StudyRun;
using Eigen::Index;

namespace potts_alignment_test {

constexpr Index kSites = 8;
constexpr Index kColours = 4;

/// An alignment of sequences of a ring of coupled sites, as text.
std::string ring_alignment(double beta, const std::string& name) {
  const PottsModel model(ring_couplings(kSites), zero_sum(potts_colour_couplings(kColours)), beta);
  const PottsEnumeration all = enumerate(model);
  RandomStream stream({.seed = 12});
  const Sequences s = PopulationSampler(all.states).draw(600, stream);
  std::string path = std::string(ATTICA_BINARY_DIR) + "/" + name;
  std::ofstream file(path);
  for (Index m = 0; m < s.rows(); ++m) {
    for (const std::uint8_t colour : s.row(m)) file << "-ACG"[colour];
    file << '\n';
  }
  return path;
}

TEST_CASE("potts-alignment: scores find the coupled pairs", "[agreement][study:potts-alignment]") {
  const Study study = study_named("potts-alignment");
  const StudyRun run(study,
                     {{"model.file", ring_alignment(1.0, "ring.aln")},
                      {"model.alphabet", "-ACG"},
                      {"model.identity", 1.0}});
  for (const ClaimResult& claim : study.claims(run.configuration, run.observed)) {
    CAPTURE(claim.name, claim.detail);
    CHECK(claim.verdict == Verdict::agree);
  }
  const std::vector<TextFile> files = study.files(run.configuration, run.observed);
  REQUIRE(files.size() == 2);
  for (const TextFile& file : files) {
    std::vector<std::tuple<double, int, int>> pairs;
    std::istringstream text(file.content);
    std::string line;
    std::getline(text, line);
    CHECK(line == "i,j,score");
    while (std::getline(text, line)) {
      int i = 0;
      int j = 0;
      double score = 0;
      REQUIRE(std::sscanf(line.c_str(), "%d,%d,%lf", &i, &j, &score) == 3);
      CHECK(i < j);
      pairs.emplace_back(score, i, j);
    }
    REQUIRE(pairs.size() == kSites * (kSites - 1) / 2);
    std::sort(pairs.rbegin(), pairs.rend());
    for (std::size_t k = 0; k < kSites; ++k) {
      const auto& [score, i, j] = pairs[k];
      CHECK((j - i == 1 || j - i == kSites - 1));
    }
  }
}

TEST_CASE("potts-alignment: without couplings context does not help",
          "[agreement][study:potts-alignment]") {
  const Study study = study_named("potts-alignment");
  const StudyRun run(study,
                     {{"model.file", ring_alignment(0, "free.aln")},
                      {"model.alphabet", "-ACG"},
                      {"model.identity", 1.0},
                      {"sim.lambda", 1e-3}});
  const auto claims = study.claims(run.configuration, run.observed);
  // 252 couplings fitted to 540 sequences predict noise.
  CHECK(claims.back().name == "general-uses-context");
  CHECK(claims.back().verdict == Verdict::disagree);
}

}  // namespace potts_alignment_test

/// @file
/// @brief Study icl-diversity: errors of linear attention in context against the number of
/// pretraining tasks: from memorising tasks to learning in context.

#include <cmath>

#include "attica/sim/icl/sequences.hpp"
#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_diversity {
namespace {

/// dMMSE is compared where its error is known: two tasks at a right angle, few and noisy tokens.
constexpr ContextNoise kPair{.length = 2, .rho = 0.25};
constexpr int kPairTests = 3000;

class Diversity : public ContextSweep {
 public:
  explicit Diversity(Configuration& c)
      : ContextSweep(c, ContextAxis::kappa), dimension_(c.integer("model.dimension")) {}

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result = ContextSweep::theory(grid);
    add_constant(result, "dmmse_pair", two_task_error(kPair.length, kPair.rho, 2));
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    Outcome outcome = ContextSweep::run(replicate);
    if (replicate.point() != 0) return outcome;
    const Eigen::MatrixXd pair =
        std::sqrt(static_cast<double>(dimension_)) * Eigen::MatrixXd::Identity(2, dimension_);
    RandomStream stream = replicate.stream(StreamId::selection);
    double error = 0;
    for (int k = 0; k < kPairTests; ++k) {
      error += posterior_mean_error(pair, pair, kPair, stream) / kPairTests;
    }
    add_constant(outcome, "dmmse_pair", error);
    return outcome;
  }

 private:
  Eigen::Index dimension_;
};

std::vector<ClaimResult> claims(const Configuration&, const Observed& observed) {
  std::vector<ClaimResult> all = {above_bayes(observed)};
  const std::string statement =
      "the gap between ICL and IDG is larger at the fewest tasks than at "
      "the most";
  const std::vector<std::vector<double>> gaps = observed.paths("gap");
  std::vector<double> falls;
  for (const std::vector<double>& gap : gaps) {
    if (gap.size() > 1) falls.push_back(gap.front() - gap.back());
  }
  if (!falls.empty()) {
    all.push_back(claim_above("memorises", statement, falls, 0, "by how much"));
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "icl-diversity", .make = make<Diversity>, .claims = claims});
}

}  // namespace attica::icl_diversity

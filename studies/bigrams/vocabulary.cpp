/// @file
/// @brief Study bigrams-vocabulary: how far training with l1 gets from training without, against
/// the size of the vocabulary.

#include <fmt/format.h>

#include "attica/studies/bigrams/stages.hpp"

namespace attica::bigrams_vocabulary {
namespace {

class Vocabulary : public PointwiseExperiment {
 public:
  explicit Vocabulary(Configuration& c) : algorithms_(staged_algorithms(c)) {
    for (const std::int64_t tokens : c.integers("sweep.tokens")) {
      c.set("model.tokens", tokens, false);
      setups_.push_back(staged_setup(c));
    }
    warnings_ = setups_.back().warnings;
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (const std::string& algorithm : algorithms_) {
      Curves curve({{"algorithm", algorithm}}, "tokens", {"distance_A"});
      for (const BigramSetup& setup : setups_) {
        if (!has_mean_field(setup, grid)) continue;
        const std::vector<StagedMeanField> field = staged_theory(setup, algorithm);
        if (field.empty()) continue;  // recorded alone
        curve.add(static_cast<double>(setup.model.tokens()), {field.back().state.distance_a2});
      }
      if (algorithm != "l1_sum1") curve.into(result);
    }
    return result;
  }

  std::size_t points() const override { return 2 * setups_.size(); }
  void require_simulable() const override {
    for (const BigramSetup& setup : setups_) setup.require_memory();
  }

 protected:
  double flops(std::size_t point) const override { return staged_flops(setups_[point / 2]); }

  Outcome run(const Replicate& replicate) const override {
    const BigramSetup& setup = setups_[replicate.point() / 2];
    const bool l1 = replicate.point() % 2 == 1;
    double last = 0;
    const auto look = [&](double, const BigramTrainer& t) { last = t.state().distance_a2; };
    Outcome outcome;
    const RoundedRun run = staged_run(setup, l1, replicate, look, outcome);
    if (run.status != BigramStatus::converged) return outcome;
    Curves({{"algorithm", algorithms_[l1 ? 1 : 0]}}, "tokens", {"distance_A"})
        .add(static_cast<double>(setup.model.tokens()), {last})
        .into(outcome);
    return outcome;
  }

 private:
  std::vector<BigramSetup> setups_;
  std::array<std::string, 2> algorithms_;
};

constexpr double kTimesNearer = 2;

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const auto [without, with] = staged_algorithms(c);
  const ObservedCurve* sgd = observed.curve("distance_A", {{"algorithm", without}});
  const ObservedCurve* l1 = observed.curve("distance_A", {{"algorithm", with}});
  if (sgd == nullptr || l1 == nullptr) return {l1_nearer_claim("l1-half", {}, kTimesNearer)};
  std::vector<ClaimResult> claims;
  for (std::size_t k = 0; k < sgd->mean.x.size(); ++k) {
    for (std::size_t j = 0; j < l1->mean.x.size(); ++j) {
      if (l1->mean.x[j] != sgd->mean.x[k]) continue;
      if (l1_denied_nearer(c, observed, sgd->mean.x[k], kTimesNearer)) continue;
      std::vector<std::pair<double, double>> pairs;
      for (std::size_t r = 0; r < std::min(sgd->values[k].size(), l1->values[j].size()); ++r) {
        pairs.emplace_back(sgd->values[k][r], l1->values[j][r]);
      }
      claims.push_back(
          l1_nearer_claim(fmt::format("l1-half-at-{}", sgd->mean.x[k]), pairs, kTimesNearer));
    }
  }
  return claims;
}

}  // namespace

Study study() {
  return described({.name = "bigrams-vocabulary", .make = make<Vocabulary>, .claims = claims});
}

}  // namespace attica::bigrams_vocabulary

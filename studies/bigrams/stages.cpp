#include "attica/studies/bigrams/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "attica/solvers/statistics/order_statistics.hpp"
#include "attica/theory/bigrams/boosting.hpp"

namespace attica {
namespace {

/// Entries below a tenth of a typical weight are zeroed once, before l1 sets in.
double cut_of(const BigramSetup& setup) {
  return 0.1 / static_cast<double>(setup.model.sparsity());
}

}  // namespace

std::array<std::string, 2> staged_algorithms(const Configuration& c) {
  return {"sgd_hat", c.text("sim.algorithm")};
}

BigramSetup staged_setup(const Configuration& c) {
  BigramSetup setup = bigram_setup(c);
  require(setup.lambda > 0, "sim.l1", setup.lambda, "l1 > 0");
  return setup;
}

std::vector<StagedMeanField> staged_theory(const BigramSetup& s,
                                           const std::string& algorithm,
                                           ColumnSums sums) {
  if (algorithm == "l1_sum1") return {};
  const double lambda = algorithm == "l1" ? s.lambda : 0;
  return staged_mean_field(
      s.model, s.rates, s.batch, lambda, kStagedTheta, cut_of(s), s.steps, sums);
}

std::vector<BothStages> staged_from_start(const BigramSetup& s,
                                          bool l1,
                                          const std::vector<std::int64_t>& steps) {
  return both_stages(
      s.model, s.rates, s.batch, l1 ? s.lambda : 0, kStagedTheta, l1 ? cut_of(s) : 0, steps);
}

RoundedRun staged_run(const BigramSetup& setup,
                      bool l1,
                      const Replicate& replicate,
                      const std::function<void(double, const BigramTrainer&)>& look,
                      Outcome& outcome,
                      const std::function<void(double, const BigramTrainer&)>& from_start) {
  const BigramAlgorithm algorithm = l1 ? setup.algorithm : BigramAlgorithm::sgd_hat;
  const auto trainer = make_trainer(setup, algorithm, setup.start, replicate.address());
  BigramStages stages{.theta = kStagedTheta,
                      .boost_cap = setup.boosting().boosting_limit(kStagedTheta),
                      .lambda = l1 ? setup.lambda : 0,
                      .cut = l1 ? cut_of(setup) : 0,
                      .steps = setup.steps.back(),
                      .stop = replicate.piece.stop};
  const auto watch = [&](std::int64_t n) { from_start(static_cast<double>(n), *trainer); };
  if (from_start) stages.while_boosting = watch;
  RoundedRun run = run_and_round(*trainer, stages, [&](std::int64_t n) {
    if (from_start) watch(trainer->steps());
    if (std::ranges::binary_search(setup.steps, n)) look(static_cast<double>(n), *trainer);
    return true;
  });
  record_end(outcome, run.status, *trainer);
  return run;
}

double staged_flops(const BigramSetup& setup) {
  const std::int64_t boosting = setup.boosting().boosting_limit(kStagedTheta) / 3;
  return setup.flops(static_cast<double>(setup.steps.back() + boosting));
}

bool l1_denied_nearer(const Configuration& c, const Observed& observed, double x, double factor) {
  const auto predicted = [&](const std::string& algorithm) -> std::optional<double> {
    for (const Prediction& p : observed.theory) {
      const Series& s = p.series;
      if (s.name != "distance_A" || s.point != Point{{"algorithm", algorithm}}) continue;
      const auto found = std::ranges::find(s.x, x);
      if (found != s.x.end()) return s.y[static_cast<std::size_t>(found - s.x.begin())];
    }
    return {};
  };
  const auto [without, with] = staged_algorithms(c);
  const std::optional<double> sgd = predicted(without);
  const std::optional<double> l1 = predicted(with);
  return sgd && l1 && *l1 > *sgd / factor;
}

ClaimResult l1_nearer_claim(const std::string& name,
                            const std::vector<std::pair<double, double>>& pairs,
                            double factor) {
  const auto runs = by_replicate(pairs);
  const std::vector<double> ratios =
      runs.of([](double without, double with) { return without / with; });
  return claim_rate(
      name,
      fmt::format("final |A-Q|^2 with l1 below that of SGD over {}", factor),
      runs.where([&](double without, double with) { return with < without / factor; }),
      ratios.empty() ? "no run ended the stages"
                     : fmt::format("median ratio {:.3g}", median(ratios)),
      kHalf);
}

}  // namespace attica

#include "attica/sim/bigrams/runs.hpp"

#include <algorithm>
#include <cmath>

#include "attica/sim/bigrams/surrogate.hpp"

namespace attica {

std::unique_ptr<BigramTrainer> make_bigram_run(BigramSampling sampling,
                                               BigramAlgorithm algorithm,
                                               const BigramModel& model,
                                               const BigramRates& rates,
                                               double batch,
                                               const Eigen::MatrixXd& start,
                                               StreamAddress address) {
  address.id = sampling == BigramSampling::sequences ? StreamId::minibatch : StreamId::surrogate;
  switch (sampling) {
    case BigramSampling::dense:
      return std::make_unique<DenseSurrogate>(model, rates, batch, start, address);
    case BigramSampling::aggregated:
      return std::make_unique<AggregatedSurrogate>(model, rates, batch, start, address);
    case BigramSampling::sparse:
      return std::make_unique<SparseSurrogate>(model, rates, batch, start, address);
    case BigramSampling::sequences:
      break;
  }
  return std::make_unique<BigramSgd<float>>(model, algorithm, rates, batch, start, address);
}

std::unique_ptr<BigramSgd<float>> make_frozen_run(BigramAlgorithm algorithm,
                                                  const BigramModel& model,
                                                  const BigramRates& rates,
                                                  double batch,
                                                  const StreamAddress& address) {
  auto run = std::make_unique<BigramSgd<float>>(
      model, algorithm, rates, batch, model.transition(), address);
  run->set_attention(model.dense_attention());
  run->freeze_value();
  return run;
}

BigramSpread signal_spread(const std::function<std::unique_ptr<BigramTrainer>(int)>& make,
                           int runs,
                           std::span<const std::int64_t> steps,
                           double theta,
                           const std::stop_token& stop) {
  // Columns: mean, mean square, fraction that has grown, mean of α_A.
  Eigen::ArrayX4d tally = Eigen::ArrayX4d::Zero(static_cast<Eigen::Index>(steps.size()), 4);
  for (int member = 0; member < runs; ++member) {
    const std::unique_ptr<BigramTrainer> run = make(member);
    bool crossed = false;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      while (run->steps() < steps[k] && !stop.stop_requested()) run->step();
      const BigramState state = run->state();
      const double alpha = state.alpha_v;
      crossed = crossed || alpha >= theta;
      tally.row(static_cast<Eigen::Index>(k)) +=
          Eigen::Array4d(alpha, alpha * alpha, crossed ? 1 : 0, state.alpha_a).transpose() / runs;
    }
    if (run->diverged()) return {.diverged_at = run->steps()};
  }
  // E of the sample deviation of n normals is σ (1 - 1/(4n)) with the n-1 normalisation.
  const double unbiased = (1 + 1.0 / (4 * runs)) * (1 + 0.5 / runs);
  // E of 1/deviation is larger than 1/σ; of one run there is no ratio.
  const double inverse = 1 - 0.5 / (runs - 1.5);
  BigramSpread spread;
  for (const auto& row : tally.rowwise()) {
    const double variance = row[1] - row[0] * row[0];
    spread.mean.push_back(row[0]);
    spread.deviation.push_back(unbiased * std::sqrt(std::max(variance, 0.0)));
    spread.ratio.push_back(inverse * row[0] / spread.deviation.back());
    spread.attention.push_back(row[3]);
    spread.grown.push_back(row[2]);
  }
  return spread;
}

}  // namespace attica

/// Sparse attention: samples of the active positions alone have the law of whole sequences.

#include "attica/sim/bigrams/active.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/bigrams/instances.hpp"
#include "attica/core/error.hpp"

namespace bigrams_active_test {

using namespace attica;
using Catch::Matchers::Contains;
using Eigen::Index;
using Eigen::MatrixXd;

BigramModel skewed_model() {
  RandomStream stream({.seed = 5, .id = StreamId::model});
  const BigramChain chain = sinkhorn_chain(4, 2, 2, stream);
  return BigramModel(chain, 500, 2, random_attention(4, 500, 2, AttentionWeights::random, stream));
}

/// Weight on one attended position of each column and on one that is not.
std::vector<SparseColumn> half_right(const BigramModel& model) {
  std::vector<SparseColumn> columns;
  for (const SparseColumn& q : model.attention()) {
    const Index wrong = q.positions[0] == 0 || q.positions[1] == 0 ? 1 : 0;
    columns.push_back({{wrong, q.positions[1]}, {0.4, 0.6}});
  }
  return columns;
}

MatrixXd dense(const BigramModel& model, const std::vector<SparseColumn>& columns) {
  MatrixXd a = MatrixXd::Zero(model.context(), model.tokens());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    for (std::size_t i = 0; i < columns[k].positions.size(); ++i) {
      a(columns[k].positions[i], static_cast<Index>(k)) = columns[k].weights[i];
    }
  }
  return a;
}

/// Mean of ½|y - V X a^(k)|² over samples of the active positions.
double mean_loss(const MatrixXd& value, ActiveSampler& sampler, std::int64_t samples) {
  RandomStream stream({.seed = 1, .id = StreamId::test_data});
  ActiveSampler::Sample sample;
  double total = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    sampler.draw(sample, stream);
    Eigen::VectorXd r = value * sample.u;
    r[sample.next] -= 1;
    total += 0.5 * r.squaredNorm();
  }
  return total / static_cast<double>(samples);
}

TEST_CASE("bigram active set: the mean loss is the population's", "[sim][bigrams]") {
  const BigramModel model = skewed_model();
  const std::vector<SparseColumn> a = half_right(model);
  ActiveSampler sampler(model, a);
  constexpr std::int64_t kSamples = 200000;
  const double found = mean_loss(model.transition(), sampler, kSamples);
  const double exact =
      bigram_state(model, model.transition(), attention_sums(model, dense(model, a))).loss;
  // A sample's loss lies in [0, 2] with deviation below 0.5: four standard errors.
  CHECK(std::abs(found - exact) < 4 * 0.5 / std::sqrt(double{kSamples}));
}

/// Means and second moments of a batch's sums, as vectors, over many batches.
struct Moments {
  Eigen::VectorXd mean;
  MatrixXd second;
};
template <class Draw>
Moments moments_of(const Draw& draw, Index tokens, int batches) {
  const Index size = 2 * tokens * tokens;
  Moments all{Eigen::VectorXd::Zero(size), MatrixXd::Zero(size, size)};
  Eigen::VectorXd row(size);
  ActiveSampler::Sums sums;
  for (int b = 0; b < batches; ++b) {
    draw(sums);
    row << sums.m.reshaped(), sums.c.reshaped();
    all.mean += row / batches;
    all.second += row * row.transpose() / batches;
  }
  return all;
}

TEST_CASE("bigram active set: counted samples have the law of samples", "[sim][bigrams]") {
  // Of three tokens and two active positions all samples with a last token are 27, which are
  // counted; of four and three they are 256, which are not.
  RandomStream problem({.seed = 6, .id = StreamId::model});
  const BigramModel few(cyclic_chain(3, 0.9, 2.5),
                        500,
                        2,
                        random_attention(3, 500, 2, AttentionWeights::random, problem));
  const BigramModel many = skewed_model();
  for (const auto& [model, attention] : {std::pair(few, few.attention()),
                                         std::pair(few, std::vector(3, SparseColumn{{499}, {1}})),
                                         std::pair(many, half_right(many))}) {
    const Index n = model.tokens();
    CAPTURE(n);
    ActiveSampler sampler(model, attention);
    RandomStream stream({.seed = 3, .id = StreamId::test_data});
    constexpr std::int64_t kBatch = 5;
    constexpr int kBatches = 40000;
    const Eigen::VectorXd inverse_mu = model.stationary().cwiseInverse();
    const Moments found = moments_of(
        [&](ActiveSampler::Sums& sums) { sampler.draw(kBatch, sums, stream); }, n, kBatches);
    const Moments expected = moments_of(
        [&](ActiveSampler::Sums& sums) {
          sums = {MatrixXd::Zero(n, n), MatrixXd::Zero(n, n)};
          ActiveSampler::Sample sample;
          for (std::int64_t b = 0; b < kBatch; ++b) {
            sampler.draw(sample, stream);
            const Eigen::VectorXd h = sample.u.cwiseProduct(inverse_mu).array() - sample.u.sum();
            sums.m += sample.u * h.transpose();
            sums.c.row(sample.next) += h.transpose();
          }
        },
        n,
        kBatches);
    // Differences of means of 40000 batches, in their standard errors: the largest of some 40 or
    // 1000, of second moments by their own size.
    const Eigen::ArrayXd deviation = expected.second.diagonal().array().sqrt();
    CHECK(((found.mean - expected.mean).array().abs() / deviation).maxCoeff() <
          5 * std::sqrt(2.0 / kBatches));
    const MatrixXd scale = (deviation.matrix() * deviation.matrix().transpose()).eval();
    CHECK(((found.second - expected.second).array().abs() / scale.array()).maxCoeff() <
          5 * 3 * std::sqrt(2.0 / kBatches));  // kurtosis below 9
  }
}

TEST_CASE("bigram refit: V relaxes to the best one for the attention found", "[sim][bigrams]") {
  const BigramModel model = skewed_model();
  const std::vector<SparseColumn> a = half_right(model);
  const AttentionSums sums = attention_sums(model, dense(model, a));
  const Eigen::VectorXd& mu = model.stationary();
  const double factor = mu.dot(sums.overlap) / mu.dot(sums.norm2);
  const MatrixXd best = (factor * (model.transition().colwise() - mu)).colwise() + mu;
  const MatrixXd start = stationary_value(model);
  RandomStream stream({.seed = 2, .id = StreamId::test_data});
  // Rate η_V ‖Â‖² of about 0.025 a step: 20 relaxation times before the averaging begins.
  const MatrixXd v = refit_value(model, {start, a, false}, 0.05, 64, 1600, stream);
  CHECK((v * mu - mu).norm() < 1e-12);  // hat gradients keep Vμ and 1ᵀV
  CHECK((v.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  // The average of n = 800 steps has variance (N-1) tr(R_v)/(B n ‖Â‖⁴), about 3 · 0.35/(64 · 800 ·
  // 0.5): 4e-5, against a K_P of about 0.3. Three times as much is allowed.
  const auto norm2 = [&](const MatrixXd& m) {
    return m.colwise().squaredNorm().dot(mu.transpose());
  };
  CHECK(norm2(v - best) < 1.2e-4);
  CHECK(norm2(start - best) > 0.01);
  CHECK_THROWS_WITH(refit_value(model, {start, a, false}, 0.05, 64, 0, stream),
                    Contains("refit_length"));
}

}  // namespace bigrams_active_test

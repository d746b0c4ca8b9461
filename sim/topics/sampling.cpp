#include "attica/sim/topics/sampling.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "attica/core/error.hpp"
#include "attica/sim/networks/gemm.hpp"
#include "attica/solvers/lbfgs.hpp"
#include "attica/solvers/statistics/distributions.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kChunk = 200;  ///< documents in memory at a time

/// Σ over targets of weight e_word pᵀ.
MatrixXd target_moment(const TopicBatch& batch) {
  MatrixXd sum = MatrixXd::Zero(batch.shares.rows(), batch.shares.rows());
  for (const TopicBatch::Target& t : batch.targets) {
    const Index document = batch.queries[static_cast<std::size_t>(t.query)].document;
    sum.row(t.word) += t.weight * batch.shares.col(document).transpose();
  }
  return sum;
}

}  // namespace

SampledMoments sample_moments(const TopicSampler& sampler,
                              Index documents,
                              Index masks,
                              RandomStream& stream) {
  const Index tokens = sampler.model().vocabulary().size();
  // Columns are corrupted documents: shares of shown tokens, and below of true tokens at the
  // selected positions; their moments.
  MatrixXd both(2 * tokens, kChunk * masks);
  MatrixXd moments = MatrixXd::Zero(2 * tokens, tokens);
  VectorXd seen = VectorXd::Zero(tokens);
  std::int64_t selected = 0;
  std::int64_t kept = 0;
  // Of every word: in the document, at the selected positions, and shown there.
  Eigen::VectorXi counts(tokens);
  Eigen::VectorXi hidden(tokens);
  Eigen::VectorXi instead(tokens);
  DocumentDraws draws = sampler.draws(stream);
  TopicDocument document;
  for (Index done = 0; done < documents; done += kChunk) {
    const Index now = std::min(kChunk, documents - done);
    Index column = 0;
    for (Index d = 0; d < now; ++d) {
      sampler.draw(draws, document);
      counts.setZero();
      for (const std::int32_t word : document.truth) ++counts[word];
      for (Index m = 0; m < masks; ++m, ++column) {
        if (m > 0) sampler.corrupt(draws, document);
        hidden.setZero();
        instead.setZero();
        for (const std::int32_t j : document.selected) {
          const std::int32_t truth = document.truth[static_cast<std::size_t>(j)];
          const std::int32_t word = document.shown[static_cast<std::size_t>(j)];
          ++hidden[truth];
          ++instead[word];
          kept += word == truth ? 1 : 0;
        }
        selected += static_cast<std::int64_t>(document.selected.size());
        both.col(column).head(tokens) =
            (counts - hidden + instead).cast<double>() / static_cast<double>(document.truth.size());
        both.col(column).tail(tokens) =
            hidden.cast<double>() / static_cast<double>(document.selected.size());
      }
    }
    const auto shares = both.topLeftCorner(tokens, column);
    seen += shares.rowwise().sum();
    networks::multiply(both.leftCols(column), shares.transpose(), moments, networks::Into::add);
  }
  const CommutantAlgebra algebra(sampler.model().vocabulary());
  const auto number = static_cast<double>(documents * masks);
  auto topics =
      seen.tail(tokens - 1)
          .reshaped(sampler.model().vocabulary().words, sampler.model().vocabulary().topics);
  topics.array().rowwise() /= topics.colwise().sum().eval().array();
  return {algebra.project(moments.topRows(tokens) / number),
          algebra.project(moments.bottomRows(tokens) / number),
          seen.tail(tokens - 1),
          static_cast<double>(kept) / static_cast<double>(selected)};
}

Commutant fit_value(const CommutantAlgebra& algebra, const SampledMoments& moments, double lambda) {
  // Dense normal equations: nothing is taken from the theory's algebra.
  const MatrixXd shown = algebra.dense(moments.shown);
  const MatrixXd system = shown + lambda * MatrixXd::Identity(shown.rows(), shown.cols());
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver;
  constexpr double kZero = 1e-10;
  solver.setThreshold(kZero);
  solver.compute(system);
  return algebra.project(solver.solve(algebra.dense(moments.target).transpose()).transpose());
}

EmbeddingDescent descend_embedding(
    const TopicBatch& batch, const MatrixXd& start, double eta, double lambda, std::int64_t steps) {
  // Exact moments of the batch; its documents weigh the same.
  const auto documents = static_cast<double>(batch.shares.cols());
  const MatrixXd shown = batch.shares * batch.shares.transpose() / documents;
  const MatrixXd target = target_moment(batch);
  const VectorXd mean = batch.shares.rowwise().mean();
  VectorXd truth = VectorXd::Zero(mean.size());
  for (const TopicBatch::Target& t : batch.targets) truth[t.word] += t.weight;
  MatrixXd embedding = start;
  EmbeddingDescent result{.gram = start.transpose() * start, .bias = VectorXd::Zero(mean.size())};
  for (std::int64_t n = 0; n < steps; ++n) {
    const MatrixXd g = 2 * (result.gram * shown + result.bias * mean.transpose() - target);
    const VectorXd bias_gradient = 2 * (result.gram * mean + result.bias - truth);
    embedding -= eta * (embedding * (g + g.transpose()) + 2 * lambda * embedding);
    result.bias -= eta * bias_gradient;
    const MatrixXd next = embedding.transpose() * embedding;
    result.largest_change = (next - result.gram).cwiseAbs().maxCoeff();
    result.gram = next;
  }
  return result;
}

AttentionDescent descend_attention(const TopicModel& model,
                                   networks::Loss loss,
                                   const MatrixXd& value) {
  // For invariant weights all topic sets give the same loss.
  const TopicBatch batch = population_batch(model, TopicSets::one);
  const TopicVocabulary& vocabulary = model.vocabulary();
  TopicNetwork network({.tokens = vocabulary.size(), .loss = loss});
  network.set_value(value);
  const auto classes = [&](auto visit) {
    for (Index j = 1; j < vocabulary.size(); ++j) {
      const Index first = 1 + vocabulary.topic(j) * vocabulary.words;
      for (Index i = first; i < first + vocabulary.words; ++i) visit(i, j, i == j ? 0 : 1);
    }
  };
  const auto function = [&](const double* x, double* gradient) {
    MatrixXd scores = MatrixXd::Zero(vocabulary.size(), vocabulary.size());
    classes([&](Index i, Index j, int kind) { scores(i, j) = x[kind]; });
    const double result = network.loss_and_gradient(batch, scores);
    if (gradient != nullptr) {
      gradient[0] = gradient[1] = 0;
      classes(
          [&](Index i, Index j, int kind) { gradient[kind] += network.score_gradient()(i, j); });
    }
    return result;
  };
  constexpr double kGradient = 1e-9;
  const LbfgsResult end = minimise_lbfgs(function, VectorXd::Zero(2), {kGradient});
  return {.same_word = std::exp(end.x[0]), .same_topic = std::exp(end.x[1]), .loss = end.value};
}

double sample_length_gap(const TopicSampler& sampler,
                         networks::Loss loss,
                         const MatrixXd& value,
                         const MatrixXd& scores,
                         Index documents,
                         RandomStream& stream) {
  const TopicModel& model = sampler.model();
  TopicNetwork network({.tokens = model.vocabulary().size(), .loss = loss});
  network.set_value(value);
  TopicBatch finite;
  MatrixXd expected;
  double sum = 0;
  for (Index done = 0; done < documents; done += kChunk) {
    const Index now = std::min(kChunk, documents - done);
    TopicBatch infinite;
    sampler.draw(stream, now, finite, &infinite.shares, &expected);
    infinite.queries = finite.queries;
    infinite.targets = finite.targets;
    sum +=
        static_cast<double>(now) * (network.loss(finite, scores) - network.loss(infinite, scores));
    // What the words at the other positions do to first order has no mean: an exact control
    // variate, as a central difference whose step leaves 1e-8 of third order.
    constexpr double kStep = 1e-4;
    const MatrixXd scatter = kStep * (finite.shares - expected);
    finite.shares = expected + scatter;
    double first_order = network.loss(finite, scores);
    finite.shares = expected - scatter;
    first_order -= network.loss(finite, scores);
    sum -= static_cast<double>(now) * first_order / (2 * kStep);
  }
  return sum / static_cast<double>(documents);
}

double enumerated_small_loss(const TopicModel& model,
                             networks::Loss loss,
                             const MatrixXd& value,
                             const MatrixXd& scores,
                             int length) {
  constexpr int kTokens = 5;
  require(model.vocabulary().topics == 2 && model.vocabulary().words == 2 && model.tau() == 1,
          "topics",
          model.topics(),
          "one topic of two with two words each");
  using Outputs = Eigen::Vector<double, kTokens>;
  const Eigen::Matrix<double, kTokens, kTokens> outputs = value;
  const Eigen::Matrix<double, kTokens, kTokens> weight = scores.array().exp();
  const double p = model.mask_rate();
  const double random = model.random_rate() / (kTokens - 1);
  const double kept = model.keep_rate() / 2;
  // Not selected: words 1 and 2, of the topic. Selected: what is shown.
  const std::array<double, 7> cells{(1 - p) / 2,
                                    (1 - p) / 2,
                                    p * model.masked_share(),
                                    p * (kept + random),
                                    p * (kept + random),
                                    p * random,
                                    p * random};
  Eigen::Matrix<double, kTokens, kTokens> target;  // true word given the shown one
  target.setZero();
  for (int y = 0; y < kTokens; ++y) {
    for (int x = 1; x <= 2; ++x) target(x, y) = y == 0 ? 0.5 : random + (x == y ? 2 * kept : 0);
    target.col(y) /= target.col(y).sum();
  }
  double sum = 0;
  std::array<int, 7> n{};
  const std::function<void(std::size_t, int, double)> visit = [&](std::size_t cell,
                                                                  int left,
                                                                  double log_probability) {
    if (cell + 1 < cells.size()) {
      for (int k = 0; k <= left; ++k) {
        n[cell] = k;
        visit(cell + 1, left - k, log_probability + k * std::log(cells[cell]) - log_gamma(k + 1));
      }
      return;
    }
    n[cell] = left;
    log_probability += left * std::log(cells[cell]) - log_gamma(left + 1);
    const int selected = length - n[0] - n[1];
    if (selected == 0) return;
    const Outputs count(n[2], n[0] + n[3], n[1] + n[4], n[5], n[6]);
    double mean = 0;
    for (int y = 0; y < kTokens; ++y) {
      const int queries = n[static_cast<std::size_t>(2 + y)];
      if (queries == 0) continue;
      const Outputs keys = count.cwiseProduct(weight.col(y));
      const Outputs f = outputs * keys / keys.sum();
      const double own = loss == networks::Loss::squared
                             ? 1 + f.squaredNorm() - 2 * f.dot(target.col(y))
                             : std::log(f.array().exp().sum()) - f.dot(target.col(y));
      mean += queries * own / selected;
    }
    sum += std::exp(log_probability) * mean;
  };
  visit(0, length, log_gamma(length + 1));
  return sum / (1 - std::pow(1 - p, length));
}

}  // namespace attica

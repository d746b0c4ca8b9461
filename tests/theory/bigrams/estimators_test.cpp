#include "attica/theory/bigrams/estimators.hpp"

#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "theory/bigrams/reference.hpp"

namespace bigrams_estimators_test {

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kExact = 1e-10;  // sums of 729 terms, an inverse of 14 x 14 numbers

/// A sequence, x_1..x_T, the last token and the next one.
struct Case {
  std::vector<Index> x;
  Index k = 0;
  Index y = 0;
  double probability = 0;
};

std::vector<Case> all_cases(const BigramModel& model) {
  const Index n = model.tokens();
  const Index t = model.context();
  const MatrixXd q = model.dense_attention();
  Index sequences = 1;
  for (Index i = 0; i < t; ++i) sequences *= n;
  std::vector<Case> cases;
  for (Index code = 0; code < sequences; ++code) {
    std::vector<Index> x;
    double weight = 1;
    for (Index i = 0, rest = code; i < t; ++i, rest /= n) {
      x.push_back(rest % n);
      weight *= model.stationary()[x.back()];
    }
    for (Index k = 0; k < n; ++k) {
      for (Index y = 0; y < n; ++y) {
        double law = 0;
        for (Index i = 0; i < t; ++i) {
          law += q(i, k) * model.transition()(y, x[static_cast<std::size_t>(i)]);
        }
        cases.push_back({x, k, y, weight * model.stationary()[k] * law});
      }
    }
  }
  return cases;
}

/// Mean errors of an estimator of all entries of V and A with this covariance, times M.
EstimatorError errors(const BigramModel& model,
                      const std::vector<Case>& cases,
                      const MatrixXd& covariance) {
  const Index n = model.tokens();
  const Index t = model.context();
  const MatrixXd q = model.dense_attention();
  // ½ E |f - f*|² with the derivatives of f = V X a in all entries.
  MatrixXd curvature = MatrixXd::Zero(covariance.rows(), covariance.cols());
  for (const Case& c : cases) {
    MatrixXd slope = MatrixXd::Zero(n, covariance.rows());
    for (Index i = 0; i < t; ++i) {
      const Index token = c.x[static_cast<std::size_t>(i)];
      for (Index m = 0; m < n; ++m) slope(m, token * n + m) += q(i, c.k);
      slope.col(n * n + c.k * t + i) = model.transition().col(token);
    }
    curvature += c.probability * slope.transpose() * slope;
  }
  EstimatorError found{.excess_loss = 0.5 * curvature.cwiseProduct(covariance).sum()};
  for (Index k = 0; k < n; ++k) {
    const double mu = model.stationary()[k];
    found.distance_v2 += mu * covariance.diagonal().segment(k * n, n).sum();
    found.distance_a2 += mu * covariance.diagonal().segment(n * n + k * t, t).sum();
  }
  return found;
}

void check_equal(const EstimatorError& found, const EstimatorError& expected, double tolerance) {
  CHECK(found.excess_loss == Approx(expected.excess_loss).epsilon(tolerance));
  CHECK(found.distance_v2 == Approx(expected.distance_v2).epsilon(tolerance));
  CHECK(found.distance_a2 == Approx(expected.distance_a2).epsilon(tolerance));
}

/// The inverse Fisher information of all entries of V and A under the constraints, times M.
MatrixXd likelihood_covariance(const BigramModel& model,
                               const std::vector<Case>& cases,
                               bool support_alone,
                               double& parameters) {
  const Index n = model.tokens();
  const Index t = model.context();
  const MatrixXd q = model.dense_attention();
  const Index entries = n * n + n * t;
  MatrixXd fisher = MatrixXd::Zero(entries, entries);
  for (const Case& c : cases) {
    VectorXd score = VectorXd::Zero(entries);
    double law = 0;
    for (Index i = 0; i < t; ++i) {
      const Index token = c.x[static_cast<std::size_t>(i)];
      score[token * n + c.y] += q(i, c.k);
      score[n * n + c.k * t + i] = model.transition()(c.y, token);
      law += q(i, c.k) * model.transition()(c.y, token);
    }
    fisher += c.probability / (law * law) * score * score.transpose();
  }
  // What moves no constraint: sums of columns of V, Vμ, sums of columns of A, entries held at 0.
  std::vector<VectorXd> rows;
  const auto row = [&]() -> VectorXd& {
    rows.emplace_back(VectorXd::Zero(entries));
    return rows.back();
  };
  for (Index k = 0; k < n; ++k) {
    row().segment(k * n, n).setOnes();
    row().segment(n * n + k * t, t).setOnes();
    VectorXd& stationary = row();
    for (Index j = 0; j < n; ++j) stationary[j * n + k] = model.stationary()[j];
    for (Index i = 0; i < t && support_alone; ++i) {
      if (q(i, k) == 0) row()[n * n + k * t + i] = 1;
    }
  }
  MatrixXd constraints(static_cast<Index>(rows.size()), entries);
  for (std::size_t r = 0; r < rows.size(); ++r) constraints.row(static_cast<Index>(r)) = rows[r];
  const MatrixXd free = constraints.fullPivLu().kernel();
  parameters = static_cast<double>(free.cols());
  return free * (free.transpose() * fisher * free).inverse() * free.transpose();
}

TEST_CASE("likelihood_error: the inverse of Fisher's information over all sequences",
          "[theory][bigrams]") {
  RandomStream stream({.seed = 5, .id = StreamId::model});
  const std::vector<BigramModel> models = {
      tiny_model(),
      BigramModel(cyclic_chain(3, 0.7, 2),
                  4,
                  2,
                  random_attention(3, 4, 2, AttentionWeights::random, stream)),
      BigramModel(cyclic_chain(4, 0.6, 1.5),
                  3,
                  1,
                  random_attention(4, 3, 1, AttentionWeights::random, stream))};
  for (const BigramModel& model : models) {
    const std::vector<Case> cases = all_cases(model);
    for (const KnownPositions known : {KnownPositions::none, KnownPositions::support}) {
      CAPTURE(model.sparsity(), known == KnownPositions::support);
      double parameters = 0;
      const MatrixXd covariance =
          likelihood_covariance(model, cases, known == KnownPositions::support, parameters);
      const EstimatorError found = likelihood_error(model, known);
      check_equal(found, errors(model, cases, covariance), kExact);
      CHECK(found.parameters == parameters);
    }
  }
}

TEST_CASE("likelihood_error: with known positions T is no matter, without it costs one each",
          "[theory][bigrams]") {
  const EstimatorError near =
      likelihood_error(circulant_model(3, 0.8, 2, 20), KnownPositions::support);
  const EstimatorError far =
      likelihood_error(circulant_model(3, 0.8, 2, 900), KnownPositions::support);
  check_equal(near, far, kExact);
  CHECK(near.parameters == 7);
  CHECK(likelihood_error(circulant_model(3, 0.8, 2, 20), KnownPositions::none).parameters == 61);
}

/// The counting estimate of a law of sequences: all entries of V, then of A.
VectorXd counted(const BigramModel& model, const std::vector<Case>& cases, const VectorXd& law) {
  const Index n = model.tokens();
  const Index t = model.context();
  const VectorXd& mu = model.stationary();
  MatrixXd centred = MatrixXd::Zero(n, n);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    VectorXd residual = -mu;
    residual[cases[i].y] += 1;
    VectorXd h = VectorXd::Constant(n, -double(t));
    for (const Index token : cases[i].x) h[token] += 1 / mu[token];
    centred += law[static_cast<Index>(i)] * residual * h.transpose();
  }
  MatrixXd attention = MatrixXd::Zero(t, n);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (Index j = 0; j < t; ++j) {
      attention(j, cases[i].k) +=
          law[static_cast<Index>(i)] * centred(cases[i].y, cases[i].x[static_cast<std::size_t>(j)]);
    }
  }
  for (Index k = 0; k < n; ++k) attention.col(k) /= attention.col(k).sum();
  VectorXd all(n * n + n * t);
  const MatrixXd value = centred.colwise() + mu;
  all << Eigen::Map<const VectorXd>(value.data(), n * n),
      Eigen::Map<const VectorXd>(attention.data(), n * t);
  return all;
}

TEST_CASE("counting_error: consistent, and the delta method over all sequences",
          "[theory][bigrams]") {
  RandomStream stream({.seed = 6, .id = StreamId::model});
  const BigramModel model(
      cyclic_chain(3, 0.7, 2), 4, 2, random_attention(3, 4, 2, AttentionWeights::random, stream));
  const std::vector<Case> cases = all_cases(model);
  VectorXd law(static_cast<Index>(cases.size()));
  for (std::size_t i = 0; i < cases.size(); ++i) law[static_cast<Index>(i)] = cases[i].probability;
  const VectorXd truth = counted(model, cases, law);
  const MatrixXd q = model.dense_attention();
  CHECK((truth.head(9) - Eigen::Map<const VectorXd>(model.transition().data(), 9)).norm() < kExact);
  CHECK((truth.tail(12) - Eigen::Map<const VectorXd>(q.data(), 12)).norm() < kExact);
  // Influence of a sequence: the derivative where the law moves towards it; a ratio of quadratic
  // functions of the law, differences of order step².
  constexpr double kStep = 1e-5;
  MatrixXd covariance = MatrixXd::Zero(truth.size(), truth.size());
  for (Index i = 0; i < law.size(); ++i) {
    VectorXd more = (1 - kStep) * law;
    VectorXd less = (1 + kStep) * law;
    more[i] += kStep;
    less[i] -= kStep;
    const VectorXd influence =
        (counted(model, cases, more) - counted(model, cases, less)) / (2 * kStep);
    covariance += law[i] * influence * influence.transpose();
  }
  const EstimatorError found = counting_error(model);
  check_equal(found, errors(model, cases, covariance), 1e-6);
  // Nothing that is consistent and regular does better than maximum likelihood.
  CHECK(found.excess_loss > likelihood_error(model, KnownPositions::none).excess_loss);
}

TEST_CASE("bayes_log_loss: the entropy over all sequences", "[theory][bigrams]") {
  const BigramModel model = tiny_model();
  double entropy = 0;
  for (const Case& c : all_cases(model)) {
    double weight = model.stationary()[c.k];
    for (const Index token : c.x) weight *= model.stationary()[token];
    if (c.probability > 0) entropy -= c.probability * std::log(c.probability / weight);
  }
  CHECK(bayes_log_loss(model) == Approx(entropy).epsilon(kExact));
  CHECK(bayes_log_loss(model) < unigram_log_loss(model));
  // Every token follows every token alike: nothing to see.
  CHECK(bayes_log_loss(circulant_model(3, 1.0 / 3, 2, 20)) == Approx(std::log(3)));
  CHECK(unigram_log_loss(circulant_model(3, 0.8, 2, 20)) == Approx(std::log(3)));
  // A sure law at one position.
  CHECK(bayes_log_loss(circulant_model(3, 1, 1, 20)) == Approx(0).margin(kExact));
}

}  // namespace bigrams_estimators_test

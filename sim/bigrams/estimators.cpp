#include "attica/sim/bigrams/estimators.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <numeric>

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

Index count_of(const BigramSequences& sequences) {
  return static_cast<Index>(sequences.next.size());
}

double total(const BigramData& data) {
  double all = 0;
  for (const BigramSequences& s : data) all += static_cast<double>(s.next.size());
  return all;
}

/// Log likelihood of all sequences, -inf where a next token y has no more than `least`.
double log_likelihood(const BigramData& data,
                      const OpenPositions& open,
                      const BigramEstimate& estimate,
                      const VectorXd& least) {
  double sum = 0;
  for (std::size_t k = 0; k < data.size(); ++k) {
    const auto a = estimate.attention.col(static_cast<Index>(k));
    for (Index i = 0; i < count_of(data[k]); ++i) {
      const Index y = data[k].next[static_cast<std::size_t>(i)];
      double law = 0;
      for (const Index t : open[k]) law += a[t] * estimate.value(y, data[k].tokens(t, i));
      if (!(law > least[y])) return -std::numeric_limits<double>::infinity();
      sum += std::log(law);
    }
  }
  return sum;
}

/// Coordinates of estimates: V = μ1ᵀ + L Θ Rᵀ with L = (I; -1ᵀ), R = (I; -μᵀ/μ_N), Θ (N-1)²;
/// of a column of A all entries but the first, at the open positions.
struct Coordinates {
  MatrixXd left;
  MatrixXd right;

  explicit Coordinates(const VectorXd& mu) {
    const Index m = mu.size() - 1;
    left = MatrixXd::Identity(m + 1, m);
    left.row(m).setConstant(-1);
    right = MatrixXd::Identity(m + 1, m);
    right.row(m) = -mu.head(m).transpose() / mu[m];
  }
};

/// A scoring step: solves (Σ s sᵀ) step = Σ s, whose columns' blocks meet in Θ alone.
struct ScoringStep {
  MatrixXd value;      ///< added to V
  MatrixXd attention;  ///< added to A
  double promise = 0;  ///< stepᵀ Σ s: twice the rise of the likelihood that the step expects
};

ScoringStep scoring_step(const BigramData& data,
                         const OpenPositions& open,
                         const BigramEstimate& estimate,
                         const Coordinates& coordinates) {
  const auto& [left, right] = coordinates;
  const Index n = left.rows();
  const Index of_v = (n - 1) * (n - 1);
  MatrixXd information = MatrixXd::Zero(of_v, of_v);
  VectorXd gradient = VectorXd::Zero(of_v);
  std::vector<MatrixXd> coupling;  // F_kk⁻¹ F_kΘ
  std::vector<VectorXd> own;       // F_kk⁻¹ g_k
  ScoringStep step{
      .value = MatrixXd::Zero(n, n),
      .attention = MatrixXd::Zero(estimate.attention.rows(), n),
  };
  for (std::size_t k = 0; k < data.size(); ++k) {
    const auto a = estimate.attention.col(static_cast<Index>(k));
    const std::vector<Index>& positions = open[k];
    const auto of_a = static_cast<Index>(positions.size()) - 1;
    MatrixXd scores(of_v + of_a, count_of(data[k]));
    VectorXd u(n);
    VectorXd seen(n - 1);
    for (Index i = 0; i < scores.cols(); ++i) {
      const auto x = data[k].tokens.col(i);
      const Index y = data[k].next[static_cast<std::size_t>(i)];
      u.setZero();
      for (const Index t : positions) u[x[t]] += a[t];
      const double law = estimate.value.row(y).dot(u);
      seen.noalias() = right.transpose() * (u / law);
      for (Index c = 0; c + 1 < n; ++c) {
        scores.col(i).segment(c * (n - 1), n - 1) = seen[c] * left.row(y).transpose();
      }
      const double base = estimate.value(y, x[positions[0]]);
      for (Index j = 0; j < of_a; ++j) {
        const Index t = positions[static_cast<std::size_t>(j + 1)];
        scores(of_v + j, i) = (estimate.value(y, x[t]) - base) / law;
      }
    }
    MatrixXd block = MatrixXd::Zero(of_v + of_a, of_v + of_a);
    block.selfadjointView<Eigen::Lower>().rankUpdate(scores);
    const VectorXd sum = scores.rowwise().sum();
    const MatrixXd crossed = block.bottomLeftCorner(of_a, of_v);
    const MatrixXd within = block.bottomRightCorner(of_a, of_a).selfadjointView<Eigen::Lower>();
    const Eigen::LDLT<MatrixXd> factor(within);
    coupling.emplace_back(factor.solve(crossed));
    own.emplace_back(factor.solve(sum.tail(of_a)));
    information += block.topLeftCorner(of_v, of_v).selfadjointView<Eigen::Lower>();
    information -= crossed.transpose() * coupling.back();
    gradient += sum.head(of_v) - crossed.transpose() * own.back();
    step.promise += sum.tail(of_a).dot(own.back());
  }
  const VectorXd theta = information.ldlt().solve(gradient);
  step.promise += gradient.dot(theta);
  step.value = left * Eigen::Map<const MatrixXd>(theta.data(), n - 1, n - 1) * right.transpose();
  for (std::size_t k = 0; k < data.size(); ++k) {
    const VectorXd change = own[k] - coupling[k] * theta;
    for (Index j = 0; j < change.size(); ++j) {
      step.attention(open[k][static_cast<std::size_t>(j + 1)], static_cast<Index>(k)) = change[j];
    }
    step.attention(open[k][0], static_cast<Index>(k)) = -change.sum();
  }
  return step;
}

}  // namespace

BigramData draw_bigram_data(const BigramModel& model, std::int64_t samples, RandomStream& stream) {
  const BigramSampler sampler(model);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(model.tokens()));
  sampler.draw_counts(samples, counts, stream);
  BigramData data(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    data[k].tokens.resize(model.context(), counts[k]);
    data[k].next.resize(static_cast<std::size_t>(counts[k]));
    for (Index i = 0; i < counts[k]; ++i) {
      const std::span<Token> row(data[k].tokens.col(i).data(),
                                 static_cast<std::size_t>(model.context()));
      data[k].next[static_cast<std::size_t>(i)] = sampler.draw(static_cast<Index>(k), row, stream);
    }
  }
  return data;
}

BigramEstimate counting_estimate(const BigramModel& model, const BigramData& data) {
  const VectorXd& mu = model.stationary();
  const Index t = model.context();
  const Index n = mu.size();
  MatrixXd centred = MatrixXd::Zero(n, n);  // V - μ1ᵀ
  VectorXd h(n);
  for (const BigramSequences& s : data) {
    for (Index i = 0; i < count_of(s); ++i) {
      h.setConstant(-static_cast<double>(t));
      for (Index j = 0; j < t; ++j) h[s.tokens(j, i)] += 1 / mu[s.tokens(j, i)];
      centred.row(s.next[static_cast<std::size_t>(i)]) += h.transpose();
      centred.noalias() -= mu * h.transpose();
    }
  }
  centred /= total(data);
  MatrixXd attention = MatrixXd::Zero(t, n);
  for (std::size_t k = 0; k < data.size(); ++k) {
    auto a = attention.col(static_cast<Index>(k));
    for (Index i = 0; i < count_of(data[k]); ++i) {
      const Index y = data[k].next[static_cast<std::size_t>(i)];
      for (Index j = 0; j < t; ++j) a[j] += centred(y, data[k].tokens(j, i));
    }
    a /= a.sum();
  }
  return {centred.colwise() + mu, attention};
}

OpenPositions all_positions(const BigramModel& model) {
  std::vector<Index> all(static_cast<std::size_t>(model.context()));
  std::iota(all.begin(), all.end(), 0);
  return OpenPositions(static_cast<std::size_t>(model.tokens()), all);
}

OpenPositions true_positions(const BigramModel& model) {
  OpenPositions open;
  for (const SparseColumn& q : model.attention()) open.push_back(q.positions);
  return open;
}

BigramEstimate restricted(const BigramEstimate& estimate, const OpenPositions& open) {
  BigramEstimate cut{estimate.value,
                     MatrixXd::Zero(estimate.attention.rows(), estimate.attention.cols())};
  for (std::size_t k = 0; k < open.size(); ++k) {
    const auto column = static_cast<Index>(k);
    for (const Index t : open[k]) cut.attention(t, column) = estimate.attention(t, column);
    cut.attention.col(column) /= cut.attention.col(column).sum();
  }
  return cut;
}

BigramLikelihood maximum_likelihood(const BigramModel& model,
                                    const BigramData& data,
                                    const OpenPositions& open,
                                    const BigramEstimate& start,
                                    const std::stop_token& stop) {
  constexpr int kMostSteps = 200;
  constexpr int kMostHalvings = 40;
  constexpr double kPromise = 1e-6;
  const VectorXd& mu = model.stationary();
  const Coordinates coordinates(mu);
  auto parameters = static_cast<double>((mu.size() - 1) * (mu.size() - 1));
  for (const std::vector<Index>& positions : open) {
    parameters += static_cast<double>(positions.size()) - 1;
  }
  BigramLikelihood found{.estimate = start};
  // Next to the border of what is possible a few sequences would rule the first steps.
  constexpr double kInside = 0.1;
  const VectorXd inside = kInside * mu;
  const VectorXd possible = VectorXd::Zero(mu.size());
  double likelihood = log_likelihood(data, open, found.estimate, inside);
  while (!std::isfinite(likelihood)) {
    found.estimate.value = (0.5 * (found.estimate.value.colwise() + mu)).eval();
    likelihood = log_likelihood(data, open, found.estimate, inside);
  }
  while (!found.converged && found.steps < kMostSteps && !stop.stop_requested()) {
    ++found.steps;
    const ScoringStep step = scoring_step(data, open, found.estimate, coordinates);
    found.converged = step.promise < kPromise * parameters;
    double share = 1;
    for (int halvings = 0; halvings < kMostHalvings; ++halvings, share *= 0.5) {
      const BigramEstimate next{found.estimate.value + share * step.value,
                                found.estimate.attention + share * step.attention};
      const double risen = log_likelihood(data, open, next, possible);
      if (!(risen > likelihood)) continue;
      found.estimate = next;
      likelihood = risen;
      break;
    }
  }
  const BigramEstimate truth{model.transition(), model.dense_attention()};
  found.gain =
      (likelihood - log_likelihood(data, true_positions(model), truth, possible)) / total(data);
  return found;
}

double excess_log_loss(const BigramModel& model, const BigramEstimate& estimate) {
  const VectorXd& mu = model.stationary();
  double divergence = 0;
  for (Index k = 0; k < mu.size(); ++k) {
    const SparseColumn& q = model.attention()[static_cast<std::size_t>(k)];
    std::vector<Index> x(q.positions.size(), 0);
    for (bool more = true; more;) {
      double weight = mu[k];
      VectorXd law = VectorXd::Zero(mu.size());
      VectorXd found = law;
      for (std::size_t j = 0; j < x.size(); ++j) {
        weight *= mu[x[j]];
        law += q.weights[j] * model.transition().col(x[j]);
        found += estimate.attention(q.positions[j], k) * estimate.value.col(x[j]);
      }
      for (Index y = 0; y < mu.size(); ++y) {
        if (law[y] == 0) continue;
        if (!(found[y] > 0)) return std::numeric_limits<double>::infinity();
        divergence += weight * law[y] * std::log(law[y] / found[y]);
      }
      more = false;
      for (Index& token : x) {
        more = ++token < mu.size();
        if (more) break;
        token = 0;
      }
    }
  }
  return divergence;
}

}  // namespace attica

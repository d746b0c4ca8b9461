#include "attica/theory/joma/random_start.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr double kMeanTracyWidom = -1.2065335745820;
constexpr double kVarianceTracyWidom = 1.607781034581;
constexpr double kUniformKurtosis = -1.2;

/// Means over embeddings of products of the rows x_i of one sequence.
class Products {
 public:
  Products(const std::vector<int>& tokens, const RandomEmbedding& embedding)
      : tokens_(tokens), embedding_(embedding), codes_(embedding.positions.rows() > 0) {
    const auto length = static_cast<Index>(tokens.size());
    overlap_ = codes_ ? Eigen::MatrixXd(embedding.positions.topRows(length) *
                                        embedding.positions.topRows(length).transpose())
                      : Eigen::MatrixXd::Zero(length, length);
  }

  bool same_token(Index j, Index k) const {
    return tokens_[static_cast<std::size_t>(j)] == tokens_[static_cast<std::size_t>(k)];
  }
  bool same_vector(Index j, Index k) const { return codes_ ? j == k : same_token(j, k); }
  /// E x_j.x_k
  double product(Index j, Index k) const {
    return (same_token(j, k) ? embedding_.width * embedding_.variance : 0.0) + overlap_(j, k);
  }
  /// E |x_i|^2 x_j.x_k
  double with_square(Index i, Index j, Index k) const {
    const double v = embedding_.variance;
    double covariance = 0;
    if (same_token(i, j)) covariance += 2 * v * overlap_(i, k);
    if (same_token(i, k)) covariance += 2 * v * overlap_(i, j);
    if (same_token(i, j) && same_token(i, k)) {
      covariance += embedding_.width * (embedding_.fourth_moment - v * v);
    }
    return product(i, i) * product(j, k) + covariance;
  }

 private:
  const std::vector<int>& tokens_;
  const RandomEmbedding& embedding_;
  bool codes_;
  Eigen::MatrixXd overlap_;
};

/// The deficit of query i, which sees the first `seen` keys.
double query_deficit(const Products& x, Index i, Index seen, double score_variance) {
  const auto t = static_cast<double>(seen);
  double squares = 0;
  double products = 0;
  double share_2 = 0;  // sum over different vectors of (share of the keys)^2, and ^3
  double share_3 = 0;
  for (Index j = 0; j < seen; ++j) {
    squares += x.with_square(i, j, j) / t;
    double same = 0;
    for (Index k = 0; k < seen; ++k) {
      products += x.with_square(i, j, k) / (t * t);
      same += x.same_vector(j, k) ? 1 / t : 0;
    }
    share_2 += same / t;
    share_3 += same * same / t;
  }
  constexpr double kOne = 1 - 1e-9;
  if (share_2 > kOne) return 0;
  const double second = score_variance * (squares - products);
  const double variance = second / (1 - share_2);  // of a normal score
  const double fourth = variance * variance * (24 * share_3 - 18 * share_2 * share_2 - 6 * share_2);
  return second / 2 + fourth / 8;
}

}  // namespace

double start_entropy_deficit(const std::vector<std::vector<int>>& sequences,
                             const RandomEmbedding& embedding,
                             bool causal) {
  require(embedding.width >= 1, "width", embedding.width, "width >= 1");
  const double score_variance = 1 / (9.0 * embedding.width * embedding.width);
  double sum = 0;
  double queries = 0;
  for (const std::vector<int>& tokens : sequences) {
    const Products x(tokens, embedding);
    const auto length = static_cast<Index>(tokens.size());
    for (Index i = 0; i < length; ++i) {
      sum += query_deficit(x, i, causal ? i + 1 : length, score_variance);
      queries += 1;
    }
  }
  require(queries > 0, "sequences", 0, "at least one token");
  return sum / queries;
}

double start_loss_excess(int outputs, double variance) {
  require(outputs >= 1, "outputs", outputs, "outputs >= 1");
  require(std::isfinite(variance) && variance >= 0, "variance", variance, "finite, >= 0");
  const double sd = std::sqrt(variance);
  // Sums over equal steps of smooth functions that vanish at both ends.
  constexpr double kStep = 0.05;
  constexpr double kReach = 9;    // standard deviations
  constexpr double kLowest = 26;  // e^-26 (of the integrand) is left out
  constexpr double kHighest = 6;  // e^-e^6
  double integral = 0;
  for (double y = -kLowest; y <= kHighest + kReach * sd; y += kStep) {
    const double u = std::exp(y);
    double lost = 0;  // 1 - E exp(-u e^z / C)
    for (double n = -kReach; n <= kReach; n += 2 * kStep) {
      const double density = std::exp(-n * n / 2) / std::sqrt(2 * std::numbers::pi);
      lost -= 2 * kStep * density * std::expm1(-u * std::exp(sd * n) / outputs);
    }
    lost = std::min(lost, 1.0);
    integral += kStep * (std::exp(-u) - std::exp(outputs * std::log1p(-lost)));
  }
  return integral;
}

StartMean start_stable_rank(int rows, int columns) {
  constexpr int kFewest = 4;  // of fewer the edge is no approximation
  require(std::min(rows, columns) >= kFewest, "rows", std::min(rows, columns), "4 at least");
  const double n = std::sqrt(std::max(rows, columns) - 1.0);
  const double p = std::sqrt(std::min(rows, columns));
  const auto size = static_cast<double>(rows) * columns;
  const double scale = (n + p) * std::cbrt(1 / n + 1 / p);
  const double shift = (n + p) * (n + p) * kUniformKurtosis / std::sqrt(size);
  const double largest = (n + p) * (n + p) + shift + scale * kMeanTracyWidom;
  const double spread = scale * scale * kVarianceTracyWidom / (largest * largest);
  const double mean = size / largest * (1 + spread);  // E 1/x = (1 + var/mean^2) / mean
  // Half of the shift, which is of the order 1.2/√size: not taken from it, or a wrong shift would
  // be allowed for.
  return {mean, 0.6 * mean / std::sqrt(size)};
}

}  // namespace attica

#include "attica/sim/networks/topic_pairs.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace attica {

using Eigen::Index;

namespace {

struct Means {
  double same = 0;
  double other = 0;
};

Means means(const PairValues& pairs, const std::vector<std::int32_t>& topics) {
  double sum[2] = {0, 0};
  double weight[2] = {0, 0};
  for (Index j = 0; j < pairs.values.cols(); ++j) {
    for (Index i = 0; i < pairs.values.rows(); ++i) {
      if (i == j) continue;
      const int same =
          topics[static_cast<std::size_t>(i)] == topics[static_cast<std::size_t>(j)] ? 1 : 0;
      sum[same] += pairs.weights(i, j) * pairs.values(i, j);
      weight[same] += pairs.weights(i, j);
    }
  }
  return {sum[1] / weight[1], sum[0] / weight[0]};
}

/// An unordered pair.
struct Pair {
  double value;
  double cooccurrence;
  bool same;
};

double mean_if(const std::vector<Pair>& pairs, bool same) {
  double sum = 0;
  double count = 0;
  for (const Pair& p : pairs) {
    if (p.same != same) continue;
    sum += p.value;
    count += 1;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

TopicContrast topic_contrast(const PairValues& values,
                             const std::vector<std::int32_t>& topics,
                             std::int64_t permutations,
                             RandomStream& stream) {
  const Means seen = means(values, topics);
  std::vector<std::int32_t> shuffled = topics;
  std::int64_t larger = 0;
  for (std::int64_t n = 0; n < permutations; ++n) {
    for (std::size_t i = shuffled.size() - 1; i > 0; --i) {
      std::swap(shuffled[i], shuffled[stream.below(i + 1)]);
    }
    const Means m = means(values, shuffled);
    // An exchange that leaves a class without pairs has no difference, and counts against.
    if (!(m.same - m.other < seen.same - seen.other)) ++larger;
  }
  return {seen.same,
          seen.other,
          static_cast<double>(1 + larger) / static_cast<double>(1 + permutations)};
}

CooccurrenceControl cooccurrence_control(const PairValues& values,
                                         const std::vector<std::int32_t>& topics,
                                         const Eigen::MatrixXd& cooccurrence) {
  std::vector<Pair> pairs;
  for (Index i = 0; i < values.values.rows(); ++i) {
    for (Index j = i + 1; j < values.values.cols(); ++j) {
      // The mean of the two directions that were seen.
      const double there = values.weights(i, j) > 0 ? 1 : 0;
      const double back = values.weights(j, i) > 0 ? 1 : 0;
      if (there + back <= 0) continue;
      const double value =
          (there * values.values(i, j) + back * values.values(j, i)) / (there + back);
      const bool same = topics[static_cast<std::size_t>(i)] == topics[static_cast<std::size_t>(j)];
      pairs.push_back({value, cooccurrence(i, j), same});
    }
  }
  CooccurrenceControl control;
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return a.cooccurrence > b.cooccurrence;
  });
  const auto same_pairs =
      std::count_if(pairs.begin(), pairs.end(), [](const Pair& p) { return p.same; });
  const std::vector<Pair> top(pairs.begin(), pairs.begin() + same_pairs);
  const auto add = [](double sum, const Pair& p) { return sum + p.value; };
  const auto n = static_cast<double>(top.size());
  control.top = std::accumulate(top.begin(), top.end(), 0.0, add) / n;
  control.top_other = mean_if(top, false);
  control.overlap = static_cast<double>(std::count_if(
                        top.begin(), top.end(), [](const Pair& p) { return p.same; })) /
                    n;

  // Tenths of the pairs by co-occurrence; equal values stay together.
  constexpr std::size_t kBins = 10;
  std::map<double, std::size_t> bin_of;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    bin_of.emplace(pairs[k].cooccurrence, k * kBins / pairs.size());
  }
  double weights = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    std::vector<Pair> inside;
    for (const Pair& p : pairs) {
      if (bin_of.at(p.cooccurrence) == bin) inside.push_back(p);
    }
    const double difference = mean_if(inside, true) - mean_if(inside, false);
    if (std::isnan(difference)) continue;
    const auto weight = static_cast<double>(
        std::count_if(inside.begin(), inside.end(), [](const Pair& p) { return p.same; }));
    control.matched += weight * difference;
    weights += weight;
  }
  control.matched /= weights;

  const auto rows = static_cast<Index>(pairs.size());
  Eigen::MatrixXd design(rows, 3);
  Eigen::VectorXd y(rows);
  for (Index k = 0; k < rows; ++k) {
    const Pair& p = pairs[static_cast<std::size_t>(k)];
    design.row(k) << 1, std::log1p(p.cooccurrence), p.same ? 1 : 0;
    y[k] = p.value;
  }
  const Eigen::VectorXd fit = design.colPivHouseholderQr().solve(y);
  control.cooccurrence = fit[1];
  control.coefficient = fit[2];
  return control;
}

Eigen::MatrixXd document_cooccurrence(const std::vector<std::vector<std::int32_t>>& documents,
                                      const std::vector<std::int32_t>& words) {
  std::map<std::int32_t, Index> place;
  for (std::size_t k = 0; k < words.size(); ++k) place[words[k]] = static_cast<Index>(k);
  const auto n = static_cast<Index>(words.size());
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(n, n);
  for (const auto& document : documents) {
    std::set<Index> present;
    for (const std::int32_t word : document) {
      const auto at = place.find(word);
      if (at != place.end()) present.insert(at->second);
    }
    for (const Index i : present) {
      for (const Index j : present) counts(i, j) += i == j ? 0 : 1;
    }
  }
  return counts;
}

}  // namespace attica

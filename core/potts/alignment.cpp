#include "attica/core/potts/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// Calls `each` with the numbers m > n of every two sequences that are relatives.
template <typename Each>
void for_relatives(const Sequences& sequences, double identity, const Each& each) {
  require(identity > 0 && identity <= 1, "identity", identity, "0 < identity <= 1");
  // Written so that 0.8 of 10 sites is 8 of them, whatever the rounding of 0.8 * 10.
  constexpr double kRounding = 1e-9;
  const auto needed =
      static_cast<Index>(std::ceil(identity * static_cast<double>(sequences.cols()) - kRounding));
  for (Index m = 0; m < sequences.rows(); ++m) {
    for (Index n = 0; n < m; ++n) {
      const std::uint8_t* a = sequences.row(m).data();
      const std::uint8_t* b = sequences.row(n).data();
      Index equal = 0;
      for (Index j = 0; j < sequences.cols(); ++j) equal += a[j] == b[j] ? 1 : 0;
      if (equal >= needed) each(m, n);
    }
  }
}

/// The groups of held-out sequences: whole ones, in the order in which their first member comes,
/// as long as they fit; if none does, the smallest.
std::vector<bool> held_out_groups(const std::vector<Index>& order,
                                  const RelativeGroups& groups,
                                  Index held_out) {
  std::vector<bool> chosen(groups.sizes.size(), false);
  std::vector<bool> seen(groups.sizes.size(), false);
  Index total = 0;
  std::size_t smallest = groups.sizes.size();
  for (const Index m : order) {
    const std::size_t g = groups.of[static_cast<std::size_t>(m)];
    if (seen[g]) continue;
    seen[g] = true;
    if (smallest == groups.sizes.size() || groups.sizes[g] < groups.sizes[smallest]) smallest = g;
    if (total + groups.sizes[g] > held_out) continue;
    chosen[g] = true;
    total += groups.sizes[g];
    if (total == held_out) break;
  }
  if (total == 0 && held_out > 0) chosen[smallest] = true;
  return chosen;
}

}  // namespace

Eigen::VectorXd sequence_weights(const Sequences& sequences, double identity) {
  Eigen::VectorXd relatives = Eigen::VectorXd::Ones(sequences.rows());
  for_relatives(sequences, identity, [&](Index m, Index n) {
    ++relatives[m];
    ++relatives[n];
  });
  return relatives.cwiseInverse();
}

RelativeGroups relative_groups(const Sequences& sequences, double identity) {
  std::vector<Index> parent(static_cast<std::size_t>(sequences.rows()));
  std::iota(parent.begin(), parent.end(), Index{0});
  const auto root = [&](Index m) {
    while (parent[static_cast<std::size_t>(m)] != m) {
      Index& above = parent[static_cast<std::size_t>(m)];
      above = parent[static_cast<std::size_t>(above)];
      m = above;
    }
    return m;
  };
  for_relatives(sequences, identity, [&](Index m, Index n) {
    const Index a = root(m);
    const Index b = root(n);
    parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  });
  RelativeGroups groups;
  std::vector<std::size_t> number(parent.size());
  for (Index m = 0; m < sequences.rows(); ++m) {
    const auto first = static_cast<std::size_t>(root(m));
    if (first == static_cast<std::size_t>(m)) {
      number[first] = groups.sizes.size();
      groups.sizes.push_back(0);
    }
    groups.of.push_back(number[first]);
    ++groups.sizes[number[first]];
  }
  return groups;
}

AlignmentSplit split_alignment(const Sequences& sequences,
                               const RelativeGroups& groups,
                               Index held_out,
                               double identity,
                               RandomStream& stream) {
  require(held_out >= 0 && held_out < sequences.rows(),
          "held_out",
          static_cast<double>(held_out),
          "fewer than all sequences");
  require(held_out == 0 || groups.sizes.size() > 1,
          "held_out",
          static_cast<double>(held_out),
          "0: all sequences are relatives of each other");
  std::vector<Index> order(static_cast<std::size_t>(sequences.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t k = order.size() - 1; k > 0; --k) {
    std::swap(order[k], order[stream.below(k + 1)]);
  }
  const auto part = [&](auto first, auto last) {
    const std::vector<Index> rows(first, last);
    AlignedSample sample;
    if (rows.empty()) return sample;
    sample.data.sequences = sequences(rows, Eigen::all);
    sample.data.weights = sequence_weights(sample.data.sequences, identity);
    sample.effective = sample.data.weights.sum();
    sample.data.weights /= sample.effective;
    return sample;
  };
  auto training = order.begin();
  if (held_out > 0) {
    const std::vector<bool> chosen = held_out_groups(order, groups, held_out);
    training = std::stable_partition(order.begin(), order.end(), [&](Index m) {
      return chosen[groups.of[static_cast<std::size_t>(m)]];
    });
  }
  return {.training = part(training, order.end()), .held_out = part(order.begin(), training)};
}

}  // namespace attica

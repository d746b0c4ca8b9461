#include "attica/solvers/statistics/claim_tests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/fractions.hpp"
#include "attica/solvers/statistics/multiple_tests.hpp"
#include "attica/solvers/statistics/replicates.hpp"

namespace attica {
namespace {

constexpr std::size_t kMostReplicates = 1'000'000;

/// Without replicates nothing is shown and nothing refuted.
constexpr ClaimTest kNothing{.interval = {}, .least_p_disagree = 1};

/// The least n in (1, kMostReplicates] at which `decides`, a property that stays once it holds.
template <class Decides>
std::optional<std::size_t> least(std::size_t low, const Decides& decides) {
  std::size_t high = std::max<std::size_t>(low, 2);
  while (!decides(high)) {
    if (high >= kMostReplicates) return std::nullopt;
    low = high;
    high = std::min(2 * high, kMostReplicates);
  }
  while (low + 1 < high) {
    const std::size_t middle = low + (high - low) / 2;
    (decides(middle) ? high : low) = middle;
  }
  return high;
}

/// Replicates that show the mean of a sample like this one to be beyond 0 on its side, at `level`.
std::optional<std::size_t> needed_replicates(
    const SampleSummary& sample, double beyond, Side side, double level, Tails tails) {
  if (sample.n < 2 || sample.failed > 0) return std::nullopt;
  return least(sample.n, [&](std::size_t n) {
    SampleSummary more = sample;
    more.n = n;
    more.sem = sample.sd / std::sqrt(static_cast<double>(n));
    return std::abs(beyond) > half_width(more, side, level, tails);
  });
}

ClaimTest mean_test(std::span<const double> values, Side side, double bound, Tails tails) {
  const SampleSummary sample = summarise(values);
  ClaimTest test{.estimate = sample.mean, .interval = {}};
  if (sample.n < 2 || sample.failed > 0) {
    test.least_p_disagree = 1;
    return test;
  }
  test.interval = mean_interval(sample, kClaimLevel, tails);
  // The mean is shown to be above the bound by its lower limit, and not above by its upper one.
  const double beyond = side == Side::lower ? sample.mean - bound : bound - sample.mean;
  const Side other = side == Side::lower ? Side::upper : Side::lower;
  if (sample.identical()) {
    (beyond > 0 ? test.p_agree : test.p_disagree) = kSmallestPValue;
    return test;
  }
  test.p_agree = p_value(sample, side, beyond, tails);
  test.p_disagree = p_value(sample, other, -beyond, tails);
  constexpr double kFar = 1e9;
  test.least_p_disagree = p_value(sample, other, kFar * sample.sd, tails);
  if (test.verdict() == Verdict::inconclusive) {
    test.needed = needed_replicates(sample, beyond, beyond > 0 ? side : other, kClaimLevel, tails);
  }
  return test;
}

constexpr auto kNever = std::numeric_limits<std::size_t>::max();

/// Replicates that show the mean of these differences to be on `side` of 0; kNever if it is not.
std::size_t needed_beyond(const std::vector<double>& values, Side side, double level, Tails tails) {
  const SampleSummary sample = summarise(values);
  const bool beyond = side == Side::lower ? sample.mean > 0 : sample.mean < 0;
  if (!beyond) return kNever;
  return needed_replicates(sample, sample.mean, side, level, tails).value_or(kNever);
}

/// Fewest replicates that show one of the first to be above all of the second.
std::optional<std::size_t> needed_to_show(std::span<const std::vector<double>> first,
                                          std::span<const std::vector<double>> second,
                                          Tails tails) {
  std::size_t fewest = kNever;
  const double level = kClaimLevel / static_cast<double>(first.size());
  for (const std::vector<double>& high : first) {
    std::size_t all = 0;
    for (const std::vector<double>& low : second) {
      all = std::max(all, needed_beyond(differences(high, low), Side::lower, level, tails));
    }
    fewest = std::min(fewest, all);
  }
  return fewest == kNever ? std::nullopt : std::optional(fewest);
}

/// Fewest replicates that show each of the first to be below one of the second.
std::optional<std::size_t> needed_to_refute(std::span<const std::vector<double>> first,
                                            std::span<const std::vector<double>> second,
                                            Tails tails) {
  std::size_t most = 0;
  const double level = kClaimLevel / static_cast<double>(second.size());
  for (const std::vector<double>& high : first) {
    std::size_t any = kNever;
    for (const std::vector<double>& low : second) {
      any = std::min(any, needed_beyond(differences(high, low), Side::upper, level, tails));
    }
    most = std::max(most, any);
  }
  return most == kNever ? std::nullopt : std::optional(most);
}

}  // namespace

Verdict ClaimTest::verdict() const {
  if (p_disagree <= kClaimLevel) return Verdict::disagree;
  return p_agree <= kClaimLevel ? Verdict::agree : Verdict::inconclusive;
}

ClaimTest rate_at_least(const std::vector<bool>& holds, double rate) {
  if (!(rate > 0 && rate < 1)) {
    throw Error(ErrorKind::input, "the rate of a claim must lie between 0 and 1");
  }
  const auto n = holds.size();
  const auto k = static_cast<std::size_t>(std::count(holds.begin(), holds.end(), true));
  if (n == 0) return kNothing;
  ClaimTest test{.estimate = Count{.k = k, .n = n}.fraction(),
                 .interval = clopper_pearson({.k = k, .n = n}, kClaimLevel),
                 .p_agree = binomial_tail(k, rate, n),
                 .p_disagree = binomial_lower_tail(k, rate, n),
                 .least_p_disagree = binomial_lower_tail(0, rate, n)};
  if (test.verdict() == Verdict::inconclusive) {
    test.needed = least(n, [&](std::size_t more) {
      const auto held =
          static_cast<std::size_t>(std::floor(test.estimate * static_cast<double>(more) + 1e-9));
      return binomial_tail(held, rate, more) <= kClaimLevel ||
             binomial_lower_tail(held, rate, more) <= kClaimLevel;
    });
  }
  return test;
}

ClaimTest mean_above(std::span<const double> values, double bound, Tails tails) {
  return mean_test(values, Side::lower, bound, tails);
}

ClaimTest mean_below(std::span<const double> values, double bound, Tails tails) {
  return mean_test(values, Side::upper, bound, tails);
}

ClaimTest some_above_all(std::span<const std::vector<double>> first,
                         std::span<const std::vector<double>> second,
                         Tails tails) {
  if (first.empty() || second.empty()) return kNothing;
  ClaimTest best{.interval = {}, .p_agree = 1, .p_disagree = 0};
  for (const std::vector<double>& high : first) {
    double above = 0;      // largest p-value of "high is above this one"
    double not_above = 1;  // smallest of "this one is above high"
    double smallest = std::numeric_limits<double>::infinity();
    double least_p = 1;
    for (const std::vector<double>& low : second) {
      const ClaimTest test = mean_above(differences(high, low), 0, tails);
      above = std::max(above, test.p_agree);
      not_above = std::min(not_above, test.p_disagree);
      least_p = std::min(least_p, test.least_p_disagree);
      smallest = std::min(smallest, test.estimate);
    }
    best.estimate = &high == &first.front() ? smallest : std::max(best.estimate, smallest);
    best.p_agree = std::min(best.p_agree, above);
    best.p_disagree = std::max(best.p_disagree, not_above);
    best.least_p_disagree = std::max(best.least_p_disagree, least_p);
  }
  best.p_agree = std::min(1.0, best.p_agree * static_cast<double>(first.size()));
  best.p_disagree = std::min(1.0, best.p_disagree * static_cast<double>(second.size()));
  best.least_p_disagree *= static_cast<double>(second.size());
  if (best.verdict() == Verdict::inconclusive) {
    best.needed = best.estimate > 0 ? needed_to_show(first, second, tails)
                                    : needed_to_refute(first, second, tails);
  }
  return best;
}

ClaimTest all_of(std::span<const ClaimTest> tests) {
  if (tests.empty()) return kNothing;
  ClaimTest all{.estimate = tests.front().estimate,
                .interval = {},
                .p_agree = 0,
                .least_p_disagree = std::numeric_limits<double>::infinity()};
  bool known = true;
  std::size_t needed = 0;
  for (const ClaimTest& test : tests) {
    all.estimate = std::min(all.estimate, test.estimate);
    all.p_agree = std::max(all.p_agree, test.p_agree);
    all.least_p_disagree =
        std::min(all.least_p_disagree, static_cast<double>(tests.size()) * test.least_p_disagree);
    all.p_disagree = std::min(all.p_disagree, static_cast<double>(tests.size()) * test.p_disagree);
    if (test.verdict() != Verdict::inconclusive) continue;
    known = known && test.needed.has_value();
    needed = std::max(needed, test.needed.value_or(0));
  }
  if (all.verdict() == Verdict::inconclusive && known && needed > 0) all.needed = needed;
  return all;
}

std::vector<Verdict> claim_verdicts(std::span<const double> p_agree,
                                    std::span<const double> p_disagree) {
  const std::vector<double> adjusted = holm(p_disagree);
  std::vector<Verdict> verdicts;
  for (std::size_t k = 0; k < p_agree.size(); ++k) {
    verdicts.push_back(
        ClaimTest{.interval = {}, .p_agree = p_agree[k], .p_disagree = adjusted[k]}.verdict());
  }
  return verdicts;
}

}  // namespace attica

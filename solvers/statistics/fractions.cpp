#include "attica/solvers/statistics/fractions.hpp"

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

void validate(const Count& count) {
  require(count.n >= 1 && count.k <= count.n,
          "successes",
          static_cast<double>(count.k),
          "a count no larger than the number of replicates, of which there is one or more");
}

// P(X >= k) or P(X <= k) with half of P(X = k).
double mid_tail(const Count& c, double pi) {
  return binomial_tail(c.k, pi, c.n) - 0.5 * binomial_probability(c.k, pi, c.n);
}
double mid_lower_tail(const Count& c, double pi) {
  return binomial_lower_tail(c.k, pi, c.n) - 0.5 * binomial_probability(c.k, pi, c.n);
}

}  // namespace

Count count_successes(std::span<const double> replicates) {
  Count count{.k = 0, .n = replicates.size()};
  for (double y : replicates) {
    require(y == 0 || y == 1, "success_fraction", y, "0 or 1 for every replicate");
    if (y == 1) ++count.k;
  }
  return count;
}

Interval clopper_pearson(const Count& count, double alpha) {
  validate(count);
  const auto k = static_cast<double>(count.k);
  const auto n = static_cast<double>(count.n);
  return {count.k == 0 ? 0 : beta_lower_quantile(alpha, k, n - k + 1),
          count.k == count.n ? 1 : beta_quantile(alpha, k + 1, n - k)};
}

Interval mid_p_interval(const Count& count, double alpha) {
  // Inside the exact interval; the upper tail grows with pi and the lower tail falls.
  const Interval exact = clopper_pearson(count, alpha);
  auto bisect = [&](auto above) {
    double low = exact.low;
    double high = exact.high;
    while (high - low > 1e-12) {
      const double middle = 0.5 * (low + high);
      (above(middle) ? high : low) = middle;
    }
    return 0.5 * (low + high);
  };
  return {count.k == 0 ? 0 : bisect([&](double pi) { return mid_tail(count, pi) > alpha; }),
          count.k == count.n ? 1 : bisect([&](double pi) {
            return mid_lower_tail(count, pi) < alpha;
          })};
}

double fraction_p_value(const Count& count, double pi) {
  return fraction_disagree_p_value(count, pi, 0);
}

double fraction_mid_p_value(const Count& count, double pi) {
  validate(count);
  return std::min(1.0, 2 * std::min(mid_tail(count, pi), mid_lower_tail(count, pi)));
}

double fraction_agree_p_value(const Count& count, double pi, double margin) {
  validate(count);
  // A bound outside [0, 1] cannot be the truth.
  if (pi + margin < 0 || pi - margin > 1) return 1;  // no probability is so near
  const double not_above = pi + margin > 1 ? 0 : binomial_lower_tail(count.k, pi + margin, count.n);
  const double not_below = pi - margin < 0 ? 0 : binomial_tail(count.k, pi - margin, count.n);
  return std::max(not_above, not_below);
}

double fraction_disagree_p_value(const Count& count, double pi, double margin) {
  validate(count);
  if (pi + margin < 0 || pi - margin > 1) return kSmallestPValue;
  const double nearest =
      std::clamp(count.fraction(), std::max(0.0, pi - margin), std::min(1.0, pi + margin));
  return std::min(1.0,
                  2 * std::min(binomial_tail(count.k, nearest, count.n),
                               binomial_lower_tail(count.k, nearest, count.n)));
}

double fraction_agree_power(std::size_t n, double pi, double margin) {
  double power = 0;
  for (std::size_t k = 0; k <= n; ++k) {
    if (fraction_agree_p_value({k, n}, pi, margin) <= kAgreeLevel) {
      power += binomial_probability(k, pi, n);
    }
  }
  return power;
}

Interval difference_interval(const Count& first, const Count& second, double alpha) {
  const Interval one = clopper_pearson(first, alpha);
  const Interval two = clopper_pearson(second, alpha);
  const double p1 = first.fraction();
  const double p2 = second.fraction();
  return {p1 - p2 - std::hypot(p1 - one.low, two.high - p2),
          p1 - p2 + std::hypot(one.high - p1, p2 - two.low)};
}

Collapse judge_collapse(const std::vector<std::vector<Count>>& counts, double margin) {
  constexpr std::size_t kFewestTrials = 20;
  require(std::isfinite(margin) && margin > 0, "margin", margin, "a finite number > 0");
  const std::size_t bins = counts.empty() ? 0 : counts.front().size();
  for (const auto& row : counts) {
    require(row.size() == bins,
            "bins",
            static_cast<double>(row.size()),
            "as many bins for every size as for the first");
  }
  const auto tests = static_cast<double>(counts.size() * bins);
  const Interval inside{-margin, margin};
  Collapse result;
  for (std::size_t size = 0; size < counts.size(); ++size) {
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const Count& own = counts[size][bin];
      Count others;
      for (std::size_t other = 0; other < counts.size(); ++other) {
        if (other == size) continue;
        others.k += counts[other][bin].k;
        others.n += counts[other][bin].n;
      }
      if (own.n < kFewestTrials || others.n < kFewestTrials) continue;
      CollapseCell cell{
          .size = size, .bin = bin, .interval = difference_interval(own, others, kAgreeLevel)};
      const Interval wide = difference_interval(own, others, 0.5 * kDisagreeLevel / tests);
      if (inside.contains(cell.interval)) cell.verdict = Verdict::agree;
      if (wide.low > margin || wide.high < -margin) cell.verdict = Verdict::disagree;
      result.cells.push_back(cell);
    }
  }
  auto has = [&](Verdict v) {
    return std::ranges::find(result.cells, v, &CollapseCell::verdict) != result.cells.end();
  };
  if (!result.cells.empty()) {
    result.verdict = has(Verdict::disagree)       ? Verdict::disagree
                     : has(Verdict::inconclusive) ? Verdict::inconclusive
                                                  : Verdict::agree;
  }
  return result;
}

}  // namespace attica

#include "attica/theory/gauss/ridge_first_order.hpp"

#include <algorithm>

namespace attica {

SecondOrder second_order(const ExpansionPoint& at) {
  constexpr double kTestBetweenZeros = 0.5;
  constexpr double kTrainBetweenZeros = 1.5;
  constexpr double kSignal = 13.0 / 4;
  const auto pole = [](double where, double end) { return 1 / std::max(1 - where, end); };
  const double omega2 = at.omega * at.omega;
  const double x = 1 - 2 * at.interpolating_share;
  const double x2 = x * x;
  const double legendre = (3 - 30 * x2 + 35 * x2 * x2) / 8;
  const double test = std::max(kTestBetweenZeros, legendre) * pole(x2 * at.omega, 1.0 / 2);
  const double train = at.d2 * at.d2 * (35 * x2 - 9) / 2 * pole(3 * x2 * at.d2 * at.omega, 1.0 / 4);
  const double signal = kSignal * at.signal * pole(x > 0 ? 3 * x2 * at.omega : 0, 1.0 / 4);
  return {.test = omega2 * (at.gamma * test + signal),
          .train = omega2 * std::max(kTrainBetweenZeros * at.gamma, train),
          .overlaps = omega2 * test};
}

}  // namespace attica

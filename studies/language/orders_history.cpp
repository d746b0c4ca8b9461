#include <algorithm>
#include <array>

#include "attica/sim/language/orders.hpp"
#include "attica/studies/language/orders.hpp"

namespace attica::language_orders {

namespace {

constexpr double kSaturated = 0.05;  ///< of the way to the minimum is left
/// Of the training: early, in between, late.
constexpr std::array kSnapshots = {1.0 / 32, 1.0 / 8, 1.0 / 2};

}  // namespace

void History::into(const Material& m, Outcome& outcome) const {
  Curves loss({}, "step", {"test_loss"});
  for (std::size_t k = 1; k < steps.size(); ++k) loss.add(steps[k], {test_loss[k]});
  if (loss.empty()) return;
  loss.into(outcome);
  for (std::size_t n = 0; n < m.clones.size(); ++n) {
    const Point point{{"clone", m.clones[n].name}};
    Curves curves(point, "step", {"clone_loss", "divergence"});
    for (std::size_t k = 1; k < steps.size(); ++k) {
      curves.add(steps[k], {clone_loss[n][k], divergence[n][k]});
    }
    curves.into(outcome);
    add_constant(outcome, "clone_entropy", m.clones[n].entropy, point);
    if (m.clones[n].name == kPairs || m.clones[n].name == kFactored) {
      add_constant(
          outcome, m.clones[n].name + "_loss", mean_loss(m.clones[n].text_laws, m.test), point);
    }
  }
}

void History::times_into(const Material& m,
                         const std::vector<int>& orders,
                         const Laws& end,
                         Outcome& outcome) const {
  const std::size_t chains = orders.size();
  std::vector<double> nearest;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    std::size_t best = 0;
    for (std::size_t n = 1; n < chains; ++n) {
      if (divergence[n][k] < divergence[best][k]) best = n;
    }
    nearest.push_back(orders[best]);
  }
  Curves staircase({}, "step", {"nearest"});
  for (std::size_t k = 1; k < steps.size(); ++k) staircase.add(steps[k], {nearest[k]});
  staircase.into(outcome);
  snapshots_into(orders, outcome);
  for (std::size_t n = 0; n < m.clones.size(); ++n) {
    const Point point{{"clone", m.clones[n].name}};
    const std::vector<double>& x = clone_loss[n];
    const std::vector<double>& d = divergence[n];
    add_constant(outcome, "saturation_time", steps[saturation(x, kSaturated)], point);
    add_constant(outcome, "clone_rise", x.back() - *std::min_element(x.begin(), x.end()), point);
    const auto t = static_cast<std::size_t>(std::min_element(d.begin(), d.end()) - d.begin());
    const double alpha = blur_of_loss(end, m.unigram, m.test, test_loss[t]);
    const Laws blur = blurred(end, m.unigram, alpha);
    const double blur_divergence =
        mean_cross_entropy(m.clones[n].text_laws, blur) - m.clones[n].text_entropy();
    Curves(point, "none", {"nearest_time", "blur_gap"})
        .add(0, {steps[t], blur_divergence - d[t]})
        .into(outcome);
    if (n + 1 >= chains) continue;
    const auto crossed = crossing(d, divergence[n + 1]);
    if (crossed) add_constant(outcome, "crossing_time", steps[*crossed], point);
  }
}

void History::snapshots_into(const std::vector<int>& orders, Outcome& outcome) const {
  for (const double share : kSnapshots) {
    const auto after = std::upper_bound(steps.begin(), steps.end(), share * steps.back());
    const auto k = static_cast<std::size_t>(after - steps.begin()) - 1;
    Curves remaining({{"at_step", steps[k]}}, "order", {"remaining_loss"});
    for (std::size_t n = 0; n < orders.size(); ++n) {
      remaining.add(orders[n], {clone_loss[n][k] - clone_loss[n].back()});
    }
    remaining.into(outcome);
  }
}

}  // namespace attica::language_orders

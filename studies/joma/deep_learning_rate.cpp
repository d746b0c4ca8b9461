/// @file
/// @brief Study deep-learning-rate: how the learning rate shapes the entropy of attention.

#include <fmt/format.h>

#include <algorithm>

#include "attica/solvers/statistics/rank_correlation.hpp"
#include "attica/studies/joma/deep.hpp"

namespace attica::deep_learning_rate {
namespace {

/// Bounce and best loss of every run at a layer, a group for each rate.
struct RunsByRate {
  Point at;  ///< the layer, and what else is swept besides the rate
  std::vector<PairedValues> groups;

  ClaimTest within_rates() const { return rank_correlation_below_zero(groups); }
  ClaimTest over_all() const {
    std::vector<PairedValues> one(1);
    for (const PairedValues& group : groups) {
      one.front().insert(one.front().end(), group.begin(), group.end());
    }
    return rank_correlation_below_zero(one);
  }
};

Point without(Point point, std::string_view coordinate) {
  std::erase_if(point, [&](const auto& entry) { return entry.first == coordinate; });
  return point;
}

std::vector<RunsByRate> runs_by_rate(const Observed& observed) {
  std::vector<RunsByRate> all;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "bounce") continue;
    const Point& point = curve.mean.point;
    const Point at = without(point, "eta");
    auto entry = std::ranges::find_if(all, [&](const RunsByRate& r) { return r.at == at; });
    if (entry == all.end()) entry = all.insert(entry, {.at = at, .groups = {}});
    entry->groups.push_back(
        last_of_both(observed, "bounce", point, "best_loss", without(point, "layer")));
  }
  return all;
}

std::string with_interval(const ClaimTest& test) {
  std::string text = fmt::format("{:.2f}", test.estimate);
  if (test.interval) {
    text += fmt::format(" (90 %: {:.2f} to {:.2f})", test.interval->low, test.interval->high);
  }
  return text;
}

Figure figure(const Configuration& c) {
  // A layer per rate: both panels then give it the same colour.
  Panel entropy = layer_panel("attention_entropy", "{/:Italic H}, layer 1 (nats)");
  entropy.layers.clear();
  Panel loss = loss_panel();
  std::vector<Layer> losses;
  for (const double eta : ascending(c.reals("sweep.eta"))) {
    const std::string label = "{/:Italic η} = {eta}";
    entropy.layers.push_back({.series = "attention_entropy",
                              .label = label,
                              .theory = false,
                              .only = {{"eta", eta}, {"layer", 1.0}}});
    losses.push_back(
        {.series = "test_loss", .label = label, .theory = false, .only = {{"eta", eta}}});
  }
  losses.insert(losses.end(), loss.layers.begin() + 1, loss.layers.end());
  loss.layers = std::move(losses);
  Panel runs{.kind = PanelKind::scatter,
             .x = {.label = "bounce {/:Italic b}, layer 1"},
             .y = {.label = "best test loss (nats)"},
             .layers = entropy.layers,
             .x_name = "bounce"};
  for (Layer& layer : runs.layers) layer.series = "bounce_loss";
  Panel training{.x = {.label = "step {/:Italic n}", .scale = AxisScale::log},
                 .y = {.label = "loss, small network (nats)"},
                 .layers = {},
                 .x_name = "step"};
  const std::vector<double> rates = ascending(c.reals("sim.small_eta"));
  for (const double eta : rates) {
    Layer layer{.series = "loss", .label = rates.size() > 1 ? "{/:Italic η} = {eta}" : "mean"};
    if (rates.size() > 1) layer.only = {{"eta", eta}};
    training.layers.push_back(std::move(layer));
  }
  return deep_figure("deep-learning-rate",
                     {std::move(entropy), std::move(loss), std::move(runs), std::move(training)},
                     "Attention entropy of the first layer and loss on held-out data for several "
                     "learning rates of Adam; means and standard errors over runs. Then the "
                     "rebound of the entropy and the smallest recorded loss, a point for each run. "
                     "Bottom: loss of "
                     "small networks that all begin at one start; lines: training theory.");
}

/// How bounce and best loss go together: over all runs, and within rates.
std::vector<TextFile> files(const Configuration& /*c*/, const Observed& observed) {
  TextFile file{.name = "bounce_correlation.csv",
                .content = "at,runs,rank_correlation,low,high,p_negative,p_positive\n"};
  for (const RunsByRate& runs : runs_by_rate(observed)) {
    for (const auto& [which, test] : {std::pair{"all rates", runs.over_all()},
                                      std::pair{"within rates", runs.within_rates()}}) {
      file.content += fmt::format("\"{}\",{},{:.4f},", describe(runs.at), which, test.estimate);
      if (test.interval) {
        file.content += fmt::format("{:.4f},{:.4f}", test.interval->low, test.interval->high);
      } else {
        file.content += ",";
      }
      file.content += fmt::format(",{:.4f},{:.4f}\n", test.p_agree, test.p_disagree);
    }
  }
  return {file};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  // The best of the rates has learnt.
  double best_eta = 0;
  double best = 0;
  for (const ObservedCurve& curve : observed.simulation) {
    if (curve.mean.name != "best_loss" || curve.mean.y.empty()) continue;
    if (best_eta == 0 || curve.mean.y.front() < best) {
      best = curve.mean.y.front();
      best_eta = std::get<double>(curve.mean.point.front().second);
    }
  }
  std::vector<ClaimResult> all = learning_claims(c, observed, {{"eta", best_eta}});
  ClaimResult& claim = all.front();
  claim.detail += fmt::format("; best learning rate {:g}", best_eta);
  const std::vector<RunsByRate> runs = runs_by_rate(observed);
  if (!runs.empty()) {
    claim.detail +=
        fmt::format("; rank correlation of bounce and best loss at {}: {}, within rates {}",
                    describe(runs.front().at),
                    with_interval(runs.front().over_all()),
                    with_interval(runs.front().within_rates()));
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "deep-learning-rate",
                    .make = make_deep,
                    .figure = figure,
                    .claims = claims,
                    .files = files});
}

}  // namespace attica::deep_learning_rate

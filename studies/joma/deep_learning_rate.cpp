/// @file
/// @brief Study deep-learning-rate: how the learning rate shapes the entropy of attention.

#include <fmt/format.h>

#include "attica/studies/joma/deep.hpp"

namespace attica::deep_learning_rate {
namespace {

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
  return deep_figure("deep-learning-rate",
                     {std::move(entropy), std::move(loss)},
                     "Attention entropy of the first layer and loss on held-out data for several "
                     "learning rates of Adam. Means and standard errors over runs.");
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
  ClaimResult claim = learning_claim(c, observed, {{"eta", best_eta}});
  claim.detail += fmt::format("; best learning rate {:g}", best_eta);
  return {claim};
}

}  // namespace

Study study() {
  Study study = deep_study(
      "deep-learning-rate",
      "How does the learning rate shape the entropy of attention?",
      reals_parameter("sweep.eta", {3e-4, 3e-3, 1e-2}, "learning rates of Adam", kPositive));
  study.presets[1].values.emplace_back("sweep.eta", List{1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 1e-3, 1e-2});
  study.presets[1].values.emplace_back("model.layers", 5);
  study.figure = figure;
  study.claims = claims;
  study.diagnostic = {
      "accuracy", "best_loss", "bounce", "embedding_cosine", "stable_rank", "uniform_entropy"};
  return study;
}

}  // namespace attica::deep_learning_rate

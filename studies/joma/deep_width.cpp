/// @file
/// @brief Study deep-width: what the width of a transformer does to its loss and its attention.

#include <fmt/format.h>

#include "attica/sim/joma/deep.hpp"
#include "attica/studies/joma/deep.hpp"

namespace attica::deep_width {
namespace {

Figure figure(const Configuration&) {
  const auto panel = [](const std::string& series, const std::string& label) {
    return Panel{.x = {.label = "width {/:Italic d}", .scale = AxisScale::log},
                 .y = {.label = label},
                 .layers = {{.series = series, .label = "layer {layer}", .theory = false}},
                 .x_name = {}};
  };
  Panel loss = loss_panel();
  loss.x = {.label = "width {/:Italic d}", .scale = AxisScale::log};
  loss.y.label = "best test loss (nats)";
  loss.layers.front().series = "best_loss";
  Panel entropy = panel("final_entropy", "entropy {/:Italic H}, end (nats)");
  entropy.layers.push_back(
      {.series = "uniform_entropy", .label = "uniform attention", .reference = true});
  return deep_figure("deep-width",
                     {std::move(loss), std::move(entropy), panel("bounce", "bounce {/:Italic b}")},
                     "Transformers of several widths, with as many hidden units: best loss on "
                     "held-out data, entropy of attention at the end, and how much of its fall "
                     "came back. Means and standard errors over runs.");
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const std::vector<std::int64_t> widths = ascending(c.integers("sweep.width"));
  const auto widest = static_cast<double>(widths.back());
  std::vector<ClaimResult> all = learning_claims(c, observed, {{"width", widest}});
  if (widths.size() < 2) return all;
  // A run of every width each; one that ended early is no witness.
  const auto compared = [&](const std::string& series, const Point& point, bool rises) {
    std::vector<bool> holds;
    for (const std::vector<double>& path : observed.paths(series, point)) {
      if (path.size() < widths.size()) continue;
      holds.push_back(rises ? path.back() > path.front() : path.back() < path.front());
    }
    return holds;
  };
  const std::string than =
      fmt::format("at width {} than at width {}", widths.back(), widths.front());
  all.push_back(claim_rate("width-helps",
                           "the best loss is lower " + than,
                           compared("best_loss", {}, false),
                           {},
                           kHalf));
  // Measured with one layer on trees; with two the bounce of wide networks is no larger. It is a
  // share, which says nothing without a fall: 0.021 to 0.084 nats at width 32 in 40 runs, and -0.01
  // to 0.045 where there is nothing to learn (rho = 0).
  constexpr double kFall = 0.02;
  constexpr double kFallsFrom = 32;
  const bool one_layer = observed.curve("bounce", {{"layer", 2.0}}) == nullptr;
  if (one_layer && !c.has("model.file") && widest >= kFallsFrom) {
    std::vector<bool> holds;
    std::string falls = "falls in nats";
    const Point where = {{"layer", 1.0}, {"width", widest}};
    for (const std::vector<double>& path : observed.paths("attention_entropy", where)) {
      const double fall = fall_statistic(path);
      holds.push_back(fall > kFall);
      falls += fmt::format(" {:.3f}", fall);
    }
    all.push_back(claim_rate(
        "falls",
        fmt::format("at width {} attention entropy falls by more than {} nats", widest, kFall),
        holds,
        falls,
        kHalf));
    all.push_back(claim_rate("bounce-grows",
                             "more of the fall of the entropy comes back " + than,
                             compared("bounce", {{"layer", 1.0}}, true),
                             {},
                             kHalf));
  }
  return all;
}

}  // namespace

Study study() {
  Study study = deep_study("deep-width",
                           "What does the width of a transformer do to its loss and its attention?",
                           {real_parameter("sim.eta", 3e-3, "learning rate of Adam", kPositive),
                            integers_parameter("sweep.width",
                                               {2, 3, 4, 8, 16, 32},
                                               "widths, each with as many hidden units",
                                               {.low = 1, .high = 1e6})});
  study.series.push_back({"final_entropy", "H", "attention entropy at the last record, per layer"});
  study.figure = figure;
  study.claims = claims;
  study.diagnostic = {"accuracy",
                      "attention_entropy",
                      "embedding_cosine",
                      "rank_bounce",
                      "stable_rank",
                      "test_loss"};
  study.recipes = {
      {.name = "deep-width-psalms",
       .meaning = "Sixty psalms at two widths: the wider network is better, and starts as the "
                  "theory says.",
       .values = {{"model.file", "psalms.txt"},
                  {"model.tokens", 500},
                  {"sweep.width", List{4, 32}},
                  {"sim.steps", List{0, 100, 200}},
                  {"sim.starts", 256}},
       .expected = Verdict::agree}};
  return study;
}

}  // namespace attica::deep_width

/// @file
/// @brief Study bigrams-transformer: a whole transformer layer on sparse contextual bigrams, with
/// and without LayerNorm, by Adam and by SGD, against the exact entropy of the next token.

#include "attica/sim/bigrams/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "attica/studies/bigrams/model.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/bigrams/estimators.hpp"

namespace attica::bigrams_transformer {
namespace {

/// A way to train, as the coordinate `network`.
struct Variant {
  const char* name;
  const char* label;
  networks::OptimiserKind optimiser;
  bool layer_norm;
};
constexpr std::array<Variant, 4> kVariants = {{
    {"adam", "Adam", networks::OptimiserKind::adam, false},
    {"adam_norm", "Adam, LayerNorm", networks::OptimiserKind::adam, true},
    {"sgd", "SGD", networks::OptimiserKind::sgd, false},
    {"sgd_norm", "SGD, LayerNorm", networks::OptimiserKind::sgd, true},
}};
const std::vector<std::string> kNames = {
    "loss", "excess_log_loss", "support_attention", "sampled_excess"};

constexpr double kAttends = 0.7;  // share of attention that is claimed

Point point_of(const Variant& variant) { return {{"network", variant.name}}; }

class TransformerLayer : public PointwiseExperiment {
 public:
  explicit TransformerLayer(const Configuration& c)
      : setup_(bigram_setup(c, RateCheck::none)),
        eta_adam_(c.real("sim.eta_adam")),
        task_{.width = c.integer<int>("sim.width"),
              .mlp_width = c.integer<int>("sim.mlp_width"),
              .heads = c.integer<int>("sim.heads"),
              .batch = c.integer("sim.batch"),
              .steps = recorded_steps<std::uint64_t>(c),
              .test_sequences = c.integer("sim.test_sequences")} {
    require_sequences(c, "\"none\": networks see sequences");
    require(task_.width % task_.heads == 0,
            "sim.heads",
            task_.heads,
            fmt::format("a divisor of sim.width = {}", task_.width));
    constexpr double kMostCases = 1e7;
    require(enumerated_cases(setup_.model) <= kMostCases,
            "model.sparsity",
            static_cast<double>(setup_.model.sparsity()),
            fmt::format("sum of N^(Q+1) over last tokens <= {:g}", kMostCases));
    diagnostics_ = setup_.diagnostics;
    diagnostics_.emplace_back("bayes_loss", bayes_log_loss(setup_.model));
    diagnostics_.emplace_back("unigram_loss", unigram_log_loss(setup_.model));
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    const double bayes = bayes_log_loss(setup_.model);
    const double unigram = unigram_log_loss(setup_.model);
    add_constant(result, "bayes_loss", bayes);
    add_constant(result, "unigram_loss", unigram);
    add_constant(result, "data_bayes_loss", bayes);
    add_constant(result, "data_unigram_loss", unigram);
    return result;
  }

  std::size_t points() const override { return kVariants.size(); }

  void require_simulable() const override {
    constexpr double kBytes = 4.0 * 12;  // of the stream, its projections and gradients
    const double widest = std::max(task_.width, task_.mlp_width);
    const auto sequences = static_cast<double>(
        std::max(task_.batch, std::min<std::int64_t>(task_.test_sequences, kBigramTestPiece)));
    require(kBytes * widest * (setup_.context() + 1) * sequences <= kBigramMemory,
            "model.context",
            setup_.context(),
            fmt::format("activations of at most {:.0f} MB", kBigramMemory / 1e6));
  }

 protected:
  double flops(std::size_t) const override {
    const auto rows = static_cast<double>(task_.batch) * (setup_.context() + 1);
    const double weights = 4.0 * task_.width * task_.width;
    return 6 * rows * weights * static_cast<double>(task_.steps.back());
  }

  Outcome run(const Replicate& replicate) const override {
    const Variant& variant = kVariants[replicate.point()];
    const bool adam = variant.optimiser == networks::OptimiserKind::adam;
    BigramTransformerTask task = task_;
    task.layer_norm = variant.layer_norm;
    task.optimiser = {.kind = variant.optimiser,
                      .learning_rate = adam ? eta_adam_ : setup_.rates.eta_v};
    Curves curves(point_of(variant), "step", kNames);
    double bayes = 0;
    double unigram = 0;
    Outcome outcome;
    const networks::TrainingResult end = train_bigram_transformer(
        setup_.model,
        task,
        replicate.address(),
        replicate.state_file(),
        replicate.piece.stop,
        [&](const BigramTransformerRecord& r) {
          curves.add(static_cast<double>(r.step),
                     {r.loss, r.excess_loss, r.overlap, r.loss - r.bayes_loss});
          bayes = r.bayes_loss;
          unigram = r.unigram_loss;
        });
    curves.into(outcome);
    // Of test sequences alone: one of the four points tells it.
    if (replicate.point() == 0) {
      add_constant(outcome, "data_bayes_loss", bayes);
      add_constant(outcome, "data_unigram_loss", unigram);
    }
    mark_end(outcome, end);
    return outcome;
  }

 private:
  BigramSetup setup_;
  double eta_adam_;
  BigramTransformerTask task_;
};

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  std::vector<ClaimResult> all;
  const double floor = observed.predicted("bayes_loss").value_or(0);
  const double frequencies = observed.predicted("unigram_loss").value_or(0);
  const double near = c.real("sim.near");
  for (const Variant& v : kVariants) {
    const auto claim = [&](const char* what,
                           const std::string& statement,
                           const char* series,
                           const std::function<bool(double)>& holds) {
      all.push_back(claim_rate(fmt::format("{}-{}", what, v.name),
                               fmt::format("{} {}", v.label, statement),
                               by_replicate(observed.last(series, point_of(v))).where(holds),
                               {},
                               kHalf));
    };
    claim("above-floor",
          "ends above the cross-entropy of the true law on the same tokens",
          "sampled_excess",
          [](double excess) { return excess > 0; });
    claim("near-floor",
          fmt::format("ends within {:g} of what there is to learn above the entropy", near),
          "excess_log_loss",
          [&](double excess) { return excess < near * (frequencies - floor); });
    claim("support",
          fmt::format("ends with {:g} of a head's attention at the true positions", kAttends),
          "support_attention",
          [](double share) { return share > kAttends; });
  }
  return all;
}

}  // namespace

Study study() {
  return described(
      {.name = "bigrams-transformer", .make = make<TransformerLayer>, .claims = claims});
}

}  // namespace attica::bigrams_transformer

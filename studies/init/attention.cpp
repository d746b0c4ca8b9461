/// @file
/// @brief Study init-attention: how concentrated softmax attention with Gaussian weights is, at the
/// context length and head dimension at hand, against layers that are drawn.

#include "attica/sim/init/attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attica/core/parallel.hpp"
#include "attica/studies/kit.hpp"
#include "attica/theory/init/key_dimension.hpp"

namespace attica::init_attention {
namespace {

const std::vector<std::string> kAttention = {
    "participation", "shared", "entropy", "largest", "jacobian"};
const std::vector<std::string> kOutput = {"output_norm", "output_overlap"};

class Attention : public PointwiseExperiment {
 public:
  explicit Attention(Configuration& c)
      : betas_(ascending(c.reals("sweep.beta"))),
        contexts_(ascending(c.integers("sweep.context"))),
        layer_{.tokens = 0,
               .queries = c.flag("model.causal") ? 0 : c.integer("sim.queries"),
               .key_dimension = c.integer("model.key_dimension"),
               .dimension = c.integer("model.dimension"),
               .cosine = c.real("model.cosine"),
               .random_tokens = c.text("model.tokens") == "random"},
        layers_(c.integer<std::uint64_t>("sim.layers")),
        causal_(c.flag("model.causal")),
        limit_(c.text("theory.level") == "limit") {
    if (layer_.random_tokens) {
      // Below, the sphere's marginal is cut off where its tail still counts.
      require(layer_.dimension >= 32,
              "model.dimension",
              static_cast<double>(layer_.dimension),
              "at least 32 with model.tokens = \"random\"");
      if (causal_) {
        throw invalid_parameter("model.causal", "true", "false with model.tokens = \"random\"");
      }
    }
    if (causal_ && limit_) {
      throw invalid_parameter("theory.level", "limit", "\"finite\" with model.causal = true");
    }
  }

  void require_simulable() const override {
    constexpr std::int64_t kMost = 8192;
    require(
        contexts_.back() <= kMost,
        "sweep.context",
        static_cast<double>(contexts_.back()),
        "at most 8192 in a simulation, which holds T^2 attention weights; `attica theory` has no "
        "such bound");
    PointwiseExperiment::require_simulable();
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    const std::vector<double> betas = line_between(betas_, AxisScale::linear, grid, kParts);
    for (const std::int64_t context : contexts_) {
      const auto t = static_cast<double>(context);
      Curves attention(at(context), "beta", kAttention);
      Curves output(at(context), "beta", kOutput);
      const auto all = parallel_map(betas, [&](double beta) { return moments(t, beta); });
      for (std::size_t k = 0; k < betas.size(); ++k) {
        attention.add(betas[k], all[k].attention);
        const auto of_values = [&](const PredictedValue& v) {
          const double p = layer_.cosine;
          return PredictedValue(p + (1 - p) * v.y, (1 - p) * v.finite_size);
        };
        if (layer_.dimension > 0) {
          output.add(betas[k], {of_values(all[k].output), of_values(all[k].attention[1])});
        }
      }
      attention.into(result);
      if (!output.empty()) output.into(result);
    }
    Curves limit({}, "beta", {"limit_participation"});
    for (const double beta : betas) limit.add(beta, {1 - limit_index(beta, layer_.cosine)});
    limit.into(result);
    return result;
  }

  std::size_t points() const override { return contexts_.size(); }

 protected:
  double flops(std::size_t point) const override {
    const auto t = static_cast<double>(contexts_[point]);
    const auto dimension = static_cast<double>(layer_.dimension);
    const auto betas = static_cast<double>(betas_.size());
    const auto queries = static_cast<double>(layer_.queries);
    const double rows = layer_.queries > 0 ? std::min(t, queries) : t;
    const auto width = static_cast<double>(layer_.key_dimension);
    // A random number is about twenty operations.
    const double layer = 2 * t * rows * (width + betas * (dimension + 20)) + 20 * t * width +
                         2 * t * dimension * dimension;
    return static_cast<double>(layers_) * layer;
  }

  /// Means over some layers. The logits of a layer at all β are multiples of each other.
  Outcome run(const Replicate& replicate) const override {
    AttentionLayer layer = layer_;
    layer.tokens = contexts_[replicate.point()];
    const double scale = std::sqrt(std::log(static_cast<double>(layer.tokens)));
    constexpr Eigen::Index kMeasures = 7;  // those of kAttention, then those of kOutput
    const auto count = static_cast<Eigen::Index>(betas_.size());
    Eigen::Array<double, kMeasures, Eigen::Dynamic> sums = decltype(sums)::Zero(kMeasures, count);
    Eigen::MatrixXd weights;
    for (std::uint64_t number = 0; number < layers_; ++number) {
      StreamAddress address = replicate.address(StreamId::initialisation);
      address.step = number;
      RandomStream stream(address);
      const LayerDraw draw = draw_layer(layer, stream);
      for (Eigen::Index k = 0; k < count; ++k) {
        const double beta = betas_[static_cast<std::size_t>(k)];
        const double entropy = softmax_columns(draw.logits, beta * scale, causal_, weights);
        const AttentionMeasures m = measure_attention(weights, draw.values);
        const Eigen::Array<double, kMeasures, 1> measures{m.participation,
                                                          m.shared,
                                                          entropy,
                                                          m.largest,
                                                          m.jacobian,
                                                          m.output_norm,
                                                          m.output_overlap};
        sums.col(k) += measures;
      }
    }
    sums /= static_cast<double>(layers_);
    Curves attention(at(layer.tokens), "beta", kAttention);
    Curves output(at(layer.tokens), "beta", kOutput);
    for (Eigen::Index k = 0; k < count; ++k) {
      const double beta = betas_[static_cast<std::size_t>(k)];
      const std::vector<double> mean(sums.col(k).begin(), sums.col(k).end());
      const auto end = mean.begin() + static_cast<std::ptrdiff_t>(kAttention.size());
      attention.add(beta, std::vector<double>(mean.begin(), end));
      if (layer_.dimension > 0) output.add(beta, std::vector<double>(end, mean.end()));
    }
    Outcome outcome;
    attention.into(outcome);
    if (!output.empty()) output.into(outcome);
    return outcome;
  }

 private:
  static constexpr int kParts = 4;

  /// Adds a layer's share of the mean.
  void add(std::vector<double>& mean, std::initializer_list<double> values) const {
    std::ranges::transform(mean, values, mean.begin(), [this](double sum, double value) {
      return sum + value / static_cast<double>(layers_);
    });
  }

  static Point at(std::int64_t context) { return {{"context", static_cast<double>(context)}}; }

  struct Moments {
    std::vector<PredictedValue> attention;  ///< in the order of kAttention
    PredictedValue output = 0;              ///< squared norm of values that are independent
  };

  Moments moments(double t, double beta) const {
    if (limit_) {
      const LimitRow row = limit_row(t, beta, layer_.cosine);
      return {.attention = {row.participation, 0, row.entropy, row.largest, row.jacobian},
              .output = row.participation};
    }
    FiniteHead head{.rows = {.keys = t, .causal = causal_, .sphere = 0},
                    .variance = beta * beta * std::log(t),
                    .cosine = layer_.cosine,
                    .key_dimension = static_cast<double>(layer_.key_dimension)};
    const double shared = finite_pair(head).shared;
    // Of random tokens: exact at overlap 0 for single rows.
    const bool sphere = layer_.random_tokens && layer_.cosine == 0;
    head.random_tokens = sphere;
    if (sphere) head.rows.sphere = static_cast<double>(layer_.dimension);
    const RowMoments row = finite_row(head);
    const auto predicted = [&](double value, double order, bool exact) {
      const auto d = static_cast<double>(layer_.dimension);
      return PredictedValue(value, layer_.random_tokens && !exact ? order / d * value : 0);
    };
    // Random tokens that a row attends to are alike: they overlap by z_j z_l / d along W_Kᵀ q.
    const double alike =
        layer_.random_tokens ? row.aligned / static_cast<double>(layer_.dimension) : 0;
    return {.attention = {predicted(row.participation, 8, sphere),
                          predicted(shared, 10, false),
                          predicted(row.entropy, 10, sphere),
                          predicted(row.largest, 10, sphere),
                          predicted(row.jacobian(), 10, sphere)},
            .output = predicted(row.participation + alike, 10, sphere)};
  }

  std::vector<double> betas_;
  std::vector<std::int64_t> contexts_;
  AttentionLayer layer_;
  std::uint64_t layers_;  ///< of a replicate
  bool causal_;
  bool limit_;
};

}  // namespace

Study study() { return described({.name = "init-attention", .make = make<Attention>}); }

}  // namespace attica::init_attention

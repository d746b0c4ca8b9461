#include "attica/sim/init/attention.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace attica;
using Catch::WithinAbs;
using Catch::WithinRel;

TEST_CASE("measure_attention: sums over rows and pairs, by hand", "[sim][init]") {
  Eigen::MatrixXd attention(2, 2);
  attention << 0.5, 0.25, 0.5, 0.75;
  Eigen::MatrixXd values(1, 2);
  values << 2, -2;
  const AttentionMeasures m = measure_attention(attention, values);
  CHECK_THAT(m.participation, WithinRel((0.5 + 0.625) / 2, 1e-14));
  CHECK_THAT(m.shared, WithinRel(0.5, 1e-14));
  CHECK_THAT(m.largest, WithinRel(0.625, 1e-14));
  // J = a(1-a) (1 -1; -1 1) of two keys: 4 a²(1-a)².
  CHECK_THAT(m.jacobian, WithinRel((4 * 0.0625 + 4 * 0.1875 * 0.1875) / 2, 1e-14));
  CHECK_THAT(m.output_norm, WithinRel((0.0 + 1.0) / 2, 1e-14));
  CHECK_THAT(m.output_overlap, WithinAbs(0, 1e-14));
}

TEST_CASE("softmax_columns: rows sum to 1, causal ones see no later key", "[sim][init]") {
  RandomStream stream({.seed = 1});
  const LayerDraw draw = draw_layer({.tokens = 7, .key_dimension = 3, .cosine = 0.2}, stream);
  CHECK(draw.values.size() == 0);
  CHECK(draw.logits.cols() == 7);
  RandomStream again({.seed = 1});
  const LayerDraw few = draw_layer({.tokens = 7, .queries = 2, .key_dimension = 3}, again);
  CHECK(few.logits.rows() == 7);
  CHECK(few.logits.cols() == 2);
  Eigen::MatrixXd attention;
  for (const bool causal : {false, true}) {
    softmax_columns(draw.logits, 900, causal, attention);
    CHECK((attention.colwise().sum().array() - 1).abs().maxCoeff() < 1e-14);
    CHECK((attention(6, 0) == 0 || !causal));
    if (causal) CHECK(attention(0, 0) == 1);
    const double entropy = softmax_columns(draw.logits, 2, causal, attention);
    const auto a = attention.array();
    CHECK_THAT(entropy, WithinRel(-(a > 0).select(a * a.log(), 0).sum() / 7, 1e-13));
  }
}

TEST_CASE("draw_tokens: length and overlap of random tokens", "[sim][init]") {
  const AttentionLayer layer{
      .tokens = 40, .key_dimension = 4, .dimension = 4000, .cosine = 0.3, .random_tokens = true};
  RandomStream stream({.seed = 2});
  const Eigen::MatrixXd x = layer.draw_tokens(stream);
  const Eigen::MatrixXd gram = x.transpose() * x / 4000;
  CHECK((gram.diagonal().array() - 1).abs().maxCoeff() < 1e-12);
  CHECK_THAT((gram.sum() - 40) / (40 * 39), WithinAbs(0.3, 0.01));
}

// Shapes, batches and parameters: what is refused, and how parts are named and initialised.
// Dropout.

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/networks/attention.hpp"
#include "attica/sim/networks/layers.hpp"
#include "attica/sim/networks/transformer.hpp"
#include "refused.hpp"

using namespace attica;
using namespace attica::networks;
using attica::testing::refused;

namespace networks_shape_test {

const TransformerShape kGood{.vocabulary = 5, .outputs = 4, .length = 6, .width = 8, .layers = 1};

template <class F>
std::string named_after(F edit) {
  TransformerShape shape = kGood;
  edit(shape);
  return refused([&] { validate(shape); });
}

TEST_CASE("TransformerShape: fields out of their domain are named", "[sim][networks]") {
  CHECK(named_after([](auto&) {}) == "accepted");
  CHECK(named_after([](auto& s) { s.vocabulary = 0; }) == "vocabulary");
  CHECK(named_after([](auto& s) { s.outputs = 0; }) == "outputs");
  CHECK(named_after([](auto& s) { s.length = 0; }) == "length");
  CHECK(named_after([](auto& s) { s.width = -1; }) == "width");
  CHECK(named_after([](auto& s) { s.width = 1000000000; }) == "width");
  CHECK(named_after([](auto& s) { s.layers = 0; }) == "layers");
  CHECK(named_after([](auto& s) { s.heads = 0; }) == "heads");
  CHECK(named_after([](auto& s) { s.heads = 3; }) == "heads");
  CHECK(named_after([](auto& s) {
          s.heads = 2;
          s.key_width = 3;
        }) == "heads");
  CHECK(named_after([](auto& s) { s.mlp_width = -1; }) == "mlp_width");
  CHECK(named_after([](auto& s) { s.embedding_scale = std::nan(""); }) == "embedding_scale");
  CHECK(named_after([](auto& s) {
          s.embedding = TokenEmbedding::one_hot;
          s.width = 4;
        }) == "width");
  CHECK(named_after([](auto& s) { s.attention_scale = INFINITY; }) == "attention_scale");
  CHECK(named_after([](auto& s) { s.norm_epsilon = 0; }) == "norm_epsilon");
  CHECK(named_after([](auto& s) { s.dropout = 1; }) == "dropout");
  CHECK(named_after([](auto& s) { s.decoder = Decoder::tied; }) == "outputs");
}

TEST_CASE("Batch: fields that do not fit the shape are named", "[sim][networks]") {
  const Batch good{
      .tokens = {0, 1, 2, 3}, .offsets = {0, 1, 4}, .sites = {0, 3}, .targets = {1, 2}};
  const auto named_batch = [&](auto edit) {
    Batch batch = good;
    edit(batch);
    return refused([&] { validate(batch, kGood); });
  };
  CHECK(named_batch([](auto&) {}) == "accepted");
  CHECK(named_batch([](auto& b) { b.offsets = {}; }) == "offsets");
  CHECK(named_batch([](auto& b) { b.offsets = {0, 4, 4}; }) == "offsets");
  CHECK(named_batch([](auto& b) { b.offsets = {0, 3}; }) == "offsets");
  CHECK(named_batch([](auto& b) { b.tokens[1] = 5; }) == "tokens");
  CHECK(named_batch([](auto& b) { b.sites = {3, 0}; }) == "sites");
  CHECK(named_batch([](auto& b) { b.sites = {0, 4}; }) == "sites");
  CHECK(named_batch([](auto& b) { b.targets = {1}; }) == "targets");
  CHECK(named_batch([](auto& b) { b.targets[0] = 4; }) == "targets");
  CHECK(named_batch([](auto& b) { b.weights = {1}; }) == "weights");
  Batch odd{.tokens = {0, 1, 2}};
  CHECK(refused([&] { set_equal_lengths(odd, 2); }) == "length");
}

TEST_CASE("Parameters: patterns, starting values, tables of the shape", "[sim][networks]") {
  TransformerShape shape = kGood;
  shape.layers = 2;
  shape.mlp_width = 200;
  shape.width = 100;
  shape.normalisation = Normalisation::post;
  shape.embedding = TokenEmbedding::one_hot;
  shape.position = PositionCode::sinusoidal;
  Transformer<double> net(shape);
  auto& p = net.parameters();
  const StreamAddress address{.seed = 4, .id = StreamId::initialisation};

  CHECK(p.block("W_E").frozen);
  CHECK(p.block("W_P").frozen);
  CHECK(p.matrix("W_E").map().leftCols(5).isIdentity());
  CHECK(p.matrix("W_E").map().rightCols(95).isZero());
  CHECK(p.matrix("W_P").row(3)[0] == Approx(std::sin(3.0)));
  CHECK(p.matrix("W_P").row(3)[1] == Approx(std::cos(3.0)));
  CHECK(p.matrix("W_P").row(5)[50] == Approx(std::sin(5.0 / 100)));  // 10000^(-50/100) = 1/100
  CHECK((p.matrix("layer1.gain_2").map().array() == 1).all());

  p.initialise("W_1", {.law = InitialValues::Law::uniform, .scale = 2, .per_input = true}, address);
  const auto first = p.matrix("layer0.W_1").map(), second = p.matrix("layer1.W_1").map();
  CHECK(first.cwiseAbs().maxCoeff() < 0.2);
  CHECK(first.cwiseAbs().maxCoeff() > 0.19);
  CHECK(first != second);
  CHECK(p.matrix("layer0.W_2").map().isZero());
  p.initialise("layer0", {.law = InitialValues::Law::normal, .scale = 0.5}, address);
  // 20 000 draws: the variance is known to 1 %, 3.5 standard errors.
  CHECK(first.squaredNorm() / static_cast<double>(first.size()) == Approx(0.25).epsilon(0.035));
  p.initialise("layer0.W_V", {.law = InitialValues::Law::identity, .scale = 3}, address);
  CHECK((p.matrix("layer0.W_V").map() / 3).isIdentity());
  p.initialise("b_1", {.law = InitialValues::Law::constant, .scale = 0.1}, address);
  CHECK((p.matrix("layer1.b_1").map().array() == 0.1).all());
  p.initialise("W_Q", {.law = InitialValues::Law::positive, .scale = 2}, address);
  CHECK(p.matrix("layer1.W_Q").map().minCoeff() > 0);
  CHECK(refused([&] { p.initialise("W_X", {}, address); }) == "block");
  CHECK(refused([&] { (void)p.block("W_1"); }) == "block");
}

TEST_CASE("dropout: rate, scale, addressed by the step", "[sim][networks]") {
  constexpr double probability = 0.3;
  RowMatrix<double> keep(200, 101);
  const MatrixView<double> view{keep.data(), keep.rows(), keep.cols(), keep.cols()};
  RandomStream stream({.seed = 1, .id = StreamId::dropout});
  draw_dropout(probability, stream, view);
  const double kept = (keep.array() > 0).cast<double>().mean();
  // 20 200 draws: standard error 0.0032.
  CHECK(kept == Approx(1 - probability).margin(0.012));
  CHECK(((keep.array() == 0) || (keep.array() == 1 / (1 - probability))).all());

  RowMatrix<double> x = RowMatrix<double>::Ones(keep.rows(), keep.cols());
  apply_dropout<double>({keep.data(), keep.rows(), keep.cols(), keep.cols()},
                        {x.data(), x.rows(), x.cols(), x.cols()});
  CHECK(x == keep);

  TransformerShape shape = kGood;
  shape.dropout = probability;
  Transformer<double> net(shape);
  net.parameters().initialise("*", {.scale = 0.5}, {.id = StreamId::initialisation});
  const Batch batch{.tokens = {0, 1, 2, 3}, .offsets = {0, 4}, .sites = {1}, .targets = {2}};
  const auto at = [&](std::uint64_t step) {
    return net.loss_and_gradient(batch, {.id = StreamId::dropout, .step = step});
  };
  const double first = at(1);
  CHECK(first != at(2));
  CHECK(first == at(1));
}

TEST_CASE("softmax_weights_forward: scores beyond the range of exp, keys that are not seen",
          "[sim][networks]") {
  const Batch batch{.tokens = {0, 0, 0}, .offsets = {0, 3}};
  const std::vector<std::int32_t> rows{0, 1, 2};
  AttentionLayout layout;
  layout.set<float>(batch, rows, 1);
  RowMatrix<float> q(3, 1), k(3, 1);
  q << 1e4F, 1, -1e4F;
  k << 1, 0, -1;
  const auto view = [](auto& m) {
    return MatrixView<const float>{m.data(), m.rows(), m.cols(), m.cols()};
  };
  std::vector<float> weights(static_cast<std::size_t>(layout.weight_count));
  softmax_weights_forward<float>(view(q), view(k), 1, {}, layout, weights.data());
  const auto a = layout.weights(weights.data(), 0, 0).map();
  CHECK(a(0, 0) == Approx(1));
  CHECK(a(2, 2) == Approx(1));
  CHECK(a(1, 0) / a(1, 1) == Approx(std::exp(1.0)).epsilon(1e-5));

  RowMatrix<float> seen = RowMatrix<float>::Zero(3, padded<float>(3));
  seen(0, 1) = seen(1, 1) = seen(2, 0) = seen(2, 2) = 1;
  softmax_weights_forward<float>(view(q), view(k), 1, view(seen), layout, weights.data());
  CHECK(a(0, 1) == 1);
  CHECK(a(1, 1) == 1);
  CHECK(a(1, 0) == 0);
  CHECK(a(2, 1) == 0);
}

}  // namespace networks_shape_test

// Transformers against values computed by independent implementations (tests/reference).

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "attica/sim/networks/transformer.hpp"
#include "reference_values.hpp"

using namespace attica::networks;
using namespace attica::testing;
using attica::testing::Reference;

namespace networks_reference_test {

constexpr double kTolerance =
    1e-10;  // the references hold 16 digits; gradients sum some hundred terms of order one

double largest_difference(MatrixView<const double> a, const RowMatrix<double>& b) {
  REQUIRE(a.rows == b.rows());
  REQUIRE(a.columns == b.cols());
  return (a.map() - b).cwiseAbs().maxCoeff();
}

TEST_CASE("Transformer: topic model's one- and two-layer networks match the reference",
          "[sim][networks]") {
  const Reference entries = reference_values("topics")["transformer"];
  for (const Reference entry : entries) {
    const Reference doc = entry["doc"];
    const auto shapes = entry["shapes"];
    const int words = shapes["WE"][1];
    const bool deep = shapes.contains("WK0");
    TransformerShape shape{.vocabulary = words,
                           .outputs = words,
                           .length = static_cast<int>(doc["x"].size()),
                           .width = shapes["WE"][0],
                           .layers = deep ? 2 : 1,
                           .heads = deep ? 2 : 1,
                           .key_width = deep ? 0 : shapes["WK"][0].get<int>(),
                           .position = PositionCode::none,
                           .output_projection = false,
                           .residual = deep,
                           .loss = entry["loss"] == "se" ? Loss::squared : Loss::cross_entropy};
    Transformer<double> net(shape);
    // Reference names: WE (d x D there, rows are tokens here), WK0 = layer0.W_K and so on.
    const auto here = [&](const std::string& name) -> std::string {
      if (name == "WE") return "W_E";
      if (name == "Wdec") return "W_dec";
      if (name == "bdec") return "b_dec";
      const std::string layer = deep ? name.substr(2) : "0";
      return "layer" + layer + ".W_" + name[1];
    };
    int k = 0;
    for (const std::string name : entry["param_order"]) {
      const auto m = net.parameters().matrix(here(name));
      for (Index i = 0; i < m.rows; ++i)
        for (Index j = 0; j < m.columns; ++j) {
          const Index row = name == "WE" ? j : i, column = name == "WE" ? i : j;
          m.row(i)[j] = 0.5 * std::sin(0.7 * k + 1.3 * static_cast<double>(row) +
                                       2.1 * static_cast<double>(column));
        }
      ++k;
    }
    Batch batch{.tokens = doc["xt"].get<std::vector<std::int32_t>>(),
                .sites = doc["sel"].get<std::vector<std::int32_t>>()};
    set_equal_lengths(batch, shape.length);
    for (const int site : batch.sites)
      batch.targets.push_back(doc["x"][static_cast<std::size_t>(site)]);

    CHECK(net.loss_and_gradient(batch) == Approx(entry["value"].get<double>()).epsilon(kTolerance));
    CHECK(net.loss(batch) == Approx(entry["value"].get<double>()).epsilon(kTolerance));
    for (const auto& [name, values] : entry["grad"].items()) {
      RowMatrix<double> expected = matrix(values);
      if (name == "WE") expected = expected.transpose().eval();
      INFO(name);
      CHECK(largest_difference(net.gradient(here(name)), expected) < kTolerance);
    }
  }
}

TEST_CASE("Transformer: post-norm causal networks of the hierarchy study match the reference",
          "[sim][networks]") {
  const Reference all = reference_values("joma")["transformer_metrics"]["transformer"];
  for (const Reference entry : all["cases"]) {
    const Reference dims = all["dims"];
    TransformerShape shape{
        .vocabulary = dims["M"],
        .outputs = dims["classes"],
        .length = dims["L"],
        .width = dims["d"],
        .layers = dims["layers"],
        .heads = entry["heads"],
        .mlp_width = dims["d_hidden"],
        .position = PositionCode::none,
        .mask = AttentionMask::causal,
        .output_projection = false,
        .normalisation = Normalisation::post,
        .activation = entry["phi"] == "relu" ? Activation::relu : Activation::silu};
    Transformer<double> net(shape);
    const auto here = [&](const std::string& name) -> std::string {
      if (name == "E") return "W_E";
      if (name == "F") return "W_dec";
      if (name == "bF") return "b_dec";
      static const std::map<std::string, std::string> parts = {{"Wq", "W_Q"},
                                                               {"Wk", "W_K"},
                                                               {"Wv", "W_V"},
                                                               {"W1", "W_1"},
                                                               {"b1", "b_1"},
                                                               {"W2", "W_2"},
                                                               {"b2", "b_2"},
                                                               {"ga", "gain_1"},
                                                               {"ha", "bias_1"},
                                                               {"gb", "gain_2"},
                                                               {"hb", "bias_2"}};
      return "layer" + name.substr(2) + "." + parts.at(name.substr(0, 2));
    };
    for (const auto& [name, values] : all["params"].items())
      net.parameters().matrix(here(name)).map() = matrix(values);
    Batch batch;
    for (const Reference sequence : all["tokens"])
      for (const int token : sequence) batch.tokens.push_back(token);
    set_equal_lengths(batch, shape.length);
    batch.targets = all["labels"].get<std::vector<std::int32_t>>();
    for (std::size_t b = 1; b < batch.offsets.size(); ++b)
      batch.sites.push_back(batch.offsets[b] - 1);

    CHECK(net.loss_and_gradient(batch) == Approx(entry["loss"].get<double>()).epsilon(kTolerance));
    for (const auto& [name, values] : entry["grad"].items()) {
      INFO(name);
      CHECK(largest_difference(net.gradient(here(name)), matrix(values)) < kTolerance);
    }
    CHECK(largest_difference(net.forward(batch), matrix(entry["logits"])) < kTolerance);

    // With a query at every position: attention entropy of each layer, and hidden units pooled over
    // positions.
    Batch full = batch;
    set_all_sites(full);
    full.targets.assign(full.sites.size(), 0);
    net.forward(full);
    for (int layer = 0; layer < shape.layers; ++layer) {
      const auto l = static_cast<std::size_t>(layer);
      double entropy = 0;
      for (std::size_t b = 0; b < batch.sequences(); ++b) {
        for (int h = 0; h < shape.heads; ++h) {
          const auto a = net.attention(layer, h, b).map();
          CHECK((a.rowwise().sum().array() - 1).abs().maxCoeff() < kTolerance);
          entropy -= (a.array() > 0).select(a.array() * a.array().log(), 0).sum();
        }
        const auto rows = net.hidden(layer).block(batch.offsets[b], shape.length).map();
        const RowMatrix<double> pooled = matrix(entry["hidden_maxpool"][l][b]);
        CHECK((rows.colwise().maxCoeff().transpose() - pooled).cwiseAbs().maxCoeff() < kTolerance);
      }
      entropy /= static_cast<double>(batch.tokens.size()) * shape.heads;
      CHECK(entropy ==
            Approx(entry["mean_attention_entropy"][l].get<double>()).epsilon(kTolerance));
    }
  }
}

TEST_CASE("Transformer: factored attention on one-hot colours matches the Potts reference",
          "[sim][networks]") {
  // logits_i = sum_{j != i} A_ij V e_{s_j}, the decoder being the frozen one-hot table. The
  // diagonal of A is 0 here, and has a gradient that the reference has not.
  const Reference potts = reference_values("potts")["potts"];
  const int sites = potts["L"], colours = potts["C"];
  const TransformerShape shape{.vocabulary = colours,
                               .outputs = colours,
                               .length = sites,
                               .width = colours,
                               .embedding = TokenEmbedding::one_hot,
                               .position = PositionCode::none,
                               .attention = AttentionKind::factored,
                               .output_projection = false,
                               .residual = false,
                               .decoder = Decoder::tied,
                               .decoder_bias = false};
  Transformer<double> net(shape);
  const auto a = net.parameters().matrix("layer0.A"), v = net.parameters().matrix("layer0.W_V");
  for (Index i = 0; i < sites; ++i)
    for (Index j = 0; j < sites; ++j)
      a.row(i)[j] = i == j ? 0 : 0.3 * std::sin(1.0 + static_cast<double>(i + 2 * j));
  for (Index i = 0; i < colours; ++i)
    for (Index j = 0; j < colours; ++j)
      v.row(i)[j] = 0.3 * std::cos(1.0 + static_cast<double>(2 * i + j));
  Batch batch;
  for (const Reference sequence : potts["data"])
    for (const int colour : sequence) batch.tokens.push_back(colour);
  set_equal_lengths(batch, sites);
  set_all_sites(batch);
  batch.targets = batch.tokens;
  CHECK(net.loss_and_gradient(batch) ==
        Approx(potts["loss_data"].get<double>()).epsilon(kTolerance));
  auto da = net.gradient("layer0.A");
  for (Index i = 0; i < sites; ++i) da.row(i)[i] = 0;
  CHECK(largest_difference(da, matrix(potts["dA_data"])) < kTolerance);
  CHECK(largest_difference(net.gradient("layer0.W_V"), matrix(potts["dV_data"])) < kTolerance);
}

}  // namespace networks_reference_test

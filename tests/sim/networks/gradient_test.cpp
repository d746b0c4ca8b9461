// The gradient of every combination of options in a covering table, by central differences.

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include "attica/core/random.hpp"
#include "attica/sim/networks/transformer.hpp"
#include "finite_differences.hpp"

using namespace attica;
using namespace attica::networks;

namespace networks_gradient_test {

// Number of values of every option, in the order of `shape_of`.
enum Option {
  embedding,
  position,
  attention,
  mask,
  scale,
  heads,
  key_width,
  projection,
  bias,
  residual,
  norm,
  mlp,
  decoder,
  decoder_bias,
  dropout,
  loss,
  layers,
  sites,
  options
};
constexpr std::array<int, options> kLevels = {2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 3, 5, 2, 2, 2, 2, 2, 2};
using Choice = std::array<int, options>;

/// Choices such that any two options meet in all pairs of their values: greedily, each new row
/// takes for every option in turn the value that meets the most pairs not yet seen.
std::vector<Choice> covering_table() {
  std::set<std::array<int, 4>> open;
  for (int a = 0; a < options; ++a)
    for (int b = 0; b < a; ++b)
      for (int i = 0; i < kLevels[static_cast<std::size_t>(a)]; ++i)
        for (int j = 0; j < kLevels[static_cast<std::size_t>(b)]; ++j) open.insert({a, i, b, j});
  std::vector<Choice> table;
  while (!open.empty()) {
    Choice row;
    row.fill(-1);
    const auto first = *open.begin();  // at least one new pair in every row
    row[static_cast<std::size_t>(first[0])] = first[1];
    row[static_cast<std::size_t>(first[2])] = first[3];
    for (int o = 0; o < options; ++o) {
      int& value = row[static_cast<std::size_t>(o)];
      if (value >= 0) continue;
      int best = -1;
      for (int v = 0; v < kLevels[static_cast<std::size_t>(o)]; ++v) {
        int gain = 0;
        for (int p = 0; p < options; ++p) {
          const int other = row[static_cast<std::size_t>(p)];
          if (p != o && other >= 0) {
            gain += static_cast<int>(p < o ? open.count({o, v, p, other})
                                           : open.count({p, other, o, v}));
          }
        }
        if (gain > best) {
          best = gain;
          value = v;
        }
      }
    }
    for (int a = 0; a < options; ++a)
      for (int b = 0; b < a; ++b)
        open.erase({a, row[static_cast<std::size_t>(a)], b, row[static_cast<std::size_t>(b)]});
    table.push_back(row);
  }
  return table;
}

constexpr int kLength = 5;

TransformerShape shape_of(const Choice& c) {
  const bool tied = c[decoder] == 1;
  TransformerShape s{.vocabulary = 4, .outputs = tied ? 4 : 3, .length = kLength, .width = 6};
  s.layers = 1 + c[layers];
  s.heads = 1 + c[heads];
  s.key_width = c[key_width] == 0 ? 0 : 4;
  s.embedding = c[embedding] == 0 ? TokenEmbedding::learnt : TokenEmbedding::one_hot;
  s.embedding_scale = 1.5;
  s.position = std::array{PositionCode::none,
                          PositionCode::learnt,
                          PositionCode::sinusoidal}[static_cast<std::size_t>(c[position])];
  s.attention = c[attention] == 0 ? AttentionKind::softmax : AttentionKind::factored;
  s.mask = static_cast<AttentionMask>(c[mask]);
  if (c[scale] == 1) s.attention_scale = 1.7;
  s.output_projection = c[projection] == 0;
  s.attention_bias = c[bias] == 1;
  s.residual = c[residual] == 0;
  s.normalisation = static_cast<Normalisation>(c[norm]);
  s.mlp_width = c[mlp] == 4 ? 0 : 7;
  s.activation = static_cast<Activation>(c[mlp] % 4);
  s.decoder = tied ? Decoder::tied : Decoder::free;
  s.decoder_bias = c[decoder_bias] == 0;
  s.dropout = c[dropout] == 0 ? 0 : 0.3;
  s.loss = static_cast<Loss>(c[loss]);
  return s;
}

/// Two sequences of different length; the loss at all rows or at three of them, with unequal
/// weights.
Batch batch_of(const Choice& c, const TransformerShape& shape) {
  Batch batch{.tokens = {3, 0, 1, 2, 1, 0, 2, 0}, .offsets = {0, 5, 8}, .sites = {1, 4, 6}};
  if (c[sites] == 1) set_all_sites(batch);
  for (std::size_t s = 0; s < batch.sites.size(); ++s) {
    batch.targets.push_back(static_cast<int>(s) % shape.outputs);
    batch.weights.push_back(0.2 + 0.1 * static_cast<double>(s));
  }
  return batch;
}

void randomise(Transformer<double>& net) {
  RandomStream stream({.seed = 3, .id = StreamId::initialisation});
  for (double& p : net.parameters().values()) p += 0.5 * stream.normal();
}

TEST_CASE("Transformer: gradients equal central differences for all pairs of options",
          "[sim][networks]") {
  const std::vector<Choice> table = covering_table();
  CHECK(table.size() >= 15);  // position x mlp alone are 15 pairs
  for (const Choice& choice : table) {
    const TransformerShape shape = shape_of(choice);
    Transformer<double> net(shape);
    net.parameters().freeze("*", false);
    randomise(net);
    const Batch batch = batch_of(choice, shape);
    const StreamAddress masks{.seed = 1, .id = StreamId::dropout, .step = 9};

    const double value = net.loss_and_gradient(batch, masks);
    const std::vector<double> gradient(net.gradient().begin(), net.gradient().end());
    if (shape.dropout == 0) CHECK(net.loss(batch) == Approx(value).epsilon(1e-14));
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));

    std::string text;
    for (const int v : choice) text += std::to_string(v) + " ";
    INFO("options " << text);
    testing::check_gradient([&] { return net.loss_and_gradient(batch, masks); },
                            net.parameters().values(),
                            gradient,
                            {.tolerance = 1e-9 * largest, .relative = 1e-6});
  }
}

TEST_CASE("Transformer: many sequences have the loss and the gradient of their parts",
          "[sim][networks]") {
  // More rows than twice the pairs of token and position: the first layer projects each pair once.
  // Of a sequence alone it projects every row. The second batch goes in several parts, the first in
  // one.
  constexpr std::array<std::size_t, 2> kSequences{30, 700};
  std::size_t tried = 0;
  for (const Choice& choice : covering_table()) {
    const std::size_t sequences = kSequences[tried++ % 2];
    const TransformerShape shape = shape_of(choice);
    if (shape.dropout > 0) continue;
    Transformer<double> net(shape);
    net.parameters().freeze("*", false);
    randomise(net);
    RandomStream stream({.seed = 8});
    Batch batch{.offsets = {0}};
    for (std::size_t b = 0; b < sequences; ++b) {
      const auto length = 1 + stream.below(kLength);
      for (std::uint64_t i = 0; i < length; ++i) {
        const auto row = static_cast<std::int32_t>(batch.tokens.size());
        batch.tokens.push_back(static_cast<std::int32_t>(stream.below(4)));
        if (choice[sites] == 0 && i > 0 && stream.below(3) > 0) continue;
        batch.sites.push_back(row);
        batch.targets.push_back(
            static_cast<int>(stream.below(static_cast<std::uint64_t>(shape.outputs))));
        batch.weights.push_back(stream.uniform());
      }
      batch.offsets.push_back(static_cast<std::int32_t>(batch.tokens.size()));
    }
    REQUIRE(batch.tokens.size() > 2 * 4 * kLength);
    REQUIRE((parts(batch).size() > 1) == (sequences > kSequences[0]));
    const double loss = net.loss_and_gradient(batch);
    const std::vector<double> gradient(net.gradient().begin(), net.gradient().end());
    const RowMatrix<double> logits = net.forward(batch).map();
    CHECK((net.logits(batch) - logits).cwiseAbs().maxCoeff() < 1e-12 * (1 + logits.norm()));
    double parts_loss = 0;
    std::vector<double> sum(gradient.size(), 0.0);
    Index row = 0;
    double apart = 0;
    for (std::size_t b = 0; b < sequences; ++b) {
      const Batch part = part_of(batch, b, b + 1);
      parts_loss += net.loss_and_gradient(part);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += net.gradient()[i];
      const auto own = net.forward(part).map();
      apart = std::max(apart, (own - logits.middleRows(row, own.rows())).cwiseAbs().maxCoeff());
      row += own.rows();
    }
    double largest = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      largest = std::max(largest, std::abs(sum[i]));
      apart = std::max(apart, std::abs(sum[i] - gradient[i]));
    }
    std::string text;
    for (const int v : choice) text += std::to_string(v) + " ";
    INFO("options " << text);
    CHECK(loss == Approx(parts_loss).epsilon(1e-12));
    CHECK(apart < 1e-12 * (1 + largest + logits.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE(
    "Transformer: few sites of long sequences, which form no keys and values, change no number",
    "[sim][networks]") {
  constexpr int kLong = 60;
  constexpr int kVocabulary = 50;
  constexpr std::size_t kSequences = 31;  // several parts
  int variant = 0;
  for (const int head_count : {1, 2, 3}) {
    for (const auto seen : {AttentionMask::bidirectional, AttentionMask::causal}) {
      for (const bool with_bias : {false, true}) {
        ++variant;
        INFO(head_count << " heads, mask " << static_cast<int>(seen) << ", bias " << with_bias);
        const int layer_count = 1 + variant % 2;
        Transformer<double> net({.vocabulary = kVocabulary,
                                 .outputs = 3,
                                 .length = kLong,
                                 .width = 12,
                                 .layers = layer_count,
                                 .heads = head_count,
                                 .key_width = variant % 3 == 0 ? 6 : 0,
                                 .mlp_width = 7,
                                 .mask = seen,
                                 .output_projection = variant % 4 > 0,
                                 .attention_bias = with_bias,
                                 .residual = variant % 5 > 0,
                                 .normalisation = static_cast<Normalisation>(variant % 3)});
        randomise(net);
        // The same loss at a site of each sequence, and at all rows with weight 0 for the others.
        RandomStream stream({.seed = 4});
        Batch some{.offsets = {0}};
        for (std::size_t b = 0; b < kSequences; ++b) {
          const auto length = static_cast<std::int32_t>(kLong - stream.below(10));
          const std::int32_t first = some.offsets.back();
          for (std::int32_t i = 0; i < length; ++i)
            some.tokens.push_back(static_cast<std::int32_t>(stream.below(kVocabulary)));
          some.offsets.push_back(first + length);
          if (b == 3) continue;                         // a sequence may have none
          for (int k = 0; k < (b == 5 ? 2 : 1); ++k) {  // or two
            some.sites.push_back(first + 20 * k + static_cast<std::int32_t>(stream.below(20)));
            some.targets.push_back(static_cast<int>(stream.below(3)));
            some.weights.push_back(stream.uniform());
          }
        }
        Batch all{.tokens = some.tokens, .offsets = some.offsets};
        set_all_sites(all);
        all.targets.assign(all.sites.size(), 0);
        all.weights.assign(all.sites.size(), 0);
        for (std::size_t s = 0; s < some.sites.size(); ++s) {
          all.targets[static_cast<std::size_t>(some.sites[s])] = some.targets[s];
          all.weights[static_cast<std::size_t>(some.sites[s])] = some.weights[s];
        }
        REQUIRE(parts(some).size() > 1);

        const double loss = net.loss_and_gradient(some);
        const std::vector<double> gradient(net.gradient().begin(), net.gradient().end());
        if (with_bias && seen == AttentionMask::bidirectional) {
          // No number at all, where keys would leave what rounding does.
          const std::string bias = "layer" + std::to_string(layer_count - 1) + ".b_K";
          CHECK(net.gradient(bias).map().isZero(0));
        }
        const RowMatrix<double> logits = net.logits(some);
        CHECK(net.forward(some).map().isApprox(logits, 1e-12));
        CHECK(net.loss_and_gradient(all) == Approx(loss).epsilon(1e-12));
        double largest = 0;
        double apart = 0;
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          largest = std::max(largest, std::abs(gradient[i]));
          apart = std::max(apart, std::abs(gradient[i] - net.gradient()[i]));
        }
        CHECK(apart < 1e-12 * (1 + largest));
        const RowMatrix<double> expected = net.logits(all);
        for (std::size_t s = 0; s < some.sites.size(); ++s) {
          CHECK(logits.row(static_cast<Index>(s)).isApprox(expected.row(some.sites[s]), 1e-12));
        }
      }
    }
  }
}

TEST_CASE("Transformer: gradients of heads of a vector or a part of one", "[sim][networks]") {
  constexpr int kWidth = 16;
  for (const int head_count : {1, 2, 4}) {
    for (const bool all : {false, true}) {
      INFO(head_count << " heads, " << (all ? "all" : "some") << " sites");
      Transformer<double> net({.vocabulary = 4,
                               .outputs = 3,
                               .length = kLength,
                               .width = kWidth,
                               .layers = 2,
                               .heads = head_count});
      RandomStream stream({.seed = 3});
      for (double& p : net.parameters().values()) p += 0.2 * stream.normal();
      Batch batch{.tokens = {3, 0, 1, 2, 1, 0, 2, 0}, .offsets = {0, 5, 8}, .sites = {1, 6}};
      if (all) set_all_sites(batch);
      batch.targets.assign(batch.sites.size(), 1);
      static_cast<void>(net.loss_and_gradient(batch));
      const std::vector<double> gradient(net.gradient().begin(), net.gradient().end());
      testing::check_gradient([&] { return net.loss_and_gradient(batch); },
                              net.parameters().values(),
                              gradient,
                              {.tolerance = 1e-9, .relative = 1e-6});
    }
  }
}

/// What the flow of any loss conserves layer by layer, since the network does not notice a rotation
/// of a head's queries and keys, or of its values with its output projection, nor a factor that a
/// hidden relu's weights give to its output.
std::vector<Eigen::MatrixXd> conserved(
    const TransformerShape& shape,
    const std::function<MatrixView<double>(const std::string&)>& block) {
  std::vector<Eigen::MatrixXd> all;
  for (int l = 0; l < shape.layers; ++l) {
    const std::string layer = "layer" + std::to_string(l) + ".";
    const auto matrix = [&](const char* name) -> Eigen::MatrixXd {
      return block(layer + name).map();
    };
    const auto with_bias = [&](const char* weights, const char* added) {
      Eigen::MatrixXd all_inputs = matrix(weights);
      all_inputs.conservativeResize(Eigen::NoChange, all_inputs.cols() + 1);
      all_inputs.rightCols(1) = matrix(added);
      return all_inputs;
    };
    const bool bias = shape.attention_bias;
    const bool softmax = shape.attention == AttentionKind::softmax;
    for (int h = 0; h < shape.heads; ++h) {
      const auto rows = [&](const Eigen::MatrixXd& w) -> Eigen::MatrixXd {
        return w.middleRows(h * w.rows() / shape.heads, w.rows() / shape.heads);
      };
      if (softmax) {
        const Eigen::MatrixXd q = rows(bias ? with_bias("W_Q", "b_Q") : matrix("W_Q"));
        const Eigen::MatrixXd k = rows(bias ? with_bias("W_K", "b_K") : matrix("W_K"));
        all.emplace_back(q * q.transpose() - k * k.transpose());
      }
      if (shape.output_projection) {
        const Eigen::MatrixXd v = rows(bias ? with_bias("W_V", "b_V") : matrix("W_V"));
        const Eigen::MatrixXd o = rows(matrix("W_O").transpose());
        all.emplace_back(v * v.transpose() - o * o.transpose());
      }
    }
    if (shape.mlp_width > 0 && shape.activation == Activation::relu) {
      const Eigen::MatrixXd in = with_bias("W_1", "b_1");
      all.emplace_back(in.rowwise().squaredNorm() -
                       matrix("W_2").colwise().squaredNorm().transpose());
    }
  }
  return all;
}

TEST_CASE("Transformer: descent keeps what the symmetries of heads and hidden units conserve",
          "[sim][networks]") {
  // A step of descent changes q q^T - k k^T by eta^2 (g_q g_q^T - g_k g_k^T) exactly: the terms of
  // first order cancel if the gradient knows the symmetry.
  constexpr double kEta = 1e-3;  // some start steep
  constexpr int kSteps = 20;
  int kept = 0;
  for (const Choice& choice : covering_table()) {
    const TransformerShape shape = shape_of(choice);
    if (shape.dropout > 0) continue;  // other masks every step
    Transformer<double> net(shape);
    randomise(net);
    const Batch batch = batch_of(choice, shape);
    const auto weights = [&](const std::string& name) { return net.parameters().matrix(name); };
    const auto slopes = [&](const std::string& name) { return net.gradient(name); };
    const std::vector<Eigen::MatrixXd> start = conserved(shape, weights);
    std::vector<Eigen::MatrixXd> steps = start;
    for (Eigen::MatrixXd& s : steps) s.setZero();
    const double before = net.loss(batch);
    for (int n = 0; n < kSteps; ++n) {
      net.loss_and_gradient(batch);
      const std::vector<Eigen::MatrixXd> step = conserved(shape, slopes);
      for (std::size_t k = 0; k < steps.size(); ++k) steps[k] += kEta * kEta * step[k];
      for (std::size_t i = 0; i < net.gradient().size(); ++i) {
        net.parameters().values()[i] -= kEta * net.gradient()[i];
      }
    }
    CHECK(net.loss(batch) <= before);
    const std::vector<Eigen::MatrixXd> end = conserved(shape, weights);
    for (std::size_t k = 0; k < end.size(); ++k) {
      const double drift = (end[k] - start[k] - steps[k]).norm();
      CHECK(drift <= 1e-12 * start[k].norm());  // rounding of 20 steps
      ++kept;
    }
  }
  CHECK(kept > 25);
}

TEST_CASE("Transformer: float gradients follow the double ones", "[sim][networks]") {
  for (const Choice& choice : covering_table()) {
    const TransformerShape shape = shape_of(choice);
    Transformer<double> exact(shape);
    randomise(exact);
    Transformer<float> single(shape);
    std::ranges::transform(exact.parameters().values(),
                           single.parameters().values().begin(),
                           [](double v) { return static_cast<float>(v); });
    const Batch batch = batch_of(choice, shape);
    const double value = exact.loss_and_gradient(batch);
    // Single precision carries 1e-7; two layers of sums of ten terms lose two digits.
    CHECK(single.loss_and_gradient(batch) == Approx(value).epsilon(2e-5));
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < exact.gradient().size(); ++i) {
      difference += std::pow(exact.gradient()[i] - single.gradient()[i], 2);
      norm += std::pow(exact.gradient()[i], 2);
    }
    CHECK(std::sqrt(difference) <= 1e-4 * std::sqrt(norm));
  }
}

TEST_CASE("Transformer: frozen blocks get no gradient and change no other", "[sim][networks]") {
  Choice choice{};
  choice[layers] = 2;
  choice[bias] = 1;
  choice[norm] = 1;
  const TransformerShape shape = shape_of(choice);
  Transformer<double> net(shape);
  randomise(net);
  const Batch batch = batch_of(choice, shape);
  net.loss_and_gradient(batch);
  const std::vector<double> all(net.gradient().begin(), net.gradient().end());
  for (const Block& frozen : net.parameters().blocks()) {
    net.parameters().freeze(frozen.name);
    net.loss_and_gradient(batch);
    for (const Block& b : net.parameters().blocks()) {
      for (Index i = b.offset; i < b.offset + b.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double expected = b.name == frozen.name ? 0 : all[k];
        REQUIRE(net.gradient()[k] == Approx(expected).epsilon(1e-12).margin(1e-14));
      }
    }
    net.parameters().freeze(frozen.name, false);
  }
  // Everything below the last layer frozen: the gradient stops there.
  net.parameters().freeze("W_E");
  net.parameters().freeze("layer0");
  net.loss_and_gradient(batch);
  const Block& top = net.parameters().block("layer1.W_V");
  for (Index i = top.offset; i < top.offset + top.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    REQUIRE(net.gradient()[k] == Approx(all[k]).epsilon(1e-12).margin(1e-14));
  }
}

TEST_CASE("Transformer: batches of any size may follow each other", "[sim][networks]") {
  Choice choice{};
  choice[layers] = 2;
  choice[norm] = 1;
  const TransformerShape shape = shape_of(choice);
  Transformer<double> net(shape);
  randomise(net);
  const Batch large = batch_of(choice, shape);
  Batch small{.tokens = {1, 2, 0}, .offsets = {0, 3}, .sites = {2}, .targets = {1}};
  const double fresh = net.loss(small);
  net.loss_and_gradient(large);
  CHECK(net.loss(small) == fresh);
  CHECK(net.loss_and_gradient(small) == Approx(fresh).epsilon(1e-14));
}

/// Some 2400 rows, several parts; some sequences have no site, some have many.
Batch batch_of_several_parts() {
  Batch batch{.offsets = {0}};
  RandomStream stream({.seed = 3});
  for (int b = 0; b < 400; ++b) {
    const auto length = static_cast<std::int32_t>(1 + stream.below(11));
    for (std::int32_t t = 0; t < length; ++t) {
      if (b % 7 != 0 && stream.below(3) == 0) {
        batch.sites.push_back(batch.offsets.back() + t);
        batch.targets.push_back(static_cast<std::int32_t>(stream.below(3)));
      }
      batch.tokens.push_back(static_cast<std::int32_t>(stream.below(5)));
    }
    batch.offsets.push_back(batch.offsets.back() + length);
  }
  return batch;
}

const TransformerShape kOfSeveralParts{
    .vocabulary = 5, .outputs = 3, .length = 11, .width = 8, .layers = 2, .mlp_width = 8};

TEST_CASE("Transformer: the gradient of many sequences is the sum of those of each",
          "[sim][networks]") {
  Transformer<double> net(kOfSeveralParts);
  randomise(net);
  Batch batch = batch_of_several_parts();
  CHECK(parts(batch).size() > 2);
  RandomStream stream({.seed = 4});
  for (const bool weighted : {false, true}) {
    batch.weights.clear();
    const auto sites = batch.sites.size();
    if (weighted) {
      for (std::size_t s = 0; s < sites; ++s) batch.weights.push_back(stream.uniform());
    }
    const double loss = net.loss_and_gradient(batch);
    const Eigen::VectorXd gradient =
        Eigen::Map<const Eigen::VectorXd>(net.gradient().data(), std::ssize(net.gradient()));
    Batch all = batch;
    if (!weighted) all.weights.assign(sites, 1 / static_cast<double>(sites));
    double losses = 0;
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(gradient.size());
    for (std::size_t b = 0; b < all.sequences(); ++b) {
      const Batch one = part_of(all, b, b + 1);
      if (one.sites.empty()) continue;
      losses += net.loss_and_gradient(one);
      sum += Eigen::Map<const Eigen::VectorXd>(net.gradient().data(), std::ssize(net.gradient()));
    }
    // Rounding of sums of 800 terms.
    CHECK(loss == Approx(losses).epsilon(1e-12));
    CHECK((gradient - sum).norm() <= 1e-12 * sum.norm());
  }
}

TEST_CASE("Transformer: a part without sites adds nothing", "[sim][networks]") {
  Transformer<double> net(kOfSeveralParts);
  randomise(net);
  Batch batch = batch_of_several_parts();
  while (batch.sites.back() >= 800) {
    batch.sites.pop_back();
    batch.targets.pop_back();
  }
  CHECK(net.loss_and_gradient(batch) == Approx(net.loss(batch)).epsilon(1e-12));
}

TEST_CASE("Transformer: logits of many sequences, a few at a time, are those of one pass",
          "[sim][networks]") {
  const TransformerShape& shape = kOfSeveralParts;
  Transformer<double> net(shape);
  randomise(net);
  Batch batch = batch_of_several_parts();
  RandomStream stream({.seed = 5});
  const RowMatrix<double> whole = net.forward(batch).map();
  const RowMatrix<double> some = net.logits(batch);
  REQUIRE(some.rows() == whole.rows());
  CHECK((some - whole).cwiseAbs().maxCoeff() <= 1e-12);
  const MatrixView<const double> view{some.data(), some.rows(), some.cols(), some.cols()};
  CHECK(net.loss(batch, view) == Approx(net.loss(batch)).epsilon(1e-12));
  for (std::size_t s = 0; s < batch.sites.size(); ++s) batch.weights.push_back(stream.uniform());
  const double weighted = net.loss(batch);
  CHECK(net.loss(batch, view) == Approx(weighted).epsilon(1e-12));
  const Batch part = part_of(batch, 7, 9);  // a sequence without sites, and one with some
  CHECK(part.sequences() == 2);
  CHECK(part.weights.size() == part.sites.size());
  CHECK(part.targets.size() == part.sites.size());
  CHECK_NOTHROW(validate(part, shape));
}

}  // namespace networks_gradient_test

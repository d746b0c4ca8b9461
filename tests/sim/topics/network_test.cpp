// Documents of the topic model, and the network that reads them as bags.

#include "attica/sim/topics/network.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/sim/networks/transformer.hpp"
#include "attica/sim/topics/sampling.hpp"
#include "attica/sim/topics/source.hpp"
#include "reference_values.hpp"

using attica::testing::Reference;
using namespace attica;
using Eigen::Index;
using Eigen::MatrixXd;

namespace topics_network_test {

MatrixXd waves(Index rows, Index columns, double amplitude, double phase) {
  return MatrixXd::NullaryExpr(rows, columns, [=](Index i, Index j) {
    return amplitude *
           std::sin(0.7 * phase + 1.3 * static_cast<double>(i) + 2.1 * static_cast<double>(j));
  });
}

double largest_difference(const MatrixXd& a, Reference j) {
  double largest = 0;
  for (Index r = 0; r < a.rows(); ++r)
    for (Index c = 0; c < a.cols(); ++c)
      largest = std::max(
          largest,
          std::abs(a(r, c) -
                   j[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)].get<double>()));
  return largest;
}

TopicModel finite_model() {
  return TopicModel({.vocabulary = {3, 2},
                     .topics_per_document = 2,
                     .length = {{10, 20}},
                     .mask_rate = 0.3,
                     .keep_rate = 0.2,
                     .random_rate = 0.2});
}

TEST_CASE("TopicNetwork: bags give the numbers of the transformer on sequences", "[sim][topics]") {
  const TopicSampler sampler(finite_model());
  const auto d = static_cast<int>(sampler.model().vocabulary().size());
  constexpr int kInner = 4;
  constexpr double kScale = 0.7;
  for (const networks::Loss loss : {networks::Loss::squared, networks::Loss::cross_entropy}) {
    TopicNetwork bags({.tokens = d, .inner = kInner, .scale = kScale, .loss = loss});
    networks::Transformer<double> full({.vocabulary = d,
                                        .outputs = d,
                                        .length = 20,
                                        .width = d,
                                        .key_width = kInner,
                                        .embedding = networks::TokenEmbedding::one_hot,
                                        .position = networks::PositionCode::none,
                                        .attention_scale = kScale,
                                        .output_projection = false,
                                        .residual = false,
                                        .decoder = networks::Decoder::tied,
                                        .decoder_bias = false,
                                        .loss = loss});
    double phase = 1;
    for (const std::string name : {"W_V", "W_K", "W_Q"}) {
      const MatrixXd m = waves(name == "W_V" ? d : kInner, d, 0.8, phase++);
      bags.parameters().matrix(name).map() = m;
      full.parameters().matrix("layer0." + name).map() = m;
    }
    RandomStream stream({.seed = 3});
    TopicBatch bag;
    networks::Batch sequences;
    constexpr Index kDocuments = 5;
    bag.start(d, kDocuments);
    DocumentDraws draws = sampler.draws(stream);
    TopicDocument document;
    for (Index b = 0; b < kDocuments; ++b) {
      sampler.draw(draws, document);
      append(document, b, 1.0 / kDocuments, bag);
      append(document, 1.0 / kDocuments, sequences);
    }
    // Both sum some hundred terms of order one.
    constexpr double kRounding = 1e-12;
    CHECK(bags.loss_and_gradient(bag) ==
          Approx(full.loss_and_gradient(sequences)).epsilon(kRounding));
    CHECK(bags.loss(bag) == Approx(full.loss(sequences)).epsilon(kRounding));
    for (const std::string name : {"W_V", "W_K", "W_Q"}) {
      const networks::Block& block = bags.parameters().block(name);
      const auto own = Eigen::Map<const networks::RowMatrix<double>>(
          bags.gradient().data() + block.offset, block.rows, block.columns);
      CHECK((own - full.gradient("layer0." + name).map()).cwiseAbs().maxCoeff() < kRounding);
    }
  }
}

TEST_CASE("TopicNetwork: trained embeddings and decoders are those of the transformer",
          "[sim][topics]") {
  const TopicSampler sampler(finite_model());
  const auto d = static_cast<int>(sampler.model().vocabulary().size());
  constexpr int kWidth = 5;
  constexpr int kInner = 3;
  constexpr Index kDocuments = 4;
  RandomStream stream({.seed = 5});
  TopicBatch bag;
  networks::Batch sequences;
  bag.start(d, kDocuments);
  DocumentDraws draws = sampler.draws(stream);
  TopicDocument document;
  for (Index b = 0; b < kDocuments; ++b) {
    sampler.draw(draws, document);
    append(document, b, 1.0 / kDocuments, bag);
    append(document, 1.0 / kDocuments, sequences);
  }
  for (const networks::Loss loss : {networks::Loss::squared, networks::Loss::cross_entropy}) {
    for (const TopicDecoder decoder : {TopicDecoder::tied, TopicDecoder::free}) {
      for (const bool one_hot : {false, true}) {
        if (one_hot && decoder == TopicDecoder::tied) continue;
        const int width = one_hot ? d : kWidth;
        TopicNetwork bags({.tokens = d,
                           .width = one_hot ? 0 : width,
                           .inner = kInner,
                           .scale = 0.7,
                           .decoder = decoder,
                           .bias = true,
                           .loss = loss});
        networks::Transformer<double> full({.vocabulary = d,
                                            .outputs = d,
                                            .length = 20,
                                            .width = width,
                                            .key_width = kInner,
                                            .embedding = one_hot ? networks::TokenEmbedding::one_hot
                                                                 : networks::TokenEmbedding::learnt,
                                            .position = networks::PositionCode::none,
                                            .attention_scale = 0.7,
                                            .output_projection = false,
                                            .residual = false,
                                            .decoder = decoder == TopicDecoder::tied
                                                           ? networks::Decoder::tied
                                                           : networks::Decoder::free,
                                            .loss = loss});
        // The transformer keeps embeddings as rows of a table.
        const auto in_full = [](const std::string& name) {
          const bool layer = name == "W_V" || name == "W_K" || name == "W_Q";
          return layer ? "layer0." + name : name;
        };
        double phase = 1;
        for (const networks::Block& block : bags.parameters().blocks()) {
          const MatrixXd m = waves(block.rows, block.columns, 0.8, phase++);
          bags.parameters().matrix(block.name).map() = m;
          auto other = full.parameters().matrix(in_full(block.name)).map();
          if (block.name == "W_E") {
            other = m.transpose();
          } else {
            other = m;
          }
        }
        constexpr double kRounding = 1e-12;
        CHECK(bags.loss_and_gradient(bag) ==
              Approx(full.loss_and_gradient(sequences)).epsilon(kRounding));
        for (const networks::Block& block : bags.parameters().blocks()) {
          INFO(block.name);
          const MatrixXd own = Eigen::Map<const networks::RowMatrix<double>>(
              bags.gradient().data() + block.offset, block.rows, block.columns);
          MatrixXd other = full.gradient(in_full(block.name)).map();
          if (block.name == "W_E") other.transposeInPlace();
          CHECK((own - other).cwiseAbs().maxCoeff() < kRounding);
        }
      }
    }
  }
  CHECK_THROWS_WITH(TopicNetwork({.tokens = d, .width = kWidth}),
                    Catch::Matchers::Contains("width"));
}

TEST_CASE("TopicSource: fixed documents come back, with weights that sum to 1", "[sim][topics]") {
  const TopicModel infinite(
      {.vocabulary = {3, 2}, .topics_per_document = 2, .mask_rate = 0.3, .keep_rate = 0.2});
  for (const TopicModel& model : {finite_model(), infinite}) {
    TopicSource source(
        model, {.data = TopicData::fixed, .batch = 7, .queries = 3, .documents = 2}, {.seed = 1});
    MatrixXd kinds(7, 0);
    for (std::uint64_t step = 0; step < 5; ++step) {
      const TopicBatch& batch = source(step);
      double weight = 0;
      for (const auto& t : batch.targets) weight += t.weight;
      CHECK(weight == Approx(1));
      CHECK(batch.shares.cols() == 7);
      for (Index b = 0; b < batch.shares.cols(); ++b) {
        bool known = false;
        for (Index k = 0; k < kinds.cols(); ++k) known |= kinds.col(k) == batch.shares.col(b);
        if (known) continue;
        kinds.conservativeResize(Eigen::NoChange, kinds.cols() + 1);
        kinds.rightCols(1) = batch.shares.col(b);
      }
    }
    CHECK(kinds.cols() <= 2);
  }
  // A batch that holds every document of the set the same number of times has its loss: here 1.
  TopicSource one(
      finite_model(), {.data = TopicData::fixed, .batch = 3, .documents = 1}, {.seed = 2});
  TopicNetwork network({.tokens = 7});
  network.set_value(waves(7, 7, 0.5, 1));
  const double first = network.loss(one(0));
  CHECK(network.loss(one(1)) == Approx(first).epsilon(1e-14));
  TopicSource population(infinite, {.data = TopicData::population}, {});
  CHECK(network.loss(population(3)) == Approx(network.loss(population_batch(infinite))));
}

TEST_CASE("population_batch: loss and gradients match the reference enumeration", "[sim][topics]") {
  const auto all = attica::testing::reference_values("topics");
  for (const char* name : {"enumeration_SE", "enumeration_CE"}) {
    const auto c = all[name];
    const TopicModel model({.vocabulary = {c["T"].get<Index>(), c["v"].get<Index>()},
                            .topics_per_document = c["tau"],
                            .mask_rate = c["pm"],
                            .keep_rate = c["pc"],
                            .random_rate = c["pr"]});
    const Index d = model.vocabulary().size();
    TopicNetwork network({.tokens = d,
                          .loss = name == std::string("enumeration_SE")
                                      ? networks::Loss::squared
                                      : networks::Loss::cross_entropy});
    network.set_value(waves(d, d, 0.5, 1));
    const double loss = network.loss_and_gradient(population_batch(model), waves(d, d, 0.8, 2));
    CHECK(loss == Approx(c["loss"].get<double>()).epsilon(1e-13));
    const auto value =
        Eigen::Map<const networks::RowMatrix<double>>(network.gradient().data(), d, d);
    CHECK(largest_difference(value, c["grad_WV"]) < 1e-13);
    CHECK(largest_difference(network.score_gradient(), c["grad_score"]) < 1e-13);
  }
}

TEST_CASE("population_batch: refuses what it cannot enumerate", "[sim][topics]") {
  CHECK_THROWS_WITH(population_batch(finite_model()), Catch::Matchers::Contains("length"));
  const TopicModel many({.vocabulary = {40, 2}, .topics_per_document = 10});
  CHECK_THROWS_WITH(population_batch(many), Catch::Matchers::Contains("20000"));
  CHECK(population_batch(many, TopicSets::one).shares.cols() == 1);
}

TEST_CASE("TopicSampler: frequencies of infinite and finite documents are those of the model",
          "[sim][topics]") {
  // 20000 documents: standard errors of shares are below 0.002; of E p p^T below 0.001.
  constexpr Index kDocuments = 20000;
  for (const bool subset : {true, false}) {
    TopicSettings settings{.vocabulary = {3, 2},
                           .prior = subset ? TopicPrior::subset : TopicPrior::dirichlet,
                           .topics_per_document = 2,
                           .concentration = 0.3,
                           .mask_rate = 0.3,
                           .keep_rate = 0.2,
                           .random_rate = 0.2};
    const TopicModel model(settings);
    RandomStream stream({.seed = 11});
    TopicBatch batch;
    TopicSampler(model).draw_infinite(stream, kDocuments, 1, batch);
    const Eigen::VectorXd mean = batch.shares.rowwise().mean();
    CHECK(mean[0] == Approx(model.mu()));
    CHECK((mean.tail(6).array() - (1 - model.mu()) / 6).abs().maxCoeff() < 0.008);
    // Second moment of the topic weights from the shares.
    const double share = (model.kappa() / 2) * (model.kappa() / 2);
    const double offset = model.rho() / 6;
    const double squared = (batch.shares.row(1).array() - offset).square().mean() / share;
    CHECK(squared == Approx(model.theta_squared()).margin(0.006));
    double masked = 0;
    for (const auto& q : batch.queries) masked += q.shown == 0 ? 1.0 / kDocuments : 0;
    CHECK(masked == Approx(model.masked_share()).margin(0.015));
  }
}

TEST_CASE("DocumentDraws: every position with the same probability, at least one",
          "[sim][topics]") {
  constexpr int kDraws = 40000;
  RandomStream stream({.seed = 21});
  std::vector<std::int32_t> selected;
  for (const auto& [length, rate] : {std::pair{1, 0.3}, {4, 0.15}, {90, 0.15}, {150, 0.7}}) {
    INFO(length << " " << rate);
    Eigen::ArrayXd found = Eigen::ArrayXd::Zero(length);
    double pairs = 0;  // of number and number - 1
    DocumentDraws draws(stream, rate);
    for (int draw = 0; draw < kDraws; ++draw) {
      draws.select(static_cast<std::size_t>(length), selected);
      CHECK_FALSE(selected.empty());
      for (const std::int32_t j : selected) found[j] += 1.0 / kDraws;
      const auto n = static_cast<double>(selected.size());
      pairs += n * (n - 1) / kDraws;
    }
    const double any = 1 - std::pow(1 - rate, length);
    // Five standard errors of a position's share, at most 1/2 each.
    CHECK((found - rate / any).abs().maxCoeff() < 5 * 0.5 / std::sqrt(kDraws));
    CHECK(pairs == Approx(length * (length - 1) * rate * rate / any).epsilon(0.05).margin(1e-12));
  }
  DocumentDraws(stream, 1).select(70, selected);
  CHECK(selected.size() == 70);
}

TEST_CASE("sample_length_gap: its control variate moves no mean and lessens the noise",
          "[sim][topics]") {
  constexpr int kSamples = 60;
  constexpr Index kDocuments = 200;
  const TopicSampler sampler(
      TopicModel({.vocabulary = {3, 2}, .topics_per_document = 2, .length = {{100, 100}}}));
  const Index d = sampler.model().vocabulary().size();
  const MatrixXd value = waves(d, d, 0.8, 1);
  const MatrixXd scores = waves(d, d, 1.2, 2);
  for (const networks::Loss loss : {networks::Loss::squared, networks::Loss::cross_entropy}) {
    TopicNetwork network({.tokens = d, .loss = loss});
    network.set_value(value);
    Eigen::ArrayXd plain(kSamples);
    Eigen::ArrayXd reduced(kSamples);
    double scatter = 0;  // of unselected words, with a weight that the selection decides
    for (int s = 0; s < kSamples; ++s) {
      // The same documents.
      const StreamAddress address{.seed = 5, .step = static_cast<std::uint64_t>(s)};
      RandomStream stream(address);
      reduced[s] = sample_length_gap(sampler, loss, value, scores, kDocuments, stream);
      RandomStream again(address);
      TopicBatch finite;
      TopicBatch infinite;
      MatrixXd expected;
      sampler.draw(again, kDocuments, finite, &infinite.shares, &expected);
      infinite.queries = finite.queries;
      infinite.targets = finite.targets;
      plain[s] = network.loss(finite, scores) - network.loss(infinite, scores);
      scatter += ((finite.shares - expected).row(1).array() * expected.row(0).array()).mean();
      CHECK((expected.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
    }
    const auto deviation = [](const Eigen::ArrayXd& x) {
      return std::sqrt((x - x.mean()).square().sum() / (kSamples - 1));
    };
    // The differences are paired.
    CHECK(std::abs((plain - reduced).mean()) <
          4 * deviation(plain - reduced) / std::sqrt(kSamples));
    CHECK(deviation(reduced) < 0.85 * deviation(plain));  // what is selected scatters as before
    // 12000 documents: shares of 100 words scatter by 0.05, times a share of masks of 0.2.
    CHECK(std::abs(scatter / kSamples) < 4 * 0.05 * 0.2 / std::sqrt(kSamples * kDocuments));
  }
}

TEST_CASE("measured_attention: uniform scores give 1", "[sim][topics]") {
  const TopicModel model({.vocabulary = {4, 3}, .topics_per_document = 2});
  const Index d = model.vocabulary().size();
  const Eigen::Vector3d a =
      measured_attention(model.vocabulary(), MatrixXd::Zero(d, d), population_batch(model).shares);
  CHECK((a.array() - 1).abs().maxCoeff() < 1e-14);
}

TEST_CASE("train_topics: the penalty's gradient is 2 lambda W", "[sim][topics]") {
  const TopicModel model({.vocabulary = {3, 2}, .topics_per_document = 2});
  const Index d = model.vocabulary().size();
  TopicNetwork network({.tokens = d});
  network.set_value(waves(d, d, 0.5, 1));
  const MatrixXd before = network.value();
  const TopicBatch batch = population_batch(model);
  network.loss_and_gradient(batch);
  const MatrixXd gradient =
      Eigen::Map<const networks::RowMatrix<double>>(network.gradient().data(), d, d);
  CHECK(descent_slope(network, batch) == Approx(1).epsilon(1e-8));
  constexpr double kEta = 0.3;
  constexpr double kLambda = 0.01;
  const auto end = train_topics(
      network,
      {.optimiser = {.kind = networks::OptimiserKind::sgd, .learning_rate = kEta},
       .recorded = {1},
       .value_penalty = kLambda},
      [&](std::uint64_t) -> const TopicBatch& { return batch; },
      [](std::uint64_t, const TopicNetwork&) {});
  CHECK(end.status == networks::TrainingStatus::finished);
  const MatrixXd expected = before - kEta * (gradient + 2 * kLambda * before);
  CHECK((network.value() - expected).cwiseAbs().maxCoeff() < 1e-14);
}

}  // namespace topics_network_test

#include "attica/sim/bigrams/transformer.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "attica/core/bigrams/instances.hpp"

namespace bigrams_transformer_test {

using namespace attica;

std::vector<BigramTransformerRecord> trained(const BigramModel& model,
                                             const BigramTransformerTask& task,
                                             std::uint64_t seed) {
  std::vector<BigramTransformerRecord> records;
  const auto end = train_bigram_transformer(
      model, task, {.seed = seed}, {}, {}, [&](const BigramTransformerRecord& r) {
        records.push_back(r);
      });
  CHECK(end.status == networks::TrainingStatus::finished);
  return records;
}

TEST_CASE("train_bigram_transformer: starts at ln N, learns a sure law at one position",
          "[sim][bigrams]") {
  RandomStream stream({.seed = 2, .id = StreamId::model});
  // The token at the one position is followed by itself: nothing is left to chance.
  const BigramModel model(
      circulant_chain(3, 1), 6, 1, random_attention(3, 6, 1, AttentionWeights::uniform, stream));
  BigramTransformerTask task{.steps = {0, 600}, .test_sequences = 500};
  task.optimiser.learning_rate = 3e-3;
  for (const bool norm : {false, true}) {
    CAPTURE(norm);
    task.layer_norm = norm;
    const auto records = trained(model, task, 7);
    REQUIRE(records.size() == 2);
    // The decoder starts at 0; the truth is certain.
    CHECK(records[0].loss == Approx(std::log(3)).epsilon(1e-6));
    CHECK(records[0].excess_loss == Approx(std::log(3)).epsilon(1e-6));
    CHECK(records[0].bayes_loss == Approx(0).margin(1e-12));
    CHECK(records[0].overlap < 0.5);
    CHECK(records[1].loss < 0.3);
    CHECK(records[1].excess_loss == Approx(records[1].loss).epsilon(1e-6));
    CHECK(records[1].overlap > 0.6);
  }
}

TEST_CASE("train_bigram_transformer: the same seed, the same numbers", "[sim][bigrams]") {
  RandomStream stream({.seed = 2, .id = StreamId::model});
  const BigramModel model(
      cyclic_chain(3, 0.7, 1.5), 6, 2, random_attention(3, 6, 2, AttentionWeights::random, stream));
  const BigramTransformerTask task{.width = 8, .heads = 2, .steps = {0, 20}, .test_sequences = 100};
  const auto first = trained(model, task, 3);
  CHECK(first.back().loss == trained(model, task, 3).back().loss);
  CHECK(first.back().loss != trained(model, task, 4).back().loss);
  CHECK(first.back().excess_loss > 0);
}

}  // namespace bigrams_transformer_test

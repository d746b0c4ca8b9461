#include "attica/sim/networks/training.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "attica/core/error.hpp"
#include "attica/sim/networks/transformer.hpp"

using namespace attica;
using namespace attica::networks;

namespace networks_training_test {

constexpr int kLength = 6;
constexpr int kColours = 3;

TransformerShape small_shape() {
  return {.vocabulary = kColours + 1,
          .outputs = kColours,
          .length = kLength,
          .width = 8,
          .layers = 2,
          .heads = 2,
          .mlp_width = 8,
          .normalisation = Normalisation::pre,
          .dropout = 0.1};
}

/// Fresh data: sequence b repeats a colour; one site of each is masked. A function of the step
/// alone.
Batch batch_at(std::uint64_t step, const StreamAddress& run) {
  RandomStream stream(
      {.seed = run.seed, .id = StreamId::data, .replicate = run.replicate, .step = step});
  constexpr int sequences = 16;
  Batch batch;
  for (int b = 0; b < sequences; ++b) {
    const auto colour = static_cast<std::int32_t>(stream.below(kColours));
    const auto site = static_cast<std::int32_t>(stream.below(kLength));
    for (int i = 0; i < kLength; ++i) batch.tokens.push_back(i == site ? kColours : colour);
    batch.sites.push_back(b * kLength + site);
    batch.targets.push_back(colour);
  }
  set_equal_lengths(batch, kLength);
  return batch;
}

/// A run with everything it needs; T = float as in the studies.
struct Run {
  StreamAddress run{.seed = 5, .replicate = 2};
  Transformer<float> net{small_shape()};
  Optimiser<float> optimiser;
  TrainingState state = {};
  TrainingPlan plan;

  explicit Run(const OptimiserOptions& options = {.learning_rate = 3e-3, .clip_norm = 1})
      : optimiser(net.parameters(), options) {
    const StreamAddress start{
        .seed = run.seed, .id = StreamId::initialisation, .replicate = run.replicate};
    for (const char* name : {"W_E", "W_P", "W_Q", "W_K", "W_V", "W_O", "W_1", "W_2", "W_dec"}) {
      net.parameters().initialise(name, {.scale = 0.1}, start);
    }
    plan = {.recorded = {0, 10, 25, 60}, .run = run};
    plan.observe = [](const TrainingRecord& record, TrainingState& s) {
      s.observed.push_back(static_cast<double>(record.step));
      s.observed.push_back(record.batch_loss.value_or(-1));
    };
  }

  TrainingResult train() {
    return networks::train<float>(
        net.parameters(), net.gradient(), optimiser, state, plan, [&](std::uint64_t step) {
          return net.loss_and_gradient(batch_at(step, run),
                                       {.seed = run.seed, .id = StreamId::dropout, .step = step});
        });
  }
};

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::temp_directory_path() / ("attica-networks-" + name);
}

bool same_bits(Run& a, Run& b) {
  return std::ranges::equal(a.net.parameters().values(), b.net.parameters().values()) &&
         std::ranges::equal(a.optimiser.first_moments(), b.optimiser.first_moments()) &&
         std::ranges::equal(a.optimiser.second_moments(), b.optimiser.second_moments()) &&
         a.state.observed == b.state.observed && a.state.step == b.state.step;
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::storage);
    return error.what();
  }
  return "";
}

TEST_CASE("train: learns, records the steps asked for, finishes", "[sim][networks]") {
  Run run;
  const TrainingResult result = run.train();
  CHECK(result.status == TrainingStatus::finished);
  CHECK(result.step == 60);
  REQUIRE(run.state.observed.size() == 8);
  for (const std::size_t i : {0U, 1U, 2U, 3U}) {
    CHECK(run.state.observed[2 * i] == std::vector<double>{0, 10, 25, 60}[i]);
  }
  CHECK(run.state.observed[1] == -1);  // no batch before the first record
  CHECK(run.state.observed[3] ==
        Approx(std::log(3.0)).epsilon(0.1));  // starts near a uniform guess
  CHECK(run.state.observed[7] < 0.5 * run.state.observed[3]);
}

TEST_CASE("train: stopped anywhere and resumed gives the same bits", "[sim][networks]") {
  Run whole;
  REQUIRE(whole.train().status == TrainingStatus::finished);
  const auto file = scratch("resume.checkpoint");
  for (const int stop_at : {0, 7, 10, 59, 60}) {
    Run first;
    int asked = 0;
    first.plan.checkpoint = file;
    first.plan.stop = [&] { return asked++ == stop_at; };
    const TrainingResult stopped = first.train();
    CHECK(stopped.status == TrainingStatus::stopped);
    CHECK(stopped.step == static_cast<std::uint64_t>(stop_at));

    Run second;
    second.state = load_checkpoint(file, second.net.parameters(), second.optimiser, second.run);
    CHECK(second.train().status == TrainingStatus::finished);
    CHECK(same_bits(second, whole));
  }
  // A periodic checkpoint, as after a kill.
  Run killed;
  killed.plan.checkpoint = file;
  killed.plan.checkpoint_seconds = 1e-9;  // at every step
  REQUIRE(killed.train().status == TrainingStatus::finished);
  Run again;
  again.state = load_checkpoint(file, again.net.parameters(), again.optimiser, again.run);
  CHECK(again.state.step == 60);
  CHECK(again.train().status == TrainingStatus::finished);
  CHECK(same_bits(again, whole));
  std::filesystem::remove(file);
}

TEST_CASE(
    "train_kept: carried on from its file it tells the same records and ends at the same bits",
    "[sim][networks]") {
  const auto file = scratch("kept.state");
  using PredictedValue = std::vector<std::pair<std::uint64_t, std::vector<double>>>;
  // A call, ended before step `stop_at` as if the time were over.
  const auto call = [&](Run& run, std::uint64_t stop_at, const std::filesystem::path& kept) {
    PredictedValue told;
    run.plan.observe = {};
    std::uint64_t asked = 0;
    run.plan.stop = [&] { return asked++ == stop_at; };
    const TrainingResult end = train_kept<float>(
        kept,
        run.net.parameters(),
        run.net.gradient(),
        run.optimiser,
        run.plan,
        {.measure =
             [&](std::uint64_t step) {
               // As many numbers as the study likes, not finite ones among them.
               std::vector<double> values(step % 3, run.net.parameters().values()[5]);
               if (step == 25) values.push_back(INFINITY);
               return values;
             },
         .tell = [&](std::uint64_t step,
                     const std::vector<double>& values) { told.emplace_back(step, values); }},
        [&](std::uint64_t step) {
          return run.net.loss_and_gradient(
              batch_at(step, run.run),
              {.seed = run.run.seed, .id = StreamId::dropout, .step = step});
        });
    return std::pair(end.status, told);
  };
  Run whole;
  const auto [status, expected] = call(whole, 1000, {});
  REQUIRE(status == TrainingStatus::finished);
  REQUIRE(expected.size() == 4);
  for (const std::uint64_t piece : {1U, 7U, 30U}) {
    CAPTURE(piece);
    std::filesystem::remove(file);
    for (int calls = 0; calls < 100; ++calls) {
      Run run;
      const auto [end, told] = call(run, piece, file);
      if (end == TrainingStatus::stopped) {
        REQUIRE(std::filesystem::exists(file));
        continue;
      }
      CHECK(told == expected);
      CHECK(std::ranges::equal(run.net.parameters().values(), whole.net.parameters().values()));
      CHECK(calls == static_cast<int>(60 / piece));
      break;
    }
  }
  // What cannot be read, or is another run's, counts as none.
  for (const std::string content : {"", "not a state"}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    Run run;
    CHECK(call(run, 1000, file) == std::pair(TrainingStatus::finished, expected));
  }
  Run other;
  other.run.replicate = other.plan.run.replicate = 9;
  (void)call(other, 30, file);
  Run run;
  CHECK(call(run, 1000, file).second == expected);
  std::filesystem::remove(file);
}

TEST_CASE("train: the optimiser starts afresh every so many steps", "[sim][networks]") {
  Run run;
  run.plan.optimiser_reset_every = 25;
  REQUIRE(run.train().status == TrainingStatus::finished);
  CHECK(run.optimiser.updates() == 10);
}

TEST_CASE("train: divergence is a status with its step, and the last finite parameters stay",
          "[sim][networks]") {
  Parameters<double> p({{.name = "x", .rows = 1}});
  p.values()[0] = 1;
  std::vector<double> gradient(1);
  Optimiser<double> sgd(p, {.kind = OptimiserKind::sgd, .learning_rate = 1e3});
  TrainingState state;
  const auto result =
      train<double>(p, gradient, sgd, state, {.recorded = {1000}}, [&](std::uint64_t) {
        const double x = p.values()[0];  // loss x^4 / 4
        gradient[0] = x * x * x;
        return 0.25 * x * x * x * x;
      });
  CHECK(result.status == TrainingStatus::diverged);
  CHECK(result.step > 1);
  CHECK(result.step < 10);
  CHECK(std::isfinite(p.values()[0]));
}

TEST_CASE("train: bad plans are refused", "[sim][networks]") {
  Run run;
  run.plan.recorded = {};
  CHECK_THROWS_AS((void)run.train(), Error);
  run.plan.recorded = {0, 5, 5};
  CHECK_THROWS_AS((void)run.train(), Error);
  run.plan.recorded = {3};
  run.state.step = 4;
  CHECK_THROWS_AS((void)run.train(), Error);
}

TEST_CASE("load_checkpoint: damage and strangers are found, nothing is changed",
          "[sim][networks]") {
  const auto file = scratch("damage.checkpoint");
  Run run;
  save_checkpoint(file, run.net.parameters(), run.optimiser, run.state, run.run);
  std::ifstream in(file, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto load_text = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    return message(
        [&] { (void)load_checkpoint(file, run.net.parameters(), run.optimiser, run.run); });
  };
  CHECK(load_text(good).empty());
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{20}, good.size() / 2, good.size() - 1}) {
    CHECK(load_text(good.substr(0, size)).find("damaged") != std::string::npos);
  }
  for (std::size_t at = 0; at < good.size(); at += good.size() / 50) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    CHECK(load_text(bad).find(file.string()) != std::string::npos);
  }
  std::ofstream(file, std::ios::binary) << good;

  StreamAddress other = run.run;
  other.replicate = 3;
  CHECK(message([&] {
          (void)load_checkpoint(file, run.net.parameters(), run.optimiser, other);
        }).find("another run") != std::string::npos);
  Run sgd({.kind = OptimiserKind::sgd});
  CHECK(message([&] {
          (void)load_checkpoint(file, sgd.net.parameters(), sgd.optimiser, run.run);
        }).find("another run") != std::string::npos);
  CHECK(message([&] {
          (void)load_checkpoint(scratch("missing"), run.net.parameters(), run.optimiser, run.run);
        }).find("cannot read") != std::string::npos);
  CHECK(message([&] {
          save_checkpoint(scratch("no") / "such" / "folder",
                          run.net.parameters(),
                          run.optimiser,
                          run.state,
                          run.run);
        }).find("cannot write") != std::string::npos);
  std::filesystem::remove(file);
}

}  // namespace networks_training_test

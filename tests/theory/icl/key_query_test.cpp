#include "attica/theory/icl/key_query.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "finite_differences.hpp"
#include "icl/key_query.hpp"
#include "reference_values.hpp"
#include "refused.hpp"

using attica::testing::Reference;
using namespace attica;
using attica::testing::numbers;
using attica::testing::reference_values;
using attica::testing::reference_weights;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace icl_key_query_test {

Reference dynamics(const char* key) { return reference_values("incontext").at("dynamics").at(key); }

KeyQueryTask task_of(Reference entry) {
  return KeyQueryTask::power_law(entry.at("D"), entry.at("power"), entry.at("N"));
}

TEST_CASE("KeyQueryTask: plateaus and optimum, reference values", "[theory][key_query]") {
  for (const Reference entry : dynamics("plateaus")) {
    CAPTURE(entry.dump());
    const KeyQueryTask task = task_of(entry);
    const Index d = task.dimension();
    for (Index m = 0; m <= d; ++m) {
      CHECK_THAT(task.plateau(m) / 2,
                 WithinRel(entry.at("plateau_half_mse")[static_cast<std::size_t>(m)].get<double>(),
                           1e-13));
    }
    for (Index i = 0; i < d; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK_THAT(task.second()(i), WithinRel(entry.at("second")[at].get<double>(), 1e-13));
    }
    // The optimum is a fixed point whose error is the last plateau.
    const MatrixXd best = attica::testing::vector(entry.at("optimum_diag")).asDiagonal();
    CHECK(task.descent(best).cwiseAbs().maxCoeff() < 1e-14);
    CHECK_THAT(task.mse(best), WithinRel(task.plateau(d), 1e-12));
  }
}

TEST_CASE("weight_direction: minus the gradient of L, by finite differences",
          "[theory][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(3, 1, 7);
  for (const KeyQueryShape& shape :
       {KeyQueryShape{KeyQuery::merged, 2, 3}, KeyQueryShape{KeyQuery::separate, 2, 3, 2}}) {
    VectorXd weights = reference_weights(shape, 0.7);
    const VectorXd gradient =
        -weight_direction(shape, weights, task.descent(effective_matrix(shape, weights)));
    attica::testing::check_gradient([&] { return task.mse(effective_matrix(shape, weights)) / 2; },
                                    attica::testing::entries(weights),
                                    attica::testing::entries(gradient));
  }
}

TEST_CASE("flow_mse: reference values", "[theory][key_query]") {
  for (const Reference entry : dynamics("flow")) {
    CAPTURE(entry.dump());
    const bool merged = entry.at("model") == "merged";
    const KeyQueryShape shape{.kind = merged ? KeyQuery::merged : KeyQuery::separate,
                              .heads = entry.at("H"),
                              .dimension = entry.at("D"),
                              .rank = merged ? 1 : entry.at("r").get<Index>()};
    const std::vector<double> mse = flow_mse(task_of(entry),
                                             shape,
                                             reference_weights(shape, entry.at("sd")),
                                             numbers(entry.at("times")));
    for (std::size_t k = 0; k < mse.size(); ++k) {
      CHECK_THAT(mse[k] / 2, WithinRel(entry.at("half_mse")[k].get<double>(), 1e-7));
    }
  }
}

TEST_CASE("flow_mse: steps of a learning rate, to its first order", "[theory][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(3, 1, 20);
  for (const KeyQuery kind : {KeyQuery::merged, KeyQuery::separate}) {
    const KeyQueryShape shape{kind, 4, 3};
    RandomStream stream({.seed = 6, .id = StreamId::initialisation});
    const VectorXd start = gaussian_weights(shape, 0.3, stream);
    const std::vector<double> times = {8, 16};
    const auto off = [&](double eta) {
      VectorXd weights = start;
      double largest = 0;
      const std::vector<double> flow = flow_mse(task, shape, start, times, eta);
      for (int step = 1; step * eta < times.back() + eta / 2; ++step) {
        weights +=
            eta * weight_direction(shape, weights, task.descent(effective_matrix(shape, weights)));
        for (std::size_t k = 0; k < times.size(); ++k) {
          if (std::abs(step * eta - times[k]) > eta / 4) continue;
          largest =
              std::max(largest, std::abs(task.mse(effective_matrix(shape, weights)) - flow[k]));
        }
      }
      return largest;
    };
    // Without the correction these are of order η: 0.01 and more.
    CHECK(off(0.2) < 3e-3);
    CHECK_THAT(off(0.2) / off(0.1), WithinRel(4.0, 0.3));
  }
}

TEST_CASE("white_mse: reference values, and the flow", "[theory][key_query]") {
  for (const Reference entry : dynamics("white_merged")) {
    CAPTURE(entry.dump());
    const Index d = entry.at("D");
    const KeyQueryTask task = KeyQueryTask::power_law(d, 0, entry.at("N"));
    const KeyQueryShape shape{KeyQuery::merged, 2, d};
    // Two heads with given |v+u|² and |v-u|².
    const double plus = std::sqrt(entry.at("p2").get<double>());
    const double minus = std::sqrt(entry.at("m2").get<double>());
    VectorXd weights = VectorXd::Zero(shape.size());
    for (Index h = 0; h < 2; ++h) {
      const double p = h == 0 ? plus * 0.6 : plus * 0.8;
      const double m = h == 0 ? minus * 0.8 : -minus * 0.6;
      weights(h) = (p + m) / 2;
      for (Index i = 0; i < d; ++i) {
        weights(2 + h * d * d + i * (d + 1)) = (p - m) / 2 / std::sqrt(static_cast<double>(d));
      }
    }
    const std::vector<double> times = numbers(entry.at("times"));
    const std::vector<double> flow = flow_mse(task, shape, weights, times);
    for (std::size_t k = 0; k < times.size(); ++k) {
      const double mse = white_mse(task, shape, weights, times[k]);
      CHECK_THAT(mse / 2, WithinRel(entry.at("half_mse")[k].get<double>(), 1e-11));
      CHECK_THAT(mse, WithinRel(flow[k], 1e-8));
    }
  }
}

TEST_CASE("white_mse: a start that only decays", "[theory][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(2, 0, 5);
  const KeyQueryShape shape{KeyQuery::merged, 1, 2};
  VectorXd weights = VectorXd::Zero(shape.size());
  weights(0) = 0.5;  // v = -u
  weights(1) = weights(4) = -0.5 / std::sqrt(2.0);
  const std::vector<double> times = {1, 5, 20};
  const std::vector<double> flow = flow_mse(task, shape, weights, times);
  for (std::size_t k = 0; k < times.size(); ++k) {
    CHECK_THAT(white_mse(task, shape, weights, times[k]), WithinRel(flow[k], 1e-8));
  }
}

namespace {

/// When the flow, in steps of eta or continuous, is half-way down, near a guess.
double half_way(const KeyQueryTask& task,
                const KeyQueryShape& shape,
                const VectorXd& start,
                double guess,
                double eta = 0) {
  const double half = (task.plateau(0) + task.plateau(task.dimension())) / 2;
  std::vector<double> times;
  for (int k = 0; k <= 4000; ++k) times.push_back(guess * (0.8 + 1e-4 * k));
  const std::vector<double> mse = flow_mse(task, shape, start, times, eta);
  std::size_t k = 0;
  while (mse[k] > half) ++k;
  return times[k];
}

}  // namespace

TEST_CASE("drop_time: the crossing of the flow from a small start", "[theory][key_query][slow]") {
  RandomStream stream({.seed = 5, .id = StreamId::initialisation});
  struct Spectrum {
    int dimension;
    double power;
    double context;
  };
  for (const Spectrum& s : {Spectrum{4, 1, 31},
                            {4, 0, 31},
                            {1, 1, 31},
                            {2, 1, 31},
                            {4, -3, 31},
                            {4, 1, 1},
                            {8, 1, 31},
                            {6, 2, 8}}) {
    CAPTURE(s.dimension, s.power, s.context);
    const KeyQueryTask task = KeyQueryTask::power_law(s.dimension, s.power, s.context);
    const KeyQueryShape shape{KeyQuery::merged, 8, s.dimension};
    const VectorXd start = 1e-4 * gaussian_weights(shape, 1, stream);
    const double predicted = drop_time(task, shape, start);
    const double late = predicted - half_way(task, shape, start, predicted);
    const double share = drop_share(task);
    REQUIRE(share < 0.8);
    // Of equal eigenvalues exact; the grid of times has steps of 1e-4.
    const double sigma = task.spectrum().array().square().matrix().norm();
    CHECK(late > -2e-4 * predicted);
    CHECK(late < 0.4 * (share - 0.5) / (2 * sigma) + 2e-4 * predicted);
    // Steps of eta grow by 1 + eta sigma.
    const double eta = 0.05 / sigma;
    const double stepped = drop_time(task, shape, start, eta);
    CHECK_THAT(stepped / half_way(task, shape, start, stepped, eta),
               WithinRel(predicted / half_way(task, shape, start, predicted), 2e-3));
  }
}

TEST_CASE("AlignedFlow: reference values", "[theory][key_query]") {
  for (const Reference entry : dynamics("aligned")) {
    CAPTURE(entry.dump());
    const KeyQueryTask task = task_of(entry);
    const AlignedFlow flow(task, entry.at("v0"));
    const std::vector<double> times = numbers(entry.at("times"));
    for (std::size_t k = 0; k < times.size(); ++k) {
      CHECK_THAT(flow.mse(times[k]) / 2, WithinRel(entry.at("half_mse")[k].get<double>(), 1e-9));
    }
    const std::vector<double> halves = numbers(entry.at("half_time"));
    for (std::size_t i = 0; i < halves.size(); ++i) {
      // At its half time a mode has s = v³ at half its end λ/a.
      const auto mode = static_cast<Index>(i);
      const double end = task.spectrum()(mode) / task.second()(mode);
      CHECK_THAT(std::pow(flow.weight(mode, halves[i]), 3), WithinRel(end / 2, 1e-8));
    }
  }
}

TEST_CASE("AlignedFlow: is the flow, from the start to saturation", "[theory][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(3, 1, 10);
  const KeyQueryShape shape{KeyQuery::separate, 3, 3, 1};
  const AlignedFlow aligned(task, 0.3);
  const std::vector<double> times = {0, 1, 10, 40, 100, 300, 3000};
  const std::vector<double> flow = flow_mse(task, shape, aligned_weights(shape, 0.3), times);
  for (std::size_t k = 0; k < times.size(); ++k) {
    CHECK_THAT(aligned.mse(times[k]), WithinRel(flow[k], 1e-8));
  }
  CHECK_THAT(aligned.mse(1e6), WithinRel(task.plateau(3), 1e-12));
  for (Index m = 1; m <= 3; ++m) {
    CHECK_THAT(aligned.mse(aligned.step_time(m)),
               WithinRel((task.plateau(m - 1) + task.plateau(m)) / 2, 1e-10));
  }
}

TEST_CASE("flow: conserves v² - |U|², and v² - |K|² and v² - |Q|²", "[theory][key_query]") {
  // d/dt v² = 2 v <U, G> = d/dt |U|² for any G.
  const MatrixXd g = MatrixXd::Random(3, 3);
  for (const KeyQueryShape& shape :
       {KeyQueryShape{KeyQuery::merged, 2, 3}, KeyQueryShape{KeyQuery::separate, 2, 3, 2}}) {
    const VectorXd weights = reference_weights(shape, 0.9);
    const VectorXd direction = weight_direction(shape, weights, g);
    const Index block = shape.kind == KeyQuery::merged ? 9 : 6;
    const Index kinds = shape.kind == KeyQuery::merged ? 1 : 2;
    for (Index h = 0; h < 2; ++h) {
      for (Index kind = 0; kind < kinds; ++kind) {
        const Index at = 2 + (2 * kind + h) * block;
        CHECK_THAT(weights(h) * direction(h),
                   WithinAbs(weights.segment(at, block).dot(direction.segment(at, block)), 1e-13));
      }
    }
  }
}

TEST_CASE("key and query theory: bad input names the parameter", "[theory][key_query]") {
  const KeyQueryTask task = KeyQueryTask::power_law(3, 1, 10);
  CHECK(refused([] { KeyQueryTask(VectorXd::Zero(2), 3); }) == "spectrum");
  CHECK(refused([] { KeyQueryTask(VectorXd::Ones(2), 0); }) == "context");
  CHECK(refused([] { KeyQueryTask::power_law(0, 1, 3); }) == "dimension");
  CHECK(refused([&] { AlignedFlow(task, 0); }) == "init_scale");
  CHECK(refused([&] { AlignedFlow(task, 3); }) == "init_scale");
  const KeyQueryShape merged{KeyQuery::merged, 1, 3};
  CHECK(refused([&] {
          static_cast<void>(white_mse(task, merged, VectorXd::Ones(merged.size()), 1));
        }) == "spectrum");
  CHECK(refused([&] { static_cast<void>(aligned_weights(merged, 1)); }) == "rank");
  CHECK(refused([] {
          static_cast<void>(aligned_weights({KeyQuery::separate, 2, 3, 1}, 1));
        }) == "heads");
}

}  // namespace icl_key_query_test

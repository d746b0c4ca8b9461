#include "attica/theory/training/first_order.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "attica/core/parallel.hpp"
#include "attica/theory/training/flow.hpp"
#include "attica/theory/training/mirrored_pairs.hpp"
#include "refused.hpp"
#include "theory/training/models.hpp"

using namespace attica;
using namespace attica::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace training_first_order_test {

TrainingPlan plan_of(const std::string& model, double rate, std::vector<std::uint64_t> recorded) {
  return {.start = reference_start(model),
          .rate = [rate](std::uint64_t) { return rate; },
          .recorded = std::move(recorded)};
}

/// What a reference case asks for.
TrainingPlan plan_of(Reference r) {
  std::vector<std::uint64_t> steps;
  for (const auto& [step, values] : r["expected"].items()) steps.push_back(std::stoull(step));
  std::ranges::sort(steps);
  TrainingPlan plan = plan_of(r["model"].text(), r["eta"], std::move(steps));
  plan.batch = static_cast<std::int64_t>(r.value("batch", 0.0));
  plan.samples = static_cast<std::int64_t>(r.value("samples", 0.0));
  plan.momentum = r.value("momentum", 0.0);
  plan.decay = r.value("decay", 0.0);
  if (r.contains("momentum")) plan.update = Update::heavy_ball;
  const std::string revisit = r.value("revisit", "epoch");
  plan.revisit = revisit == "replace"   ? Revisit::replace
                 : revisit == "without" ? Revisit::without
                                        : Revisit::epoch;
  if (r.contains("eta_factor")) {
    const double eta = r["eta"];
    const auto from = static_cast<std::uint64_t>(r["eta_factor"]["from_step"].integer());
    const double factor = r["eta_factor"]["factor"];
    plan.rate = [=](std::uint64_t step) { return step < from ? eta : factor * eta; };
  }
  return plan;
}

/// "w2 = sum of squares of parameters 0 .. 0"
Observable squares_of(const std::string& text) {
  const std::size_t at = text.find("parameters ") + 11;
  const Index first = std::stol(text.substr(at));
  const Index last = std::stol(text.substr(text.find(".. ") + 3));
  return
      [=](const VectorXd& theta) { return theta.segment(first, last - first + 1).squaredNorm(); };
}

Observable coordinate(const VectorXd& direction) {
  return [=](const VectorXd& theta) { return direction.dot(theta); };
}

double linear_sd(const Moment& m) { return std::sqrt(m.variance - m.curvature_variance); }

TEST_CASE("training_theory: the reference cases", "[theory]") {
  // Differences by steps of 3e-4: relative errors of 1e-7 a step, which add up; terms may cancel.
  const Reference cases = reference_values("training")["cases"];
  int compared = 0;
  for (const Reference r : cases) {
    const std::string name = r["model"].text();
    if (r.contains("method") || name == "attention") continue;
    CAPTURE(r.dump().substr(0, 160));
    const SampledModel model = reference_model(name);
    const std::string text = r["observable"].text();
    const std::string observed = text.substr(0, text.find(' '));
    const auto records = training_theory(model, plan_of(r), {squares_of(text)}, {.step = 3e-4});
    REQUIRE(records.size() == r["expected"].size());
    for (const TrainingTheoryRecord& record : records) {
      CAPTURE(record.step);
      const Reference expected = r["expected"][std::to_string(record.step)];
      const auto check = [&](const char* key, const Moment& found, double sd) {
        CAPTURE(key);
        const Reference e = expected[key];
        CHECK(found.order_0 == Approx(e["order0"].real()).epsilon(1e-10));
        CHECK(found.shift == Approx(e["shift"].real()).epsilon(1e-5).margin(1e-5 * found.size));
        CHECK(sd == Approx(e["sd"].real()).epsilon(1e-5));
        ++compared;
      };
      check("loss", record.loss, record.loss.sd());
      check(observed.c_str(), record.observed[0], linear_sd(record.observed[0]));
      if (expected.contains("train")) check("train", record.train_loss, record.train_loss.sd());
    }
  }
  CHECK(compared > 150);
}

TEST_CASE("training_theory: C and the mean of the parameters, step by step", "[theory]") {
  const Reference all = reference_values("training")["one_case_step_by_step"];
  const SampledModel model = reference_model("tiny");
  const VectorXd w = VectorXd::Unit(2, 0);
  const VectorXd v = VectorXd::Unit(2, 1);
  for (const char* mode : {"batch 4", "samples 64"}) {
    CAPTURE(mode);
    TrainingPlan plan = plan_of("tiny", all["eta"], {0, 1, 2, 3});
    (mode[0] == 'b' ? plan.batch : plan.samples) = mode[0] == 'b' ? 4 : 64;
    const auto records =
        training_theory(model, plan, {coordinate(w), coordinate(v), coordinate(w + v)});
    for (const TrainingTheoryRecord& record : records) {
      CAPTURE(record.step);
      const Reference e = all[mode][std::to_string(record.step)];
      const MatrixXd c = matrix(e["C"]);
      const VectorXd delta = vector(e["delta"]);
      const std::vector<Moment>& o = record.observed;
      CHECK(o[0].order_0 == Approx(e["theta"][0].real()).epsilon(1e-10));
      for (Index i = 0; i < 2; ++i) {
        const Moment& m = o[static_cast<std::size_t>(i)];
        CHECK(m.shift == Approx(delta[i]).epsilon(1e-5).margin(1e-12));
        CHECK(m.variance == Approx(c(i, i)).epsilon(1e-5).margin(1e-14));
        CHECK(m.curvature_variance < 1e-12);
      }
      CHECK(o[2].variance == Approx(c.sum()).epsilon(1e-5).margin(1e-14));
      CHECK(record.loss.shift == Approx(e["loss"]["shift"].real()).epsilon(1e-5).margin(1e-12));
    }
  }
}

// ---- All random choices, enumerated ------------------------------------------------------------

/// Calls visit(counts, probability) for all draws of `size` out of three kinds: with replacement
/// with probabilities p, or without out of `stock`.
template <class Visit>
void for_counts(int size, const VectorXd& p, const Eigen::Vector3i* stock, const Visit& visit) {
  const auto ln_factorial = [](int n) { return std::lgamma(n + 1.0); };
  const auto ln_choose = [&](int n, int k) {
    return ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
  };
  for (int a = 0; a <= size; ++a) {
    for (int b = 0; a + b <= size; ++b) {
      const Eigen::Vector3i c(a, b, size - a - b);
      double ln = 0;
      bool possible = true;
      for (int k = 0; k < 3; ++k) {
        if (stock != nullptr) {
          possible = possible && c[k] <= (*stock)[k];
          if (possible) ln += ln_choose((*stock)[k], c[k]);
        } else {
          possible = possible && (c[k] == 0 || p[k] > 0);
          if (possible && c[k] > 0) ln += c[k] * std::log(p[k]);
          ln -= ln_factorial(c[k]);
        }
      }
      ln += stock != nullptr ? -ln_choose(stock->sum(), size) : ln_factorial(size);
      if (possible) visit(c, std::exp(ln));
    }
  }
}

/// Exact means over all runs of the tiny model after some steps.
struct Exact {
  double loss = 0, train = 0, batch = 0;
};

class Enumeration {
 public:
  Enumeration(const TrainingPlan& plan, std::uint64_t steps)
      : model_(reference_model("tiny")), plan_(plan), steps_(steps) {
    const State start{plan.start, VectorXd::Zero(2)};
    if (plan.samples == 0) {
      go(start, 1, 0, Eigen::Vector3i::Zero(), Eigen::Vector3i::Zero());
    } else {
      for_counts(static_cast<int>(plan.samples),
                 model_.weights(),
                 nullptr,
                 [&](const Eigen::Vector3i& data, double p) { go(start, p, 0, data, data); });
    }
  }

  const Exact& result() const { return result_; }

 private:
  struct State {
    VectorXd theta, velocity;
  };

  static VectorXd shares(const Eigen::Vector3i& c) { return c.cast<double>() / c.sum(); }

  void go(const State& state,
          double probability,
          std::uint64_t step,
          const Eigen::Vector3i& data,
          Eigen::Vector3i left) {
    if (plan_.samples > 0 && plan_.batch > 0 && plan_.revisit == Revisit::epoch &&
        left.sum() < plan_.batch) {
      left = data;
    }
    const VectorXd& p = model_.weights();
    const auto visit = [&](const Eigen::Vector3i& batch, double share) {
      State next = state;
      VectorXd loss, gradient(2);
      const VectorXd w = shares(batch);
      model_.pass(state.theta, loss, &w, &gradient);
      gradient += plan_.decay * state.theta;
      next.velocity = plan_.momentum * state.velocity + gradient;
      next.theta -= plan_.rate(step) * next.velocity;
      const bool used = plan_.revisit == Revisit::epoch && plan_.samples > 0 && plan_.batch > 0;
      go(next, probability * share, step + 1, data, used ? Eigen::Vector3i(left - batch) : data);
    };
    if (step == steps_) {
      const VectorXd l = losses(state);
      result_.loss += probability * p.dot(l);
      if (plan_.samples > 0) result_.train += probability * l.dot(shares(data));
      // The next batch has, on average, what its samples have.
      result_.batch += probability * l.dot(plan_.samples == 0 ? p : shares(left));
      return;
    }
    const int size = static_cast<int>(plan_.batch);
    if (size == 0) {
      visit(data, 1);
    } else if (plan_.samples == 0) {
      for_counts(size, p, nullptr, visit);
    } else if (plan_.revisit == Revisit::replace) {
      for_counts(size, shares(data), nullptr, visit);
    } else {
      for_counts(size, p, plan_.revisit == Revisit::without ? &data : &left, visit);
    }
  }

  VectorXd losses(const State& state) const {
    VectorXd l;
    model_.pass(state.theta, l, nullptr, nullptr);
    return l;
  }

  SampledModel model_;
  const TrainingPlan& plan_;
  std::uint64_t steps_;
  Exact result_;
};

/// What first order leaves of the means, halving 1/B and 1/M: a quarter.
struct Left {
  double test, train, batch;
};

Left left_of(const TrainingPlan& plan) {
  const auto record = training_theory(reference_model("tiny"), plan).back();
  const Exact exact = Enumeration(plan, plan.recorded.back()).result();
  CHECK(std::abs(exact.loss - record.loss.value()) < 0.2 * record.loss.size);
  return {exact.loss - record.loss.value(),
          exact.train - record.train_loss.value(),
          exact.batch - record.batch_loss.value()};
}

void check_ratio(double before, double after) {
  CHECK(before / after > 3.6);
  CHECK(before / after < 4.1);
}

TEST_CASE("training_theory: what first order leaves of all runs falls as 1/B^2", "[theory]") {
  TrainingPlan plan = plan_of("tiny", 0.4, {4});
  plan.batch = 1;
  Left last = left_of(plan);
  for (plan.batch = 2; plan.batch <= 4; plan.batch *= 2) {
    const Left now = left_of(plan);
    check_ratio(last.test, now.test);
    check_ratio(last.batch, now.batch);
    last = now;
    const std::string key = "batch " + std::to_string(plan.batch);
    CHECK(now.test ==
          Approx(reference_values("training")["left_by_first_order"][key].real()).epsilon(5e-3));
  }
}

TEST_CASE("training_theory: what first order leaves of all data sets falls as 1/M^2", "[theory]") {
  TrainingPlan plan = plan_of("tiny", 0.4, {40});
  plan.samples = 16;
  Left last = left_of(plan);
  for (plan.samples = 32; plan.samples <= 64; plan.samples *= 2) {
    const Left now = left_of(plan);
    check_ratio(last.test, now.test);
    check_ratio(last.train, now.train);
    last = now;
  }
  plan.update = Update::heavy_ball;
  plan.momentum = 0.7;
  plan.decay = 0.1;
  plan.rate = [](std::uint64_t) { return 0.2; };
  plan.samples = 64;
  const Left half = left_of(plan);
  plan.samples = 128;
  const Left full = left_of(plan);
  check_ratio(half.test, full.test);
  check_ratio(half.train, full.train);
}

TEST_CASE("training_theory: what first order leaves of batches out of samples falls as 1/M^2",
          "[theory]") {
  for (const Revisit revisit : {Revisit::replace, Revisit::without, Revisit::epoch}) {
    for (const double momentum : {0.0, 0.5}) {
      CAPTURE(static_cast<int>(revisit), momentum);
      // The third step of epochs is the first of their second one.
      TrainingPlan plan = plan_of("tiny", 0.2, {revisit == Revisit::epoch ? 3U : 2U});
      plan.revisit = revisit;
      if (momentum > 0) {
        plan.update = Update::heavy_ball;
        plan.momentum = momentum;
        plan.decay = 0.1;
      }
      plan.samples = 8;
      plan.batch = 4;
      const Left before = left_of(plan);
      plan.samples = 16;
      plan.batch = 8;
      const Left after = left_of(plan);
      check_ratio(before.test, after.test);
      check_ratio(before.train, after.train);
      check_ratio(before.batch, after.batch);
    }
  }
}

// ---- Limits ------------------------------------------------------------------------------------

/// Mean Hessian and covariance of gradients, by differences and samples.
struct Curvature {
  MatrixXd hessian, sigma;
};

Curvature curvature(const SampledModel& model, const VectorXd& theta) {
  const Index size = theta.size();
  const VectorXd& p = model.weights();
  Curvature out{MatrixXd(size, size), MatrixXd::Zero(size, size)};
  VectorXd losses, up(size), down(size), mean(size);
  constexpr double kStep = 1e-5;
  for (Index k = 0; k < size; ++k) {
    const VectorXd step = kStep * VectorXd::Unit(size, k);
    model.pass(theta + step, losses, &p, &up);
    model.pass(theta - step, losses, &p, &down);
    out.hessian.col(k) = (up - down) / (2 * kStep);
  }
  model.pass(theta, losses, &p, &mean);
  for (Index s = 0; s < p.size(); ++s) {
    const VectorXd w = VectorXd::Unit(p.size(), s);
    model.pass(theta, losses, &w, &up);
    out.sigma += p[s] * (up - mean) * (up - mean).transpose();
  }
  return out;
}

TEST_CASE("training_theory: batches end in the covariance of Lyapunov's equation", "[theory]") {
  const SampledModel model = reference_model("linear");
  TrainingPlan plan = plan_of("linear", 0.4, {1500});
  plan.batch = 8;
  std::vector<Observable> coordinates;
  for (Index k = 0; k < 3; ++k) coordinates.push_back(coordinate(VectorXd::Unit(3, k)));
  const auto end = training_theory(model, plan, coordinates).back();
  VectorXd optimum(3);
  for (Index k = 0; k < 3; ++k) optimum[k] = end.observed[static_cast<std::size_t>(k)].order_0;
  const Curvature c = curvature(model, optimum);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(c.hessian);
  const VectorXd& h = parts.eigenvalues();
  const MatrixXd sigma = parts.eigenvectors().transpose() * c.sigma * parts.eigenvectors();
  MatrixXd expected(3, 3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      expected(i, j) = 0.4 / 8 * sigma(i, j) / (h[i] + h[j] - 0.4 * h[i] * h[j]);
    }
  }
  const MatrixXd covariance = parts.eigenvectors() * expected * parts.eigenvectors().transpose();
  for (Index k = 0; k < 3; ++k) {
    const Moment& m = end.observed[static_cast<std::size_t>(k)];
    CHECK(m.variance == Approx(covariance(k, k)).epsilon(1e-6));
    CHECK(std::abs(m.shift) < 1e-9);  // no third derivative
  }
  CHECK(end.loss.shift == Approx(h.dot(expected.diagonal()) / 2).epsilon(1e-6));
  // At a minimum the loss varies by its curvature alone.
  CHECK(end.loss.variance == Approx(end.loss.curvature_variance).epsilon(1e-6));
}

TEST_CASE("training_theory: heavy ball in one dimension ends in its known variance", "[theory]") {
  constexpr double kCurvature = 1.3, kRate = 0.3, kMomentum = 0.8;
  const VectorXd p = VectorXd::Constant(2, 0.5);
  const SampledModel model(1, p, [](const VectorXd& theta, Index s, VectorXd& gradient) {
    const double residual = theta[0] - (s == 0 ? 1 : -1);
    gradient[0] = kCurvature * residual;
    return kCurvature * residual * residual / 2;
  });
  const TrainingPlan plan{.start = VectorXd::Constant(1, 0.4),
                          .rate = [](std::uint64_t) { return kRate; },
                          .update = Update::heavy_ball,
                          .momentum = kMomentum,
                          .batch = 10,
                          .recorded = {400}};
  const auto end = training_theory(model, plan, {coordinate(VectorXd::Ones(1))}).back();
  const double noise = kCurvature * kCurvature;  // of one sample's gradient
  CHECK(end.observed[0].variance ==
        Approx(kRate * noise * (1 + kMomentum) /
               (10 * kCurvature * (1 - kMomentum) * (2 * (1 + kMomentum) - kRate * kCurvature)))
            .epsilon(1e-9));
}

TEST_CASE("training_theory: fixed samples end in Cox and Snell's bias and tr(H^+ Sigma)/2M",
          "[theory]") {
  // A logistic intercept: bias (2q - 1) / (2 M q (1 - q)).
  constexpr double kShare = 0.3;
  const SampledModel intercept(1,
                               Eigen::Vector2d(kShare, 1 - kShare),
                               [](const VectorXd& theta, Index s, VectorXd& gradient) {
                                 const double up = 1 / (1 + std::exp(-theta[0]));
                                 gradient[0] = up - (s == 0 ? 1 : 0);
                                 return -std::log(s == 0 ? up : 1 - up);
                               });
  TrainingPlan plan{.start = VectorXd::Zero(1),
                    .rate = [](std::uint64_t) { return 1.0; },
                    .samples = 100,
                    .recorded = {400}};
  const auto end = training_theory(intercept, plan, {coordinate(VectorXd::Ones(1))}).back();
  CHECK(end.observed[0].shift ==
        Approx((2 * kShare - 1) / (200 * kShare * (1 - kShare))).epsilon(1e-6));
  CHECK(end.loss.shift == Approx(1.0 / 200).epsilon(1e-6));
  CHECK(end.loss.shift - end.train_loss.shift == Approx(1.0 / 100).epsilon(1e-6));

  // Softmax regression, misspecified: three of nine parameters are not identified.
  const SampledModel softmax = reference_model("softmax");
  plan = plan_of("softmax", 1.5, {3000});
  plan.samples = 1000;
  std::vector<Observable> coordinates;
  for (Index k = 0; k < 9; ++k) coordinates.push_back(coordinate(VectorXd::Unit(9, k)));
  const auto late = training_theory(softmax, plan, coordinates, {.numerical_error = false}).back();
  VectorXd optimum(9);
  for (Index k = 0; k < 9; ++k) optimum[k] = late.observed[static_cast<std::size_t>(k)].order_0;
  const Curvature c = curvature(softmax, optimum);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(c.hessian);
  double trace = 0;
  for (Index k = 0; k < 9; ++k) {
    const VectorXd u = parts.eigenvectors().col(k);
    const double h = parts.eigenvalues()[k];
    if (h > 1e-8) trace += u.dot(c.sigma * u) / h;
  }
  CHECK(late.loss.shift == Approx(trace / 2000).epsilon(1e-5));
  CHECK(late.loss.shift - late.train_loss.shift == Approx(trace / 1000).epsilon(1e-5));
}

TEST_CASE("training_theory: one epoch is training on fresh samples", "[theory]") {
  const SampledModel model = reference_model("mlp");
  TrainingPlan plan = plan_of("mlp", 0.2, {1, 4, 10});
  plan.batch = 10;
  const Observable norm = [](const VectorXd& theta) { return theta.squaredNorm(); };
  const auto fresh = training_theory(model, plan, {norm});
  plan.samples = 100;
  const auto epoch = training_theory(model, plan, {norm});
  for (std::size_t k = 0; k < fresh.size(); ++k) {
    CHECK(epoch[k].loss.shift == Approx(fresh[k].loss.shift).epsilon(1e-10));
    CHECK(epoch[k].observed[0].shift == Approx(fresh[k].observed[0].shift).epsilon(1e-8));
    CHECK(epoch[k].loss.variance == Approx(fresh[k].loss.variance).epsilon(1e-10));
    if (fresh[k].step < 10) {  // batches that have not been seen
      CHECK(epoch[k].batch_loss.shift == Approx(fresh[k].loss.shift).epsilon(1e-10));
    }
  }
}

// ---- Axes, stretches, pairs, rules -------------------------------------------------------------

TEST_CASE("training_theory: fewer axes than parameters", "[theory]") {
  const SampledModel model = reference_model("potts");
  TrainingPlan plan = plan_of("potts", 0.5, {30});
  for (const bool momentum : {false, true}) {
    for (const bool samples : {false, true}) {
      CAPTURE(momentum, samples);
      plan.batch = samples ? 0 : 16;
      plan.samples = samples ? 200 : 0;
      plan.update = momentum ? Update::heavy_ball : Update::descent;
      plan.momentum = momentum ? 0.5 : 0;
      const auto all = training_theory(model, plan, {}, {.kind = TheoryMethod::Kind::dense}).back();
      const auto few = training_theory(model, plan, {}, {.rank = 12}).back();
      CHECK(std::abs(few.loss.shift - all.loss.shift) < 1e-3 * all.loss.size);
      CHECK(std::abs(few.loss.shift - all.loss.shift) <
            few.loss.numerical_error + 1e-5 * all.loss.size);
      CHECK(std::abs(few.train_loss.shift - all.train_loss.shift) <
            few.train_loss.numerical_error + 1e-5 * all.train_loss.size);
    }
  }
}

TEST_CASE("training_theory: steps held together at the point halfway", "[theory]") {
  const SampledModel model = reference_model("potts");
  Reference held = reference_values("training")["cases"][0];
  for (const Reference r : reference_values("training")["cases"]) {
    if (r.contains("every")) held = r;
  }
  const TrainingPlan plan = plan_of(held);
  const auto off = [&](std::uint64_t hold) {
    const auto records = training_theory(model, plan, {}, {.hold = hold, .numerical_error = false});
    double largest = 0;
    for (const TrainingTheoryRecord& record : records) {
      const Reference e = held["expected"][std::to_string(record.step)];
      CHECK(record.loss.order_0 == Approx(e["loss"]["order0"].real()).epsilon(1e-10));
      if (hold == 10) {
        // The reference takes another point halfway along the path: a difference of order m^2.
        CHECK(record.loss.shift == Approx(e["loss"]["shift"].real()).epsilon(2e-4));
        CHECK(record.train_loss.shift == Approx(e["train"]["shift"].real()).epsilon(2e-4));
      }
      largest = std::max(largest, std::abs(record.loss.shift / e["loss"]["shift"].real() - 1));
    }
    return largest;
  };
  off(10);
  const auto exact = training_theory(model, plan, {}, {.numerical_error = false}).back();
  const auto shift = [&](std::uint64_t hold, Index rank) {
    return training_theory(model, plan, {}, {.rank = rank, .hold = hold, .numerical_error = false})
        .back()
        .loss.shift;
  };
  const double five = std::abs(shift(5, 40) / exact.loss.shift - 1);
  const double twenty = std::abs(shift(20, 40) / exact.loss.shift - 1);
  CHECK(twenty < 2e-3);
  CHECK(twenty > 10 * five);  // as the square: 16
  CHECK(shift(20, 12) == Approx(exact.loss.shift).epsilon(5e-3));
}

TEST_CASE("training_theory: few axes over many held steps neither grow nor lose the mean",
          "[theory]") {
  // Least squares at its solution: C ends in that of Lyapunov's equation, and stays there.
  constexpr Index kParameters = 14;
  const SampledModel model(
      kParameters, VectorXd::Ones(40), [](const VectorXd& theta, Index s, VectorXd& gradient) {
        const auto number = static_cast<double>(s);
        for (Index k = 0; k < theta.size(); ++k) {
          gradient[k] = std::cos(1 + number * static_cast<double>(k + 1));
        }
        const double miss = theta.dot(gradient) - std::sin(3 * number);
        gradient *= miss;
        return miss * miss / 2;
      });
  const TrainingPlan plan{.start = VectorXd::Zero(kParameters),
                          .rate = [](std::uint64_t) { return 0.7; },
                          .batch = 64,
                          .recorded = {200, 2000}};
  const auto all = training_theory(model, plan, {}, {.kind = TheoryMethod::Kind::dense});
  for (const std::uint64_t hold : {20, 100}) {
    const auto few = training_theory(model, plan, {}, {.rank = 5, .hold = hold});
    for (const std::size_t k : {0, 1}) {
      CAPTURE(hold, k);
      CHECK(few[k].loss.shift > 0.5 * all[k].loss.shift);
      CHECK(few[k].loss.shift < 1.001 * all[k].loss.shift);
    }
  }
}

TEST_CASE("training_theory: mirrored pairs have the mean of first order", "[theory]") {
  for (const char* name : {"mlp", "softmax"}) {
    const SampledModel model = reference_model(name);
    for (const bool samples : {false, true}) {
      CAPTURE(name, samples);
      TrainingPlan plan = plan_of(name, 0.1, {1, 15});
      plan.batch = samples ? 20 : 16;
      plan.samples = samples ? 100 : 0;
      plan.update = Update::heavy_ball;
      plan.momentum = 0.5;
      const Observable norm = [](const VectorXd& theta) { return theta.squaredNorm(); };
      const auto axes = training_theory(model, plan, {norm});
      const auto pairs =
          training_theory(model, plan, {norm}, {.kind = TheoryMethod::Kind::pairs, .pairs = 200});
      for (std::size_t k = 0; k < axes.size(); ++k) {
        const auto check = [&](const Moment& a, const Moment& b) {
          CHECK(a.order_0 == b.order_0);
          CHECK(std::abs(a.shift - b.shift) < 4 * b.numerical_error + 2e-3 * std::abs(b.next));
          CHECK(b.numerical_error < 0.5 * a.size);
          CHECK(b.variance == Approx(a.variance).epsilon(0.4));  // 4 sqrt(2/200)
        };
        check(axes[k].loss, pairs[k].loss);
        check(axes[k].observed[0], pairs[k].observed[0]);
        if (samples) check(axes[k].train_loss, pairs[k].train_loss);
      }
    }
  }
}

TEST_CASE("training_theory: Adam on the population, its squares with the variance of batches",
          "[theory]") {
  for (const Reference r : reference_values("training")["cases"]) {
    if (r.value("method", "").rfind("Adam", 0) != 0) continue;
    const std::string name = r["model"].text();
    CAPTURE(name);
    const SampledModel model = reference_model(name);
    TrainingPlan plan = plan_of(r);
    plan.update = Update::adam;
    const TheoryMethod method{.kind = TheoryMethod::Kind::pairs, .pairs = 2};
    const auto resummed = training_theory(model, plan, {}, method);
    plan.batch = 0;
    const auto plain = training_theory(model, plan, {}, method);
    for (std::size_t k = 0; k < plain.size(); ++k) {
      const Reference e = r["expected"][std::to_string(plain[k].step)];
      CHECK(resummed[k].loss.order_0 == Approx(e["resummed"].real()).epsilon(1e-9));
      CHECK(plain[k].loss.order_0 == Approx(e["plain"].real()).epsilon(1e-9));
      CHECK(std::abs(plain[k].loss.shift) < 1e-9);
      const Moment& loss = resummed[k].loss;
      CHECK(loss.finite_size() ==
            Approx(std::abs(loss.next) + 2 * loss.next_error + std::abs(loss.shift) / 3));
    }
  }
}

TEST_CASE("mirrored_pairs: what batches change in Adam's path on the population", "[theory]") {
  const SampledModel model = reference_model("mlp");
  TrainingPlan plan = plan_of("mlp", 0.01, {0, 1, 20});
  plan.update = Update::adam;
  const TheoryMethod method{.kind = TheoryMethod::Kind::pairs, .pairs = 2};
  const auto plain = mirrored_pairs(model, plan, {}, method);
  plan.batch = 8;
  const auto resummed = mirrored_pairs(model, plan, {}, method);
  REQUIRE(resummed.size() == 3);
  CHECK(resummed[0].loss.resummed == 0);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(plain[k].loss.resummed == 0);
    CHECK(resummed[k].loss.resummed == resummed[k].loss.order_0 - plain[k].loss.order_0);
  }
  CHECK(resummed[2].loss.resummed > 0);  // smaller steps
}

TEST_CASE("training_theory: descent on the population has no deviations", "[theory]") {
  const SampledModel model = reference_model("mlp");
  const TrainingPlan plan = plan_of("mlp", 0.2, {0, 5});
  for (const Index rank : {4, 40}) {
    for (const std::uint64_t hold : {1, 3}) {
      const auto end = training_theory(model, plan, {}, {.rank = rank, .hold = hold}).back();
      CHECK(end.loss.shift == 0);
      CHECK(end.loss.variance == 0);
      CHECK(end.undescribed.empty());
      CHECK(end.sharpness > 0);
    }
  }
}

TEST_CASE("training_theory: the same bytes for any number of threads", "[theory]") {
  const SampledModel model = reference_model("potts");
  TrainingPlan plan = plan_of("potts", 0.5, {3, 6});
  plan.batch = 16;
  plan.samples = 64;
  const auto bytes = [&](int threads) {
    const ThreadLimit limit(threads);
    std::vector<double> all;
    for (const auto& r : training_theory(model, plan, {}, {.rank = 7, .pairs = 4})) {
      for (const Moment& m : {r.loss, r.train_loss, r.batch_loss}) {
        all.insert(all.end(), {m.shift, m.variance, m.numerical_error, m.next, m.next_error});
      }
      all.push_back(r.sharpness);
    }
    return all;
  };
  const std::vector<double> one = bytes(1);
  for (const int threads : {2, 7}) {
    const std::vector<double> other = bytes(threads);
    CHECK(std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0);
  }
}

TEST_CASE("training_theory: where nothing is predicted, and why", "[theory]") {
  const auto reason = [](const std::string& model, TrainingPlan plan, TheoryMethod method = {}) {
    return training_theory(reference_model(model), plan, {}, method).back().undescribed;
  };
  TrainingPlan plan = plan_of("mlp", 0.2, {0, 20, 40});
  plan.batch = 32;
  CHECK(reason("mlp", plan) == "");
  // The rules compare with the start, recorded or not, however the theory is computed.
  plan.recorded = {40};
  CHECK(reason("mlp", plan, {.hold = 5}) == "");
  CHECK(reason("mlp", plan, {.kind = TheoryMethod::Kind::pairs, .pairs = 64}) == "");
  TrainingPlan leaving = plan_of("potts", 0.5, {40});
  leaving.batch = 64;
  CHECK(reason("potts", leaving) == "");
  CHECK(reason("potts", leaving, {.hold = 5}) == "");
  plan.recorded = {0, 20, 40};
  plan.batch = 1;
  CHECK_THAT(reason("mlp", plan), Catch::Contains("of the loss"));
  plan.batch = 1000000;
  plan.rate = [](std::uint64_t step) { return step < 40 ? 0.2 : 2.0; };
  CHECK_THAT(reason("mlp", plan), Catch::Contains("edge of stability"));
  plan.rate = [](std::uint64_t) { return 0.2; };
  plan.clip_norm = 0.1;
  CHECK_THAT(reason("mlp", plan), Catch::Contains("clip"));
  // A start next to the saddle at 0.
  plan = plan_of("potts", 0.5, {0, 240});
  plan.start *= 0.003 / 0.5;
  plan.batch = 2;
  CHECK_THAT(reason("potts", plan), Catch::Contains("saddle"));
  // A loss with a kink, |theta|, next to it at step 5.
  const VectorXd half = VectorXd::Constant(2, 0.5);
  const SampledModel kink(1, half, [](const VectorXd& theta, Index s, VectorXd& gradient) {
    gradient[0] = (theta[0] > 0 ? 1 : -1) + (s == 0 ? 0.5 : -0.5);
    return std::abs(theta[0]) + (s == 0 ? 0.5 : -0.5) * theta[0] + 1;
  });
  const TrainingPlan over{.start = VectorXd::Constant(1, 0.5),
                          .rate = [](std::uint64_t) { return 0.09995; },
                          .batch = 100,
                          .recorded = {1, 5}};
  CHECK_THAT(training_theory(kink, over).back().undescribed, Catch::Contains("kinks"));
}

TEST_CASE("training_theory: what batches differ by counts towards clipping", "[theory]") {
  // |theta|^2/2 + 1 +- 10 theta_k, |theta| = 1: a batch's gradient has mean square 1 + 100/B.
  const SampledModel noisy(
      6, VectorXd::Ones(12), [](const VectorXd& theta, Index s, VectorXd& gradient) {
        const double slope = s % 2 == 0 ? 10 : -10;
        gradient = theta;
        gradient[s / 2] += slope;
        return theta.squaredNorm() / 2 + slope * theta[s / 2] + 1;
      });
  TrainingPlan plan{.start = VectorXd::Constant(6, 1 / std::sqrt(6.0)),
                    .rate = [](std::uint64_t) { return 1e-3; },
                    .clip_norm = 4,  // half of it: 4 = 1 + 100/33.3
                    .recorded = {4, 8}};
  const auto reason = [&](std::int64_t batch, const TheoryMethod& method) {
    plan.batch = batch;
    return training_theory(noisy, plan, {}, method).back().undescribed;
  };
  for (const std::uint64_t hold : {1, 2}) {
    CHECK_THAT(reason(31, {.hold = hold}), Catch::Contains("clip_norm"));
    CHECK(reason(36, {.hold = hold}) == "");
    // By random combinations beside two axes.
    const TheoryMethod two{.rank = 2, .hold = hold, .numerical_error = false};
    CHECK_THAT(reason(8, two), Catch::Contains("clip_norm"));
    CHECK(reason(200, two) == "");
  }
  // Samples have 100/M in addition.
  CHECK(reason(34, {}) == "");
  plan.samples = 1000;
  plan.revisit = Revisit::replace;
  CHECK_THAT(reason(34, {}), Catch::Contains("clip_norm"));
}

TEST_CASE("training_theory: refuses a gradient of other weights than it is given, and no number",
          "[theory]") {
  class Other : public PopulationModel {
   public:
    enum class Mistake { ignores_weights, takes_a_mean, is_no_number };
    Other(const SampledModel& model, Mistake mistake) : model_(model), mistake_(mistake) {}
    Index parameters() const override { return model_.parameters(); }
    const VectorXd& weights() const override { return model_.weights(); }
    void pass(const VectorXd& theta,
              VectorXd& losses,
              const VectorXd* weights,
              VectorXd* gradient) const override {
      if (weights == nullptr) return model_.pass(theta, losses, weights, gradient);
      const VectorXd given = mistake_ == Mistake::ignores_weights ? VectorXd(model_.weights())
                             : mistake_ == Mistake::takes_a_mean
                                 ? VectorXd(*weights / weights->sum())
                                 : *weights;
      model_.pass(theta, losses, &given, gradient);
      if (mistake_ == Mistake::is_no_number) (*gradient)[0] = std::nan("");
    }

   private:
    const SampledModel& model_;
    Mistake mistake_;
  };
  for (const char* name : {"tiny", "linear", "softmax", "potts", "mlp", "icl"}) {
    CAPTURE(name);
    const SampledModel right = reference_model(name);
    const VectorXd start = reference_start(name);
    for (const auto mistake : {Other::Mistake::ignores_weights, Other::Mistake::takes_a_mean})
      CHECK(refused([&] { require_gradient_of_losses(Other(right, mistake), start); }) ==
            "gradient");
    CHECK_THROWS_WITH(require_gradient_of_losses(Other(right, Other::Mistake::is_no_number), start),
                      Catch::Contains("gradient of the model at the start: nan at component 0"));
  }
}

TEST_CASE("training_theory: refuses a gradient that is not the derivative of the losses",
          "[theory]") {
  // Each model with a gradient 5 % too long, or without the parameter of the largest derivative.
  for (const char* name : {"tiny", "linear", "softmax", "potts", "mlp", "icl"}) {
    CAPTURE(name);
    const SampledModel right = reference_model(name);
    const VectorXd start = reference_start(name);
    CHECK(refused([&] { require_gradient_of_losses(right, start); }) == "accepted");
    CHECK(refused([&] { require_gradient_of_losses(right, start, 1e-2); }) == "accepted");
    CHECK(refused([&] { require_gradient_of_losses(right, VectorXd::Zero(start.size())); }) ==
          "accepted");
    class Wrong : public PopulationModel {
     public:
      Wrong(const SampledModel& model, bool factor) : model_(model), factor_(factor) {}
      Index parameters() const override { return model_.parameters(); }
      const VectorXd& weights() const override { return model_.weights(); }
      void pass(const VectorXd& theta,
                VectorXd& losses,
                const VectorXd* weights,
                VectorXd* gradient) const override {
        model_.pass(theta, losses, weights, gradient);
        if (weights == nullptr) return;
        if (factor_) {
          *gradient *= 1.05;
        } else {
          Index largest = 0;
          gradient->cwiseAbs().maxCoeff(&largest);
          (*gradient)[largest] = 0;
        }
      }

     private:
      const SampledModel& model_;
      bool factor_;
    };
    for (const bool factor : {true, false}) {
      const Wrong wrong(right, factor);
      TrainingPlan plan = plan_of(name, 0.1, {0, 1});
      CHECK(refused([&] { training_theory(wrong, plan); }) == "gradient");
      CHECK(refused([&] { training_flow(wrong, start, {1.0}); }) == "gradient");
    }
  }
}

TEST_CASE("training_theory: fields out of their domain", "[theory]") {
  const SampledModel model = reference_model("tiny");
  const auto parameter = [&](const std::function<void(TrainingPlan&, TheoryMethod&)>& edit) {
    TrainingPlan plan = plan_of("tiny", 0.4, {1});
    TheoryMethod method;
    edit(plan, method);
    return refused([&] { training_theory(model, plan, {}, method); });
  };
  CHECK(parameter([](auto&, auto&) {}) == "accepted");
  CHECK(parameter([](auto& p, auto&) { p.start.resize(3); }) == "start");
  CHECK(parameter([](auto& p, auto&) { p.rate = nullptr; }) == "rate");
  CHECK(parameter([](auto& p, auto&) { p.momentum = 0.5; }) == "momentum");
  CHECK(parameter([](auto& p, auto&) { p.decay = -1; }) == "decay");
  CHECK(parameter([](auto& p, auto&) { p.samples = 1; }) == "samples");
  CHECK(parameter([](auto& p, auto&) { p.samples = 4, p.batch = 5; }) == "batch");
  CHECK(parameter([](auto& p, auto&) { p.recorded = {3, 3}; }) == "recorded");
  CHECK(parameter([](auto& p, auto&) { p.update = Update::adam; }) == "update");
  CHECK(parameter([](auto&, auto& m) { m.rank = 0; }) == "rank");
  CHECK(parameter([](auto&, auto& m) { m.hold = 0; }) == "hold");
  CHECK(parameter([](auto&, auto& m) { m.pairs = 1; }) == "pairs");
}

}  // namespace training_first_order_test

/// The softmax invariant along descent against reference values.

#include "attica/theory/joma/softmax.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/joma/reference.hpp"

using namespace attica;
using attica::testing::Reference;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace joma_softmax_test {

Reference reference() { return testing::reference_values("joma")["full_model"]; }

TEST_CASE("SoftmaxInvariant: descent of the reference figure", "[theory][joma]") {
  constexpr int kTokens = 20;
  for (const std::string inputs : {"gaussian", "random"}) {
    MatrixXd x(kTokens, kTokens);  // row i = context of class i
    JomaState state{MatrixXd(kTokens, kTokens), MatrixXd(kTokens, 1), MatrixXd(1, kTokens)};
    for (int i = 0; i < kTokens; ++i) {
      for (int l = 0; l < kTokens; ++l) {
        const double d = l - 10 * i / 20.0;
        x(i, l) = inputs == "gaussian" && l < 10
                      ? std::exp(-d * d / 30)
                      : 0.25 * (1 + std::sin(1.7 * (l + 1) + 0.9 * (i + 1) * (l + 2)));
        state.v(i, l) = 0.01 * std::sin(2.3 * (i + 1) + 1.1 * (l + 1) * (i + 2));
      }
      x.row(i) /= x.row(i).sum();
      state.r(i, 0) = 0.01 * std::cos(3.1 * (i + 1));
      state.z(0, i) = 0.01 * std::cos(0.7 * (i + 1) * (i + 1));
    }
    std::vector<int> labels;
    for (int i = 0; i < kTokens; ++i) labels.push_back(i);
    const JomaModel model(
        {.attention = JomaAttention::softmax, .loss = JomaLoss::cross_entropy, .temperature = 0.5},
        {.contexts = x,
         .queries = std::vector<int>(kTokens, 0),
         .labels = labels,
         .weights = VectorXd::Constant(kTokens, 1.0 / kTokens)});
    const SoftmaxInvariant invariant(model, state);
    const Reference rows = reference()["fig2"][inputs];
    int step = 0;
    JomaState d;
    for (const Reference row : rows) {
      if (row["step"].get<int>() > 500) break;
      for (; step < row["step"].get<int>(); ++step) {
        model.loss(state, &d);
        state = state.from_flat(state.flat() + 0.1 * d.flat());
      }
      const SoftmaxAgreement a = invariant.compare(state);
      CAPTURE(inputs, step);
      CHECK(a.correlation == Approx(row["NC"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.correlation_weights == Approx(row["NC1"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.correlation_norm == Approx(row["NC2"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.slope == Approx(row["slope_z_on_zhat"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(a.residual == Approx(row["rel_residual"].get<double>()).epsilon(0).margin(1e-8));
      CHECK(model.loss(state) == Approx(row["loss"].get<double>()).epsilon(1e-10));
    }
  }
}

}  // namespace joma_softmax_test

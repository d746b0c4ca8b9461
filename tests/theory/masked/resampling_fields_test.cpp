#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "attica/theory/masked/resampling_channel.hpp"
#include "refused.hpp"

using namespace attica;
using attica::testing::refused;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace masked_resampling_fields_test {

ResamplingProblem problem_of(MaskActivation activation, bool stored, double alpha) {
  ResamplingProblem p{.noise = noise_shares({NoiseLaw::beta, 0.4}),
                      .alpha = alpha,
                      .beta = 1,
                      .rho = 0.75,
                      .lambda = 1e-4};
  if (stored) p.masks = 1;
  p.activation = activation;
  return p;
}

TEST_CASE("field_channel: of a linear unit it is the channel in closed form", "[theory][masked]") {
  for (const bool stored : {false, true}) {
    CAPTURE(stored);
    const ResamplingPoint p =
        resampled_masks(problem_of(MaskActivation::identity, stored, 5.623413251903491));
    const MaskChannel fields =
        field_channel(problem_of(MaskActivation::identity, stored, 5.623413251903491),
                      {.m2 = p.alignment * p.alignment,
                       .q = p.weight_norm,
                       .c = p.noise_norm,
                       .delta = p.response});
    // The losses are those of the solution; the forces are seen through its equations.
    CHECK_THAT(fields.train, WithinRel(p.train_loss, 1e-10));
    CHECK_THAT(fields.test, WithinAbs(p.test_loss, 1e-10));
    double gain = 0;
    double q = 0;
    for (const auto& [gamma, share] : problem_of(MaskActivation::identity, stored, 1).noise) {
      const double alpha = 5.623413251903491;
      const double v = 1 / (1e-4 + 2 * alpha * (fields.u + gamma * fields.h));
      gain += share * alpha * fields.chi * v;
      const double pull = alpha * fields.chi * p.alignment * v;
      q += share * (pull * pull + alpha * gamma * fields.f * v * v);
    }
    CHECK_THAT(gain, WithinRel(1.0, 1e-9));
    CHECK_THAT(q, WithinRel(p.weight_norm, 1e-9));
  }
}

TEST_CASE("resampled_masks: tanh and ReLU, values of an independent program", "[theory][masked]") {
  struct Known {
    MaskActivation activation;
    bool stored;
    double alpha, alignment, weight_norm, noise_norm, train, test, accuracy;
  };
  // Its quadrature of tanh with one stored mask has some 1e-7.
  const std::vector<Known> all = {{MaskActivation::tanh,
                                   false,
                                   10,
                                   1.0178142767,
                                   1.2604059586,
                                   1.0318619147,
                                   -0.2121175477,
                                   -0.1119641403,
                                   1e-9},
                                  {MaskActivation::tanh,
                                   true,
                                   5.623413251903491,
                                   0.9338261928,
                                   1.9763765231,
                                   2.0828755032,
                                   -0.4090638507,
                                   0.2100563822,
                                   1e-6},
                                  {MaskActivation::relu,
                                   false,
                                   3.1622776601683795,
                                   0.5997957128,
                                   1.2827684645,
                                   1.4254553126,
                                   -0.2676052231,
                                   0.1147865520,
                                   1e-9},
                                  {MaskActivation::relu,
                                   true,
                                   5.623413251903491,
                                   0.3707349446,
                                   1.8455150413,
                                   2.2978864524,
                                   -0.3524914693,
                                   0.3777477318,
                                   1e-9}};
  for (const Known& known : all) {
    CAPTURE(static_cast<int>(known.activation), known.stored);
    const ResamplingPoint p =
        resampled_masks(problem_of(known.activation, known.stored, known.alpha));
    CHECK_THAT(p.alignment, WithinAbs(known.alignment, known.accuracy));
    CHECK_THAT(p.weight_norm, WithinAbs(known.weight_norm, known.accuracy));
    CHECK_THAT(p.noise_norm, WithinAbs(known.noise_norm, known.accuracy));
    CHECK_THAT(p.train_loss, WithinAbs(known.train, known.accuracy));
    CHECK_THAT(p.test_loss, WithinAbs(known.test, known.accuracy));
  }
}

TEST_CASE("resampled_masks: several stored masks need a linear unit", "[theory][masked]") {
  ResamplingProblem p = problem_of(MaskActivation::tanh, true, 3);
  p.masks = 2;
  CHECK(refused([&] { static_cast<void>(resampled_masks(p)); }) == "masks");
}

}  // namespace masked_resampling_fields_test

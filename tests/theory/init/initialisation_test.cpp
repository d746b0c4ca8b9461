#include <catch2/catch.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "attica/core/normal_matrix.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/init/gradients.hpp"
#include "attica/theory/init/key_dimension.hpp"
#include "reference_values.hpp"

using namespace attica;
using attica::testing::Reference;
using attica::testing::reference_values;
using Catch::WithinAbs;
using Catch::WithinRel;

namespace initialisation_test {

Reference values(const char* part) { return reference_values("initialisation")[part]; }

TEST_CASE("softmax_row: moments match the reference from 2 to 65536 keys", "[theory][init]") {
  for (const Reference c : values("row")) {
    const double keys = c["T"];
    CAPTURE(c.dump());
    const RowMoments row =
        softmax_row({.keys = keys, .causal = false, .sphere = 0}, c["s2"].real());
    CHECK_THAT(row.participation, WithinRel(c["participation"].real(), 1e-9));
    CHECK_THAT(row.cubes, WithinRel(c["cubes"].real(), 1e-9));
    CHECK_THAT(row.variance(), WithinRel(c["participation_variance"].real(), 1e-8));
    CHECK_THAT(row.entropy, WithinRel(c["entropy"].real(), 1e-9));
    CHECK_THAT(row.largest, WithinRel(c["largest"].real(), 2e-6));
    CHECK_THAT(row.jacobian(), WithinRel(c["jacobian"].real(), 1e-9));
    CHECK_THAT(1 - limit_index(c["beta"], c["p"]), WithinAbs(c["limit"].real(), 1e-14));
  }
}

TEST_CASE("softmax_pair: moments of two rows match the reference", "[theory][init]") {
  for (const Reference c : values("pair")) {
    CAPTURE(c.dump());
    const double s2 = c["s2"];
    const AttentionRows rows{.keys = c["T"].real(), .causal = false, .sphere = 0};
    const RowMoments row = softmax_row(rows, s2, false);
    const PairMoments two = softmax_pair(
        rows, {.variance_a = s2, .variance_b = s2, .correlation = c["p"]}, PairPart::all);
    CHECK_THAT(two.shared, WithinRel(c["shared"].real(), 1e-10));
    CHECK_THAT(two.shared_jacobian, WithinRel(c["shared_jacobian"].real(), 1e-9));
    CHECK_THAT(two.squares - row.participation * row.participation,
               WithinRel(c["row_covariance"].real(), 1e-7));
    CHECK_THAT(two.square_shared - row.participation * two.shared,
               WithinRel(c["covariance_row_shared"].real(), 1e-7));
  }
}

TEST_CASE("softmax_pair: equal rows, opposite rows, unequal variances", "[theory][init]") {
  const AttentionRows rows{.keys = 50, .causal = false, .sphere = 0};
  // Rows that are the same share their participation.
  const LogitPair same{.variance_a = 4, .variance_b = 4, .correlation = 1};
  CHECK_THAT(softmax_pair(rows, same).shared,
             WithinRel(softmax_row(rows, 4, false).participation, 1e-8));
  // A row of equal logits sees every key alike, whatever the other does.
  const LogitPair flat{.variance_a = 0, .variance_b = 5, .correlation = 0.3};
  CHECK_THAT(softmax_pair(rows, flat).shared, WithinRel(1.0 / 50, 1e-10));
  // By sampling, with opposite signs and unequal variances.
  const LogitPair unequal{.variance_a = 1, .variance_b = 6, .correlation = -0.6};
  RandomStream stream({.seed = 3});
  constexpr int kDraws = 20000;
  double sum = 0;
  double squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    double a = 0, b = 0, ab = 0;
    for (int key = 0; key < 50; ++key) {
      const double x = stream.normal();
      const double y = -0.6 * x + 0.8 * stream.normal();
      const double wa = std::exp(x);
      const double wb = std::exp(std::sqrt(6.0) * y);
      a += wa;
      b += wb;
      ab += wa * wb;
    }
    const double c = ab / (a * b);
    sum += c;
    squares += c * c;
  }
  const double mean = sum / kDraws;
  const double sem = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  CHECK_THAT(softmax_pair(rows, unequal).shared, WithinAbs(mean, 4 * sem));
}

TEST_CASE("softmax_row: causal rows are rows of 1 to T keys", "[theory][init]") {
  constexpr double kVariance = 6;
  constexpr int kKeys = 9;
  RowMoments mean{.participation = 1, .cubes = 1, .square = 1, .entropy = 0, .largest = 1};
  for (int n = 2; n <= kKeys; ++n) {
    mean += softmax_row({.keys = static_cast<double>(n), .causal = false, .sphere = 0}, kVariance);
  }
  mean = mean * (1.0 / kKeys);
  const RowMoments causal = softmax_row({.keys = kKeys, .causal = true, .sphere = 0}, kVariance);
  CHECK_THAT(causal.participation, WithinRel(mean.participation, 1e-8));
  CHECK_THAT(causal.cubes, WithinRel(mean.cubes, 1e-8));
  CHECK_THAT(causal.square, WithinRel(mean.square, 1e-8));
  CHECK_THAT(causal.entropy, WithinRel(mean.entropy, 1e-8));
  CHECK_THAT(causal.largest, WithinRel(mean.largest, 1e-5));
}

TEST_CASE("finite_row, finite_pair: head dimensions of the reference", "[theory][init]") {
  for (const Reference c : values("finite_d_k")) {
    CAPTURE(c.dump());
    const double t = c["T"];
    const double beta = c["beta"];
    const FiniteHead head{.rows = {.keys = t, .causal = false, .sphere = 0},
                          .variance = beta * beta * std::log(t),
                          .cosine = c["p"],
                          .key_dimension = c["d_k"],
                          .random_tokens = false};
    // The reference has eight nodes, good to 2e-5 at d_k = 8.
    CHECK_THAT(finite_row(head, false).participation,
               WithinRel(c["participation"].real(), c["d_k"].real() < 32 ? 2e-5 : 1e-7));
    CHECK_THAT(finite_pair_first_order(head).shared,
               WithinRel(c["shared_six_points"].real(), 1e-7));
    if (c.contains("shared_wishart")) {
      CHECK_THAT(finite_pair(head).shared, WithinRel(c["shared_wishart"].real(), 1e-7));
    }
  }
  const Reference c = values("sphere")[0];
  const double t = c["T"];
  const FiniteHead head{.rows = {.keys = t, .causal = false, .sphere = c["d"]},
                        .variance = 2.25 * std::log(t),
                        .cosine = 0,
                        .key_dimension = c["d_k"],
                        .random_tokens = true};
  CHECK_THAT(finite_row(head, false).participation, WithinRel(c["participation"].real(), 1e-6));
}

TEST_CASE("softmax_row: mean logits of normal and spherical keys", "[theory][init]") {
  // Stein's identity of normal logits: E Σ A x = s² (1 - Y), and entropy = E ln Z - E Σ A x.
  constexpr double kVariance = 7;
  const RowMoments wide =
      softmax_row({.keys = 64, .causal = false, .sphere = 1e9}, kVariance, false);
  const RowMoments normal =
      softmax_row({.keys = 64, .causal = false, .sphere = 0}, kVariance, false);
  CHECK_THAT(wide.entropy, WithinRel(normal.entropy, 1e-6));
  CHECK_THAT(wide.aligned, WithinRel(normal.aligned, 1e-6));
  // Keys on a sphere of dimension 40, drawn: the last coordinates of normal vectors of length 1.
  constexpr int kDimension = 40;
  constexpr int kKeys = 30;
  constexpr int kDraws = 20000;
  const RowMoments row =
      softmax_row({.keys = kKeys, .causal = false, .sphere = kDimension}, kVariance, false);
  RandomStream stream({.seed = 5});
  Eigen::ArrayXd entropy(kDraws), aligned(kDraws);
  Eigen::VectorXd key(kDimension);
  for (int draw = 0; draw < kDraws; ++draw) {
    Eigen::ArrayXd z(kKeys);
    for (double& value : z) {
      stream.fill_normal(std::span(key.data(), kDimension));
      value = std::sqrt(kDimension) * key[0] / key.norm();
    }
    Eigen::ArrayXd a = (std::sqrt(kVariance) * z).exp();
    a /= a.sum();
    entropy[draw] = -(a * a.log()).sum();
    aligned[draw] = std::pow((a * z).sum(), 2) - (a * z).square().sum();
  }
  const auto within = [&](const Eigen::ArrayXd& x) {
    return WithinAbs(x.mean(), 4.5 * std::sqrt((x - x.mean()).square().mean() / kDraws));
  };
  CHECK_THAT(row.entropy, within(entropy));
  CHECK_THAT(row.aligned, within(aligned));
}

TEST_CASE("limit_row: weights of the Poisson-Dirichlet law by sampling", "[theory][init]") {
  // Weights Γ_k^{-1/μ} of a Poisson process, normalised.
  constexpr int kDraws = 4000;
  const double beta = 3;
  const double mu = limit_index(beta, 0);
  RandomStream stream({.seed = 4});
  double largest = 0, participation = 0, jacobian = 0, entropy = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    double gamma = 0;
    std::vector<double> weights;
    double total = 0;
    for (int k = 0; k < 3000; ++k) {
      gamma -= std::log(stream.uniform());
      weights.push_back(std::pow(gamma, -1 / mu));
      total += weights.back();
    }
    double square = 0, cube = 0;
    for (double w : weights) {
      w /= total;
      square += w * w;
      cube += w * w * w;
      entropy -= w * std::log(w) / kDraws;
    }
    participation += square / kDraws;
    jacobian += (square - 2 * cube + square * square) / kDraws;
    largest += weights.front() / total / kDraws;
  }
  const LimitRow limit = limit_row(512, beta, 0);
  // Standard errors below 0.006; the entropy lacks the tail of the weights.
  CHECK_THAT(limit.participation, WithinAbs(participation, 0.02));
  CHECK_THAT(limit.jacobian, WithinAbs(jacobian, 0.004));
  CHECK_THAT(limit.largest, WithinAbs(largest, 0.02));
  CHECK_THAT(limit.entropy, WithinAbs(entropy, 0.06));
}

TEST_CASE("mean_field: the recursion of the reference, finite and in the limit", "[theory][init]") {
  for (const Reference c : values("recursion")) {
    const Reference in = c["inputs"];
    CAPTURE(in.dump());
    InitialTransformer network{
        .context = in["T"],
        // The reference's heads are of infinite dimension but where it says dk.
        .dimension = in.value("dk", 1e9),
        .heads = 1,
        .beta = in["beta"],
        .cosine = in["p"],
        .value_variance = in.value("s_v2", 1.0),
        .mlp_variance = in.value("s_w2", 1.0),
        .bias_variance = in.value("s_b2", 0.0),
        .skip = 1,
        .mlp_skip = 1,
        .mlp = !in.contains("mlp"),
        .limit = false};
    const int layers = static_cast<int>(in["layers"].integer());
    const auto finite = propagate(network, layers, 0);
    network.limit = true;
    const auto limit = propagate(network, layers, 0);
    for (std::size_t l = 0; l < finite.size(); ++l) {
      CAPTURE(l);
      CHECK_THAT(finite[l].distance, WithinRel(1 - c["cosine"][l + 1].real(), 1e-6));
      CHECK_THAT(finite[l].participation, WithinRel(c["participation"][l].real(), 1e-6));
      CHECK_THAT(finite[l].shared, WithinRel(c["shared"][l].real(), 1e-6));
      CHECK_THAT(limit[l].distance, WithinRel(1 - c["limit_cosine"][l + 1].real(), 1e-6));
    }
  }
}

TEST_CASE("propagate: first order in 1/d of the reference", "[theory][init]") {
  for (const Reference c : values("first_order")) {
    CAPTURE(c["d"].real(), c["heads"].real(), c["beta"].real());
    const InitialTransformer network{.context = c["T"],
                                     .dimension = c["d"],
                                     .heads = c["heads"],
                                     .beta = c["beta"],
                                     .cosine = c["p"],
                                     .value_variance = c["s_v2"],
                                     .mlp_variance = c["s_w2"],
                                     .bias_variance = c["s_b2"],
                                     .skip = c["skip"],
                                     .mlp_skip = c["skip_mlp"],
                                     .mlp = true,
                                     .limit = false};
    const auto all = propagate(network, static_cast<int>(c["layers"].integer()), 1);
    for (std::size_t l = 0; l < all.size(); ++l) {
      CAPTURE(l);
      const BlockMoments& m = all[l];
      // The reference tabulates attention in the cosine, close to 1 to 2e-4 of the distance.
      CHECK_THAT(m.distance + m.distance_shift, WithinRel(1 - c["mean_field"][l].real(), 3e-4));
      CHECK_THAT(m.distance, WithinRel(1 - c["first_order"][l].real(), 1e-3));
      CHECK_THAT(m.spread, WithinRel(c["sd_of_draws"][l].real(), 1e-3));
      CHECK_THAT(m.participation, WithinRel(c["participation_first_order"][l].real(), 1e-3));
      CHECK(m.clones < kClones);
    }
  }
}

TEST_CASE("propagate: the distance after twelve blocks on the edges of the reference",
          "[theory][init]") {
  for (const Reference c : values("diagram")) {
    if (!c.contains("skip")) {
      const double t = c["T"];
      const double beta = c["beta"];
      CHECK_THAT(softmax_row({.keys = t, .causal = false, .sphere = 0},
                             beta * beta * (1 - c["p"].real()) * std::log(t),
                             false)
                     .participation,
                 WithinAbs(0.5, 1e-8));
      continue;
    }
    CAPTURE(c.dump());
    const InitialTransformer network{.context = c["T"],
                                     .dimension = 1e9,
                                     .heads = 1,
                                     .beta = c["beta"],
                                     .cosine = c["p"],
                                     .value_variance = 1,
                                     .mlp_variance = 1,
                                     .bias_variance = 0,
                                     .skip = c["skip"],
                                     .mlp_skip = c["skip"],
                                     .mlp = true,
                                     .limit = false};
    CHECK_THAT(propagate(network, 12, 0).back().distance, WithinRel(0.1, 1e-5));
  }
}

TEST_CASE("AttentionCurve: networks propagate with it as without", "[theory][init]") {
  InitialTransformer network{.context = 32,
                             .dimension = 256,
                             .heads = 4,
                             .beta = 0.5,
                             .cosine = 0.1,
                             .skip = 1.4,
                             .mlp_skip = 1.4};
  for (const double beta : {0.5, 1.25, 2.0}) {
    CAPTURE(beta);
    network.beta = beta;
    const AttentionCurve curve(network, 0.07, 0.999);
    network.skip = network.mlp_skip = beta < 2 ? 1.4 : 1.1;
    const auto exact = propagate(network, 8, 1);
    const auto quick = propagate(network, 8, 1, &curve);
    for (std::size_t l = 0; l < exact.size(); ++l) {
      CAPTURE(l);
      CHECK_THAT(quick[l].distance, WithinRel(exact[l].distance, AttentionCurve::kAccuracy));
      CHECK_THAT(quick[l].participation,
                 WithinRel(exact[l].participation, AttentionCurve::kAccuracy));
      CHECK_THAT(quick[l].shared, WithinRel(exact[l].shared, AttentionCurve::kAccuracy));
      CHECK_THAT(quick[l].spread, WithinRel(exact[l].spread, 1e-5));
      CHECK_THAT(quick[l].clones, WithinAbs(exact[l].clones, 1e-6));
    }
    // Out of its range it computes anew.
    CHECK(curve.at(0.05).shared == attention_at(network, 0.05).shared);
    const AttentionCurve scaled = curve.scaled(1.02, 0.99);
    CHECK_THAT(scaled.at(0.3).participation, WithinRel(1.02 * curve.at(0.3).participation, 1e-13));
    CHECK_THAT(scaled.at(0.3).shared, WithinRel(0.99 * curve.at(0.3).shared, 1e-13));
  }
}

TEST_CASE("back_propagate: gradients of the reference", "[theory][init]") {
  for (const Reference c : values("backward")) {
    const Reference in = c["inputs"];
    CAPTURE(in.dump());
    const InitialTransformer network{.context = in["T"],
                                     .dimension = in.value("dk", 1e9),
                                     .heads = 1,
                                     .beta = in["beta"],
                                     .cosine = in["p"],
                                     .value_variance = 1,
                                     .mlp_variance = 1,
                                     .bias_variance = 0,
                                     .skip = 1,
                                     .mlp_skip = 1,
                                     .mlp = !in.contains("mlp"),
                                     .limit = false};
    const auto all = back_propagate(network, static_cast<int>(in["layers"].integer()));
    for (std::size_t l = 0; l < all.size(); ++l) {
      CAPTURE(l);
      CHECK_THAT(all[l].own, WithinRel(c["g0"][l].real(), 1e-4));
      CHECK_THAT(all[l].overlap, WithinRel(c["g1"][l].real(), 1e-3));
      CHECK_THAT(all[l].value_weight, WithinRel(c["value_weight"][l].real(), 1e-4));
      CHECK_THAT(all[l].query_weight, WithinRel(c["query_weight"][l].real(), 1e-3));
    }
  }
}

TEST_CASE("gram_growth: by hand", "[theory][init]") {
  InitialTransformer network;
  CHECK_THAT(gram_growth(network), WithinRel(7.0 / 9, 1e-12));  // (1 + 2 + 1)/(3/2)² - 1
  network.mlp = false;
  CHECK(gram_growth(network) == 0);
}

/// An MLP of networks whose tokens have equal cosines before it: the variance of the cosines of
/// pairs after it, without what a token has in common in its pairs, and the mean square of 1 - c.
/// Gaussian matrices are drawn in their action on the tokens.
struct DrawnScatter {
  double pairs = 0, square_distance = 0;
};
DrawnScatter drawn_mlp(const InitialTransformer& n, int networks) {
  const auto d = static_cast<Eigen::Index>(n.dimension);
  const auto t = static_cast<Eigen::Index>(n.context);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(d, t);
  x.row(0).setConstant(std::sqrt(n.cosine * n.dimension));
  x.middleRows(1, t).diagonal().setConstant(std::sqrt((1 - n.cosine) * n.dimension));
  const auto random = [&](const Eigen::MatrixXd& inputs, RandomStream& stream) {
    const Eigen::MatrixXd covariance = n.mlp_variance / n.dimension * (inputs.transpose() * inputs);
    const Eigen::MatrixXd factor = covariance.llt().matrixL();
    return Eigen::MatrixXd(normal_matrix(d, t, stream) * factor.transpose());
  };
  DrawnScatter mean;
  const auto others = static_cast<double>(t - 1);
  const double pairs = n.context * others / 2;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(networks); ++k) {
    RandomStream stream({.seed = 3, .replicate = k});
    const Eigen::MatrixXd active = random(x, stream).cwiseMax(0.0);
    Eigen::MatrixXd y = n.mlp_skip * x + random(active, stream);
    y.colwise().normalize();
    const Eigen::MatrixXd cosines = y.transpose() * y;
    const double all = (cosines.sum() - n.context) / (2 * pairs);
    // Least squares of cosines as all + row_t + row_s.
    const Eigen::VectorXd rows =
        ((cosines.rowwise().sum().array() - 1) - others * all) / (n.context - 2);
    double residue = 0;
    for (Eigen::Index i = 0; i < t; ++i) {
      for (Eigen::Index j = 0; j < i; ++j) {
        residue += std::pow(cosines(i, j) - all - rows[i] - rows[j], 2);
      }
    }
    mean.pairs += residue / (pairs - n.context) / networks;
    mean.square_distance += (1 - all) * (1 - all) / networks;
  }
  return mean;
}

TEST_CASE("pair_scatter: as MLPs that are drawn scatter", "[theory][init]") {
  InitialTransformer network{.context = 8, .dimension = 400, .value_variance = 0};
  for (const double cosine : {0.5, 0.9}) {
    for (const double skip : {0.0, 1.0}) {
      CAPTURE(cosine, skip);
      network.cosine = cosine;
      network.mlp_skip = skip;
      network.mlp_variance = 1 + skip / 2;
      const DrawnScatter drawn = drawn_mlp(network, 1500);
      const std::vector<double> scatter = pair_scatter(network, 2);
      CHECK(scatter[0] == 0);
      // Standard error 1 %, and terms of order 1/d.
      CHECK_THAT(drawn.pairs / drawn.square_distance, WithinRel(scatter[1], 0.05));
    }
  }
}

TEST_CASE("pair_scatter: tokens that are alike, and attention, by hand", "[theory][init]") {
  InitialTransformer network{
      .context = 16, .dimension = 1000, .cosine = 0.9999, .value_variance = 0};
  // ((1 + 2 + 1)/(3/2)² - 1) T/d of the second moment of the Gram matrix: gram_growth.
  for (const int blocks : {1, 2}) {
    CHECK_THAT(pair_scatter(network, blocks + 1).back(),
               WithinRel(blocks * gram_growth(network) / 1000, 0.02));
  }
  network = {.context = 16, .dimension = 1000, .beta = 1, .cosine = 0.3, .skip = 2, .mlp = false};
  const AttentionAt at = attention_at(network, 0.3);
  const double y = at.participation - at.shared;
  CHECK_THAT(pair_scatter(network, 2)[1],
             WithinRel((8 * y + y * y) / (1000 * (4 + y) * (4 + y)), 1e-12));
}

TEST_CASE("finite_row, finite_pair: Jacobians weighted with queries, as drawn", "[theory][init]") {
  constexpr Eigen::Index kKeys = 12;
  constexpr Eigen::Index kWidth = 16;
  constexpr int kDraws = 40000;
  const FiniteHead head{.rows = {.keys = kKeys, .causal = false, .sphere = 0},
                        .variance = 2,
                        .cosine = 0.4,
                        .key_dimension = kWidth};
  const auto row_of = [&](const Eigen::VectorXd& logits) {
    const Eigen::VectorXd a = (logits.array() - logits.maxCoeff()).exp();
    return Eigen::VectorXd(a / a.sum());
  };
  const auto jacobian = [](const Eigen::VectorXd& a) {
    return Eigen::MatrixXd(Eigen::MatrixXd(a.asDiagonal()) - a * a.transpose());
  };
  RandomStream stream({.seed = 5});
  double row = 0, pair = 0, row_square = 0, pair_square = 0;
  for (int k = 0; k < kDraws; ++k) {
    const Eigen::MatrixXd z = normal_matrix(kWidth, 2, stream) / std::sqrt(double{kWidth});
    const Eigen::VectorXd q = z.col(0);
    const Eigen::VectorXd r = 0.4 * q + std::sqrt(1 - 0.16) * z.col(1);
    const Eigen::MatrixXd keys = std::sqrt(2 * 0.6) * normal_matrix(kWidth, kKeys, stream);
    const Eigen::MatrixXd a = jacobian(row_of(keys.transpose() * q));
    const Eigen::MatrixXd b = jacobian(row_of(keys.transpose() * r));
    const double of_row = q.squaredNorm() * a.squaredNorm();
    const double of_pair = q.dot(r) * a.cwiseProduct(b).sum();
    row += of_row / kDraws;
    pair += of_pair / kDraws;
    row_square += of_row * of_row / kDraws;
    pair_square += of_pair * of_pair / kDraws;
  }
  const RowMoments exact = finite_row(head, false);
  CHECK_THAT(exact.query_jacobian,
             WithinAbs(row, 4 * std::sqrt((row_square - row * row) / kDraws)));
  CHECK(exact.query_jacobian > 1.01 * exact.jacobian());
  const double found = finite_pair(head, PairPart::all).query_jacobian;
  CHECK_THAT(found, WithinAbs(pair, 4 * std::sqrt((pair_square - pair * pair) / kDraws)));
  FiniteHead wide = head;
  wide.key_dimension = 256;
  CHECK_THAT(finite_pair_first_order(wide, PairPart::all).query_jacobian,
             WithinRel(finite_pair(wide, PairPart::all).query_jacobian, 1e-3));
}

TEST_CASE("back_propagate: the next order falls as 1/d", "[theory][init]") {
  InitialTransformer network{.context = 64, .dimension = 512, .heads = 8, .beta = 1, .cosine = 0.6};
  const auto beyond = [&](double dimension) {
    network.dimension = dimension;
    const BlockGradients first = back_propagate(network, 3, 0)[2];
    const BlockGradients next = back_propagate(network, 3, 1)[2];
    CHECK(first.key_weight == first.query_weight);
    return std::vector<double>{next.own / first.own - 1,
                               next.value_weight / first.value_weight - 1,
                               next.query_weight / first.query_weight - 1,
                               next.key_weight / next.query_weight - 1};
  };
  const auto wide = beyond(1 << 14);
  const auto wider = beyond(1 << 15);
  for (std::size_t k = 0; k < wide.size(); ++k) {
    CAPTURE(k);
    CHECK_THAT(wide[k], WithinRel(2 * wider[k], 0.03));
    CHECK(wide[k] != 0);
  }
}

}  // namespace initialisation_test

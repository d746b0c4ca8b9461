#include "attica/core/random.hpp"

#include <Random123/philox.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace attica;

TEST_CASE("philox_block: known answers of Random123's kat_vectors (10 rounds)", "[core][random]") {
  const std::uint64_t ones = ~std::uint64_t{0};
  CHECK(philox_block({0, 0, 0, 0}, {0, 0}) ==
        std::array<std::uint64_t, 4>{
            0x16554d9eca36314cU, 0xdb20fe9d672d0fdcU, 0xd7e772cee186176bU, 0x7e68b68aec7ba23bU});
  CHECK(philox_block({ones, ones, ones, ones}, {ones, ones}) ==
        std::array<std::uint64_t, 4>{
            0x87b092c3013fe90bU, 0x438c3c67be8d0224U, 0x9cc7d7c69cd777b6U, 0xa09caebf594f0ba0U});
  CHECK(philox_block(
            {0x243f6a8885a308d3U, 0x13198a2e03707344U, 0xa4093822299f31d0U, 0x082efa98ec4e6c89U},
            {0x452821e638d01377U, 0xbe5466cf34e90c6cU}) ==
        std::array<std::uint64_t, 4>{
            0xa528f45403e61d95U, 0x38c72dbd566e9788U, 0xa5a1610e72fd18b5U, 0x57bd43b5e52b7fe6U});
}

TEST_CASE("BulkBits: Philox4x32 of Random123, keyed by the stream", "[core][random]") {
  const StreamAddress address{.seed = 3, .id = StreamId::minibatch, .step = 9};
  RandomStream stream(address);
  BulkBits bulk(stream);
  std::vector<std::uint64_t> words(160);  // one group of blocks alone, four at a time, one again
  bulk.fill(std::span(words).first(16));
  bulk.fill(std::span(words).subspan(16));
  RandomStream again(address);
  const std::uint64_t key = again.bits();
  const std::uint64_t upper = again.bits();
  const auto half = [](std::uint64_t word, int part) {
    return static_cast<std::uint32_t>(word >> (32 * part));
  };
  for (std::size_t block = 0; block < 80; ++block) {
    const auto expected =
        r123::Philox4x32{}({{static_cast<std::uint32_t>(block), 0, half(upper, 0), half(upper, 1)}},
                           {{half(key, 0), half(key, 1)}});
    const std::size_t at = block / 8 * 16 + block % 8;
    CHECK(half(words[at], 0) == expected[0]);
    CHECK(half(words[at], 1) == expected[1]);
    CHECK(half(words[at + 8], 0) == expected[2]);
    CHECK(half(words[at + 8], 1) == expected[3]);
  }
}

TEST_CASE("RandomStream: words are those of one block after another, however they are drawn",
          "[core][random]") {
  const StreamAddress address{.seed = 5, .point = 4, .replicate = 3, .step = 2};
  RandomStream stream(address);
  std::vector<std::uint64_t> words(300);
  words[0] = stream.bits();
  stream.fill_bits(std::span(words).subspan(1, 200));  // the rest of a batch, many at once, a few
  stream.fill_bits(std::span(words).subspan(201));
  for (std::uint64_t block = 0; block < words.size() / 4; ++block) {
    const auto expected = philox_block({block, 2, 3, 4}, {5, 1});
    for (std::size_t i = 0; i < 4; ++i) CHECK(words[block * 4 + i] == expected[i]);
  }
}

TEST_CASE("RandomStream: every field of the address changes the numbers", "[core][random]") {
  const StreamAddress base{.seed = 7, .id = StreamId::data, .point = 1, .replicate = 2, .step = 3};
  const std::uint64_t first = RandomStream(base).bits();
  auto changed = [&](auto edit) {
    StreamAddress a = base;
    edit(a);
    return RandomStream(a).bits();
  };
  CHECK(first == RandomStream(base).bits());
  CHECK(first != changed([](auto& a) { a.seed = 8; }));
  CHECK(first != changed([](auto& a) { a.id = StreamId::model; }));
  CHECK(first != changed([](auto& a) { a.point = 2; }));
  CHECK(first != changed([](auto& a) { a.replicate = 1; }));
  CHECK(first != changed([](auto& a) { a.step = 4; }));
}

TEST_CASE("RandomStream: filling equals drawing one by one", "[core][random]") {
  const StreamAddress address{.seed = 11};
  RandomStream whole(address);
  RandomStream single(address);
  std::vector<double> values(701);  // more than what is made at once
  whole.fill_normal(values);
  for (double v : values) CHECK(v == single.normal());
  RandomStream parts(address);
  std::vector<double> pieces(701);
  parts.fill_normal(std::span(pieces).first(3));
  parts.fill_normal(std::span(pieces).subspan(3));
  CHECK(values == pieces);
  RandomStream rounded(address);
  std::vector<float> halves(701);
  rounded.fill_normal(std::span(halves).first(5));
  rounded.fill_normal(std::span(halves).subspan(5));
  for (std::size_t i = 0; i < halves.size(); ++i) {
    CHECK(halves[i] == static_cast<float>(values[i]));
  }
}

TEST_CASE("normal: moments, tails and independence of pairs", "[core][random]") {
  RandomStream stream({.seed = 5});
  constexpr int n = 1 << 20;
  std::vector<double> x(n);
  stream.fill_normal(x);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0, squares = 0;
  int beyond = 0;
  for (int i = 0; i < n; ++i) {
    const double v = x[static_cast<std::size_t>(i)];
    m1 += v;
    m2 += v * v;
    m3 += v * v * v;
    m4 += v * v * v * v;
    if (std::abs(v) > 3) ++beyond;
    if (i % 2 == 1) {
      const double u = x[static_cast<std::size_t>(i - 1)];
      lag += u * v;
      squares += (u * u - 1) * (v * v - 1);
    }
  }
  // Standard errors of the sums are sqrt(n Var); five of them: one false alarm in 10^6 seeds.
  const double root = std::sqrt(double(n));
  CHECK(std::abs(m1) < 5 * root);
  CHECK(std::abs(m2 - n) < 5 * root * std::sqrt(2.0));
  CHECK(std::abs(m3) < 5 * root * std::sqrt(15.0));
  CHECK(std::abs(m4 - 3.0 * n) < 5 * root * std::sqrt(96.0));
  CHECK(std::abs(lag) < 5 * std::sqrt(n / 2.0));
  CHECK(std::abs(squares) < 5 * std::sqrt(n / 2.0) * 2);
  const double p = std::erfc(3 / std::sqrt(2.0));
  CHECK(std::abs(beyond - n * p) < 5 * std::sqrt(n * p));
}

TEST_CASE("normal: Box-Muller with its angle, against the library's sine and cosine",
          "[core][random]") {
  // Rebuild the pairs from the words by the plain formula: the angle is (pi/2)(quadrant + rest).
  RandomStream words({.seed = 3});
  RandomStream normals({.seed = 3});
  for (int pair = 0; pair < 16 * 20; ++pair) {
    const double u = words.uniform();
    const std::uint64_t w = words.bits();
    const double rest = (static_cast<double>((w << 2) >> 11) + 0.5) * 0x1p-53 - 0.5;
    const double angle = std::acos(-1.0) / 2 * (static_cast<double>(w >> 62) + rest);
    const double radius = std::sqrt(-2 * std::log(u));
    // Rounding of the angle (|angle| < 5) times the radius (< 9) dominates.
    CHECK_THAT(normals.normal(), Catch::WithinAbs(radius * std::cos(angle), 2e-14));
    CHECK_THAT(normals.normal(), Catch::WithinAbs(radius * std::sin(angle), 2e-14));
  }
}

TEST_CASE("below: uniform on its range by chi-square", "[core][random]") {
  RandomStream stream({.seed = 9});
  std::array<int, 7> counts{};
  constexpr int n = 70000;
  for (int i = 0; i < n; ++i) ++counts[stream.below(7)];
  double chi2 = 0;
  for (int c : counts) chi2 += (c - n / 7.0) * (c - n / 7.0) / (n / 7.0);
  CHECK(chi2 < 38.3);  // 6 degrees of freedom, level 1e-6
  CHECK(stream.below(1) == 0);
}

TEST_CASE("uniform: stays inside the open interval and has the right mean", "[core][random]") {
  RandomStream stream({.seed = 1});
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = stream.uniform();
    REQUIRE((u > 0 && u < 1));
    sum += u;
  }
  CHECK_THAT(sum / 1e5, Catch::WithinAbs(0.5, 5 * std::sqrt(1.0 / 12 / 1e5)));
}

TEST_CASE("BulkBernoulli: bits of every lane come with the probability, independently",
          "[core][random]") {
  constexpr int kDraws = 20000;
  constexpr double kRounding = 1e-6;  // of sums over all draws
  for (const double p : {0.0, 1e-4, 0.15, 0.5, 0.85, 1.0}) {
    INFO(p);
    RandomStream stream({.seed = 5, .id = StreamId::minibatch});
    BulkBernoulli bits(stream, p);
    std::vector<double> lanes(64 * BulkBernoulli::kWords, 0.0);
    double squares = 0;  // of the number of ones in a draw
    for (int draw = 0; draw < kDraws; ++draw) {
      double ones = 0;
      const BulkBernoulli::Words words = bits.draw();
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        const auto bit = static_cast<double>(words[i / 64] >> (i % 64) & 1U);
        lanes[i] += bit / kDraws;
        ones += bit;
      }
      squares += ones * ones / kDraws;
    }
    // Five standard errors of a lane's share: of 512 lanes the largest has 3.
    const double error = std::sqrt(p * (1 - p) / kDraws);
    for (const double share : lanes) CHECK(std::abs(share - p) <= 5 * error + kRounding);
    const auto n = static_cast<double>(lanes.size());
    const double expected = n * p * (1 - p) + n * n * p * p;
    const double spread = 4 * n * n * p * p * n * p * (1 - p) + 3 * n * n * p * p + n * p;
    CHECK(std::abs(squares - expected) <= 5 * std::sqrt(spread / kDraws) + kRounding);
  }
}

#include "attica/sim/networks/measures.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "attica/core/error.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/sim/networks/matrix_measures.hpp"
#include "reference_values.hpp"

using namespace attica;
using namespace attica::testing;
using namespace attica::networks;
using attica::testing::Reference;

namespace networks_measures_test {

Eigen::MatrixXd read_matrix(const std::filesystem::path& path) {
  return read_numeric_csv(path, CsvHeader::optional).values;
}

/// A file with the given bytes that is removed at the end of the test.
struct File {
  std::filesystem::path path;
  File(const std::string& name, const std::string& bytes)
      : path(std::filesystem::temp_directory_path() / ("attica-networks-" + name)) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~File() { std::filesystem::remove(path); }
};

std::string npy(const std::string& type,
                const std::string& order,
                const std::string& shape,
                const std::string& data) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() % 256);
  out += static_cast<char>(header.size() / 256);
  return out + header + data;
}

template <class T>
std::string bytes(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

std::string complaint(const std::string& name, const std::string& content) {
  const File file(name, content);
  try {
    (void)read_matrix(file.path);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    const std::string text = error.what();
    REQUIRE(text.starts_with(file.path.string()));
    return text.substr(file.path.string().size());
  }
  return "";
}

TEST_CASE("stable_rank and mean_abs_cosine: reference values", "[sim][networks]") {
  const Reference all = reference_values("joma")["transformer_metrics"];
  const Reference params = all["transformer"]["params"];
  const Reference expected = all["metrics"];
  constexpr double tolerance = 1e-10;
  CHECK(stable_rank(matrix(params["W10"])).value() ==
        Approx(expected["stable_rank_W10"].get<double>()).epsilon(tolerance));
  CHECK(stable_rank(matrix(params["W20"])).value() ==
        Approx(expected["stable_rank_W20"].get<double>()).epsilon(tolerance));
  CHECK(mean_abs_cosine(matrix(params["W20"])).value() ==
        Approx(expected["mean_abs_cos_columns_W20"].get<double>()).epsilon(tolerance));
  Eigen::MatrixXd hilbert(5, 5);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) hilbert(i, j) = 1.0 / static_cast<double>(i + j + 1);
  CHECK(stable_rank(hilbert).value() ==
        Approx(expected["stable_rank_hilbert5"].get<double>()).epsilon(tolerance));
}

TEST_CASE("attention_entropy: uniform causal attention gives ln(T!) / T in every layer and head",
          "[sim][networks]") {
  const Reference expected =
      reference_values("joma")["transformer_metrics"]["metrics"]["uniform_causal_entropy"];
  for (const auto& [text, value] : expected.items()) {
    const int length = std::stoi(text);
    const TransformerShape shape{.vocabulary = 2,
                                 .outputs = 2,
                                 .length = length,
                                 .width = 4,
                                 .layers = 2,
                                 .heads = 2,
                                 .mask = AttentionMask::causal};
    Transformer<double> net(shape);  // W_Q = W_K = 0: all scores are equal
    Batch batch{.tokens = std::vector<std::int32_t>(static_cast<std::size_t>(2 * length), 1)};
    set_equal_lengths(batch, length);
    set_all_sites(batch);
    batch.targets.assign(batch.sites.size(), 0);
    net.forward(batch);
    for (const int layer : {0, 1})
      for (const int head : {0, 1}) {
        CHECK(attention_entropy(net, layer, head) == Approx(value.get<double>()).epsilon(1e-12));
      }
  }
}

TEST_CASE("measures: limits and undefined cases", "[sim][networks]") {
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(300, 300);
  CHECK(stable_rank(identity).value() == Approx(300).epsilon(1e-12));
  CHECK(mean_abs_cosine(identity).value() == Approx(0).margin(1e-12));
  const Eigen::MatrixXd ones =
      Eigen::MatrixXd::Ones(3, 400);  // more columns than one block of products
  CHECK(stable_rank(ones).value() == Approx(1).epsilon(1e-12));
  CHECK(mean_abs_cosine(ones).value() == Approx(1).epsilon(1e-12));
  CHECK_FALSE(stable_rank(Eigen::MatrixXd::Zero(2, 3)).has_value());
  CHECK_FALSE(mean_abs_cosine(Eigen::MatrixXd::Ones(3, 1)).has_value());
  CHECK_FALSE(measure(ones).attention_entropy.has_value());
  const MatrixMeasures uniform = measure(Eigen::MatrixXd::Constant(2, 4, 0.25));
  CHECK(uniform.attention_entropy.value() == Approx(std::log(4.0)).epsilon(1e-14));
  CHECK(uniform.frobenius_norm == Approx(std::sqrt(0.5)).epsilon(1e-14));
  CHECK(uniform.spectral_norm == Approx(std::sqrt(0.5)).epsilon(1e-14));
  CHECK(measure(identity).attention_entropy.value() == 0);
}

TEST_CASE("measures: in whatever unit", "[sim][networks]") {
  Eigen::MatrixXd w(2, 2);
  w << 3, 0, 4, 5;  // singular values sqrt(45) and sqrt(5)
  for (const double unit : {1.0, 1e-300, 1e-160, 1e160, 1e300}) {
    INFO(unit);
    const MatrixMeasures m = measure(unit * w);
    CHECK(m.spectral_norm == Approx(unit * std::sqrt(45.0)).epsilon(1e-14).margin(0));
    CHECK(m.frobenius_norm == Approx(unit * std::sqrt(50.0)).epsilon(1e-14).margin(0));
    CHECK(m.stable_rank.value() == Approx(50.0 / 45).epsilon(1e-14));
    CHECK(stable_rank(unit * w).value() == Approx(50.0 / 45).epsilon(1e-14));
  }
}

TEST_CASE("row_distance and attention_overlaps: by hand", "[sim][networks]") {
  CHECK(row_distance(Eigen::MatrixXd::Identity(5, 5)).value() == Approx(1).epsilon(1e-12));
  CHECK(row_distance(Eigen::MatrixXd::Ones(4, 3)).value() == Approx(0).margin(1e-12));
  Eigen::MatrixXd tokens(4, 2);
  tokens << 2, 0, 0, 3, -1, 0, 0, 0;  // cosines 0, -1, 0; the last row is left out
  CHECK(row_distance(tokens).value() == Approx(1 + 1.0 / 3).epsilon(1e-12));
  CHECK_FALSE(row_distance(Eigen::MatrixXd::Zero(3, 3)).has_value());
  // Two heads of two tokens: rows (1, 0), (1/2, 1/2) and twice (0, 1).
  Eigen::MatrixXd heads(4, 2);
  heads << 1, 0, 0.5, 0.5, 0, 1, 0, 1;
  const AttentionOverlaps overlaps = attention_overlaps(heads);
  CHECK(overlaps.participation == Approx((1 + 0.5 + 1 + 1) / 4).epsilon(1e-12));
  CHECK(overlaps.shared.value() == Approx((0.5 + 1) / 2).epsilon(1e-12));
  CHECK_FALSE(attention_overlaps(Eigen::MatrixXd::Ones(1, 1)).shared.has_value());
}

TEST_CASE("read_matrix: CSV with header and CRLF", "[sim][networks]") {
  const File file("a.csv", "x,y\r\n1, 2.5\r\n-3e2,+4\r\n\r\n");
  Eigen::MatrixXd expected(2, 2);
  expected << 1, 2.5, -300, 4;
  CHECK(read_matrix(file.path) == expected);
}

TEST_CASE("read_matrix: .npy of every type and order", "[sim][networks]") {
  Eigen::MatrixXd expected(2, 3);
  expected << 1, 2, 3, 4, 5, 6;
  const std::string shape = "(2, 3)";
  const std::vector<std::string> files = {
      npy("<f8", "False", shape, bytes<double>({1, 2, 3, 4, 5, 6})),
      npy("<f4", "True", shape, bytes<float>({1, 4, 2, 5, 3, 6})),
      npy("<f2",
          "False",
          shape,
          bytes<std::uint16_t>({0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600})),
      npy("<i4", "False", shape, bytes<std::int32_t>({1, 2, 3, 4, 5, 6})),
      npy("<i8", "True", shape, bytes<std::int64_t>({1, 4, 2, 5, 3, 6})),
      npy(">i4",
          "False",
          shape,
          std::string("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6", 24)),
      npy("|u1", "False", shape, "\1\2\3\4\5\6"),
      npy("<u2", "True", shape, bytes<std::uint16_t>({1, 4, 2, 5, 3, 6}))};
  for (const std::string& content : files) {
    const File file("a.npy", content);
    CHECK(read_matrix(file.path) == expected);
  }
  const File vector("v.npy", npy("<f8", "False", "(2,)", bytes<double>({7, 8})));
  CHECK(read_matrix(vector.path) == Eigen::Vector2d(7, 8));
}

TEST_CASE("read_matrix: errors name file and line", "[sim][networks]") {
  CHECK(complaint("b.csv", "a,b\n1,2\n3,x\n").find(":3:3: error: 'x'") == 0);
  const std::string six = bytes<double>({1, 2, 3, 4, 5, 6});
  CHECK(complaint("b.npy", npy("<f8", "False", "(2, 3)", six.substr(1))).find("47 bytes of data") !=
        std::string::npos);
  CHECK(complaint("b.npy", npy("<c16", "False", "(2, 3)", six)).find("'<c16'") !=
        std::string::npos);
  CHECK(complaint("b.npy", npy("<f8", "False", "(1, 2, 3)", six)).find("3 dimensions") !=
        std::string::npos);
  CHECK(complaint("b.npy", npy("<f8", "Maybe", "(2, 3)", six)).find("malformed") !=
        std::string::npos);
  CHECK(complaint("b.npy", npy("<f8", "False", "(0, 3)", "")).find("empty") != std::string::npos);
  CHECK(complaint("b.npy", npy("<f8", "False", "(1,)", bytes<double>({std::nan("")})))
            .find("(0, 0)") != std::string::npos);
  CHECK(complaint("b.npy", "\x93NUMPY\x01") == ": truncated .npy header");
  CHECK_THROWS_AS(read_matrix("/nonexistent/file.npy"), Error);
}

TEST_CASE("measure: rows of half precision are distributions within its rounding",
          "[sim][networks]") {
  // A softmax of n entries rounded to float16: sums are off by up to n half-spacings of the
  // entries.
  constexpr Eigen::Index kEntries = 64;
  Eigen::MatrixXd w(3, kEntries);
  for (Eigen::Index i = 0; i < w.rows(); ++i) {
    Eigen::VectorXd row(kEntries);
    for (Eigen::Index j = 0; j < kEntries; ++j)
      row(j) = std::exp(std::sin(static_cast<double>(7 * i + 3 * j)));
    row /= row.sum();
    for (Eigen::Index j = 0; j < kEntries; ++j)
      w(i, j) = static_cast<double>(static_cast<Eigen::half>(row(j) * (1 + 4e-4)));
  }
  CHECK_FALSE(measure(w).attention_entropy);
  CHECK(measure(w, 0x1p-10).attention_entropy);
  CHECK_FALSE(measure(1.01 * w, 0x1p-10).attention_entropy);
}

}  // namespace networks_measures_test

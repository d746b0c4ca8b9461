#include "attica/core/named_arrays.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <utility>

#include "attica/core/error.hpp"

using namespace attica;
using Catch::Contains;

namespace named_arrays_test {

/// .npy of these numbers, row by row or, in Fortran order, by columns.
std::string npy(const std::string& shape, const std::vector<double>& values, bool fortran = false) {
  std::string header =
      "{'descr': '<f8', 'fortran_order': " + std::string(fortran ? "True" : "False") +
      ", 'shape': (" + shape + "), }\n";
  std::string bytes = "\x93NUMPY\x01";
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  bytes += header;
  for (const double value : values) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
  }
  return bytes;
}

la_ssize_t append(struct archive*, void* target, const void* bytes, size_t length) {
  static_cast<std::string*>(target)->append(static_cast<const char*>(bytes), length);
  return static_cast<la_ssize_t>(length);
}

std::string npz(const std::vector<std::pair<std::string, std::string>>& files, bool deflate) {
  std::string bytes;
  struct archive* zip = archive_write_new();
  archive_write_set_format_zip(zip);
  archive_write_set_options(zip, deflate ? "compression=deflate" : "compression=store");
  archive_write_open(zip, &bytes, nullptr, append, nullptr);
  for (const auto& [name, content] : files) {
    struct archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_write_header(zip, entry);
    archive_write_data(zip, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(zip);
  archive_write_free(zip);
  return bytes;
}

std::string tensors(const std::string& header, const std::string& data) {
  std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

}  // namespace named_arrays_test

TEST_CASE("named arrays: .npz, stored or deflated, with parts by index", "[core][arrays]") {
  using namespace named_arrays_test;
  for (const bool deflate : {false, true}) {
    const std::string bytes =
        npz({{"layer0.W_Q.npy", npy("2, 2, 3", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})},
             {"v.npy", npy("3,", {1, 2, 3})}},
            deflate);
    REQUIRE(has_named_arrays(bytes));
    const NamedArrays arrays(bytes, "start.npz");
    CHECK(arrays.names() == std::vector<std::string>{"layer0.W_Q", "v"});
    const NumberArray part = arrays.at("layer0.W_Q[1]");
    CHECK(part.shape == std::vector<std::size_t>{2, 3});
    CHECK(part.values == std::vector<double>{6, 7, 8, 9, 10, 11});
    CHECK(arrays.at("layer0.W_Q[1,0]").values == std::vector<double>{6, 7, 8});
    CHECK(arrays.at("layer0.W_Q[1,0,2]").values == std::vector<double>{8});
    CHECK(arrays.at("v").values == std::vector<double>{1, 2, 3});
    CHECK_THROWS_WITH(arrays.at("w"), Contains("start.npz: no array 'w'; it has layer0.W_Q, v"));
    CHECK_THROWS_WITH(arrays.at("layer0.W_Q[2]"),
                      Contains("index 2 of an array of shape 2 x 2 x 3"));
    CHECK_THROWS_WITH(arrays.at("v[0,1]"), Contains("2 indices of an array of 1 dimensions"));
  }
  CHECK_THROWS_AS(NamedArrays(npz({{"v.npy", npy("3,", {1, 2, 3})}}, true).substr(0, 90), "x"),
                  Error);
  const std::string one = npy("1,", {1});
  CHECK_THROWS_WITH(NamedArrays(npz({{"v.npy", one}, {"v.npy", one}}, false), "x.npz"),
                    Contains("two arrays of the name 'v'"));
}

TEST_CASE("named arrays: names that are not ASCII, in the locale \"C\"", "[core][arrays]") {
  using namespace named_arrays_test;
  // As zipfile writes it: the name in UTF-8, stored, with the flag that says so.
  const std::string name = "poids_\u00e9.npy";
  const std::string content = npy("1, 1", {3});
  const auto number = [](std::uint32_t value, int bytes) {
    std::string out;
    for (int k = 0; k < bytes; ++k) out += static_cast<char>(value >> (8 * k));
    return out;
  };
  const auto size = static_cast<std::uint32_t>(content.size());
  std::uint32_t sum = 0xFFFFFFFF;  // CRC-32
  for (const char c : content) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xEDB88320 : 0);
  }
  const std::string facts = number(20, 2) + number(0x800, 2) + number(0, 2) + number(0, 4) +
                            number(~sum, 4) + number(size, 4) + number(size, 4) +
                            number(static_cast<std::uint32_t>(name.size()), 2) + number(0, 2);
  const std::string local = "PK\x03\x04" + facts + name + content;
  const std::string central = "PK\x01\x02" + number(20, 2) + facts + std::string(14, '\0') + name;
  const std::string end = "PK\x05\x06" + number(0, 4) + number(1, 2) + number(1, 2) +
                          number(static_cast<std::uint32_t>(central.size()), 4) +
                          number(static_cast<std::uint32_t>(local.size()), 4) + number(0, 2);
  const NamedArrays arrays(local + central + end, "f.npz");
  REQUIRE(arrays.names() == std::vector<std::string>{"poids_\u00e9"});
}

TEST_CASE("named arrays: Fortran order of three dimensions", "[core][arrays]") {
  using namespace named_arrays_test;
  // a[i,j,k] = 100 i + 10 j + k of shape 2 x 3 x 2, the first index fastest.
  std::vector<double> stored;
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) stored.push_back(100 * i + 10 * j + k);
    }
  }
  const NumberArray a = read_npy_array(npy("2, 3, 2", stored, true), "a.npy");
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 2; ++k) expected.push_back(100 * i + 10 * j + k);
    }
  }
  CHECK(a.values == expected);
}

TEST_CASE("named arrays: .safetensors", "[core][arrays]") {
  using namespace named_arrays_test;
  // bfloat16 1.0 is 3f80, float16 1.5 is 3e00.
  const std::string data("\x80\x3f\x00\x40\x00\x3e\x00\x3c", 8);
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},)"
      R"("h":{"dtype":"F16","shape":[1,2],"data_offsets":[4,8]}})";
  const std::string bytes = tensors(header, data);
  REQUIRE(has_named_arrays(bytes));
  const NamedArrays arrays(bytes, "m.safetensors");
  CHECK(arrays.at("b").values == std::vector<double>{1, 2});
  CHECK(arrays.at("b").rounding == 0x1p-7);
  CHECK(arrays.at("h").values == std::vector<double>{1.5, 1});
  CHECK(arrays.at("h").shape == std::vector<std::size_t>{1, 2});
  // Damaged headers are refused, whatever is wrong.
  for (const char* const bad : {R"({"b":{"dtype":"F64","shape":[2],"data_offsets":[0,4]}})",
                                R"({"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,99]}})",
                                R"({"b":{"dtype":"BF16","shape":[2],"data_offsets":[4,0]}})",
                                R"({"b":{"dtype":"BF16","shape":[-2],"data_offsets":[0,4]}})",
                                R"({"b":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})",
                                R"({"b":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]}})",
                                R"({"b":3})",
                                R"({"b":)",
                                R"({})"}) {
    INFO(bad);
    CHECK_THROWS_AS(NamedArrays(tensors(bad, data), "m.safetensors").at("b"), Error);
  }
  // Arrays that share bytes, leave some out, or have one name.
  const auto refused = [&](const std::string& entries, const std::string& why) {
    INFO(entries);
    CHECK_THROWS_WITH(NamedArrays(tensors("{" + entries + "}", data), "m.safetensors"),
                      Catch::Contains(why));
  };
  const std::string whole = R"("h":{"dtype":"F16","shape":[4],"data_offsets":[0,8]})";
  refused(whole + R"(,"b":{"dtype":"F16","shape":[2],"data_offsets":[0,4]})",
          "'h' begins at byte 0");
  refused(R"("b":{"dtype":"F16","shape":[2],"data_offsets":[0,4]})",
          "8 bytes of data, its arrays have 4");
  refused(R"("b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]})", "'b' begins at byte 4");
  refused(whole + "," + whole, "two arrays of the name 'h'");
  refused(R"("h":{"dtype":"F16","shape":[4],"shape":[2,2],"data_offsets":[0,8]})",
          "'shape' twice in the entry of an array");
}

TEST_CASE("array addresses: the name behind the colon", "[core][arrays]") {
  CHECK(array_address("a/start.npz:layer0.W_Q[2]").file == "a/start.npz");
  CHECK(array_address("a/start.npz:layer0.W_Q[2]").arrays == "layer0.W_Q[2]");
  CHECK(array_address("m.safetensors:x").suffix() == ":x");
  CHECK(array_address("C:/data.csv").file == "C:/data.csv");
  CHECK(array_address("start.npz").arrays.empty());
}

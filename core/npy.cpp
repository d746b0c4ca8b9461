#include "attica/core/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/read_number.hpp"

namespace attica {
namespace {

constexpr std::string_view kNumpyMagic = "\x93NUMPY";

std::string_view trimmed_part(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> shape_parts(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed_part(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class T>
double number_at(const char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

struct NumberKind {
  std::string_view descriptor;  ///< without the byte order
  std::size_t size;
  double rounding;
  double (*read)(const char*);
};

constexpr auto kNumberKinds = std::to_array<NumberKind>({{"f2", 2, 0x1p-10, number_at<Eigen::half>},
                                                         {"f4", 4, 0x1p-23, number_at<float>},
                                                         {"f8", 8, 0x1p-52, number_at<double>},
                                                         {"i1", 1, 0, number_at<std::int8_t>},
                                                         {"i2", 2, 0, number_at<std::int16_t>},
                                                         {"i4", 4, 0, number_at<std::int32_t>},
                                                         {"i8", 8, 0, number_at<std::int64_t>},
                                                         {"u1", 1, 0, number_at<std::uint8_t>},
                                                         {"u2", 2, 0, number_at<std::uint16_t>},
                                                         {"u4", 4, 0, number_at<std::uint32_t>},
                                                         {"u8", 8, 0, number_at<std::uint64_t>},
                                                         {"b1", 1, 0, number_at<std::uint8_t>}});

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::input, where + ": " + what);
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(kNumpyMagic); }

NpyMatrix read_npy(std::string_view bytes, const std::string& name) {
  // Magic, version (2 bytes), length of the header (2 bytes in version 1, else 4), header: a Python
  // dictionary.
  constexpr std::size_t kVersionAt = 6;
  constexpr std::size_t kLengthAt = 8;
  const std::size_t length_size = bytes.size() > kVersionAt && bytes[kVersionAt] == 1 ? 2 : 4;
  if (bytes.size() < kLengthAt + length_size) fail(name, "truncated .npy header");
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + kLengthAt, length_size);
  const std::size_t data_at = kLengthAt + length_size + length;
  if (bytes.size() < data_at) fail(name, "truncated .npy header");
  const std::string_view header = bytes.substr(kLengthAt + length_size, length);
  // What stands between `open` and `close` behind a key.
  const auto field = [&](std::string_view key, std::string_view open, std::string_view close) {
    const std::size_t at = header.find(key);
    const std::size_t first = at == header.npos ? header.npos : header.find(open, at + key.size());
    const std::size_t last =
        first == header.npos ? header.npos : header.find_first_of(close, first + open.size());
    if (last == header.npos) fail(name, "malformed .npy header");
    return trimmed_part(header.substr(first + open.size(), last - first - open.size()));
  };
  const std::string_view type = field("'descr'", "'", "'");
  const std::string_view order = field("'fortran_order'", ":", ",}");
  if (order != "True" && order != "False") fail(name, "malformed .npy header");
  const bool fortran = order == "True";
  std::vector<std::uint64_t> shape;
  for (const std::string_view part : shape_parts(field("'shape'", "(", ")"))) {
    if (part.empty()) continue;
    const auto size = read_number(part);
    constexpr double kLargest = 1e12;
    if (!size || !(*size >= 0) || std::floor(*size) != *size || *size > kLargest)
      fail(name, "malformed .npy shape");
    shape.push_back(static_cast<std::uint64_t>(*size));
  }
  if (shape.empty() || shape.size() > 2) {
    fail(name, fmt::format("array of {} dimensions, expected 1 or 2", shape.size()));
  }
  if (shape.size() == 1) shape.push_back(1);

  const bool ordered = type.starts_with('<') || type.starts_with('>');
  const bool swapped = type.starts_with('>');
  const std::string_view of_number =
      ordered || type.starts_with('|') ? type.substr(1) : std::string_view();
  const auto* const kind =
      std::find_if(kNumberKinds.begin(), kNumberKinds.end(), [&](const NumberKind& k) {
        return k.descriptor == of_number && (ordered || k.size == 1);
      });
  if (kind == kNumberKinds.end()) {
    fail(name,
         fmt::format("numbers of type '{}', expected f2, f4, f8, integers or bool; "
                     "numpy.save(FILE, array.astype(float))",
                     type));
  }
  const auto expected = static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
  if (expected == 0) fail(name, "an empty array");
  if (static_cast<double>(bytes.size() - data_at) != expected * static_cast<double>(kind->size)) {
    fail(name,
         fmt::format("{} bytes of data, expected {} x {} numbers of {} bytes",
                     bytes.size() - data_at,
                     shape[0],
                     shape[1],
                     kind->size));
  }
  NpyMatrix matrix{.values = {}, .rounding = kind->rounding};
  Eigen::MatrixXd& m = matrix.values;
  m.resize(static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]));
  const char* at = bytes.data() + data_at;
  std::array<char, sizeof(double)> bytes_of_one{};
  for (Eigen::Index k = 0; k < m.size(); ++k, at += kind->size) {
    const Eigen::Index row = fortran ? k % m.rows() : k / m.cols();
    const Eigen::Index column = fortran ? k / m.rows() : k % m.cols();
    if (swapped) {
      std::reverse_copy(at, at + kind->size, bytes_of_one.begin());
      m(row, column) = kind->read(bytes_of_one.data());
    } else {
      m(row, column) = kind->read(at);
    }
    if (!std::isfinite(m(row, column))) {
      fail(name, fmt::format("entry ({}, {}) is not a finite number", row, column));
    }
  }
  return matrix;
}

}  // namespace attica

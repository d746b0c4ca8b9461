#include "attica/sim/networks/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/core/read_bytes.hpp"

namespace attica::networks {
namespace {

constexpr std::string_view kNumpyMagic = "\x93NUMPY";

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::input, where + ": " + what);
}

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class T>
double read_number(const char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

Eigen::MatrixXd read_npy(std::string_view bytes, const std::string& name) {
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
    return trimmed(header.substr(first + open.size(), last - first - open.size()));
  };
  const std::string_view type = field("'descr'", "'", "'");
  const std::string_view order = field("'fortran_order'", ":", ",}");
  if (order != "True" && order != "False") fail(name, "malformed .npy header");
  const bool fortran = order == "True";
  std::vector<std::uint64_t> shape;
  for (const std::string_view part : split(field("'shape'", "(", ")"))) {
    if (part.empty()) continue;
    const auto size = number(part);
    constexpr double kLargest = 1e12;
    if (!size || *size < 0 || *size > kLargest) fail(name, "malformed .npy shape");
    shape.push_back(static_cast<std::uint64_t>(*size));
  }
  if (shape.empty() || shape.size() > 2) {
    fail(name, fmt::format("array of {} dimensions, expected 1 or 2", shape.size()));
  }
  if (shape.size() == 1) shape.push_back(1);

  struct Kind {
    std::string_view descriptor;
    std::size_t size;
    double (*read)(const char*);
  };
  constexpr auto kKinds = std::to_array<Kind>({{"<f2", 2, read_number<Eigen::half>},
                                               {"<f4", 4, read_number<float>},
                                               {"<f8", 8, read_number<double>},
                                               {"<i4", 4, read_number<std::int32_t>},
                                               {"<i8", 8, read_number<std::int64_t>}});
  const auto kind = std::ranges::find(kKinds, type, &Kind::descriptor);
  if (kind == kKinds.end())
    fail(name, fmt::format("numbers of type '{}', expected <f2, <f4, <f8, <i4 or <i8", type));
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
  Eigen::MatrixXd m(static_cast<Eigen::Index>(shape[0]), static_cast<Eigen::Index>(shape[1]));
  const char* at = bytes.data() + data_at;
  for (Eigen::Index k = 0; k < m.size(); ++k, at += kind->size) {
    const Eigen::Index row = fortran ? k % m.rows() : k / m.cols();
    const Eigen::Index column = fortran ? k / m.rows() : k % m.cols();
    m(row, column) = kind->read(at);
    if (!std::isfinite(m(row, column))) {
      fail(name, fmt::format("entry ({}, {}) is not a finite number", row, column));
    }
  }
  return m;
}

}  // namespace

Eigen::MatrixXd read_matrix(const std::filesystem::path& file) {
  const std::optional<std::string> bytes = read_bytes(file);
  if (!bytes) fail(file.string(), "cannot read the file");
  if (bytes->starts_with(kNumpyMagic)) return read_npy(*bytes, file.string());
  return read_numeric_csv(file, CsvHeader::optional).values;
}

}  // namespace attica::networks

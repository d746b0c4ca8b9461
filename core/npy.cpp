#include "attica/core/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

constexpr auto kNumberKinds =
    std::to_array<NumberKind>({{"f2", 2, 0x1p-10, number_at<Eigen::half>},
                               {"bf2", 2, 0x1p-7, number_at<Eigen::bfloat16>},
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

const NumberKind* kind_of(std::string_view type) {
  const auto* const kind = std::find_if(kNumberKinds.begin(),
                                        kNumberKinds.end(),
                                        [&](const NumberKind& k) { return k.descriptor == type; });
  return kind == kNumberKinds.end() ? nullptr : kind;
}

/// "(2, 0)" of the k-th entry, row by row.
std::string place_text(std::size_t k, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> place(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    place[d] = k % shape[d];
    k /= shape[d];
  }
  if (place.size() == 1) place.push_back(0);
  return fmt::format("({})", fmt::join(place, ", "));
}

}  // namespace

double NumberArray::entries(const std::vector<std::size_t>& shape) {
  double product = 1;
  for (const std::size_t size : shape) product *= static_cast<double>(size);
  return product;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  return shape.empty() ? "a single number" : fmt::format("{}", fmt::join(shape, " x "));
}

std::size_t stored_number_size(std::string_view type) {
  const NumberKind* const kind = kind_of(type);
  return kind == nullptr ? 0 : kind->size;
}

NumberArray stored_numbers(std::string_view type,
                           bool swapped,
                           std::string_view bytes,
                           std::vector<std::size_t> shape,
                           const std::string& source) {
  const NumberKind* const kind = kind_of(type);
  if (kind == nullptr) fail(source, fmt::format("numbers of type '{}'", type));
  NumberArray array{.shape = std::move(shape), .values = {}, .rounding = kind->rounding};
  array.values.resize(bytes.size() / kind->size);
  const char* at = bytes.data();
  std::array<char, sizeof(double)> bytes_of_one{};
  for (std::size_t k = 0; k < array.values.size(); ++k, at += kind->size) {
    if (swapped) {
      std::reverse_copy(at, at + kind->size, bytes_of_one.begin());
      array.values[k] = kind->read(bytes_of_one.data());
    } else {
      array.values[k] = kind->read(at);
    }
    if (!std::isfinite(array.values[k])) {
      fail(source, fmt::format("entry {} is not a finite number", place_text(k, array.shape)));
    }
  }
  return array;
}

bool is_npy(std::string_view bytes) { return bytes.starts_with(kNumpyMagic); }

NumberArray read_npy_array(std::string_view bytes, const std::string& name) {
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
  if (field("'descr'", ":", ",}").starts_with('[')) {
    fail(name,
         "a structured array, expected numbers; "
         "numpy.save(FILE, numpy.lib.recfunctions.structured_to_unstructured(array))");
  }
  const std::string_view type = field("'descr'", "'", "'");
  const std::string_view order = field("'fortran_order'", ":", ",}");
  if (order != "True" && order != "False") fail(name, "malformed .npy header");
  const bool fortran = order == "True";
  std::vector<std::size_t> shape;
  for (const std::string_view part : shape_parts(field("'shape'", "(", ")"))) {
    if (part.empty()) continue;
    const auto size = read_number(part);
    constexpr double kLargest = 1e12;
    if (!size || !(*size >= 0) || std::floor(*size) != *size || *size > kLargest)
      fail(name, "malformed .npy shape");
    shape.push_back(static_cast<std::size_t>(*size));
  }
  const bool ordered = type.starts_with('<') || type.starts_with('>');
  const bool swapped = type.starts_with('>');
  const std::string_view of_number =
      ordered || type.starts_with('|') ? type.substr(1) : std::string_view();
  const NumberKind* const kind = of_number == "bf2" ? nullptr : kind_of(of_number);
  if (kind == nullptr || (!ordered && kind->size != 1)) {
    fail(name,
         fmt::format("numbers of type '{}', expected f2, f4, f8, integers or bool; "
                     "numpy.save(FILE, {})",
                     type,
                     of_number.starts_with('c') ? "array.real) or numpy.save(FILE, abs(array)"
                                                : "array.astype(float)"));
  }
  const double expected = NumberArray::entries(shape);
  if (expected == 0) fail(name, "an empty array");
  if (static_cast<double>(bytes.size() - data_at) != expected * static_cast<double>(kind->size)) {
    fail(name,
         fmt::format("{} bytes of data, expected {}{} numbers of {} bytes",
                     bytes.size() - data_at,
                     shape.empty() ? "1" : shape_text(shape),
                     shape.size() == 1 ? " x 1" : "",
                     kind->size));
  }
  if (!fortran || shape.size() < 2)
    return stored_numbers(of_number, swapped, bytes.substr(data_at), std::move(shape), name);
  // Stored with the first index running fastest: read as the reversed shape, and turned.
  const std::vector<std::size_t> reversed(shape.rbegin(), shape.rend());
  NumberArray stored = stored_numbers(of_number, swapped, bytes.substr(data_at), reversed, name);
  std::vector<double> turned(stored.values.size());
  std::vector<std::size_t> place(shape.size(), 0);
  for (double& value : turned) {
    std::size_t from = 0;
    for (std::size_t d = shape.size(); d-- > 0;) from = from * shape[d] + place[d];
    value = stored.values[from];
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++place[d] < shape[d]) break;
      place[d] = 0;
    }
  }
  return {.shape = std::move(shape), .values = std::move(turned), .rounding = stored.rounding};
}

NpyMatrix matrix_of(const NumberArray& array, const std::string& source) {
  if (array.shape.empty() || array.shape.size() > 2) {
    fail(source, fmt::format("array of {} dimensions, expected 1 or 2", array.shape.size()));
  }
  const auto rows = static_cast<Eigen::Index>(array.shape[0]);
  const auto columns = static_cast<Eigen::Index>(array.shape.size() == 1 ? 1 : array.shape[1]);
  return {
      .values =
          Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
              array.values.data(), rows, columns),
      .rounding = array.rounding};
}

NpyMatrix read_npy(std::string_view bytes, const std::string& name) {
  return matrix_of(read_npy_array(bytes, name), name);
}

}  // namespace attica

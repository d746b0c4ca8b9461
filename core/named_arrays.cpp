#include "attica/core/named_arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#ifdef ATTICA_WITH_ARCHIVES
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>  // newlocale, of POSIX
#if __has_include(<xlocale.h>)
#include <xlocale.h>  // which macOS and BSD declare there
#endif

#include <nlohmann/json.hpp>
#endif

#include "attica/core/error.hpp"
#include "attica/core/unique_json.hpp"

namespace attica {
namespace {

[[noreturn]] void refuse_arrays(const std::string& source, const std::string& what) {
  throw Error(ErrorKind::input, source + ": " + what);
}

constexpr std::string_view kNpyEnding = ".npy";
constexpr std::string_view kZipMagic = "PK\x03\x04";

/// A .npz file begins with an entry whose name ends in .npy.
bool is_npz(std::string_view bytes) {
  constexpr std::size_t kLengthAt = 26;
  constexpr std::size_t kNameAt = 30;
  if (!bytes.starts_with(kZipMagic) || bytes.size() < kNameAt) return false;
  std::uint16_t length = 0;
  std::memcpy(&length, bytes.data() + kLengthAt, sizeof length);
  return bytes.substr(kNameAt, length).ends_with(kNpyEnding);
}

/// The length of a .safetensors header: eight bytes, then JSON.
std::optional<std::size_t> tensors_header(std::string_view bytes) {
  constexpr std::size_t kLengthSize = 8;
  if (bytes.size() < kLengthSize + 2 || bytes[kLengthSize] != '{') return std::nullopt;
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthSize);
  if (length < 2 || length > bytes.size() - kLengthSize) return std::nullopt;
  return static_cast<std::size_t>(length);
}

/// "W[2,0]" as "W" and {2, 0}; without an index at its end the whole name.
std::pair<std::string_view, std::vector<std::size_t>> name_and_index(std::string_view text) {
  const std::size_t open = text.rfind('[');
  if (open == text.npos || !text.ends_with(']')) return {text, {}};
  std::vector<std::size_t> index;
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  while (true) {
    const std::size_t comma = inside.find(',');
    const std::string_view one = inside.substr(0, comma);
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (error != std::errc() || end != one.data() + one.size()) return {text, {}};
    index.push_back(value);
    if (comma == inside.npos) return {text.substr(0, open), index};
    inside.remove_prefix(comma + 1);
  }
}

NumberArray part_of(NumberArray array,
                    const std::vector<std::size_t>& index,
                    const std::string& source) {
  if (index.empty()) return array;
  if (index.size() > array.shape.size()) {
    refuse_arrays(
        source,
        fmt::format("{} indices of an array of {} dimensions", index.size(), array.shape.size()));
  }
  std::size_t first = 0;
  std::size_t count = array.values.size();
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (index[d] >= array.shape[d]) {
      refuse_arrays(source,
                    fmt::format("index {} of an array of shape {}, expected 0 to {}",
                                index[d],
                                shape_text(array.shape),
                                array.shape[d] - 1));
    }
    count /= array.shape[d];
    first += index[d] * count;
  }
  const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(first);
  const auto dimensions = static_cast<std::ptrdiff_t>(index.size());
  return {.shape = {array.shape.begin() + dimensions, array.shape.end()},
          .values = {begin, begin + static_cast<std::ptrdiff_t>(count)},
          .rounding = array.rounding};
}

}  // namespace

ArrayAddress array_address(std::string_view text) {
  std::size_t at = text.npos;
  for (const std::string_view ending : {".npz:", ".safetensors:"}) {
    const std::size_t found = text.find(ending);
    if (found != text.npos) at = std::min(at, found + ending.size() - 1);
  }
  if (at == text.npos) return {.file = std::string(text)};
  return {.file = std::string(text.substr(0, at)), .arrays = std::string(text.substr(at + 1))};
}

bool has_named_arrays(std::string_view bytes) {
  return is_npz(bytes) || tensors_header(bytes).has_value();
}

NamedArrays::NamedArrays(std::string_view bytes, std::string source) : source_(std::move(source)) {
  if (is_npy(bytes)) {
    single_ = true;
    arrays_.push_back({.name = {}, .npy = std::string(bytes)});
  } else if (is_npz(bytes)) {
    read_zip(bytes);
  } else if (tensors_header(bytes)) {
    read_tensors(bytes);
  } else {
    refuse_arrays(source_, "expected arrays: a .npz, .safetensors or .npy file");
  }
}

#ifdef ATTICA_WITH_ARCHIVES

namespace {

/// Gives the thread, as long as this lives, a locale of UTF-8: in the locale "C" libarchive has no
/// form for a name that is not ASCII.
class Utf8Locale {
 public:
  Utf8Locale() {
    for (const char* const name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
      if (own_ == nullptr) own_ = newlocale(LC_CTYPE_MASK, name, nullptr);
    }
    if (own_ != nullptr) before_ = uselocale(own_);
  }
  ~Utf8Locale() {
    if (own_ == nullptr) return;
    uselocale(before_);
    freelocale(own_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t own_ = nullptr;
  locale_t before_ = nullptr;
};

}  // namespace

void NamedArrays::read_zip(std::string_view bytes) {
  constexpr std::size_t kMostBytes = std::size_t{8} << 30;  // of all arrays together
  const Utf8Locale locale;
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(),
                                                                      archive_read_free);
  archive_read_support_format_zip(reader.get());
  const auto require_done = [&](la_ssize_t code) {
    if (code >= ARCHIVE_OK || code == ARCHIVE_WARN) return;
    const char* const text = archive_error_string(reader.get());
    refuse_arrays(source_, fmt::format("damaged .npz archive: {}", text == nullptr ? "" : text));
  };
  require_done(archive_read_open_memory(reader.get(), bytes.data(), bytes.size()));
  std::size_t total = 0;
  std::string block(std::size_t{1} << 20, '\0');
  archive_entry* entry = nullptr;
  while (true) {
    const int next = archive_read_next_header(reader.get(), &entry);
    if (next == ARCHIVE_EOF) break;
    require_done(next);
    const char* const path = archive_entry_pathname(entry);
    if (path == nullptr) {
      refuse_arrays(source_, "an array whose name cannot be read here; expected letters of ASCII");
    }
    std::string name = path;
    if (!name.ends_with(kNpyEnding)) continue;
    name.resize(name.size() - kNpyEnding.size());
    if (has(name)) refuse_arrays(source_, fmt::format("two arrays of the name '{}'", name));
    Stored stored{.name = std::move(name)};
    while (true) {
      const la_ssize_t got = archive_read_data(reader.get(), block.data(), block.size());
      if (got == ARCHIVE_WARN) {  // its checksum is another one
        refuse_arrays(source_, fmt::format("damaged .npz archive: array '{}'", stored.name));
      }
      require_done(got);
      if (got == 0) break;
      total += static_cast<std::size_t>(got);
      if (total > kMostBytes) refuse_arrays(source_, "more than 8 GB of arrays");
      stored.npy.append(block, 0, static_cast<std::size_t>(got));
    }
    arrays_.push_back(std::move(stored));
  }
  if (arrays_.empty()) refuse_arrays(source_, "an archive without arrays");
}

void NamedArrays::read_tensors(std::string_view bytes) {
  using Json = nlohmann::ordered_json;
  constexpr std::size_t kLengthSize = 8;
  const std::size_t length = *tensors_header(bytes);
  std::string twice;
  const Json header = parse_unique_json<Json>(bytes.substr(kLengthSize, length), twice);
  if (!twice.empty()) {
    const bool array = header.contains(twice);
    refuse_arrays(source_,
                  array ? fmt::format("two arrays of the name '{}'", twice)
                        : fmt::format("'{}' twice in the entry of an array", twice));
  }
  if (!header.is_object()) refuse_arrays(source_, "malformed header of a .safetensors file");
  data_ = bytes.substr(kLengthSize + length);
  for (const auto& [name, facts] : header.items()) {
    if (name == "__metadata__") continue;
    const auto malformed = [&, &name = name] {
      refuse_arrays(fmt::format("{}:{}", source_, name), "malformed entry of a .safetensors file");
    };
    if (!facts.is_object() || !facts.contains("dtype") || !facts["dtype"].is_string() ||
        !facts.contains("shape") || !facts["shape"].is_array() || !facts.contains("data_offsets") ||
        !facts["data_offsets"].is_array() || facts["data_offsets"].size() != 2) {
      malformed();
    }
    Stored stored{.name = name, .type = facts["dtype"].get<std::string>()};
    for (const Json& size : facts["shape"]) {
      if (!size.is_number_unsigned()) malformed();
      stored.shape.push_back(size.get<std::size_t>());
    }
    for (const Json& offset : facts["data_offsets"]) {
      if (!offset.is_number_unsigned()) malformed();
    }
    stored.begin = facts["data_offsets"][0].get<std::size_t>();
    stored.end = facts["data_offsets"][1].get<std::size_t>();
    if (stored.begin > stored.end || stored.end > data_.size()) malformed();
    arrays_.push_back(std::move(stored));
  }
  if (arrays_.empty()) refuse_arrays(source_, "a .safetensors file without arrays");
  require_covered_data();
}

/// The arrays of a .safetensors file stand one behind the other and are all of its data: others are
/// damaged, or made so that one array shows the bytes of another.
void NamedArrays::require_covered_data() const {
  std::vector<const Stored*> order;
  for (const Stored& stored : arrays_) order.push_back(&stored);
  std::ranges::stable_sort(
      order, {}, [](const Stored* stored) { return std::pair(stored->begin, stored->end); });
  std::size_t end = 0;
  for (const Stored* stored : order) {
    if (stored->begin != end) {
      refuse_arrays(source_,
                    fmt::format("a damaged .safetensors file: array '{}' begins at byte {} of the "
                                "data, expected {}",
                                stored->name,
                                stored->begin,
                                end));
    }
    end = stored->end;
  }
  if (end != data_.size()) {
    refuse_arrays(source_,
                  fmt::format("a damaged .safetensors file: {} bytes of data, its arrays have {}",
                              data_.size(),
                              end));
  }
}

#else

void NamedArrays::read_zip(std::string_view) {
  refuse_arrays(source_, "this build reads no .npz; expected .npy");
}
void NamedArrays::read_tensors(std::string_view) {
  refuse_arrays(source_, "this build reads no .safetensors; expected .npy");
}

#endif

std::vector<std::string> NamedArrays::names() const {
  std::vector<std::string> all;
  for (const Stored& stored : arrays_) all.push_back(stored.name);
  return all;
}

bool NamedArrays::has(std::string_view name) const {
  return std::ranges::any_of(arrays_, [&](const Stored& s) { return s.name == name; });
}

NumberArray NamedArrays::whole(const Stored& stored) const {
  const std::string named = single_ ? source_ : fmt::format("{}:{}", source_, stored.name);
  if (stored.type.empty()) return read_npy_array(stored.npy, named);
  static const std::map<std::string, std::string, std::less<>> kTypes = {{"F64", "f8"},
                                                                         {"F32", "f4"},
                                                                         {"F16", "f2"},
                                                                         {"BF16", "bf2"},
                                                                         {"I64", "i8"},
                                                                         {"I32", "i4"},
                                                                         {"I16", "i2"},
                                                                         {"I8", "i1"},
                                                                         {"U64", "u8"},
                                                                         {"U32", "u4"},
                                                                         {"U16", "u2"},
                                                                         {"U8", "u1"},
                                                                         {"BOOL", "b1"}};
  const auto type = kTypes.find(stored.type);
  if (type == kTypes.end()) {
    refuse_arrays(named,
                  fmt::format("numbers of type '{}', expected F64, F32, F16, BF16, integers or "
                              "BOOL",
                              stored.type));
  }
  const double entries = NumberArray::entries(stored.shape);
  if (entries == 0) refuse_arrays(named, "an empty array");
  const std::size_t size = stored_number_size(type->second);
  const std::size_t length = stored.end - stored.begin;
  if (static_cast<double>(length) != entries * static_cast<double>(size)) {
    refuse_arrays(named,
                  fmt::format("{} bytes of data, expected {} numbers of {} bytes",
                              length,
                              shape_text(stored.shape),
                              size));
  }
  return stored_numbers(type->second,
                        false,
                        std::string_view(data_).substr(stored.begin, length),
                        stored.shape,
                        named);
}

NumberArray NamedArrays::at(std::string_view name) const {
  const auto find = [&](std::string_view wanted) {
    return std::ranges::find_if(arrays_, [&](const Stored& s) { return s.name == wanted; });
  };
  if (const auto exact = find(name); exact != arrays_.end()) return whole(*exact);
  const auto [stem, index] = name_and_index(name);
  const auto stored = single_ ? arrays_.begin() : find(stem);
  if (stored == arrays_.end()) {
    constexpr std::size_t kShown = 12;
    std::vector<std::string> there = names();
    const bool more = there.size() > kShown;
    if (more) there.resize(kShown);
    refuse_arrays(source_,
                  fmt::format("no array '{}'; it has {}{}",
                              stem,
                              fmt::join(there, ", "),
                              more ? fmt::format(", ... ({} in all)", arrays_.size()) : ""));
  }
  return part_of(whole(*stored), index, fmt::format("{}:{}", source_, name));
}

}  // namespace attica

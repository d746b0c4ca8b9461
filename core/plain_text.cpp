#include "attica/core/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "attica/core/error.hpp"
#ifdef ATTICA_WITH_ARCHIVES
#include <archive.h>
#endif

namespace attica {
namespace {

using std::literals::string_view_literals::operator""sv;

constexpr std::size_t kMostBytes = std::size_t{1} << 31;

struct Compression {
  std::string_view magic;
  std::string_view name;
};

constexpr auto kCompressions = std::to_array<Compression>({{"\x1f\x8b\x08"sv, "gzip"},
                                                           {"\x28\xb5\x2f\xfd"sv, "Zstandard"},
                                                           {"BZh"sv, "bzip2"},
                                                           {"\xfd\x37zXZ\0"sv, "xz"}});

const Compression* compression_of(std::string_view bytes) {
  for (const Compression& c : kCompressions) {
    if (!bytes.starts_with(c.magic)) continue;
    // A text may begin with BZh: the level and the digits of pi follow.
    constexpr std::size_t kPiAt = 4;
    if (c.name == "bzip2" && !bytes.substr(std::min(kPiAt, bytes.size())).starts_with("1AY&SY") &&
        !bytes.substr(std::min(kPiAt, bytes.size())).starts_with("\x17\x72\x45\x38\x50\x90"))
      continue;
    return &c;
  }
  return nullptr;
}

/// What to write in place of a format that is not read.
constexpr std::string_view kCsvOfPandas = "pandas: DataFrame.to_csv(FILE, index=False)";
constexpr std::string_view kNpyOfNumpy = "NumPy: numpy.save(FILE, array) or numpy.savetxt";

struct Format {
  std::string_view magic;
  std::string_view name;
  std::string_view instead;
};

constexpr auto kFormats = std::to_array<Format>({
    {"PAR1"sv, "a Parquet file", kCsvOfPandas},
    {"ARROW1"sv, "a Feather (Arrow) file", kCsvOfPandas},
    {"FEA1"sv, "a Feather file", kCsvOfPandas},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "the data set as CSV, or as .npy for a matrix"},
    {"CDF\x01"sv, "a NetCDF file", "the variable as CSV"},
    {"CDF\x02"sv, "a NetCDF file", "the variable as CSV"},
    {"MATLAB 5.0 MAT-file"sv, "a MATLAB .mat file", "MATLAB: writetable(T, FILE) or writematrix"},
    {"SQLite format 3\0"sv, "an SQLite data base", "the query's result as CSV"},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an Excel .xls file", "the sheet saved as CSV (UTF-8)"},
    {"\x93NUMPY"sv,
     "a NumPy .npy file, whose columns have no names",
     "numpy.savetxt(FILE, array, delimiter=',', header='x,value', comments='')"},
    {"GGUF"sv, "a GGUF file", kNpyOfNumpy},
    {"%PDF-"sv, "a PDF file", "the numbers as CSV"},
    {"\x89PNG\r\n"sv, "a PNG image", "the numbers as CSV"},
    {"\xff\xd8\xff"sv, "a JPEG image", "the numbers as CSV"},
    {"RDX2\n"sv, "an R data file", "R: write.csv(D, FILE, row.names=FALSE)"},
    {"RDX3\n"sv, "an R data file", "R: write.csv(D, FILE, row.names=FALSE)"},
    {"X\n\0\0\0"sv, "an R .rds file", "R: write.csv(D, FILE, row.names=FALSE)"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive", "the table itself"},
    {"Rar!"sv, "a RAR archive", "the table itself"},
});

/// What a ZIP archive is, by the names in it.
Format zip_format(std::string_view bytes) {
  constexpr std::size_t kLooked = 1 << 16;
  const auto has = [&](std::string_view name) {
    return bytes.substr(0, kLooked).find(name) != std::string_view::npos ||
           (bytes.size() > kLooked &&
            bytes.substr(bytes.size() - kLooked).find(name) != std::string_view::npos);
  };
  if (has("xl/workbook") || has("xl/worksheets") || has("[Content_Types].xml"))
    return {"", "an Excel .xlsx file", "the sheet saved as CSV (UTF-8)"};
  if (has("opendocument.spreadsheet"))
    return {"", "an OpenDocument spreadsheet", "the sheet saved as CSV (UTF-8)"};
  if (has("data.pkl"))
    return {"",
            "a PyTorch file",
            "Python: numpy.save(FILE, tensor.numpy()) for a matrix, or rows as CSV"};
  if (has(".npy"))
    return {"", "a NumPy .npz archive", "one array of it: numpy.save(FILE, archive[NAME])"};
  return {"", "a ZIP archive", "the table itself"};
}

std::optional<Format> format_of(std::string_view bytes) {
  for (const Format& format : kFormats) {
    if (bytes.starts_with(format.magic)) return format;
  }
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return zip_format(bytes);
  constexpr std::size_t kTarAt = 257;
  if (bytes.size() > kTarAt + 5 && bytes.substr(kTarAt, 5) == "ustar")
    return Format{"", "a tar archive", "the table itself"};
  // The first records of TensorBoard's events say their version.
  constexpr std::size_t kLooked = 64;
  if (bytes.substr(0, kLooked).find("brain.Event:") != std::string_view::npos)
    return Format{
        "", "a TensorBoard event file (tfevents)", "TensorBoard's CSV (Show data download links)"};
  // Pickles of protocol 2 to 5; PyTorch's old format is one.
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return Format{
        "", "a Python pickle", "pandas: DataFrame.to_csv(FILE, index=False); NumPy: numpy.save"};
  // A header's length, then JSON.
  constexpr std::size_t kHeaderAt = 8;
  if (bytes.size() > kHeaderAt + 2 && bytes.substr(kHeaderAt, 2) == "{\"" && bytes[7] == '\0' &&
      bytes[6] == '\0')
    return Format{"", "a safetensors file", kNpyOfNumpy};
  std::string_view rest = bytes;
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  for (const std::string_view tag : {"<!doctype html"sv, "<html"sv, "<?xml"sv}) {
    if (rest.size() >= tag.size() &&
        std::equal(
            tag.begin(), tag.end(), rest.begin(), [&](char t, char c) { return same(c, t); }))
      return Format{"", tag == "<?xml" ? "XML" : "a web page (HTML)", "the table itself"};
  }
  return std::nullopt;
}

void append_utf8(std::string& text, std::uint32_t c) {
  const auto byte = [&](std::uint32_t b) { text += static_cast<char>(b); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | c >> 6);
    byte(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    byte(0xe0 | c >> 12);
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  } else {
    byte(0xf0 | c >> 18);
    byte(0x80 | (c >> 12 & 0x3f));
    byte(0x80 | (c >> 6 & 0x3f));
    byte(0x80 | (c & 0x3f));
  }
}

std::string from_utf16(std::string_view bytes, bool little, const std::string& source) {
  const auto unit = [&](std::size_t at) {
    const auto a = static_cast<unsigned char>(bytes[at]);
    const auto b = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint32_t>(little ? a | b << 8 : a << 8 | b);
  };
  const Error damaged(ErrorKind::input,
                      fmt::format("{}: damaged UTF-16, expected UTF-8 text", source));
  if (bytes.size() % 2 != 0) throw damaged;
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    std::uint32_t c = unit(at);
    if (c >= 0xd800 && c < 0xdc00) {
      if (at + 4 > bytes.size()) throw damaged;
      const std::uint32_t low = unit(at + 2);
      if (low < 0xdc00 || low > 0xdfff) throw damaged;
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      at += 2;
    } else if (c >= 0xdc00 && c <= 0xdfff) {
      throw damaged;
    }
    append_utf8(text, c);
  }
  return text;
}

/// Names the first byte that is no UTF-8.
void require_utf8(std::string_view text, const std::string& source) {
  std::size_t line = 1;
  std::size_t start = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    if (c == '\n') {
      ++line;
      start = k + 1;
    }
    // The lengths that UTF-8 gives; the other bytes of a character are 10xxxxxx.
    const int more = c < 0x80           ? 0
                     : (c >> 5) == 0x6  ? 1
                     : (c >> 4) == 0xe  ? 2
                     : (c >> 3) == 0x1e ? 3
                                        : -1;
    bool good = more >= 0 && c != 0;
    for (int i = 0; good && i < more; ++i) {
      ++k;
      good = k < text.size() && (static_cast<unsigned char>(text[k]) >> 6) == 0x2;
    }
    if (good) continue;
    const auto column = std::min(k, text.size() - 1) - start + 1;
    const auto zeros = std::count(text.begin(), text.end(), '\0');
    std::string hint = "expected a table";
    if (zeros > 0 && static_cast<std::size_t>(zeros) * 4 > text.size()) {
      hint = "expected a table; UTF-16 without byte-order mark? iconv -f UTF-16LE -t UTF-8 FILE";
    } else if (zeros == 0) {
      hint = "expected a table; Latin-1? iconv -f LATIN1 -t UTF-8 FILE";
    }
    throw Error(ErrorKind::input,
                fmt::format("{}:{}:{}: error: no UTF-8 text, {}", source, line, column, hint));
  }
}

}  // namespace

std::optional<std::string> binary_format(std::string_view bytes) {
  const auto format = format_of(bytes);
  if (!format) return std::nullopt;
  return fmt::format("{}, which is not read here; expected {}", format->name, format->instead);
}

std::string decompressed(std::string_view bytes, const std::string& source) {
  const Compression* const compression = compression_of(bytes);
  if (compression == nullptr) return std::string(bytes);
#ifdef ATTICA_WITH_ARCHIVES
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorKind::input, fmt::format("{}: {} data: {}", source, compression->name, why));
  };
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(),
                                                                      archive_read_free);
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_entry* entry = nullptr;
  const auto why = [&] {
    const char* const text = archive_error_string(reader.get());
    return std::string(text == nullptr ? "damaged" : text);
  };
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK ||
      archive_read_next_header(reader.get(), &entry) != ARCHIVE_OK)
    throw refuse(why());
  // What is no stream of that kind after all would be passed on as it is.
  if (archive_filter_count(reader.get()) < 2) throw refuse("a damaged header");
  std::string text;
  std::array<char, 1 << 16> block{};
  while (true) {
    const auto got = archive_read_data(reader.get(), block.data(), block.size());
    if (got < 0) throw refuse(why());
    if (got == 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) throw refuse("more than 2 GB of text");
  }
  return text;
#else
  throw Error(ErrorKind::input,
              fmt::format("{}: {} data, which this build does not decompress; decompress it first",
                          source,
                          compression->name));
#endif
}

std::string plain_text(std::string_view bytes, const std::string& source) {
  std::string text = decompressed(bytes, source);
  if (const auto format = binary_format(text))
    throw Error(ErrorKind::input, fmt::format("{}: {}", source, *format));
  const std::string_view view = text;
  if (view.starts_with("\xff\xfe\0\0"sv) || view.starts_with("\0\0\xfe\xff"sv)) {
    throw Error(ErrorKind::input,
                fmt::format("{}: UTF-32, expected UTF-8; iconv -f UTF-32 -t UTF-8 FILE", source));
  }
  if (view.starts_with("\xff\xfe"sv) || view.starts_with("\xfe\xff"sv))
    text = from_utf16(view, view.front() == '\xff', source);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  require_utf8(text, source);
  return text;
}

}  // namespace attica

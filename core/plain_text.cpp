#include "attica/core/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "attica/core/error.hpp"
#ifdef ATTICA_WITH_ARCHIVES
#include <archive.h>
#include <zlib.h>
#endif

namespace attica {
namespace {

using std::literals::string_view_literals::operator""sv;

constexpr std::size_t kMostBytes = std::size_t{1} << 31;
constexpr std::size_t kMarkedWithin = 64;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

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
constexpr std::string_view kCsvOfR = "R: write.csv(D, FILE, row.names=FALSE)";
constexpr std::string_view kSheet = "the sheet saved as CSV (UTF-8)";
constexpr std::string_view kNumbers = "the numbers as CSV";
constexpr std::string_view kItself = "the table itself";

struct Format {
  std::string_view magic;
  std::string_view name;
  std::string_view instead;       ///< of a table
  std::string_view of_text = {};  ///< command that makes a text of it
};

constexpr auto kFormats = std::to_array<Format>({
    {"ARROW1\0\0"sv, "a Feather (Arrow) file", kCsvOfPandas},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "the data set as CSV, or as .npy for a matrix"},
    {"MATLAB 7.3 MAT-file"sv, "a MATLAB .mat file", "MATLAB: writetable(T, FILE) or writematrix"},
    {"Julia data file (HDF5)"sv, "a JLD2 file of Julia", "Julia: CSV.write(FILE, table)"},
    {"CDF\x01"sv, "a NetCDF file", "the variable as CSV"},
    {"CDF\x02"sv, "a NetCDF file", "the variable as CSV"},
    {"MATLAB 5.0 MAT-file"sv, "a MATLAB .mat file", "MATLAB: writetable(T, FILE) or writematrix"},
    {"%%MatrixMarket"sv,
     "a Matrix Market file",
     "CSV: numpy.savetxt(FILE, scipy.sparse.csr_array(scipy.io.mmread(MATRIX)).toarray(), "
     "delimiter=',')"},
    {"SQLite format 3\0"sv, "an SQLite data base", "the query's result as CSV"},
    {"SIMPLE  ="sv, "a FITS file", "the table or image as CSV"},
    {"root\0\0"sv, "a ROOT file", "the tree or histogram as CSV"},
    {"<stata_dta>"sv, "a Stata .dta file", "Stata: export delimited using FILE"},
    {"$FL2@(#)"sv, "an SPSS .sav file", "the data saved as CSV"},
    {"$FL3@(#)"sv, "an SPSS .zsav file", "the data saved as CSV"},
    {"Obj\x01"sv, "an Avro file", kCsvOfPandas},
    {"\xff\xff\xff\xff"sv, "an Arrow stream", kCsvOfPandas},
    {"CPYA "sv, "an Origin project", "the worksheet exported as ASCII or CSV"},
    {"CPYUA "sv, "an Origin project", "the worksheet exported as ASCII or CSV"},
    {"\x04\x22\x4d\x18"sv, "a file compressed by lz4", kItself, "lz4 -d FILE"},
    {"\x1f\x9d"sv, "a file compressed by compress (.Z)", kItself, "uncompress FILE"},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an Excel .xls or Word .doc file", kSheet},
    {"\x93NUMPY"sv,
     "a NumPy .npy file, whose columns have no names",
     "numpy.savetxt(FILE, array, delimiter=',', header='x,value', comments='')"},
    {"GGUF\x02\0"sv, "a GGUF file", kNpyOfNumpy},
    {"GGUF\x03\0"sv, "a GGUF file", kNpyOfNumpy},
    {"%PDF-"sv, "a PDF file", kNumbers, "pdftotext FILE"},
    {"{\\rtf"sv, "an RTF file", kItself, "pandoc -f rtf -t plain FILE"},
    {"\x89PNG\r\n"sv, "a PNG image", kNumbers},
    {"\xff\xd8\xff"sv, "a JPEG image", kNumbers},
    {"RDX2\n"sv, "an R data file", kCsvOfR},
    {"RDX3\n"sv, "an R data file", kCsvOfR},
    {"X\n\0\0\0"sv, "an R .rds file", kCsvOfR},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive", kItself, "7z x FILE"},
    {"Rar!\x1a\x07"sv, "a RAR archive", kItself, "unrar x FILE"},
    {"\xff\xfe\0\0"sv,
     "UTF-32",
     "UTF-8: iconv -f UTF-32 -t UTF-8 FILE",
     "iconv -f UTF-32 -t UTF-8 FILE"},
    {"\0\0\xfe\xff"sv,
     "UTF-32",
     "UTF-8: iconv -f UTF-32 -t UTF-8 FILE",
     "iconv -f UTF-32 -t UTF-8 FILE"},
});

/// What a ZIP archive is, by the names in it.
Format zip_format(std::string_view bytes) {
  constexpr std::size_t kLooked = 1 << 16;
  constexpr std::string_view kPandoc = "pandoc -t plain FILE";
  const auto has = [&](std::string_view name) {
    return bytes.substr(0, kLooked).find(name) != std::string_view::npos ||
           (bytes.size() > kLooked &&
            bytes.substr(bytes.size() - kLooked).find(name) != std::string_view::npos);
  };
  if (has("xl/workbook") || has("xl/worksheets")) return {"", "an Excel .xlsx file", kSheet};
  if (has("word/document")) return {"", "a Word .docx file", kItself, kPandoc};
  if (has("[Content_Types].xml")) return {"", "an Office file (.xlsx, .docx)", kSheet, kPandoc};
  if (has("opendocument.spreadsheet")) return {"", "an OpenDocument spreadsheet", kSheet};
  if (has("opendocument.text")) return {"", "an OpenDocument text (.odt)", kItself, kPandoc};
  if (has("application/epub")) return {"", "an EPUB book", kItself, kPandoc};
  if (has("data.pkl"))
    return {"",
            "a PyTorch file",
            "Python: numpy.save(FILE, tensor.numpy()) for a matrix, or rows as CSV"};
  if (has(".npy"))
    return {"", "a NumPy .npz archive", "one array of it: numpy.save(FILE, archive[NAME])"};
  return {"",
          "a zip archive",
          kItself,
          "unzip FILE, or pandoc -t plain FILE for a document (.docx, .odt, .epub)"};
}

/// UTF-16 and UTF-32 without a mark show by the zero bytes of their ASCII characters.
std::optional<Format> unmarked_encoding(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return std::nullopt;
  constexpr std::size_t kLooked = 1024;
  const std::string_view front = bytes.substr(0, kLooked);
  std::array<std::size_t, 4> zeros{};
  for (std::size_t k = 0; k < front.size(); ++k) zeros[k % 4] += front[k] == '\0' ? 1 : 0;
  const std::size_t quarter = front.size() / 4;
  const auto many = [&](std::size_t k) { return 2 * zeros[k] > quarter; };
  constexpr std::string_view k32 = "UTF-32 without a byte-order mark";
  constexpr std::string_view k16 = "UTF-16 without a byte-order mark";
  const auto encoding = [](std::string_view name, std::string_view with_utf8) {
    constexpr std::string_view kUtf8 = "UTF-8: ";
    return Format{"", name, with_utf8, with_utf8.substr(kUtf8.size())};
  };
  if (quarter == 0) return std::nullopt;
  if (many(1) && many(2) && many(3) && !many(0))
    return encoding(k32, "UTF-8: iconv -f UTF-32LE -t UTF-8 FILE");
  if (many(0) && many(1) && many(2) && !many(3))
    return encoding(k32, "UTF-8: iconv -f UTF-32BE -t UTF-8 FILE");
  if (many(1) && many(3) && !many(0) && !many(2))
    return encoding(k16, "UTF-8: iconv -f UTF-16LE -t UTF-8 FILE");
  if (many(0) && many(2) && !many(1) && !many(3))
    return encoding(k16, "UTF-8: iconv -f UTF-16BE -t UTF-8 FILE");
  return std::nullopt;
}

std::optional<Format> format_of(std::string_view bytes) {
  for (const Format& format : kFormats) {
    if (bytes.starts_with(format.magic)) return format;
  }
  for (const auto& [mark, name] :
       {std::pair("PAR1"sv, "a Parquet file"sv), std::pair("FEA1"sv, "a Feather file"sv)}) {
    if (bytes.starts_with(mark) && (bytes.ends_with(mark) || bytes.find('\0') < kMarkedWithin))
      return Format{"", name, kCsvOfPandas};
  }
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return zip_format(bytes);
  constexpr std::size_t kTarAt = 257;
  if (bytes.size() > kTarAt + 5 && bytes.substr(kTarAt, 5) == "ustar")
    return Format{"", "a tar archive", kItself, "tar -xf FILE"};
  // The first records of TensorBoard's events say their version.
  constexpr std::size_t kLooked = 64;
  if (bytes.substr(0, kLooked).find("brain.Event:") != std::string_view::npos)
    return Format{
        "", "a TensorBoard event file (tfevents)", "TensorBoard's CSV (Show data download links)"};
  // Pickles of protocol 2 to 5; PyTorch's old format is one.
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return Format{
        "", "a Python pickle", "pandas: DataFrame.to_csv(FILE, index=False); NumPy: numpy.save"};
  // zlib, by which joblib compresses pickles; no text begins so.
  if (bytes.starts_with("x\x9c") || bytes.starts_with("x\xda"))
    return Format{"", "data compressed by zlib (joblib?)", kNpyOfNumpy};
  // A header's length, then JSON.
  constexpr std::size_t kHeaderAt = 8;
  if (bytes.size() > kHeaderAt + 2 && bytes.substr(kHeaderAt, 2) == "{\"" && bytes[7] == '\0' &&
      bytes[6] == '\0')
    return Format{"", "a safetensors file", kNpyOfNumpy};
  std::string_view rest = bytes;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  for (const std::string_view tag :
       {"<!doctype"sv, "<html"sv, "<table"sv, "<?xml"sv, "<mediawiki"sv}) {
    if (rest.size() >= tag.size() &&
        std::equal(
            tag.begin(), tag.end(), rest.begin(), [&](char t, char c) { return same(c, t); }))
      return tag == "<?xml" || tag == "<mediawiki"
                 ? Format{"",
                          "an XML file",
                          kItself,
                          "its text alone (WikiExtractor for a dump of Wikipedia)"}
                 : Format{"", "a web page (HTML)", kItself, "pandoc -f html -t plain FILE"};
  }
  return unmarked_encoding(bytes);
}

/// Files whose texts stand between names and marks that are no part of them: JSON, LaTeX, tables
/// with a column of texts.
std::optional<Format> markup_of(std::string_view bytes) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::string_view rest = bytes;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
  if (rest.starts_with('{') || rest.starts_with('[')) {
    const std::size_t quote = std::min(rest.find_first_not_of("[{ \t\r\n"), rest.size() - 1);
    const std::size_t end = rest[quote] == '"' ? rest.find('"', quote + 1) : std::string_view::npos;
    const std::size_t next =
        end == std::string_view::npos ? end : rest.find_first_not_of(kBlank, end + 1);
    const char after = next == std::string_view::npos ? ' ' : rest[next];
    if (after == ':' || (rest.front() == '[' && (after == ',' || after == ']')))
      return Format{"",
                    "a JSON file",
                    kItself,
                    rest.front() == '[' ? "its texts alone, as by jq -r '.[].text' FILE"
                                        : "its texts alone, as by jq -r .text FILE"};
  }
  constexpr std::size_t kLooked = 1 << 16;
  if (rest.starts_with("\\documentclass") || rest.starts_with("\\documentstyle") ||
      rest.substr(0, kLooked).find("\\begin{document}") != std::string_view::npos)
    return Format{"", "a LaTeX file", kItself, "pandoc -f latex -t plain FILE"};
  const std::string_view first = rest.substr(0, std::min(rest.find_first_of("\r\n"), rest.size()));
  for (const char separator : {',', '\t', ';'}) {
    bool names = first.find(separator) != std::string_view::npos, texts = false;
    for (std::string_view left = first; names && !left.empty();) {
      const std::size_t end = std::min(left.find(separator), left.size());
      std::string_view name = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      if (name.size() > 2 && name.starts_with('"') && name.ends_with('"'))
        name = name.substr(1, name.size() - 2);
      names =
          name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
      texts = texts || name == "text" || name == "sentence" || name == "content" ||
              name == "review" || name == "abstract" || name == "document";
    }
    if (names && texts)
      return Format{"",
                    "a table with a column of texts",
                    kItself,
                    "the texts alone, a line each, as by pandas' D.text.to_csv(FILE, index=False, "
                    "header=False)"};
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

/// Refusals, in the words of what the file is to hold.
struct Refusals {
  const std::string& source;
  TextKind kind;

  Error of(const Format& format) const {
    const std::string_view of_text = format.of_text;
    switch (kind) {
      case TextKind::text:
        return invalid_parameter(
            source,
            fmt::format("a file that is {}", format.name.substr(0, format.name.find(','))),
            fmt::format("plain text in UTF-8{}{}", of_text.empty() ? "" : ": ", of_text));
      case TextKind::alignment:
        return input(
            fmt::format("{}, expected FASTA, A2M, A3M, Stockholm, Clustal or one sequence "
                        "a line, in UTF-8{}{}",
                        format.name.substr(0, format.name.find(',')),
                        of_text.empty() ? "" : ": ",
                        of_text));
      case TextKind::table:
        break;
    }
    return input(
        fmt::format("{}, which is not read here; expected {}", format.name, format.instead));
  }
  Error of(std::string_view compression, const std::string& what) const {
    if (kind == TextKind::text)
      return invalid_parameter(source,
                               fmt::format("a file of {} data", compression),
                               fmt::format("whole ones: {}", what));
    return input(fmt::format("{} data: {}", compression, what));
  }
  Error damaged_utf16() const { return input("damaged UTF-16, expected UTF-8 text"); }
  /// A zero byte, or one that is no UTF-8.
  Error byte(unsigned char value, std::size_t line, std::size_t column) const {
    if (kind == TextKind::text) {
      if (value == 0)
        return invalid_parameter(
            source,
            fmt::format("a file with a zero byte at line {}, column {}", line, column),
            "plain text in UTF-8: zero bytes are those of UTF-16 or of data");
      return invalid_parameter(
          source,
          fmt::format(
              "a file whose byte 0x{:02X} at line {}, column {} is not UTF-8", value, line, column),
          "plain text in UTF-8: iconv -f WINDOWS-1252 -t UTF-8 FILE, if that is its encoding");
    }
    return {ErrorKind::input,
            fmt::format("{}:{}:{}: error: no UTF-8 text, expected a table{}",
                        source,
                        line,
                        column,
                        value == 0 ? "" : "; Latin-1? iconv -f LATIN1 -t UTF-8 FILE")};
  }

 private:
  Error input(const std::string& what) const {
    return {ErrorKind::input, fmt::format("{}: {}", source, what)};
  }
};

std::string from_utf16(std::string_view bytes, bool little, const Refusals& refuse) {
  const auto unit = [&](std::size_t at) {
    const auto a = static_cast<unsigned char>(bytes[at]);
    const auto b = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint32_t>(little ? a | b << 8 : a << 8 | b);
  };
  if (bytes.size() % 2 != 0) throw refuse.damaged_utf16();
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    std::uint32_t c = unit(at);
    if (c >= 0xd800 && c < 0xdc00) {
      if (at + 4 > bytes.size()) throw refuse.damaged_utf16();
      const std::uint32_t low = unit(at + 2);
      if (low < 0xdc00 || low > 0xdfff) throw refuse.damaged_utf16();
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      at += 2;
    } else if (c >= 0xdc00 && c <= 0xdfff) {
      throw refuse.damaged_utf16();
    }
    append_utf8(text, c);
  }
  return text;
}

/// Length of the character at the front of a text in bytes; 0: it is no UTF-8.
std::size_t character_length(std::string_view text) {
  const auto at = [&](std::size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
  };
  const auto more = [&](std::size_t n) {
    for (std::size_t k = 1; k <= n; ++k) {
      if (at(k) >> 6 != 0x2) return false;
    }
    return true;
  };
  const unsigned c = at(0);
  if (c < 0x80) return 1;
  // Overlong forms, surrogates and what lies above U+10FFFF are none.
  if (c >= 0xc2 && c <= 0xdf) return more(1) ? 2 : 0;
  if (c >= 0xe0 && c <= 0xef)
    return more(2) && (c != 0xe0 || at(1) >= 0xa0) && (c != 0xed || at(1) < 0xa0) ? 3 : 0;
  if (c >= 0xf0 && c <= 0xf4)
    return more(3) && (c != 0xf0 || at(1) >= 0x90) && (c != 0xf4 || at(1) < 0x90) ? 4 : 0;
  return 0;
}

/// Names the first byte that is zero or no UTF-8, columns counted in characters.
void require_utf8(std::string_view text, const Refusals& refuse) {
  std::size_t line = 1;
  std::size_t column = 1;
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = c == '\0' ? 0 : character_length(text);
    if (length == 0) throw refuse.byte(static_cast<unsigned char>(c), line, column);
    text.remove_prefix(length);
    const bool ends = c == '\n' || (c == '\r' && !text.starts_with('\n'));
    line += ends ? 1 : 0;
    column = ends ? 1 : column + 1;
  }
}

constexpr const char* kTwice = "compressed twice; decompress the file once";

#ifdef ATTICA_WITH_ARCHIVES

constexpr std::size_t kBlock = 1 << 16;

/// What stands behind compressed data, if that is more than padding.
void require_end(std::string_view rest, const Refusals& refusals, std::string_view compression) {
  if (rest.find_first_not_of('\0') == std::string_view::npos) return;
  throw refusals.of(
      compression,
      fmt::format("{} bytes behind the end are no such data; expected nothing else in the file",
                  rest.size()));
}

/// gzip data, member after member. (libarchive checks neither its sums nor what follows it.)
std::string inflated(std::string_view bytes, const Refusals& refusals, std::string_view name) {
  struct Stream : z_stream {
    Stream() : z_stream{} {
      constexpr int kGzip = 16;
      ready = inflateInit2(this, MAX_WBITS + kGzip) == Z_OK;
    }
    ~Stream() {
      if (ready) inflateEnd(this);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    bool ready = false;
  } stream;
  if (!stream.ready) throw refusals.of(name, "no memory to read them");
  std::string text;
  std::array<Bytef, kBlock> block{};
  std::string_view rest = bytes;
  while (true) {
    const std::size_t given = std::min<std::size_t>(rest.size(), 1U << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));  // NOLINT: C's const
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    const int code = ::inflate(&stream, Z_NO_FLUSH);
    text.append(reinterpret_cast<const char*>(block.data()), block.size() - stream.avail_out);
    rest.remove_prefix(given - stream.avail_in);
    if (text.size() > kMostBytes) throw refusals.of(name, "more than 2 GB of text");
    if (code == Z_STREAM_END) {
      if (!rest.starts_with("\x1f\x8b")) break;
      inflateReset(&stream);
    } else if (code == Z_BUF_ERROR || (code == Z_OK && rest.empty() && stream.avail_out > 0)) {
      throw refusals.of(name, "truncated");
    } else if (code != Z_OK) {
      throw refusals.of(
          name, stream.msg == nullptr ? "damaged" : fmt::format("damaged ({})", stream.msg));
    }
  }
  require_end(rest, refusals, name);
  return text;
}

#endif

std::string decompressed_once(std::string_view bytes, const Refusals& refusals) {
  const Compression* const compression = compression_of(bytes);
  if (compression == nullptr) return std::string(bytes);
#ifdef ATTICA_WITH_ARCHIVES
  const auto refuse = [&](const std::string& why) { return refusals.of(compression->name, why); };
  if (compression->name == "gzip") return inflated(bytes, refusals, compression->name);
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(),
                                                                      archive_read_free);
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
  const int filters = archive_filter_count(reader.get());
  if (filters < 2) throw refuse("a damaged header");
  if (filters > 2) throw refuse(kTwice);
  std::string text;
  std::array<char, kBlock> block{};
  while (true) {
    const auto got = archive_read_data(reader.get(), block.data(), block.size());
    if (got < 0) throw refuse(why());
    if (got == 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) throw refuse("more than 2 GB of text");
  }
  const auto taken = static_cast<std::size_t>(archive_filter_bytes(reader.get(), -1));
  require_end(bytes.substr(std::min(taken, bytes.size())), refusals, compression->name);
  return text;
#else
  throw refusals.of(compression->name, "this build does not decompress; decompress the file first");
#endif
}

std::string decompressed_as(std::string_view bytes, const Refusals& refusals) {
  std::string text = decompressed_once(bytes, refusals);
  const Compression* const outer = compression_of(bytes);
  if (outer != nullptr && compression_of(text) != nullptr) throw refusals.of(outer->name, kTwice);
  return text;
}

}  // namespace

std::string decompressed(std::string_view bytes, const std::string& source) {
  return decompressed_as(bytes, {source, TextKind::table});
}

std::string_view without_compression(std::string_view name) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  for (const std::string_view ending : {".gz"sv, ".zst"sv, ".bz2"sv, ".xz"sv}) {
    if (name.size() > ending.size() && std::equal(ending.begin(),
                                                  ending.end(),
                                                  name.end() - std::ssize(ending),
                                                  [&](char e, char c) { return same(c, e); }))
      return name.substr(0, name.size() - ending.size());
  }
  return name;
}

std::string plain_text(std::string_view bytes, const std::string& source, TextKind kind) {
  const Refusals refuse{source, kind};
  std::string text = decompressed_as(bytes, refuse);
  if (const auto format = format_of(text)) throw refuse.of(*format);
  if (kind == TextKind::text) {
    if (const auto format = markup_of(text)) throw refuse.of(*format);
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    if (kind != TextKind::table)
      throw refuse.of(Format{"", "UTF-16", "", "iconv -f UTF-16 -t UTF-8 FILE"});
    text = from_utf16(text, text.front() == '\xff', refuse);
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (kind != TextKind::alignment) require_utf8(text, refuse);
  return text;
}

}  // namespace attica

#include "attica/plots/metadata.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/crc.hpp>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "attica/core/error.hpp"

namespace attica::plots {
namespace {

constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t kPngLastChunk = 12;  ///< the empty IEND: length, type, checksum

std::string big_endian(std::uint32_t value) {
  constexpr unsigned kByte = 8;
  std::string bytes;
  for (unsigned shift = 4 * kByte; shift > 0;) {
    shift -= kByte;
    bytes += static_cast<char>(value >> shift & 0xFFU);
  }
  return bytes;
}

std::string png_chunk(const std::string& type, const std::string& content) {
  boost::crc_32_type crc;
  const std::string body = type + content;
  crc.process_bytes(body.data(), body.size());
  return big_endian(static_cast<std::uint32_t>(content.size())) + body + big_endian(crc.checksum());
}

/// The number that follows the last `key` of a PDF's trailer, or the reference "19 0 R".
std::string trailer_entry(std::string_view pdf, std::string_view key) {
  const auto at = pdf.rfind(key);
  if (at == std::string_view::npos) return "";
  const auto start = pdf.find_first_not_of(" \r\n", at + key.size());
  return std::string(pdf.substr(start, pdf.find_first_of("\r\n/>", start) - start));
}

/// UTF-8 as a PDF text string: UTF-16 with byte order mark, in hexadecimal.
std::string pdf_text(std::string_view utf8) {
  constexpr std::uint32_t kSurrogateStart = 0x10000;
  std::string text = "<FEFF";
  for (std::size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i++]);
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    std::uint32_t code = more == 0 ? lead : lead & (0x3FU >> static_cast<unsigned>(more));
    for (int k = 0; k < more && i < utf8.size(); ++k) {
      code = code << 6U | (static_cast<unsigned char>(utf8[i++]) & 0x3FU);
    }
    if (code < kSurrogateStart) {
      text += fmt::format("{:04X}", code);
    } else {
      code -= kSurrogateStart;
      text += fmt::format("{:04X}{:04X}", 0xD800U + (code >> 10U), 0xDC00U + (code & 0x3FFU));
    }
  }
  return text + ">";
}

}  // namespace

bool is_complete(std::string_view bytes, std::string_view format) {
  if (format == "png") {
    return bytes.size() > kPngSignature.size() + kPngLastChunk &&
           bytes.starts_with(kPngSignature) &&
           bytes.substr(bytes.size() - kPngLastChunk).find("IEND") != std::string_view::npos;
  }
  if (format == "tex") return bytes.find("\\end{tikzpicture}") != std::string_view::npos;
  const std::string_view end = format == "svg" ? "</svg>" : "%%EOF";
  return bytes.starts_with(format == "svg" ? "<?xml" : "%PDF") &&
         bytes.find(end) != std::string_view::npos;
}

std::string with_png_text(std::string_view png, const Metadata& metadata) {
  constexpr std::size_t kLongestKeyword = 79;
  std::string chunks;
  for (const auto& [name, value] : metadata) {
    const std::string uncompressed(
        5, '\0');  // end of keyword, two flags, no language, no translated keyword
    chunks += png_chunk("iTXt", name.substr(0, kLongestKeyword) + uncompressed + value);
  }
  const std::size_t end = png.size() - kPngLastChunk;
  return std::string(png.substr(0, end)) + chunks + std::string(png.substr(end));
}

bool set_pdf_date(std::string& pdf) {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  if (epoch == nullptr) return false;
  long long seconds = 0;
  const std::string_view text(epoch);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code != std::errc() || end != text.data() + text.size() || seconds < 0) {
    throw invalid_parameter("SOURCE_DATE_EPOCH", text, "seconds since 1970, a whole number");
  }
  constexpr std::string_view kKey = "/CreationDate (";
  const auto start = pdf.find(kKey);
  const auto stop = start == std::string::npos ? start : pdf.find(')', start);
  if (stop == std::string::npos) return false;
  const auto first = start + kKey.size();
  std::string date =
      fmt::format("D:{:%Y%m%d%H%M%S}Z", fmt::gmtime(static_cast<std::time_t>(seconds)));
  // The table of the file's objects counts bytes: the date keeps its length.
  date.resize(stop - first, ' ');
  pdf.replace(first, stop - first, date);
  return true;
}

std::string with_pdf_information(std::string_view pdf,
                                 std::string_view title,
                                 const Metadata& metadata) {
  const std::string size = trailer_entry(pdf, "/Size");
  const std::string root = trailer_entry(pdf, "/Root");
  const std::string previous = trailer_entry(pdf, "startxref");
  if (size.empty() || root.empty() || previous.empty()) return std::string(pdf);
  std::string keywords;
  for (const auto& [name, value] : metadata)
    keywords += (keywords.empty() ? "" : "; ") + name + ": " + value;
  const std::size_t object = pdf.size();
  const int number = std::stoi(size);
  std::string update = fmt::format("{} 0 obj\n<< /Title {} /Keywords {} /Creator {} >>\nendobj\n",
                                   number,
                                   pdf_text(title),
                                   pdf_text(keywords),
                                   pdf_text("attica"));
  const std::size_t table = pdf.size() + update.size();
  update += fmt::format("xref\n0 1\n0000000000 65535 f \n{} 1\n{:010} 00000 n \n", number, object);
  update +=
      fmt::format("trailer\n<< /Size {} /Root {} /Info {} 0 R /Prev {} >>\nstartxref\n{}\n%%EOF\n",
                  number + 1,
                  root,
                  number,
                  previous,
                  table);
  return std::string(pdf) + update;
}

}  // namespace attica::plots

#include "attica/core/text/words.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "attica/core/error.hpp"
#include "attica/core/plain_text.hpp"

namespace attica {
namespace {

using CodePoint = utf8proc_int32_t;

constexpr CodePoint kAsciiEnd = 0x80;
constexpr CodePoint kReplacement = 0xFFFD;
constexpr CodePoint kSoftHyphen = 0xAD;
constexpr CodePoint kDottedI = 0x130;
constexpr CodePoint kMiddleDot = 0xB7;
constexpr CodePoint kMiddleDotL = 0x13F;
constexpr CodePoint kSmallMiddleDotL = 0x140;
constexpr CodePoint kGershayim = 0x5F4;
constexpr CodePoint kSharpS = 0xDF;
constexpr CodePoint kCapitalSharpS = 0x1E9E;
constexpr CodePoint kFinalSigma = 0x3C2;
constexpr std::string_view kSigma = "σ";
constexpr std::string_view kFinalSigmaText = "ς";

const utf8proc_uint8_t* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

bool is_ascii(std::string_view text) {
  return std::all_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < kAsciiEnd; });
}

/// The code point at the front of a text that is not empty, which is taken off; -1 for a byte that
/// is not UTF-8.
CodePoint take(std::string_view& text) {
  CodePoint c = -1;
  const utf8proc_ssize_t length =
      utf8proc_iterate(unsigned_bytes(text), static_cast<utf8proc_ssize_t>(text.size()), &c);
  text.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
  return length > 0 ? c : -1;
}

void put(std::string& out, CodePoint c) {
  constexpr std::size_t kLongest = 4;
  std::array<utf8proc_uint8_t, kLongest> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(c, bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

/// Normalisation form C of valid UTF-8.
std::string composed(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(unsigned_bytes(text),
                   static_cast<utf8proc_ssize_t>(text.size()),
                   &mapped,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  if (length < 0) throw std::logic_error(utf8proc_errmsg(length));
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length)};
}

/// Calls `each` with every line, without its end.
template <typename Each>
void for_lines(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end), end < text.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

enum class Sort { letter, mark, other };

Sort sort_of(CodePoint c) {
  if (c < kAsciiEnd) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? Sort::letter : Sort::other;
  }
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Sort::letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Sort::mark;
    default:
      return Sort::other;
  }
}

/// What is no letter of its own and is not seen, or only changes the look of its neighbours: format
/// characters, selectors of glyphs and fillers (`Default_Ignorable_Code_Point`), and the letters
/// that lengthen a word of Arabic (tatweel) or of N'Ko (lajanyalan). U+200B separates words of
/// scripts without spaces.
bool is_format(CodePoint c) {
  constexpr CodePoint kZeroWidthSpace = 0x200B;
  constexpr CodePoint kTatweel = 0x640;
  constexpr CodePoint kLajanyalan = 0x7FA;
  if (c < kAsciiEnd || c == kZeroWidthSpace) return false;
  return c == kTatweel || c == kLajanyalan || utf8proc_get_property(c)->ignorable != 0 ||
         utf8proc_category(c) == UTF8PROC_CATEGORY_CF;
}

/// Armenian marks of stress, exclamation and question, which stand inside the word that they are
/// of.
bool is_armenian_tone(CodePoint c) { return c == 0x55B || c == 0x55C || c == 0x55E; }

/// What people type for an apostrophe: quotation marks, accents, and letters that look like it.
bool is_apostrophe(CodePoint c) {
  constexpr std::array<CodePoint, 10> kAll = {
      0x27, 0x60, 0xB4, 0x2BC, 0x55A, 0x5F3, 0x2018, 0x2019, 0x201B, 0xFF07};
  return std::find(kAll.begin(), kAll.end(), c) != kAll.end();
}

/// A dot between two letters of one word, as Catalan, Gascon and French have it (col·lecció).
bool is_middle_dot(CodePoint c) {
  constexpr CodePoint kHyphenationPoint = 0x2027;
  return c == kMiddleDot || c == kHyphenationPoint;
}

bool is_hebrew(CodePoint c) { return c >= 0x5D0 && c <= 0x5EA; }

/// Letters that are another letter in another form.
bool is_form(const utf8proc_property_t& property) {
  switch (property.decomp_type) {
    case UTF8PROC_DECOMP_TYPE_FONT:
    case UTF8PROC_DECOMP_TYPE_INITIAL:
    case UTF8PROC_DECOMP_TYPE_MEDIAL:
    case UTF8PROC_DECOMP_TYPE_FINAL:
    case UTF8PROC_DECOMP_TYPE_ISOLATED:
    case UTF8PROC_DECOMP_TYPE_WIDE:
    case UTF8PROC_DECOMP_TYPE_NARROW:
      return true;
    default:
      return false;
  }
}

void fold(CodePoint c, Spelling spelling, std::string& out) {
  if (c < kAsciiEnd) {
    out.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
    return;
  }
  if (is_format(c)) return;
  if (c == kDottedI) {
    out.push_back('i');
    return;
  }
  if (c == kMiddleDotL || c == kSmallMiddleDotL) {  // one character for l and its dot
    out.push_back('l');
    return put(out, kMiddleDot);
  }
  if (spelling == Spelling::letters) {
    if (c == kSharpS || c == kCapitalSharpS) return put(out, kSharpS);
    if (c == kFinalSigma) return put(out, c);
  }
  const Sort sort = sort_of(c);
  if (sort == Sort::other) return put(out, c);
  int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD;
  if (sort == Sort::letter && is_form(*utf8proc_get_property(c))) options |= UTF8PROC_COMPAT;
  constexpr int kMost = 32;  // the longest decomposition has 18
  std::array<CodePoint, kMost> parts{};
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      c, parts.data(), kMost, static_cast<utf8proc_option_t>(options), &boundary);
  if (count < 0 || count > kMost) return put(out, c);
  for (utf8proc_ssize_t k = 0; k < count; ++k) {
    const CodePoint part = parts[static_cast<std::size_t>(k)];
    if (!is_format(part)) put(out, part);  // forms of Arabic marks stand on a tatweel
  }
}

std::string lower_case_line(std::string_view line, Spelling spelling) {
  std::string folded;
  folded.reserve(line.size());
  if (is_ascii(line)) {
    for (const char c : line) fold(c, spelling, folded);
    return folded;
  }
  while (!line.empty()) {
    const CodePoint c = take(line);
    fold(c < 0 ? kReplacement : c, spelling, folded);
  }
  return composed(folded);
}

/// Every end of a line as '\n'.
std::string with_line_feeds(std::string_view text) {
  constexpr CodePoint kNextLine = 0x85;
  constexpr CodePoint kLineSeparator = 0x2028;
  constexpr CodePoint kParagraphSeparator = 0x2029;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view whole = text;
    const CodePoint c = take(text);
    if (c == '\r') {
      if (!text.starts_with('\n')) out.push_back('\n');
    } else if (c == kNextLine || c == kLineSeparator) {
      out.push_back('\n');
    } else if (c == kParagraphSeparator) {
      out += "\n\n";
    } else {
      out += whole.substr(0, whole.size() - text.size());
    }
  }
  return out;
}

/// Words of which a soft hyphen divided two lines, whole again.
std::string without_soft_breaks(const std::string& text) {
  constexpr std::string_view kHyphen = "\xC2\xAD";
  constexpr std::string_view kBlanks = " \t";
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(kHyphen); at != std::string::npos; at = text.find(kHyphen, at)) {
    std::size_t next = text.find_first_not_of(kBlanks, at + kHyphen.size());
    if (next == std::string::npos || text[next] != '\n') {
      at += kHyphen.size();
      continue;
    }
    next = text.find_first_not_of(kBlanks, next + 1);
    if (next == std::string::npos || text[next] == '\n') {  // the end of a paragraph
      at += kHyphen.size();
      continue;
    }
    out.append(text, from, at - from);
    from = at = next;
  }
  return from == 0 ? text : out.append(text, from);
}

/// Counts of what the reader cannot mend.
struct Oddities {
  std::int64_t replaced = 0;  ///< U+FFFD
  std::int64_t divided = 0;   ///< hyphens at the end of a line, after a letter and before one
  std::int64_t lines = 0;
};

Oddities oddities(std::string_view text) {
  Oddities found;
  bool hyphen = false;  // the line before ended with a letter and a hyphen
  for_lines(text, [&](std::string_view line, bool) {
    constexpr CodePoint kHyphen = 0x2010;
    constexpr CodePoint kNotHyphen = 0xAC;  // what some programs write for a soft hyphen
    ++found.lines;
    CodePoint before = 0;
    CodePoint last = 0;
    bool first = true;
    while (!line.empty()) {
      const CodePoint c = take(line);
      if (c == kReplacement) ++found.replaced;
      if (c == ' ' || c == '\t') continue;
      if (first && hyphen && sort_of(c) == Sort::letter &&
          utf8proc_category(c) != UTF8PROC_CATEGORY_LU) {
        ++found.divided;
      }
      first = false;
      before = last;
      last = c;
    }
    hyphen = (last == '-' || last == kHyphen || last == kNotHyphen || last == kSoftHyphen) &&
             sort_of(before) == Sort::letter;
  });
  return found;
}

/// One word while it is read, letter by letter.
class WordBuilder {
 public:
  WordBuilder(std::size_t shortest, Spelling spelling, std::vector<std::string>& words)
      : shortest_(std::max<std::size_t>(shortest, 1)), spelling_(spelling), words_(words) {}

  void add(CodePoint c) {
    if (is_armenian_tone(c) && letters_ > 0) {
      divided_ = true;
      return;
    }
    if (const CodePoint joint = joint_of(c); joint != 0) {
      const bool inside = spelling_ == Spelling::words && letters_ > 0 && joint_ == 0;
      if (!inside) close();
      joint_ = inside ? joint : 0;
      return;
    }
    const Sort sort = sort_of(c);
    if (sort == Sort::other || (sort == Sort::mark && (letters_ == 0 || joint_ != 0))) {
      close();
      return;
    }
    if (joint_ == kGershayim && !is_hebrew(c)) close();
    if (joint_ != 0) put(word_, joint_);
    joint_ = 0;
    put(word_, c);
    letters_ += sort == Sort::letter ? 1 : 0;
    if (sort == Sort::letter) last_ = c;
  }

  void close() {
    if (letters_ > 1 && word_.ends_with(kSigma)) {
      word_.replace(word_.size() - kSigma.size(), kSigma.size(), kFinalSigmaText);
    }
    if (divided_) word_ = composed(word_);  // a mark after the tone joins the letter before it
    divided_ = false;
    if (letters_ >= shortest_) words_.push_back(std::move(word_));
    word_.clear();
    letters_ = 0;
    joint_ = 0;
  }

 private:
  /// What joins two letters to one word, in the form that words have it; 0 if it does not.
  CodePoint joint_of(CodePoint c) const {
    if (is_apostrophe(c)) return '\'';
    if (is_middle_dot(c)) return kMiddleDot;
    // Hebrew writes abbreviations with a mark, or with a quotation mark, before the last letter.
    if ((c == kGershayim || c == '"' || c == 0x201D) && letters_ > 0 && is_hebrew(last_))
      return kGershayim;
    return 0;
  }

  std::size_t shortest_;
  Spelling spelling_;
  std::vector<std::string>& words_;
  std::string word_;
  std::size_t letters_ = 0;
  bool divided_ = false;  ///< a tone was taken out of it
  CodePoint joint_ = 0;   ///< stands after the word so far, and belongs to it if a letter follows
  CodePoint last_ = 0;    ///< its last letter
};

/// Chinese and Japanese letters are wide and not of Hangul or Latin; the others lie in blocks.
bool is_spaceless(CodePoint c) {
  constexpr auto kBlocks = std::to_array<std::pair<CodePoint, CodePoint>>({
      {0xE00, 0xEFF},    // Thai, Lao
      {0x1000, 0x109F},  // Burmese
      {0x1780, 0x17FF},  // Khmer
      {0x1980, 0x19DF},  // New Tai Lue
      {0x1A20, 0x1AAF},  // Tai Tham
      {0x1B00, 0x1B7F},  // Balinese
      {0xA980, 0xA9FF},  // Javanese, Burmese
      {0xAA60, 0xAADF},  // Burmese, Tai Viet
  });
  constexpr CodePoint kFirstJamo = 0x3131;  // letters of Hangul outside of syllables
  constexpr CodePoint kLastJamo = 0x318E;
  for (const auto& [first, last] : kBlocks) {
    if (c >= first && c <= last) return true;
  }
  if (c < kAsciiEnd || utf8proc_charwidth(c) != 2) return false;
  if ((c >= kFirstJamo && c <= kLastJamo) || is_form(*utf8proc_get_property(c))) return false;
  switch (utf8proc_get_property(c)->boundclass) {
    case UTF8PROC_BOUNDCLASS_L:
    case UTF8PROC_BOUNDCLASS_V:
    case UTF8PROC_BOUNDCLASS_T:
    case UTF8PROC_BOUNDCLASS_LV:
    case UTF8PROC_BOUNDCLASS_LVT:
      return false;
    default:
      return true;
  }
}

}  // namespace

PlainText checked_text(std::string_view bytes, std::string_view parameter) {
  PlainText result;
  const std::string lines = without_soft_breaks(
      with_line_feeds(plain_text(bytes, std::string(parameter), TextKind::text)));
  result.text.reserve(lines.size());
  for_lines(lines, [&](std::string_view line, bool ended) {
    result.text += composed(line);
    if (ended) result.text.push_back('\n');
  });
  const Oddities found = oddities(result.text);
  if (found.replaced > 0) {
    result.warnings.push_back(fmt::format(
        "{}: {} characters U+FFFD, which separate words: an earlier conversion put them in place "
        "of letters that it could not read",
        parameter,
        found.replaced));
  }
  constexpr std::int64_t kOneIn = 50;
  if (found.divided > 1 && found.divided * kOneIn > found.lines) {
    result.warnings.push_back(
        fmt::format("{}: {} lines end with a hyphen inside a word, which is read as two words: "
                    "join them first, as pdftotext does",
                    parameter,
                    found.divided));
  }
  return result;
}

std::string lower_case(std::string_view text, Spelling spelling) {
  std::string lower;
  lower.reserve(text.size());
  for_lines(text, [&](std::string_view line, bool ended) {
    lower += lower_case_line(line, spelling);
    if (ended) lower.push_back('\n');
  });
  return lower;
}

std::vector<std::string> words_of(std::string_view text, std::size_t shortest, Spelling spelling) {
  std::vector<std::string> words;
  WordBuilder word(shortest, spelling, words);
  for_lines(text, [&](std::string_view line, bool) {
    const std::string lower = lower_case_line(line, spelling);
    for (std::string_view left = lower; !left.empty();) word.add(take(left));
    word.close();
  });
  return words;
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const std::string_view whole = text;
    take(text);
    characters.emplace_back(whole.substr(0, whole.size() - text.size()));
  }
  return characters;
}

std::vector<std::string> spaceless_warning(std::string_view text, std::string_view parameter) {
  constexpr std::int64_t kOneIn = 10;
  constexpr double kPercent = 100;
  std::int64_t letters = 0;
  std::int64_t spaceless = 0;
  while (!text.empty()) {
    const CodePoint c = take(text);
    if (c < 0 || sort_of(c) != Sort::letter) continue;
    ++letters;
    spaceless += is_spaceless(c) ? 1 : 0;
  }
  if (spaceless * kOneIn <= letters || letters == 0) return {};
  return {fmt::format(
      "{}: {:.0f} % of the letters are of scripts written without spaces, where all between two "
      "punctuation marks counts as one word: put spaces between words first, or read letters",
      parameter,
      kPercent * static_cast<double>(spaceless) / static_cast<double>(letters))};
}

}  // namespace attica

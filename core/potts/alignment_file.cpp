#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/plain_text.hpp"
#include "attica/core/potts/alignment.hpp"
#include "attica/core/read_bytes.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr std::int16_t kUnknown = -1;  // a letter, but none of the alphabet
constexpr std::int16_t kGap = -2;      // a gap, which the alphabet lacks
constexpr std::int16_t kForbidden = -3;

bool is_lower_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper_letter(char c) { return c >= 'A' && c <= 'Z'; }
char other_case(char c) {
  return static_cast<char>(is_lower_letter(c) ? std::toupper(c) : std::tolower(c));
}
bool is_digit_character(char c) { return c >= '0' && c <= '9'; }
bool has_letter(std::string_view alphabet, char c) {
  return alphabet.find(c) != std::string_view::npos;
}

/// The first letter stands for gaps if it is none that sequences are written with.
bool has_gap(std::string_view alphabet) {
  const char first = alphabet.front();
  return !is_lower_letter(first) && !is_upper_letter(first) && !is_digit_character(first);
}

/// Whether an alphabet is that of DNA or RNA: T of the one is U of the other.
bool is_of_nucleotides(std::string_view alphabet) {
  const std::string_view letters = alphabet.substr(has_gap(alphabet) ? 1 : 0);
  return letters.find_first_not_of("ACGTUNacgtun") == std::string_view::npos &&
         letters.find_first_of("TUtu") != std::string_view::npos;
}

/// The colour of every character.
using LetterTable = std::array<std::int16_t, 256>;

LetterTable letter_table(std::string_view alphabet) {
  constexpr std::size_t kMost = 64;
  if (alphabet.size() < 2 || alphabet.size() > kMost) {
    throw invalid_parameter("alphabet", alphabet, "2 to 64 characters, the first one the gap");
  }
  LetterTable table{};
  table.fill(kForbidden);
  for (unsigned char c = 'A'; c <= 'Z'; ++c) table[c] = kUnknown;
  for (unsigned char c = 'a'; c <= 'z'; ++c) table[c] = kUnknown;
  table['*'] = table['?'] = kUnknown;
  table['-'] = table['.'] = table['~'] = has_gap(alphabet) ? std::int16_t{0} : kGap;
  std::array<bool, 256> seen{};
  for (std::size_t a = 0; a < alphabet.size(); ++a) {
    const auto c = static_cast<unsigned char>(alphabet[a]);
    if (std::isgraph(c) == 0 || c == '>' || seen[c]) {
      throw invalid_parameter("alphabet", alphabet, "different printable characters without '>'");
    }
    seen[c] = true;
    table[c] = static_cast<std::int16_t>(a);
  }
  for (unsigned char c = 'A'; c <= 'z'; ++c) {
    const auto other = static_cast<unsigned char>(other_case(static_cast<char>(c)));
    if (table[c] == kUnknown && seen[other]) table[c] = table[other];
  }
  if (is_of_nucleotides(alphabet)) {
    for (const auto& [one, other] : {std::pair('T', 'U'), std::pair('t', 'u')}) {
      auto& of_one = table[static_cast<unsigned char>(one)];
      auto& of_other = table[static_cast<unsigned char>(other)];
      if (of_one == kUnknown) of_one = of_other;
      if (of_other == kUnknown) of_other = of_one;
    }
  }
  return table;
}

/// A sequence as it stands in the file.
struct Record {
  std::string name = {};
  std::string letters = {};
  std::size_t line = 0;  ///< where it starts
};

struct Line {
  std::string_view text;   ///< without its end and the blanks before it
  std::size_t number = 0;  ///< from 1
};

/// Lines that end with LF, CRLF or CR.
std::vector<Line> lines_of(std::string_view bytes) {
  std::vector<Line> lines;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    std::string_view text = bytes.substr(0, end);
    const bool two = bytes.substr(end).starts_with("\r\n");
    bytes.remove_prefix(std::min(end + (two ? 2 : 1), bytes.size()));
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    lines.push_back({text, lines.size() + 1});
  }
  return lines;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> fields;
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return fields;
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit_character);
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(is_upper_letter(c) ? other_case(c) : c);
  return lower;
}

/// A number behind a name, with what parts it from the name: "_2" of SS_cons_2.
std::string_view without_number(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size()) return name;
  name = name.substr(0, end + 1);
  const std::size_t last = name.find_last_not_of("_.:-");
  return last == std::string_view::npos ? name : name.substr(0, last + 1);
}

/// Records that are no sequences of the family: a consensus; or a feature of the sites and who says
/// it, as HH-suite (ss_pred), Stockholm (SS_cons, PP_cons) and R-scape (SS_cons_2) name them.
bool is_annotation(std::string_view name) {
  std::string lower = in_lower_case(name);
  for (const char* markup : {"#=gc", "#=gr"}) {  // as some programs take them over from Stockholm
    if (lower.starts_with(markup)) return true;
  }
  if (lower == "cons" || lower == "consensus" || lower.ends_with("_consensus")) return true;
  static const std::set<std::string, std::less<>> kFeatures = {
      "aa", "as", "dc", "in", "li", "mm", "pas", "pp", "rf", "sa", "sas", "seq", "ss", "tm"};
  static const std::set<std::string, std::less<>> kOrigins = {
      "conf", "cons", "dssp", "pred", "prob", "psipred", "stride"};
  std::replace(lower.begin(), lower.end(), '-', '_');
  const std::string_view feature = without_number(lower);
  const std::size_t parts = feature.find('_');
  if (parts == std::string_view::npos) return lower == "rf" || lower == "pp" || lower == "mm";
  return kFeatures.contains(feature.substr(0, parts)) &&
         kOrigins.contains(feature.substr(parts + 1));
}

enum class Format { plain, fasta, stockholm, clustal };

/// What an alignment file was found to be, before its sequences are checked.
struct Content {
  Format format = Format::plain;
  bool insertions = false;  ///< A2M or A3M, by a line of its head
  std::size_t first = 0;    ///< index of the line that the sequences begin with
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::filesystem::path& path, std::string_view alphabet)
      : path_(path),
        alphabet_(alphabet),
        table_(letter_table(alphabet)),
        bytes_(plain_text(bytes, path.string(), TextKind::alignment)),
        lines_(lines_of(bytes_)) {}

  Alignment read() {
    const Content content = recognise();
    switch (content.format) {
      case Format::plain:
        result_.format = "plain";
        read_plain(content.first);
        break;
      case Format::fasta:
        result_.format = "FASTA";
        read_fasta(content.first);
        break;
      case Format::stockholm:
        result_.format = "Stockholm";
        read_blocks(content);
        break;
      case Format::clustal:
        result_.format = "Clustal";
        read_blocks(content);
        break;
    }
    leave_out_ends();
    result_.annotations = static_cast<std::int64_t>(left_out_.size());
    if (records_.size() < 2) {
      throw refused(
          fmt::format("{} sequence{}{}, expected at least 2",
                      records_.size(),
                      records_.size() == 1 ? "" : "s",
                      result_.annotations > 0
                          ? fmt::format(" and {} records of annotation", result_.annotations)
                          : ""));
    }
    warn_of_left_out();
    leave_out_insertions(content);
    to_colours();
    return std::move(result_);
  }

 private:
  Error refused(const std::string& what) const {
    return {ErrorKind::input, fmt::format("{}: {}", path_.string(), what)};
  }
  Error refused(std::size_t line, const std::string& what) const {
    return {ErrorKind::input, fmt::format("{}:{}: {}", path_.string(), line, what)};
  }
  Error other_format(std::size_t line, std::string_view name, std::string_view advice) const {
    return refused(line,
                   fmt::format("a {} file, expected FASTA, A2M, A3M, Stockholm, Clustal or one "
                               "sequence a line: {}",
                               name,
                               advice));
  }

  /// The format, by the first line that is neither blank nor a comment.
  Content recognise() const {
    Content content;
    for (const Line& line : lines_) {
      const std::string_view text = line.text;
      content.first = line.number - 1;
      if (text.empty()) continue;
      const std::string lower = in_lower_case(text);
      refuse_other_formats(line, lower);
      if (lower.starts_with("# stockholm")) {
        content.format = Format::stockholm;
        return content;
      }
      if (text.front() == '#' && !has_letter(alphabet_, '#')) {
        const std::size_t tab = text.find('\t');
        const bool colabfold = tab != std::string_view::npos && text.size() > 1 &&
                               text.find_first_not_of("0123456789,\t", 1) == std::string_view::npos;
        content.insertions = content.insertions || lower.starts_with("#a3m") ||
                             lower.starts_with("#a2m") || colabfold;
        continue;
      }
      if (text.front() == '>') {
        content.format = Format::fasta;
      } else if ((lower.starts_with("clustal") &&
                  (lower.size() == 7 || !std::isalpha(static_cast<unsigned char>(lower[7])) ||
                   lower[7] == 'w' || lower[7] == 'x')) ||
                 lower.starts_with("muscle (") || lower.starts_with("t-coffee") ||
                 lower.find("multiple sequence alignment") != std::string::npos ||
                 lower.find("clustalw format") != std::string::npos) {
        content.format = Format::clustal;
      }
      return content;
    }
    return content;
  }

  void refuse_other_formats(const Line& line, const std::string& lower) const {
    const auto seqret = [&](std::string_view name, std::string_view format) {
      throw other_format(
          line.number,
          name,
          fmt::format(
              "seqret {}::{} fasta::alignment.fa (EMBOSS)", format, path_.filename().string()));
    };
    const std::vector<std::string_view> fields = fields_of(line.text);
    if (fields.size() >= 2 && fields.size() <= 3 && is_whole_number(fields[0]) &&
        is_whole_number(fields[1])) {
      seqret("PHYLIP", "phylip");
    }
    if (lower.starts_with("#nexus")) seqret("NEXUS", "nexus");
    if (lower.starts_with("!!aa_mul") || lower.starts_with("!!na_mul") ||
        lower.starts_with("pileup") || lower.find(" msf:") != std::string::npos) {
      seqret("MSF", "msf");
    }
    if (line.text.size() > 3 && line.text.front() == '>' && line.text[3] == ';' &&
        is_upper_letter(line.text[1])) {
      seqret("PIR", "nbrf");
    }
    if (lower.starts_with("query ") || lower.starts_with("blastp ")) {
      throw other_format(line.number,
                         "search-result (.hhr, BLAST)",
                         "give the alignment: hhblits -oa3m alignment.a3m, or align the hits "
                         "(mafft hits.fa > alignment.fa)");
    }
    if (lower.starts_with("hmmer3/")) {
      throw other_format(line.number, "HMMER profile", "give the alignment that it was made of");
    }
    if (lower.starts_with("hhsearch 1.") || lower.starts_with("hhm ")) {
      throw other_format(line.number,
                         "profile of HH-suite (.hhm)",
                         "give the alignment that it was made of: hhblits -oa3m alignment.a3m");
    }
    if (lower.starts_with("##maf") || lower.starts_with("#formatversion mauve")) {
      throw other_format(line.number,
                         "genome-alignment (MAF, XMFA)",
                         "give one block of it as FASTA (Biopython: AlignIO)");
    }
    if (lower.starts_with("locus  ") || lower.starts_with("id   ") ||
        lower.starts_with("header  ") || lower.starts_with("atom  ")) {
      throw other_format(
          line.number,
          "GenBank, EMBL or PDB",
          "give aligned sequences, as mafft sequences.fa > alignment.fa writes them");
    }
  }

  void check_letters(const Line& line, std::string_view letters) const {
    for (std::size_t k = 0; k < letters.size(); ++k) {
      const auto c = static_cast<unsigned char>(letters[k]);
      if (table_[c] != kForbidden) continue;
      const std::string shown = std::isgraph(c) != 0 ? fmt::format("'{}'", letters[k])
                                : c == ' '           ? "a space"
                                                     : fmt::format("byte {}", c);
      const auto column = static_cast<std::size_t>(letters.data() - line.text.data()) + k + 1;
      throw refused(
          line.number,
          fmt::format(
              "{} at column {}, expected a letter or a gap{}", shown, column, layout_hint(line)));
    }
  }

  /// What a line may be that has other characters than letters and gaps.
  std::string layout_hint(const Line& line) const {
    const std::string file = path_.filename().string();
    const std::vector<std::string_view> fields = fields_of(line.text);
    const auto is_sequence = [&](std::string_view text) {
      return std::ranges::all_of(
          text, [&](char c) { return table_[static_cast<unsigned char>(c)] != kForbidden; });
    };
    if (line.text.front() == ';')
      return fmt::format("; a comment? sed '/^;/d' {} > alignment.fa", file);
    if (result_.format == "plain" && fields.size() == 2 && is_sequence(fields[1])) {
      const bool stockholm = std::ranges::any_of(
          lines_, [](const Line& l) { return l.text == "//" || l.text.starts_with("#="); });
      return fmt::format(
          "; a name and a sequence a line? As {}: (echo '{}'; cat {}) > alignment.{}",
          stockholm ? "Stockholm" : "Clustal",
          stockholm ? "# STOCKHOLM 1.0" : "CLUSTAL",
          file,
          stockholm ? "sto" : "aln");
    }
    if (result_.format == "FASTA" && std::ranges::all_of(line.text, [&](char c) {
          return c == ' ' || is_digit_character(c) ||
                 table_[static_cast<unsigned char>(c)] != kForbidden;
        })) {
      return fmt::format("; sed '/^>/!s/[0-9 ]//g' {} > alignment.fa takes spaces and counts out",
                         file);
    }
    return {};
  }

  void read_plain(std::size_t first) {
    for (std::size_t k = first; k < lines_.size(); ++k) {
      const Line& line = lines_[k];
      if (line.text.empty()) continue;
      check_letters(line, line.text);
      records_.push_back({.letters = std::string(line.text), .line = line.number});
    }
  }

  void read_fasta(std::size_t first) {
    bool annotation = false;
    bool open = false;  // whether a sequence is being read
    const auto close = [&] {
      if (open && records_.back().letters.empty())
        throw refused(records_.back().line, "an empty sequence");
      open = false;
    };
    for (std::size_t k = first; k < lines_.size(); ++k) {
      Line line = lines_[k];
      // A zero byte at the start or at the end of a line ends a block.
      const bool ends = !line.text.empty() && (line.text.front() == '\0' || line.text.back() == 0);
      if (ends) require_last_block(k);
      if (ends && line.text.front() == '\0') break;
      if (ends) line.text = line.text.substr(0, line.text.find('\0'));
      if (line.text.empty()) continue;
      if (line.text.front() == '>') {
        close();
        const std::vector<std::string_view> fields = fields_of(line.text.substr(1));
        annotation = !fields.empty() && is_annotation(fields.front());
        if (annotation) left_out_.emplace_back(fields.front());
        if (annotation) continue;
        records_.push_back({.name = {}, .letters = {}, .line = line.number});
        open = true;
        continue;
      }
      if (annotation) continue;
      check_letters(line, line.text);
      records_.back().letters += line.text;
      if (ends) break;
    }
    close();
  }

  /// @param k index of the line with a zero byte
  void require_last_block(std::size_t k) const {
    const bool before = lines_[k].text.front() == '\0';  // the line is none of the first block
    for (std::size_t n = k; n < lines_.size(); ++n) {
      std::string_view text = lines_[n].text;
      if (n == k && !before) text.remove_prefix(text.find('\0'));
      if (text.find_first_not_of('\0') == std::string_view::npos) continue;
      throw refused(lines_[n].number,
                    fmt::format("a second alignment after a zero byte, expected one: head -n {} {} "
                                "> first.a3m",
                                before ? k : k + 1,
                                path_.filename().string()));
    }
  }

  /// Stockholm and Clustal: a name and letters a line, in one block or in several.
  void read_blocks(const Content& content) {
    const bool stockholm = content.format == Format::stockholm;
    std::set<std::string, std::less<>> names;
    std::size_t row = 0;
    bool first_block = true;
    bool ended = false;
    for (std::size_t k = content.first + 1; k < lines_.size(); ++k) {
      const Line& line = lines_[k];
      if (line.text.empty()) {
        row = 0;
        first_block = records_.empty();
        continue;
      }
      if (stockholm && (ended || in_lower_case(line.text).starts_with("# stockholm"))) {
        throw refused(line.number,
                      fmt::format("a second alignment, expected one: esl-afetch {} NAME > one.sto",
                                  path_.filename().string()));
      }
      if (stockholm && line.text == "//") {
        ended = true;
        continue;
      }
      if (stockholm && line.text.front() == '#') continue;
      const bool conservation =
          !stockholm && (line.text.front() == ' ' || line.text.front() == '\t');
      if (conservation) {
        if (line.text.find_first_not_of(" \t*:.") == std::string_view::npos) continue;
        throw refused(line.number, "a line that begins with a space, expected a name and letters");
      }
      const std::vector<std::string_view> fields = fields_of(line.text);
      const bool count = !stockholm && fields.size() == 3 && is_whole_number(fields[2]);
      if (fields.size() != 2 && !count) {
        throw refused(line.number,
                      fmt::format("{} fields, expected a name and letters{}",
                                  fields.size(),
                                  stockholm ? "" : ", perhaps a count"));
      }
      add_row(line, fields[0], fields[1], first_block, row, names);
    }
    refuse_joined_blocks();
    if (stockholm && !ended) {
      result_.warnings.emplace_back("the Stockholm file ends without '//': is it complete?");
    }
    for (const Record& record : records_) {
      if (is_annotation(record.name)) left_out_.push_back(record.name);
    }
    std::erase_if(records_, [](const Record& record) { return is_annotation(record.name); });
  }

  /// Names the records of annotation, of which one may be a sequence after all.
  void warn_of_left_out() {
    if (left_out_.empty()) return;
    constexpr std::size_t kNamed = 4;
    const auto named = static_cast<std::ptrdiff_t>(std::min(left_out_.size(), kNamed));
    result_.warnings.push_back(
        fmt::format("{} record{} left out as annotation by {}: {}{}",
                    left_out_.size(),
                    left_out_.size() == 1 ? "" : "s",
                    left_out_.size() == 1 ? "its name" : "their names",
                    fmt::join(left_out_.begin(), left_out_.begin() + named, ", "),
                    left_out_.size() > kNamed ? ", ..." : ""));
  }

  /// Blocks without a blank line between them would be sequences of their own: refuses names that
  /// come again in the same order. One name throughout is that of sequences whose names were cut.
  void refuse_joined_blocks() const {
    const std::size_t all = records_.size();
    std::size_t period = 1;
    while (period < all && records_[period].name != records_.front().name) ++period;
    if (period < 2 || all < 2 * period) return;
    for (std::size_t k = period; k < 2 * period; ++k) {
      if (records_[k].name != records_[k - period].name) return;
    }
    throw refused(
        records_[period].line,
        fmt::format("'{}' again, as the first of {} sequences; expected a blank line "
                    "between blocks: awk '$1 == \"{}\" {{print \"\"}} 1' {} > alignment.{}",
                    records_.front().name,
                    period,
                    records_.front().name,
                    path_.filename().string(),
                    result_.format == "Stockholm" ? "sto" : "aln"));
  }

  /// @param row place in its block, which is moved on
  void add_row(const Line& line,
               std::string_view name,
               std::string_view letters,
               bool first_block,
               std::size_t& row,
               std::set<std::string, std::less<>>& names) {
    if (!is_annotation(name)) check_letters(line, letters);
    if (!first_block && row < records_.size() && records_[row].name == name) {
      records_[row++].letters += letters;
      return;
    }
    // Names may be equal, as those that Clustal cuts are, in the first block alone.
    if (names.contains(name) && !first_block) {
      throw refused(line.number,
                    fmt::format("sequence '{}' is not where it was in the first block", name));
    }
    names.emplace(name);
    records_.push_back(
        {.name = std::string(name), .letters = std::string(letters), .line = line.number});
    row = records_.size();
  }

  /// What stands in a column of A2M that is no site.
  bool is_insertion(char c) const {
    const bool letter_of_its_own = c == '.' && table_['.'] > 0;
    return (c == '.' && !letter_of_its_own) || is_lower_letter(c);
  }

  /// Whether aligned sequences are written as A2M: columns of sites and columns of insertions, and
  /// none that is both.
  bool has_insertions() const {
    const std::size_t length = records_.front().letters.size();
    std::size_t insertions = 0;
    for (std::size_t k = 0; k < length; ++k) {
      const bool inserted = is_insertion(records_.front().letters[k]);
      for (const Record& record : records_) {
        if (record.letters.size() != length || is_insertion(record.letters[k]) != inserted)
          return false;
      }
      insertions += inserted ? 1 : 0;
    }
    return insertions > 0 && insertions < length;
  }

  /// '*' behind every sequence is its end (a stop codon), and no site.
  void leave_out_ends() {
    const bool all = !records_.empty() && table_['*'] == kUnknown &&
                     std::all_of(records_.begin(), records_.end(), [](const Record& r) {
                       return r.letters.size() > 1 && r.letters.ends_with('*');
                     });
    if (!all) return;
    for (Record& record : records_) record.letters.pop_back();
    result_.warnings.emplace_back("the '*' at the end of every sequence was left out");
  }

  void leave_out_insertions(const Content& content) {
    if (content.format == Format::plain) return;
    const std::string name = in_lower_case(without_compression(path_.filename().string()));
    const bool named = content.format == Format::fasta &&
                       (content.insertions || name.ends_with(".a2m") || name.ends_with(".a3m"));
    const bool lower = std::any_of(alphabet_.begin(), alphabet_.end(), is_lower_letter);
    const bool both = std::any_of(alphabet_.begin(), alphabet_.end(), [&](char c) {
      return is_lower_letter(c) && has_letter(alphabet_, other_case(c));
    });
    if (named && both) {
      throw invalid_parameter("alphabet",
                              alphabet_,
                              "letters of one case: lower case is an insertion in A2M and A3M "
                              "(if it is none in this file, name it .fa)");
    }
    if (!named && (lower || !has_insertions())) return;
    if (content.format == Format::fasta) result_.format = "A2M or A3M";
    if (!named) {
      const std::string& first = records_.front().letters;
      result_.warnings.push_back(
          fmt::format("{} of {} columns are lower case or '.' in every sequence, and were left out "
                      "as insertions; if they are sites, write capitals and '-'",
                      std::ranges::count_if(first, [&](char c) { return is_insertion(c); }),
                      first.size()));
    }
    for (Record& record : records_) {
      result_.inserted += static_cast<std::int64_t>(
          std::erase_if(record.letters, [&](char c) { return is_insertion(c); }));
    }
    if (records_.front().letters.empty()) throw refused(records_.front().line, "an empty sequence");
  }

  Error unequal(const Record& record, std::size_t length) const {
    std::string advice;
    const auto sites = [&](const Record& r) {
      return std::count_if(
          r.letters.begin(), r.letters.end(), [&](char c) { return !is_insertion(c); });
    };
    if (result_.format == "FASTA") {
      const auto first = sites(records_.front());
      const bool a3m = std::all_of(
          records_.begin(), records_.end(), [&](const Record& r) { return sites(r) == first; });
      advice = a3m ? fmt::format(" (without lower case all have {}: if this is A3M, name it .a3m)",
                                 first)
                   : " (are the sequences aligned?)";
    }
    return refused(record.line,
                   fmt::format("a sequence of {} letters, expected {} as in the first one{}",
                               record.letters.size(),
                               length,
                               advice));
  }

  Error without_gap(const Record& record, std::size_t site) const {
    return refused(
        record.line,
        fmt::format("'{}' at site {}, but the alphabet \"{}\" has no gap: begin it with '-'",
                    record.letters[site],
                    site + 1,
                    alphabet_));
  }

  void to_colours() {
    const std::size_t length = records_.front().letters.size();
    result_.alphabet = std::string(alphabet_);
    result_.sequences.resize(static_cast<Index>(records_.size()), static_cast<Index>(length));
    const bool gap = has_gap(alphabet_);
    std::set<char> unknown;
    for (std::size_t m = 0; m < records_.size(); ++m) {
      const Record& record = records_[m];
      if (record.letters.size() != length) throw unequal(record, length);
      for (std::size_t k = 0; k < length; ++k) {
        const std::int16_t colour = table_[static_cast<unsigned char>(record.letters[k])];
        if (colour < 0 && !gap) throw without_gap(record, k);
        if (colour == kUnknown) {
          ++result_.unknown;
          unknown.insert(record.letters[k]);
        }
        result_.sequences(static_cast<Index>(m), static_cast<Index>(k)) =
            static_cast<std::uint8_t>(std::max<std::int16_t>(colour, 0));
      }
    }
    warn_of_other_meanings();
    if (result_.unknown == 0) return;
    result_.warnings.push_back(
        fmt::format("{} letters that are not in the alphabet were read as gaps: {}",
                    result_.unknown,
                    std::string(unknown.begin(), unknown.end())));
  }

  /// Of T that was read as U, and U as T.
  void warn_of_twins() {
    if (!is_of_nucleotides(alphabet_)) return;
    for (const auto& [letter, other] : {std::pair('T', 'U'), std::pair('U', 'T')}) {
      if (has_letter(alphabet_, letter) || has_letter(alphabet_, other_case(letter))) continue;
      std::ptrdiff_t count = 0;
      for (const Record& record : records_) {
        count += std::ranges::count(record.letters, letter) +
                 std::ranges::count(record.letters, other_case(letter));
      }
      if (count > 0)
        result_.warnings.push_back(
            fmt::format("{} letters {} were read as {}", count, letter, other));
    }
  }

  /// Of what is read in a sense that its author may not have meant.
  void warn_of_other_meanings() {
    warn_of_twins();
    constexpr std::string_view kNucleotides = "ACGTUNacgtun-.~";
    constexpr std::size_t kFewLetters = 100;
    bool nucleotides = alphabet_ == kAminoAcids;
    bool dots = false;
    bool dashes = false;
    for (const Record& record : records_) {
      dots = dots || has_letter(record.letters, '.');
      dashes = dashes || has_letter(record.letters, '-');
      nucleotides =
          nucleotides && record.letters.find_first_not_of(kNucleotides) == std::string::npos;
    }
    if (nucleotides && records_.size() * records_.front().letters.size() >= kFewLetters) {
      result_.warnings.emplace_back(
          "all letters are those of nucleotides, and were read as amino acids: of DNA the alphabet "
          "is \"-ACGT\", of RNA \"-ACGU\"");
    }
    if (dots && !has_letter(records_.front().letters, '.') && table_['.'] == 0 &&
        (dashes || differ_from_first_everywhere())) {
      result_.warnings.push_back(fmt::format(
          "'.'{} read as gap{}, and the first sequence has no '.': if it stands for the "
          "letter of the first sequence, write the letters out",
          dashes ? " and '-' were both" : " was",
          dashes ? "s" : ""));
    }
  }

  /// Whether no sequence has a letter of the first one where that has it, as where '.' stands for
  /// it.
  bool differ_from_first_everywhere() const {
    const std::string& first = records_.front().letters;
    return std::all_of(records_.begin() + 1, records_.end(), [&](const Record& record) {
      for (std::size_t k = 0; k < first.size(); ++k) {
        if (record.letters[k] == first[k] && first[k] != '-') return false;
      }
      return true;
    });
  }

  std::filesystem::path path_;
  std::string_view alphabet_;
  LetterTable table_;
  std::string bytes_;
  std::vector<Line> lines_;
  std::vector<Record> records_;
  std::vector<std::string> left_out_;  ///< names of the records of annotation
  Alignment result_;
};

}  // namespace

Alignment parse_alignment(std::string_view bytes,
                          const std::filesystem::path& path,
                          std::string_view alphabet) {
  return Reader(bytes, path, alphabet).read();
}

Alignment read_alignment(const std::filesystem::path& path, std::string_view alphabet) {
  const std::optional<std::string> bytes = read_bytes(path);
  if (!bytes) throw Error(ErrorKind::input, fmt::format("{}: cannot be read", path.string()));
  return parse_alignment(*bytes, path, alphabet);
}

}  // namespace attica

#include "attica/core/potts/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <numeric>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr std::int16_t kUnknown = -1;  // a letter, but none of the alphabet
constexpr std::int16_t kForbidden = -2;

/// The colour of every character.
std::array<std::int16_t, 256> letter_table(std::string_view alphabet) {
  constexpr std::size_t kMost = 64;
  if (alphabet.size() < 2 || alphabet.size() > kMost) {
    throw invalid_parameter("alphabet", alphabet, "2 to 64 characters, the first one the gap");
  }
  std::array<std::int16_t, 256> table{};
  table.fill(kForbidden);
  for (unsigned char c = 'A'; c <= 'Z'; ++c) table[c] = kUnknown;
  for (unsigned char c = 'a'; c <= 'z'; ++c) table[c] = kUnknown;
  table['*'] = kUnknown;
  table['.'] = table['-'] = 0;
  std::array<bool, 256> seen{};
  for (std::size_t a = 0; a < alphabet.size(); ++a) {
    const auto c = static_cast<unsigned char>(alphabet[a]);
    if (std::isgraph(c) == 0 || c == '>' || seen[c]) {
      throw invalid_parameter("alphabet", alphabet, "different printable characters without '>'");
    }
    seen[c] = true;
    table[c] = static_cast<std::int16_t>(a);
  }
  for (unsigned char c = 'a'; c <= 'z'; ++c) {
    if (table[c] == kUnknown) table[c] = table[static_cast<std::size_t>(std::toupper(c))];
  }
  return table;
}

/// A sequence as it stands in the file.
struct Record {
  std::string letters;
  std::size_t line = 0;  ///< where it starts
};

/// What stands in a column of A2M that is no site.
bool is_insertion(char c) { return c == '.' || (c >= 'a' && c <= 'z'); }

/// Whether aligned sequences are written as A2M: columns of sites and columns of insertions, and
/// none that is both.
bool has_insertions(const std::vector<Record>& records) {
  const std::size_t length = records.front().letters.size();
  std::size_t insertions = 0;
  for (std::size_t k = 0; k < length; ++k) {
    const bool inserted = is_insertion(records.front().letters[k]);
    for (const Record& record : records) {
      if (record.letters.size() != length || is_insertion(record.letters[k]) != inserted)
        return false;
    }
    insertions += inserted ? 1 : 0;
  }
  return insertions > 0 && insertions < length;
}

}  // namespace

Alignment read_alignment(const std::filesystem::path& path, std::string_view alphabet) {
  const std::array<std::int16_t, 256> table = letter_table(alphabet);
  std::ifstream file(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path) || !file) {
    throw Error(ErrorKind::input, fmt::format("{}: cannot be read", path.string()));
  }
  const auto refuse = [&](std::size_t line, const std::string& what) {
    return Error(ErrorKind::input, fmt::format("{}:{}: {}", path.string(), line, what));
  };
  std::vector<Record> records;
  bool open = false;  // whether a sequence is being read
  const auto close = [&] {
    if (open && records.back().letters.empty())
      throw refuse(records.back().line, "an empty sequence");
    open = false;
  };
  bool fasta = false;
  bool first = true;
  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    std::string_view rest = text;
    if (line == 1 && rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    while (!rest.empty() && (rest.back() == '\r' || rest.back() == ' ' || rest.back() == '\t')) {
      rest.remove_suffix(1);
    }
    if (rest.empty()) continue;
    if (first) fasta = rest.front() == '>';
    first = false;
    if (fasta && rest.front() == '>') {
      close();
      records.push_back({.letters = {}, .line = line});
      open = true;
      continue;
    }
    if (!fasta) records.push_back({.letters = {}, .line = line});
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const auto c = static_cast<unsigned char>(rest[k]);
      const std::int16_t colour = table[c];
      if (colour == kForbidden) {
        const std::string shown =
            std::isgraph(c) != 0 ? fmt::format("'{}'", rest[k]) : fmt::format("byte {}", c);
        throw refuse(line,
                     fmt::format("{} at column {}, expected a letter or a gap", shown, k + 1));
      }
    }
    records.back().letters += rest;
    if (!fasta) close();
  }
  close();
  if (records.size() < 2) {
    throw Error(ErrorKind::input,
                fmt::format("{}: {} sequence{}, expected at least 2",
                            path.string(),
                            records.size(),
                            records.size() == 1 ? "" : "s"));
  }
  Alignment result{.sequences = {}, .alphabet = std::string(alphabet)};
  const std::string ending = path.extension().string();
  const bool cases_differ = std::any_of(alphabet.begin(), alphabet.end(), is_insertion);
  if (fasta && !cases_differ && (ending == ".a2m" || ending == ".a3m" || has_insertions(records))) {
    for (Record& record : records)
      result.inserted += static_cast<std::int64_t>(std::erase_if(record.letters, is_insertion));
    if (records.front().letters.empty()) throw refuse(records.front().line, "an empty sequence");
  }
  const std::size_t length = records.front().letters.size();
  result.sequences.resize(static_cast<Index>(records.size()), static_cast<Index>(length));
  for (std::size_t m = 0; m < records.size(); ++m) {
    const std::string& letters = records[m].letters;
    if (letters.size() != length) {
      throw refuse(
          records[m].line,
          fmt::format(
              "a sequence of {} letters, expected {} as in the first one", letters.size(), length));
    }
    for (std::size_t k = 0; k < length; ++k) {
      const std::int16_t colour = table[static_cast<unsigned char>(letters[k])];
      if (colour == kUnknown) ++result.unknown;
      result.sequences(static_cast<Index>(m), static_cast<Index>(k)) =
          static_cast<std::uint8_t>(std::max<std::int16_t>(colour, 0));
    }
  }
  return result;
}

Eigen::VectorXd sequence_weights(const Sequences& sequences, double identity) {
  require(identity > 0 && identity <= 1, "identity", identity, "0 < identity <= 1");
  const Index count = sequences.rows();
  // Written so that 0.8 of 10 sites is 8 of them, whatever the rounding of 0.8 * 10.
  constexpr double kRounding = 1e-9;
  const auto needed =
      static_cast<Index>(std::ceil(identity * static_cast<double>(sequences.cols()) - kRounding));
  Eigen::VectorXd relatives = Eigen::VectorXd::Ones(count);
  for (Index m = 0; m < count; ++m) {
    for (Index n = 0; n < m; ++n) {
      const std::uint8_t* a = sequences.row(m).data();
      const std::uint8_t* b = sequences.row(n).data();
      Index equal = 0;
      for (Index j = 0; j < sequences.cols(); ++j) equal += a[j] == b[j] ? 1 : 0;
      if (equal < needed) continue;
      ++relatives[m];
      ++relatives[n];
    }
  }
  return relatives.cwiseInverse();
}

AlignmentSplit split_alignment(const Sequences& sequences,
                               Index held_out,
                               double identity,
                               RandomStream& stream) {
  require(held_out >= 0 && held_out < sequences.rows(),
          "held_out",
          static_cast<double>(held_out),
          "fewer than all sequences");
  std::vector<Index> order(static_cast<std::size_t>(sequences.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t k = order.size() - 1; k > 0; --k) {
    std::swap(order[k], order[stream.below(k + 1)]);
  }
  const auto part = [&](auto first, auto last) {
    const std::vector<Index> rows(first, last);
    AlignedSample sample;
    if (rows.empty()) return sample;
    sample.data.sequences = sequences(rows, Eigen::all);
    sample.data.weights = sequence_weights(sample.data.sequences, identity);
    sample.effective = sample.data.weights.sum();
    sample.data.weights /= sample.effective;
    return sample;
  };
  return {.training = part(order.begin() + held_out, order.end()),
          .held_out = part(order.begin(), order.begin() + held_out)};
}

}  // namespace attica

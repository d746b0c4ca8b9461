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
  Alignment result{.sequences = {}, .alphabet = std::string(alphabet)};
  std::vector<std::uint8_t> letters;  // of all sequences so far
  std::size_t length = 0;             // of the first one
  std::size_t count = 0;
  std::size_t begin = 0;       // of the sequence that is being read
  std::size_t begin_line = 0;  // where it starts; 0: none is open
  const auto close = [&] {
    if (begin_line == 0) return;
    const std::size_t own = letters.size() - begin;
    if (own == 0) throw refuse(begin_line, "an empty sequence");
    if (count == 0) length = own;
    if (own != length) {
      throw refuse(
          begin_line,
          fmt::format("a sequence of {} letters, expected {} as in the first one", own, length));
    }
    ++count;
    begin = letters.size();
    begin_line = 0;
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
      begin_line = line;
      continue;
    }
    if (!fasta) begin_line = line;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const auto c = static_cast<unsigned char>(rest[k]);
      const std::int16_t colour = table[c];
      if (colour == kForbidden) {
        const std::string shown =
            std::isgraph(c) != 0 ? fmt::format("'{}'", rest[k]) : fmt::format("byte {}", c);
        throw refuse(line,
                     fmt::format("{} at column {}, expected a letter or a gap", shown, k + 1));
      }
      if (colour == kUnknown) ++result.unknown;
      letters.push_back(static_cast<std::uint8_t>(std::max<std::int16_t>(colour, 0)));
    }
    if (!fasta) close();
  }
  close();
  if (count < 2) {
    throw Error(
        ErrorKind::input,
        fmt::format(
            "{}: {} sequence{}, expected at least 2", path.string(), count, count == 1 ? "" : "s"));
  }
  result.sequences = Eigen::Map<const Sequences>(
      letters.data(), static_cast<Index>(count), static_cast<Index>(length));
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

#include "attica/core/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attica {
namespace {

constexpr unsigned char kDelete = 0x7f;

/// Bytes of the control character at `at`: 0 if there is none, 2 for U+0080 to U+009f in UTF-8.
std::size_t control_at(std::string_view text, std::size_t at) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kLead = 0xc2;
  constexpr unsigned char kLastControl = 0x9f;
  const auto c = static_cast<unsigned char>(text[at]);
  if (c < kFirstPrintable || c == kDelete) return 1;
  if (c != kLead || at + 1 >= text.size()) return 0;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next > kDelete && next <= kLastControl ? 2 : 0;
}

}  // namespace

bool has_control_characters(std::string_view text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (control_at(text, k) > 0) return true;
  }
  return false;
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const std::size_t bytes = text[k] == '\n' || text[k] == '\t' ? 0 : control_at(text, k);
    if (bytes == 0) {
      shown += text[k];
      continue;
    }
    k += bytes - 1;
    shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[k]));
  }
  return shown;
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  const auto distance = [](const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t up = row[j];
        row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
        diagonal = up;
      }
    }
    return row[b.size()];
  };
  std::string best;
  std::size_t best_distance = 1 + word.size() / 3;  // about a mistake in three letters
  for (const std::string& candidate : candidates) {
    const std::size_t d = distance(word, candidate);
    if (d <= best_distance && (best.empty() || d < best_distance)) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace attica

#include "attica/app/text.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace attica::app {
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

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789-_=.,/:+@%") == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

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

std::string neglects_sentence(const std::string& neglects) {
  if (neglects.starts_with("there is")) return "T" + neglects.substr(1) + ".";
  return "The theory neglects " + neglects + ".";
}

void say(std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

}  // namespace attica::app

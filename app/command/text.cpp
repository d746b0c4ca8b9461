#include "attica/app/command/text.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace attica::app {
std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789-_=.,/:+@%") == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string approximation_sentence(const std::string& neglects) {
  if (neglects.empty()) return {};
  if (neglects.starts_with("there is")) return "T" + neglects.substr(1) + ".";
  return "The theory leaves out " + neglects + ".";
}

void say(std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

}  // namespace attica::app

#include "attica/core/language/text.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "refused.hpp"

using namespace attica;
using attica::testing::refused;

namespace language_text_test {

/// `units` paragraphs of the same line.
std::string paragraphs(int units, const std::string& line) {
  std::string text;
  for (int k = 0; k < units; ++k) text += line + "\n\n";
  return text;
}

TEST_CASE("language text: letters, spaces for all between them, every tenth unit held out",
          "[core][language]") {
  std::string text = paragraphs(9, "Ab, c--ab!");
  text += "bca " + std::string(80, 'b') + "\n\n";
  const LanguageText read = read_language(text, SymbolKind::letters, 64, 3);
  CHECK(read.units == 10);
  // By frequency: b is the most frequent letter of the whole text.
  CHECK(read.symbols == std::vector<std::string>{" ", "b", "a", "c"});
  CHECK(read.training.size() == 9U * 8U);
  CHECK(read.held_out.size() == 85U);
  CHECK(spell(read, SymbolKind::letters, read.training.data(), 8) == "ab c ab ");
  CHECK(spell(read, SymbolKind::letters, read.held_out.data(), 5) == "bca b");
}

TEST_CASE("language text: letters of two bytes are one symbol", "[core][language]") {
  const LanguageText read =
      read_language(paragraphs(10, "Été à été ÉTÉ nous étés"), SymbolKind::letters, 64, 1);
  CHECK(spell(read, SymbolKind::letters, read.training.data(), 5) == "été à");
  CHECK(read.training.size() == 9U * 24U);
}

TEST_CASE("language text: contractions are words, their apostrophes no letters",
          "[core][language]") {
  const std::string line =
      "Don\u2019t DON'T go Don\u2019t DON'T go Don\u2019t DON'T go Don\u2019t go";
  const std::string text = paragraphs(20, line);
  const LanguageText words = read_language(text, SymbolKind::words, 64, 1);
  CHECK(spell(words, SymbolKind::words, words.training.data(), 2) == "don't don't");
  const LanguageText letters = read_language(text, SymbolKind::letters, 64, 1);
  CHECK(spell(letters, SymbolKind::letters, letters.training.data(), 6) == "don t ");
}

TEST_CASE("language text: rare symbols become number 0", "[core][language]") {
  const LanguageText read =
      read_language(paragraphs(10, "one two two three two three"), SymbolKind::words, 3, 0);
  CHECK(read.symbols == std::vector<std::string>{"<unk>", "two", "three"});
  CHECK(spell(read, SymbolKind::words, read.held_out.data(), 3) == "<unk> two two");
}

TEST_CASE("language text: lines are the units where blank lines make fewer than ten",
          "[core][language]") {
  std::string text;
  for (int k = 0; k < 20; ++k) text += "some words of a line\n";
  CHECK(read_language(text, SymbolKind::words, 10, 0).units == 20);
}

TEST_CASE("language text: what is no text is refused by name", "[core][language]") {
  const auto read = [](const std::string& text, SymbolKind kind = SymbolKind::letters) {
    return refused([&] { static_cast<void>(read_language(text, kind, 64, 8)); });
  };
  const std::string good = paragraphs(200, "the quick brown fox");
  CHECK(read(good) == "accepted");
  CHECK(read("") == "model.file");
  CHECK(read("aaaa") == "model.file");
  CHECK(read(paragraphs(200, "word"), SymbolKind::words) == "model.file");
  CHECK(read(paragraphs(3, "only three short parts")) == "model.file");
  CHECK(read(std::string("\xff\xfe") + std::string("t\0h\0e\0", 6)) == "model.file");
  CHECK(read(paragraphs(200, "caf\xe9 d\xe9j\xe0 vu")) == "model.file");  // Latin-1
  CHECK(read(good + "\xff") == "model.file");
}

TEST_CASE("even_windows: all of them, or so many from first to last", "[core][language]") {
  const std::vector<Symbol> sequence = {0, 1, 2, 3, 4, 5};
  CHECK(even_windows(sequence, 2, 100).rows() == 5);
  const Windows three = even_windows(sequence, 2, 3);
  CHECK(three.rows() == 3);
  CHECK(three(0, 0) == 0);
  CHECK(three(1, 0) == 2);
  CHECK(three(2, 1) == 5);
}

}  // namespace language_text_test

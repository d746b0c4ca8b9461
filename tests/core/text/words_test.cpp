#include "attica/core/text/words.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "attica/core/error.hpp"
#include "attica/core/text/corpus.hpp"

using namespace attica;
using Catch::Contains;

namespace plain_text_test {

using Words = std::vector<std::string>;

Words words(std::string_view bytes) { return words_of(checked_text(bytes).text, 1); }

std::string utf16(std::string_view ascii, bool little) {
  std::string out;
  for (const char c : ascii) {
    if (!little) out.push_back('\0');
    out.push_back(c);
    if (little) out.push_back('\0');
  }
  return out;
}

TEST_CASE("plain_text: other encodings and formats are refused by name", "[core][text]") {
  using namespace std::string_literals;
  const auto refused = [](const std::string& bytes, const std::string& what) {
    CHECK_THROWS_WITH(checked_text(bytes), Contains("'model.file'") && Contains(what));
  };
  const std::string text = "Some words of a text.\n";
  refused("\xFF\xFE" + utf16(text, true), "UTF-16");
  refused("\xFE\xFF" + utf16(text, false), "UTF-16");
  refused(utf16(text, true), "UTF-16LE");
  refused(utf16(text, false), "UTF-16BE");
  refused("\xFF\xFE\0\0"s + utf16(utf16(text, true), true), "UTF-32");
  refused("\0\0\xFE\xFF"s + utf16(utf16(text, false), false), "UTF-32");
  refused(utf16(utf16(text, true), true), "UTF-32LE");
  refused("\x1F\x8B\x08", "gzip");
  refused("PK\x03\x04zip", "zip");
  refused("%PDF-1.7\n", "pdftotext");
  refused("\xEF\xBB\xBF<!DOCTYPE html>\n<p>text", "HTML");
  refused("\n<mediawiki xmlns=\"x\">", "XML");
  refused("{\\rtf1 text}", "RTF");
  refused("one two\nab\0cd"s, "a zero byte at line 2, column 3");
  refused("Été\nnaïve caf\xE9!", "byte 0xE9 at line 2, column 10 is not UTF-8");
  refused("a\r\nb\rc\xC0\xAF", "line 3, column 2");         // an overlong form
  refused("\xED\xA0\x80", "line 1, column 1");              // a surrogate
  refused("abc\xF0\x9F", "byte 0xF0 at line 1, column 4");  // the file was cut
  CHECK_THROWS_WITH(checked_text("\xFF", "model.stop_words"), Contains("'model.stop_words'"));
  CHECK(checked_text("").text.empty());
}

TEST_CASE("plain_text: byte order mark, ends of lines, form C", "[core][text]") {
  CHECK(checked_text("\xEF\xBB\xBFone\r\ntwo\rthree\n").text == "one\ntwo\nthree\n");
  CHECK(checked_text("a\u2028b\u0085c\u2029d").text == "a\nb\nc\n\nd");
  CHECK(checked_text("e\u0301te\u0301").text == "été");
  CHECK(checked_text("\u1112\u1161\u11AB").text == "한");
  // Words that a soft hyphen divides at the end of a line; not at the end of a paragraph.
  CHECK(words("mar\u00AD\n  ket mar\u00ADket") == Words{"market", "market"});
  CHECK(words("mar\u00AD\r\nket") == Words{"market"});
  CHECK(words("mar\u00AD\n\nket") == Words{"mar", "ket"});
}

TEST_CASE("words_of: letters and marks of all scripts, lower case", "[core][text]") {
  CHECK(words("The LORD's 12 ox-carts, a_b!") == Words{"the", "lord's", "ox", "carts", "a", "b"});
  CHECK(words("“music” music— music… (Music) ¿Music? «MUSIC» 'music'") == Words(7, "music"));
  CHECK(words("bank\u00A0money\u202Fbank\u3000money\u200Bbank") ==
        Words{"bank", "money", "bank", "money", "bank"});
  CHECK(words("École école e\u0301cole E\u0301COLE ÉCOLE") == Words(5, "école"));
  CHECK(words("Šest Žlutý ŘEKA Śnieg ŁĄKA Żaba ŰR Đak Ŋ") ==
        Words{"šest", "žlutý", "řeka", "śnieg", "łąka", "żaba", "űr", "đak", "ŋ"});
  CHECK(words("Мир МИР мир Ђак Ёж Ѣ Ґ") == Words{"мир", "мир", "мир", "ђак", "ёж", "ѣ", "ґ"});
  CHECK(words("ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ საქართველო") ==
        Words(2, "საქართველო"));  // Georgian capitals
  CHECK(words("Հայ ՀԱՅ") == Words(2, "հայ"));
  CHECK(words("ΛΌΓΟΣ λόγος Λόγος λο\u0301γος") == Words(4, "λόγος"));
  CHECK(words("Straße STRASSE straße STRAẞE") == Words(4, "strasse"));
  CHECK(words("İstanbul istanbul I\u0307stanbul") == Words(3, "istanbul"));
  CHECK(words("Işık ışık") == Words{"işık", "ışık"});  // capital I is that of i, not of dotless ı
  CHECK(words("hello，ｗｏｒｌｄ ＷＯＲＬＤ ﬁnal ﬂow oﬃce 𝐁old") ==
        Words{"hello", "world", "world", "final", "flow", "office", "bold"});
  CHECK(words("ﻣﺮﺣﺒﺎ مرحبا") == Words(2, "مرحبا"));  // Arabic presentation forms
}

TEST_CASE("words_of: what separates words in all scripts", "[core][text]") {
  CHECK(words("नमस्ते। दुनिया॥ नमस्ते") == Words{"नमस्ते", "दुनिया", "नमस्ते"});  // danda
  CHECK(words("你好。世界！你好、世界") == Words{"你好", "世界", "你好", "世界"});
  CHECK(words("مرحبا؟ نعم، لا؛ نعم۔") == Words{"مرحبا", "نعم", "لا", "نعم"});
  CHECK(words("ሰላም፡ዓለም። ሰላም") == Words{"ሰላም", "ዓለም", "ሰላም"});
  CHECK(words("a1b ٣c ४d ⅷe f² ½g") == Words{"a", "b", "c", "d", "e", "f", "g"});  // digits
  CHECK(words("x\u20ACy z\u2122 +w=v") == Words{"x", "y", "z", "w", "v"});
  CHECK(words("\u0301 1\u20E3 \u2764\uFE0F") == Words{});  // marks of no letter
  // Format characters inside a word are dropped.
  CHECK(words("mar\u00ADket mar\u200Cket mar\u200Dket mar\u2060ket mar\uFEFFket mar\u200Eket") ==
        Words(6, "market"));
  CHECK(words("می\u200Cخواهم میخواهم") == Words(2, "میخواهم"));
}

TEST_CASE("words_of: apostrophes between letters belong to the word", "[core][text]") {
  CHECK(words("don't don\u2019t DON\uFF07T don\u02BCt don`t don\u00B4t don\u2018t") ==
        Words(7, "don't"));
  CHECK(words("'tis dogs' ''quoted'' rock 'n' roll a''b l\u2019homme") ==
        Words{"tis", "dogs", "quoted", "rock", "n", "roll", "a", "b", "l'homme"});
  CHECK(words("п\u2019ять п'ять") == Words(2, "п'ять"));
  CHECK(words("don'\nt 5'a a'5") == Words{"don", "t", "a", "a"});
  // Cut into letters they separate, and ß is a letter.
  CHECK(words_of("Don't GROẞ groß Λόγος", 1, Spelling::letters) ==
        Words{"don", "t", "groß", "groß", "λόγος"});
  // At least so many letters: marks and apostrophes do not count.
  CHECK(words_of("I'm isn't ab abc", 3) == Words{"isn't", "abc"});
}

TEST_CASE("words_of: marks and forms that make no other word", "[core][text]") {
  // Letters that lengthen a word, selectors of glyphs, fillers: seen or not, the word is the same.
  CHECK(words("كتاب كـتاب كـــتاب") == Words(3, "كتاب"));
  CHECK(words("ك\uFE7Fتاب") == words("ك\u0652تاب"));  // a form of a mark is shown on a tatweel
  CHECK(words("葛城 葛\U000E0100城 葛\uFE00城") == Words(3, "葛城"));
  CHECK(words("ᠮᠣᠩᠭᠣᠯ ᠮᠣᠩᠭᠣᠯ\u180B") == Words(2, "ᠮᠣᠩᠭᠣᠯ"));
  CHECK(words("mar\u034Fket mar\u3164ket") == Words(2, "market"));
  // Armenian questions and exclamations are marked over the vowel.
  CHECK(words("ինչ ի՞նչ ի՜նչ, ինչ՞") == Words(4, "ինչ"));
  // Catalan and Gascon.
  CHECK(words("col·lecció COL·LECCIÓ coŀlecció COĿLECCIÓ col\u2027lecció") ==
        Words(5, "col·lecció"));
  CHECK(words("a· ·b c··d 5·e") == Words{"a", "b", "c", "d", "e"});
  CHECK(words("λόγος\u0387 καὶ") == Words{"λόγος", "καὶ"});
  // Hebrew abbreviations, with the mark that they have or the quotation mark that is typed for it.
  CHECK(words("צה״ל צה\"ל צה”ל") == Words(3, "צה״ל"));
  CHECK(words("\"שלום\" ואמר \"abc\"") == Words{"שלום", "ואמר", "abc"});
  CHECK(words("say\"no\" ה\"abc") == Words{"say", "no", "ה", "abc"});
  CHECK(words_of("צה״ל col·l", 1, Spelling::letters) == Words{"צה", "ל", "col", "l"});
}

TEST_CASE("plain_text: warns of what it cannot mend", "[core][text]") {
  const auto warnings = [](const std::string& text) { return checked_text(text).warnings; };
  CHECK(warnings("A well-\nknown text, and others.\nPlain lines.\n").empty());
  std::string divided;
  for (int k = 0; k < 10; ++k) divided += "The mar-\nket falls.\nAnother line.\n";
  REQUIRE(warnings(divided).size() == 1);
  CHECK_THAT(warnings(divided)[0], Contains("10 lines end with a hyphen"));
  REQUIRE(warnings("caf\uFFFD").size() == 1);
  CHECK_THAT(warnings("caf\uFFFD")[0], Contains("1 characters U+FFFD"));
  CHECK(spaceless_warning("plain English, один, 한국어 이다, हिन्दी").empty());
  CHECK(spaceless_warning("我们今天去北京。").size() == 1);
  CHECK(spaceless_warning("今日はとても良い天気です。").size() == 1);
  CHECK(spaceless_warning("สวัสดีชาวโลก").size() == 1);
  CHECK(spaceless_warning("ꦧꦱꦗꦮꦶꦏꦸ").size() == 1);
  CHECK(spaceless_warning("ｆｕｌｌ　ｗｉｄｔｈ ㅋㅋㅋ").empty());
}

TEST_CASE("characters: code points in lower case, none is lost", "[core][text]") {
  CHECK(characters_of(lower_case("Añ! \nß\u00ADİ", Spelling::letters)) ==
        Words{"a", "ñ", "!", " ", "\n", "ß", "i"});
  CHECK(characters_of(lower_case("e\u0301Ж…", Spelling::letters)) == Words{"é", "ж", "…"});
  CHECK(lower_case("a\xFFz", Spelling::letters) == "a\uFFFDz");
}

TEST_CASE("is_stop_word: contractions of stop words, with either apostrophe", "[core][text]") {
  for (const std::string& word :
       words_of("don't didn’t isn't won't can't shan't ain't it's that’s you're they've we'll he'd "
                "i'm i'd've shouldn't've who's let's",
                1)) {
    CAPTURE(word);
    CHECK(is_stop_word(word));
  }
  CHECK_FALSE(is_stop_word("lord's"));
  CHECK_FALSE(is_stop_word("john'll"));
  CHECK_FALSE(is_stop_word("o'clock"));
  CHECK(is_stop_word("lord's", {"lord"}));
  CHECK(read_stop_words("# a list\nAlpha Beta | comment\ndon’t\n", "model.stop_words") ==
        Words{"alpha", "beta", "don't"});
}

}  // namespace plain_text_test

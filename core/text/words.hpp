#pragma once
/// @file
/// @brief Texts as they are counted: normalised UTF-8, and its words or characters.
///
/// Letters, marks, punctuation and case are those of the Unicode Character Database, by utf8proc.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attica {

/// @brief A text that was checked: valid UTF-8 in normalisation form C, without byte order mark;
/// lines end with '\n'.
struct PlainText {
  std::string text;
  std::vector<std::string> warnings;  ///< each begins with the name of the parameter
};

/// @brief Reads the bytes of a text file in UTF-8, compressed or not, as `plain_text` does.
///
/// CR, CRLF, U+0085 and U+2028 end lines as LF does; U+2029 ends a paragraph. Composed and
/// decomposed letters become equal (form C). A soft hyphen (U+00AD) at the end of a line joins the
/// word with the next line. It warns of words divided by hyphens at the ends of lines, and of
/// U+FFFD, which earlier conversions leave in place of letters.
/// @param parameter what errors and warnings name
/// @throws Error (input) naming `parameter` for UTF-16, UTF-32, PDF, RTF, HTML, XML and other
/// formats, each by name; for a zero byte and for bytes that are not UTF-8, with line and column
PlainText checked_text(std::string_view bytes, std::string_view parameter = "model.file");

/// @brief What becomes of letters and of apostrophes.
enum class Spelling {
  /// Words that are compared as wholes: apostrophes and the like between letters belong to them,
  /// and
  /// letters are case-folded in full, so that STRASSE and Straße are one word.
  words,
  /// Words that are cut into letters: apostrophes separate; ß and final sigma are letters.
  letters,
};

/// @brief The text with its letters in lower case (Unicode's case folding), in form C. Ligatures,
/// full-width and presentation forms become the letters that they show; U+0130 becomes i. Format
/// characters (U+00AD, U+200C, U+200D, U+2060, U+FEFF and the like) are dropped, but for U+200B,
/// and so are variation selectors, fillers and the letters that lengthen a word (tatweel).
/// @param text valid UTF-8; other bytes become U+FFFD
std::string lower_case(std::string_view text, Spelling spelling);

/// @brief Lower-case words of at least `shortest` letters. A word is a run of letters and of marks
/// that follow them. Between two letters apostrophes (U+0027, U+2019 and the like, all written as
/// U+0027), middle dots (U+00B7) and, in Hebrew, gershayim (U+05F4, also from U+0022) belong to the
/// word or separate, as `spelling` says. Armenian marks of tone are dropped. All else separates:
/// spaces, digits, punctuation and symbols of all scripts. A word does not go on from line to line.
std::vector<std::string> words_of(std::string_view text,
                                  std::size_t shortest,
                                  Spelling spelling = Spelling::words);

/// @brief The code points of valid UTF-8, each as a string.
std::vector<std::string> characters_of(std::string_view text);

/// @brief What to say of words of this text if more than a tenth of its letters are of scripts
/// that are written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese); else nothing.
std::vector<std::string> spaceless_warning(std::string_view text,
                                           std::string_view parameter = "model.file");

}  // namespace attica

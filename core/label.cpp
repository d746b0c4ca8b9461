#include "attica/core/label.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {
namespace {

struct LatexSymbol {
  std::string_view command;  ///< without its backslash
  std::string_view letter;   ///< UTF-8
};

/// Variables: italic in mathematics. Variants follow the form that the letter comes from.
constexpr std::array kGreek = {
    LatexSymbol{"alpha", "α"},  LatexSymbol{"beta", "β"},    LatexSymbol{"gamma", "γ"},
    LatexSymbol{"delta", "δ"},  LatexSymbol{"epsilon", "ε"}, LatexSymbol{"varepsilon", "ε"},
    LatexSymbol{"zeta", "ζ"},   LatexSymbol{"eta", "η"},     LatexSymbol{"theta", "θ"},
    LatexSymbol{"iota", "ι"},   LatexSymbol{"kappa", "κ"},   LatexSymbol{"lambda", "λ"},
    LatexSymbol{"mu", "μ"},     LatexSymbol{"nu", "ν"},      LatexSymbol{"xi", "ξ"},
    LatexSymbol{"pi", "π"},     LatexSymbol{"rho", "ρ"},     LatexSymbol{"sigma", "σ"},
    LatexSymbol{"tau", "τ"},    LatexSymbol{"upsilon", "υ"}, LatexSymbol{"phi", "φ"},
    LatexSymbol{"varphi", "φ"}, LatexSymbol{"chi", "χ"},     LatexSymbol{"psi", "ψ"},
    LatexSymbol{"omega", "ω"}};

/// Upright in mathematics.
constexpr std::array kSymbols = {
    LatexSymbol{"Gamma", "Γ"},  LatexSymbol{"Delta", "Δ"},  LatexSymbol{"Theta", "Θ"},
    LatexSymbol{"Lambda", "Λ"}, LatexSymbol{"Xi", "Ξ"},     LatexSymbol{"Pi", "Π"},
    LatexSymbol{"Sigma", "Σ"},  LatexSymbol{"Phi", "Φ"},    LatexSymbol{"Psi", "Ψ"},
    LatexSymbol{"Omega", "Ω"},  LatexSymbol{"times", "×"},  LatexSymbol{"pm", "±"},
    LatexSymbol{"cdot", "·"},   LatexSymbol{"infty", "∞"},  LatexSymbol{"partial", "∂"},
    LatexSymbol{"nabla", "∇"},  LatexSymbol{"sum", "∑"},    LatexSymbol{"ell", "ℓ"},
    LatexSymbol{"prime", "′"},  LatexSymbol{"langle", "⟨"}, LatexSymbol{"rangle", "⟩"},
    LatexSymbol{"dots", "…"},   LatexSymbol{"ldots", "…"},  LatexSymbol{"star", "⋆"},
    LatexSymbol{"circ", "∘"},   LatexSymbol{"dagger", "†"}, LatexSymbol{"top", "⊤"},
    LatexSymbol{"perp", "⊥"}};

/// Relations: they stand between spaces.
constexpr std::array kRelations = {LatexSymbol{"leq", "≤"},
                                   LatexSymbol{"le", "≤"},
                                   LatexSymbol{"geq", "≥"},
                                   LatexSymbol{"ge", "≥"},
                                   LatexSymbol{"neq", "≠"},
                                   LatexSymbol{"ne", "≠"},
                                   LatexSymbol{"approx", "≈"},
                                   LatexSymbol{"sim", "∼"},
                                   LatexSymbol{"propto", "∝"},
                                   LatexSymbol{"to", "→"},
                                   LatexSymbol{"rightarrow", "→"},
                                   LatexSymbol{"in", "∈"},
                                   LatexSymbol{"ll", "≪"},
                                   LatexSymbol{"gg", "≫"},
                                   LatexSymbol{"equiv", "≡"},
                                   LatexSymbol{"parallel", "∥"}};

constexpr std::array<std::string_view, 8> kFunctions = {
    "log", "ln", "exp", "max", "min", "sin", "cos", "tr"};

/// An alphabet of mathematics: its letters follow each other in Unicode, but for some that were
/// there earlier.
struct Alphabet {
  std::string_view command;       ///< without its backslash
  char32_t first = 0;             ///< of A
  bool small = false;             ///< whether a to z follow A to Z in LaTeX, too
  char32_t digits = 0;            ///< of 0; 0: none
  std::string_view earlier = {};  ///< letters that are elsewhere, each with its character
};
/// The first of a command is what it is drawn as; the others are read, too.
constexpr std::array kAlphabets = {
    Alphabet{"mathcal", U'\U0001D49C', false, 0, "BℬEℰFℱHℋIℐLℒMℳRℛ"},
    Alphabet{"mathcal", U'\U0001D4D0', false, 0, ""},
    Alphabet{"mathbb", U'\U0001D538', true, U'\U0001D7D8', "CℂHℍNℕPℙQℚRℝZℤ"},
    Alphabet{"mathfrak", U'\U0001D504', true, 0, "CℭHℌIℑRℜZℨ"},
    Alphabet{"mathfrak", U'\U0001D56C', true, 0, ""},
    Alphabet{"mathbf", U'\U0001D400', true, U'\U0001D7CE', ""},
    Alphabet{"mathit", U'\U0001D434', true, 0, "hℎ"},
    Alphabet{"mathsf", U'\U0001D5A0', true, U'\U0001D7E2', ""},
    Alphabet{"mathtt", U'\U0001D670', true, U'\U0001D7F6', ""}};

constexpr const Alphabet& kDoubleStruck = kAlphabets[2];

std::string utf8(char32_t c) {
  constexpr unsigned kSix = 6;
  constexpr char32_t kLow = 0x3F;
  constexpr char32_t kContinuation = 0x80;
  constexpr char32_t kFour = 0xF0;
  std::string text;
  text += static_cast<char>(kFour | (c >> (3 * kSix)));
  for (const unsigned k : {2U, 1U, 0U})
    text += static_cast<char>(kContinuation | ((c >> (k * kSix)) & kLow));
  return text;
}

/// A letter or digit in an alphabet; empty if it has none.
std::string in_alphabet(const Alphabet& alphabet, char letter) {
  constexpr char32_t kLetters = 26;
  if (const auto at = alphabet.earlier.find(letter); at != std::string_view::npos) {
    constexpr std::size_t kLength = 3;  // of these characters in UTF-8
    return std::string(alphabet.earlier.substr(at + 1, kLength));
  }
  if (letter >= 'A' && letter <= 'Z')
    return utf8(alphabet.first + static_cast<char32_t>(letter - 'A'));
  if (letter >= 'a' && letter <= 'z' && alphabet.small)
    return utf8(alphabet.first + kLetters + static_cast<char32_t>(letter - 'a'));
  if (letter >= '0' && letter <= '9' && alphabet.digits != 0)
    return utf8(alphabet.digits + static_cast<char32_t>(letter - '0'));
  return "";
}

/// LaTeX for a letter of one of the alphabets; empty if it is of none.
std::string alphabet_letter(std::string_view c) {
  constexpr std::string_view kAll =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  if (c.size() < 3) return "";
  for (const Alphabet& alphabet : kAlphabets) {
    for (const char letter : kAll) {
      if (in_alphabet(alphabet, letter) == c)
        return fmt::format("\\{}{{{}}}", alphabet.command, letter);
    }
  }
  return "";
}

template <typename Table>
const LatexSymbol* by_command(const Table& table, std::string_view command) {
  for (const LatexSymbol& symbol : table) {
    if (symbol.command == command) return &symbol;
  }
  return nullptr;
}

template <typename Table>
const LatexSymbol* by_letter(const Table& table, std::string_view letter) {
  for (const LatexSymbol& symbol : table) {
    if (symbol.letter == letter) return &symbol;
  }
  return nullptr;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The UTF-8 character that starts at `at`, which moves behind it.
std::string_view take_character(std::string_view text, std::size_t& at) {
  constexpr unsigned kContinuation = 0x80;
  constexpr unsigned kContinuationMask = 0xC0;
  const std::size_t start = at++;
  while (at < text.size() &&
         (static_cast<unsigned char>(text[at]) & kContinuationMask) == kContinuation)
    ++at;
  return text.substr(start, at - start);
}

bool is_name(std::string_view text) {
  if (text.empty() || (!is_letter(text.front()) && text.front() != '_')) return false;
  for (const char c : text) {
    if (!is_letter(c) && std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

/// What stands between dollar signs, as enhanced text.
class Mathematics {
 public:
  Mathematics(std::string_view text, std::string_view label, std::string_view parameter)
      : text_(text), label_(label), parameter_(parameter) {}

  std::string read() {
    std::string all = sequence(false);
    if (at_ < text_.size()) throw refusal("a '{' for every '}'");
    return all;
  }

 private:
  Error refusal(const std::string& expected) const {
    return invalid_parameter(parameter_, fmt::format("\"{}\"", label_), expected);
  }

  /// Up to the end of the group.
  std::string sequence(bool script) {
    std::string all;
    while (at_ < text_.size() && text_[at_] != '}') {
      // Braces around a name are the place of a coordinate, except after a script or a command.
      const auto end = text_[at_] == '{' ? text_.find('}', at_) : std::string_view::npos;
      if (end != std::string_view::npos && is_name(text_.substr(at_ + 1, end - at_ - 1))) {
        all += text_.substr(at_, end + 1 - at_);
        at_ = end + 1;
      } else {
        all += item(script);
      }
    }
    return all;
  }

  /// What a script or a command of fonts applies to.
  std::string argument(bool script) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] == '}')
      throw refusal("something after _, ^ or a command");
    return item(script);
  }

  std::string item(bool script) {
    const char c = text_[at_];
    if (c == '{') {
      ++at_;
      std::string inner = sequence(script);
      if (at_ >= text_.size()) throw refusal("a '}' for every '{'");
      ++at_;
      return inner;
    }
    if (c == '\\') return command(script);
    if (c == ' ') {
      ++at_;
      return "";
    }
    if (c == '_' || c == '^') {
      ++at_;
      return fmt::format("{}{{{}}}", c, argument(true));
    }
    if (c == '-') {
      ++at_;
      return "−";
    }
    if (c == '\'') {
      ++at_;
      return "′";
    }
    if (c == '=' || c == '<' || c == '>') {
      ++at_;
      return script ? std::string(1, c) : fmt::format(" {} ", c);
    }
    if (is_letter(c)) {
      ++at_;
      return fmt::format("{{/:Italic {}}}", c);
    }
    const std::string_view character = take_character(text_, at_);
    if (by_letter(kGreek, character) != nullptr) return fmt::format("{{/:Italic {}}}", character);
    return escape(character);
  }

  std::string command(bool script) {
    ++at_;
    if (at_ >= text_.size()) throw refusal("a command after '\\'");
    if (!is_letter(text_[at_])) {
      const char c = text_[at_++];
      if (c == ',' || c == ';' || c == ':' || c == ' ') return " ";
      if (c == '!') return "";
      if (c == '{' || c == '}' || c == '%' || c == '_' || c == '&' || c == '#')
        return escape(std::string(1, c));
      throw refusal(fmt::format("mathematics without '\\{}'", c));
    }
    std::string name;
    while (at_ < text_.size() && is_letter(text_[at_])) name += text_[at_++];
    if (const LatexSymbol* greek = by_command(kGreek, name))
      return fmt::format("{{/:Italic {}}}", greek->letter);
    if (const LatexSymbol* symbol = by_command(kSymbols, name)) return std::string(symbol->letter);
    if (const LatexSymbol* relation = by_command(kRelations, name))
      return script ? std::string(relation->letter) : fmt::format(" {} ", relation->letter);
    for (const std::string_view function : kFunctions) {
      if (name == function) return name + " ";
    }
    if (name == "quad") return "  ";
    if (name == "left" || name == "right") return "";
    if (name == "mathrm" || name == "text" || name == "operatorname") return escape(words());
    if (name == "mathbf") return fmt::format("{{/:Bold {}}}", escape(words()));
    if (name == "mathit") return fmt::format("{{/:Italic {}}}", escape(words()));
    if (name == "mathcal") return letters(kAlphabets.front(), "capital letters");
    if (name == "mathbb") return letters(kDoubleStruck, "letters and digits");
    throw refusal(fmt::format(
        "mathematics without '\\{}' (letters and symbols can also be typed as they are, in UTF-8)",
        name));
  }

  /// The letters in braces, in an alphabet of their own.
  std::string letters(const Alphabet& alphabet, std::string_view expected) {
    std::string all;
    for (const char c : words()) {
      const std::string letter = c == ' ' ? " " : in_alphabet(alphabet, c);
      if (letter.empty())
        throw refusal(fmt::format("{} in the braces of '\\{}'", expected, alphabet.command));
      if (c != ' ') all += letter;
    }
    return all;
  }

  /// The text in braces that a font is for.
  std::string words() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != '{') throw refusal("words in braces after a font");
    const auto end = text_.find('}', at_);
    std::string inner(text_.substr(at_ + 1, end == std::string_view::npos ? end : end - at_ - 1));
    if (end == std::string_view::npos) throw refusal("a '}' for every '{'");
    if (inner.find_first_of("{\\$") != std::string::npos)
      throw refusal("plain words in the braces of a font");
    at_ = end + 1;
    return inner;
  }

  std::string_view text_;
  std::string_view label_;
  std::string_view parameter_;
  std::size_t at_ = 0;
};

/// Walks over enhanced text and writes LaTeX.
class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  std::string all() {
    std::string latex = run(false, false);
    while (at_ < text_.size()) {  // a stray closing brace
      ++at_;
      latex += run(false, false);
    }
    return latex;
  }

 private:
  std::string run(bool math, bool italic) {
    std::string latex;
    while (at_ < text_.size() && text_[at_] != '}') latex += item(math, italic);
    return latex;
  }

  std::string item(bool math, bool italic) {
    const char c = text_[at_];
    if (c == '{') return group(math, italic);
    if (c == '_' || c == '^') {
      ++at_;
      const std::string script = at_ < text_.size() && text_[at_] != '}' ? item(true, false) : "";
      const std::string set = fmt::format("{}{{{}}}", c, script);
      return math ? set : fmt::format("\\ensuremath{{{}}}", set);
    }
    if (c == '@' || c == '&' || c == '~') {
      ++at_;
      return "";
    }
    if (c == '\\' && at_ + 1 < text_.size()) ++at_;
    return character(math, italic);
  }

  std::string group(bool math, bool italic) {
    ++at_;
    bool bold = false;
    if (at_ < text_.size() && text_[at_] == '/') {
      const std::size_t end = std::min(text_.find_first_of(" }", at_), text_.size());
      const std::string_view font = text_.substr(at_, end - at_);
      italic = italic || font.find(":Italic") != std::string_view::npos;
      bold = font.find(":Bold") != std::string_view::npos;
      at_ = end < text_.size() && text_[end] == ' ' ? end + 1 : end;
    }
    std::string inner = run(math, italic);
    if (at_ < text_.size()) ++at_;
    if (bold) return fmt::format("{}{{{}}}", math ? "\\mathbf" : "\\textbf", inner);
    return inner;
  }

  std::string character(bool math, bool italic) {
    const std::string_view c = take_character(text_, at_);
    // As a superscript \prime, by itself the shorthand for that.
    if (c == "′") return math ? "\\prime " : "\\ensuremath{'}";
    if (const std::string letter = alphabet_letter(c); !letter.empty())
      return math ? letter : fmt::format("\\ensuremath{{{}}}", letter);
    std::string symbol;
    if (const LatexSymbol* greek = by_letter(kGreek, c)) symbol = greek->command;
    for (const LatexSymbol* known : {by_letter(kSymbols, c), by_letter(kRelations, c)}) {
      if (known != nullptr && symbol.empty()) symbol = known->command;
    }
    if (!symbol.empty())
      return math ? fmt::format("\\{} ", symbol) : fmt::format("\\ensuremath{{\\{}}}", symbol);
    if (c == "−") return math ? "-" : "\\ensuremath{-}";
    if (c.size() == 1 && is_letter(c.front())) {
      if (math) return italic ? std::string(c) : fmt::format("\\mathrm{{{}}}", c);
      return italic ? fmt::format("\\ensuremath{{{}}}", c) : std::string(c);
    }
    if (c == " ") return math ? "\\ " : " ";
    if (c == "\\") return "\\textbackslash{}";
    if (c == "~") return math ? "\\sim " : "\\textasciitilde{}";
    if (c == "^") return "\\textasciicircum{}";
    if (c == "<" || c == ">" || c == "|")
      return math ? std::string(c) : fmt::format("\\ensuremath{{{}}}", c);
    if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) return "\\" + std::string(c);
    return std::string(c);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string escape(std::string_view plain) {
  std::string text;
  for (const char c : plain) {
    if (std::string_view("\\_^{}@&~").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string from_latex(std::string_view label, std::string_view parameter) {
  if (label.find("{/") != std::string_view::npos) return std::string(label);
  std::string text;
  std::string plain;
  const auto end_plain = [&] {
    text += escape(plain);
    plain.clear();
  };
  for (std::size_t at = 0; at < label.size();) {
    const char c = label[at];
    if (c == '\\' && at + 1 < label.size() && label[at + 1] == '$') {
      plain += '$';
      at += 2;
    } else if (c == '$') {
      const auto end = label.find('$', at + 1);
      if (end == std::string_view::npos)
        throw invalid_parameter(
            parameter, fmt::format("\"{}\"", label), "a second '$' (or '\\$' for the sign)");
      end_plain();
      text += Mathematics(label.substr(at + 1, end - at - 1), label, parameter).read();
      at = end + 1;
    } else if (c == '{' && label.find('}', at) != std::string_view::npos &&
               is_name(label.substr(at + 1, label.find('}', at) - at - 1))) {
      const auto end = label.find('}', at);
      end_plain();
      text += label.substr(at, end + 1 - at);
      at = end + 1;
    } else {
      plain += c;
      ++at;
    }
  }
  end_plain();
  return text;
}

std::string to_latex(std::string_view enhanced) { return Translator(enhanced).all(); }

}  // namespace attica

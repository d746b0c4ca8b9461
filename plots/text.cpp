#include "attica/plots/text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace attica::plots {
namespace {

/// Advance widths of U+0020..U+007E in DejaVu Sans, in thousandths of the font size.
constexpr std::array kAdvance = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr double kPerMille = 1e-3;
constexpr double kGreekAdvance = 0.65;   ///< typical of the letters U+0080..U+07FF
constexpr double kSymbolAdvance = 0.84;  ///< mathematical operators, minus, arrows
constexpr double kScriptScale = 0.8;     ///< gnuplot's size of sub- and superscripts

/// Walks over enhanced text adding up advances; `size` is the size in force.
class Meter {
 public:
  explicit Meter(std::string_view text) : text_(text) {}

  double run(double size) {
    double width = 0;
    while (at_ < text_.size() && text_[at_] != '}') width += item(size);
    return width;
  }
  /// A stray closing brace is an ordinary end of group: step over it and go on.
  double all(double size) {
    double width = run(size);
    while (at_ < text_.size()) {
      ++at_;
      width += run(size);
    }
    return width;
  }

 private:
  double item(double size) {
    const char c = text_[at_];
    if (c == '{') return group(size);
    if (c == '_' || c == '^') {
      ++at_;
      return at_ < text_.size() && text_[at_] != '}' ? item(kScriptScale * size) : 0.0;
    }
    if (c == '@' || c == '&' || c == '~') {
      ++at_;
      return 0;
    }
    if (c == '\\' && at_ + 1 < text_.size()) ++at_;
    return glyph(size);
  }

  double group(double size) {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '/') {
      const std::size_t end = std::min(text_.find_first_of(" }", at_), text_.size());
      const std::string font(text_.substr(at_, end - at_));
      if (const auto scale = font.find('*'); scale != std::string::npos) {
        size *= std::strtod(font.c_str() + scale + 1, nullptr);
      } else if (const auto fixed = font.find('='); fixed != std::string::npos) {
        size = std::strtod(font.c_str() + fixed + 1, nullptr);
      }
      at_ = end < text_.size() && text_[end] == ' ' ? end + 1 : end;
    }
    const double width = run(size);
    if (at_ < text_.size()) ++at_;
    return width;
  }

  double glyph(double size) {
    const auto lead = static_cast<unsigned char>(text_[at_++]);
    constexpr unsigned kFirst = 0x20;
    constexpr unsigned kContinuation = 0x80;
    constexpr unsigned kContinuationMask = 0xC0;
    constexpr unsigned kThreeBytes = 0xE0;
    if (lead < kContinuation) {
      const std::size_t index = lead - kFirst;
      return lead >= kFirst && index < kAdvance.size() ? size * kPerMille * kAdvance[index] : 0.0;
    }
    const std::size_t start = at_ - 1;
    while (at_ < text_.size() &&
           (static_cast<unsigned char>(text_[at_]) & kContinuationMask) == kContinuation) {
      ++at_;
    }
    const std::string_view letter = text_.substr(start, at_ - start);
    const bool symbol = lead >= kThreeBytes || letter == "×" || letter == "±";
    return size * (symbol ? kSymbolAdvance : kGreekAdvance);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

double text_width(std::string_view text, double size) { return Meter(text).all(size); }

double block_width(std::string_view text, double size) {
  double width = 0;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    width = std::max(width, text_width(text.substr(0, end), size));
    if (end == text.size()) return width;
    text.remove_prefix(end + 1);
  }
}

int line_count(std::string_view text) {
  return 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::string wrap(std::string_view text, double size, double width) {
  std::string lines;
  std::string line;
  std::string word;
  const auto take_word = [&] {
    if (line.empty()) {
      line = word;
    } else if (text_width(line + " " + word, size) <= width) {
      line += " " + word;
    } else {
      lines += line + "\n";
      line = word;
    }
    word.clear();
  };
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ' ' && depth == 0) {
      take_word();
    } else {
      word += c;
    }
  }
  take_word();
  return lines + line;
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '\\':
      case '"':
        quoted += '\\';
        quoted += c;
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '`':  // would run a shell command
        quoted += "\\140";
        break;
      default:
        quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace attica::plots

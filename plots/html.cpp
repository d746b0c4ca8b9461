#include "attica/plots/html.hpp"

#include <fmt/format.h>

#include <cctype>

namespace attica {
namespace {

// Colours are Okabe and Ito's; verdicts are told by word and by mark, never by colour alone.
constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --soft: #5f6368; --line: #d8dadd; --wash: #f4f5f6;
  --agree: #00734f; --disagree: #b34700; --open: #6b5b00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181b; --soft: #a0a4aa; --line: #3a3e44;
  --wash: #202327; --agree: #3fc79a; --disagree: #ff9a52; --open: #e0c84a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.run { color: var(--soft); overflow-wrap: anywhere; }
.verdict { border-left: .4rem solid var(--soft); background: var(--wash); padding: .6rem 1rem; margin: 1rem 0; }
.verdict strong { font-size: 1.3rem; }
.verdict.agree, .verdict.hold { border-color: var(--agree); }
.verdict.agree strong, .verdict.hold strong { color: var(--agree); }
.verdict.disagree { border-color: var(--disagree); } .verdict.disagree strong { color: var(--disagree); }
.verdict.inconclusive { border-color: var(--open); } .verdict.inconclusive strong { color: var(--open); }
.warning { border-left: .4rem solid var(--open); padding: .3rem 1rem; margin: .5rem 0; overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
figure .sheet { background: #fff; padding: .5rem; border: 1px solid var(--line); display: flex; justify-content: center; }
figure svg { width: 100%; max-width: 34rem; height: auto; } figure .wide svg { max-width: none; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem; }
.scroll { overflow-x: auto; border: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th:nth-child(-n+3), td:nth-child(-n+3), .prose th, .prose td { text-align: left; }
.prose td { white-space: normal; }
thead th { background: var(--wash); }
tr.disagree td:first-child { color: var(--disagree); font-weight: 600; }
tr.agree td:first-child { color: var(--agree); }
tr.inconclusive td:first-child { color: var(--open); font-weight: 600; }
details { border-top: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--wash); padding: .7rem; overflow-x: auto; font-size: .85rem; }
dl { display: grid; grid-template-columns: minmax(8rem, auto) 1fr; gap: .2rem 1rem; font-size: .9rem; }
dt { color: var(--soft); overflow-wrap: anywhere; } dd { margin: 0; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1.5rem; }
.card { border: 1px solid var(--line); padding: .8rem; } .card h3 { margin: 0; font-size: 1rem; }
.card p { margin: .4rem 0; font-size: .9rem; } .card img { width: 100%; height: auto; background: #fff; }
.card .verdict { padding: .2rem .6rem; } .card .verdict strong { font-size: 1rem; }
.card pre { white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin: 0 0 .4rem 1rem; } }
)css";

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // HTML knows no control characters but those of lines.
        if (std::iscntrl(static_cast<unsigned char>(c)) != 0 && c != '\n' && c != '\t' &&
            c != '\r') {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{}</style></head>"
      "<body><main>\n{}</main></body></html>\n",
      html_text(title),
      kStyle,
      body);
}

}  // namespace attica

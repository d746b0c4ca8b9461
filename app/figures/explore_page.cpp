#include "attica/app/figures/explore_page.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace attica::app {

// Written by cmake/embed.cmake from the files of these names.
extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view uPlot_min_css;
extern const std::string_view uPlot_iife_min_js;
extern const std::string_view LICENSE;  // uPlot's

namespace {

using Places = std::vector<std::pair<std::string_view, std::string_view>>;

/// The text with every "@NAME@" of `places` filled in. What is filled in is not read again.
std::string filled(std::string_view text, const Places& places) {
  std::string result;
  while (!text.empty()) {
    std::size_t first = text.size();
    std::pair<std::string_view, std::string_view> found;
    for (const auto& place : places) {
      const std::size_t at = text.find(place.first);
      if (at < first) {
        first = at;
        found = place;
      }
    }
    result += text.substr(0, first);
    if (first == text.size()) break;
    result += found.second;
    text.remove_prefix(first + found.first.size());
  }
  return result;
}

std::string page(std::string_view policy, std::string_view nonce, std::string_view data) {
  return filled(page_html,
                {{"@POLICY@", policy},
                 {"@NONCE@", nonce},
                 {"@UPLOT_LICENSE@", LICENSE},
                 {"@UPLOT_CSS@", uPlot_min_css},
                 {"@UPLOT@", uPlot_iife_min_js},
                 {"@STYLE@", page_css},
                 {"@SCRIPT@", page_js},
                 {"@DATA@", data}});
}

}  // namespace

std::string explore_page(const std::string& nonce) { return page("", nonce, "null"); }

std::string exported_page(const Json& data) {
  // Nothing in the data ends the element that holds it.
  std::string text;
  for (const char c : dump(data)) text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return page(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
      "'none'\">",
      "",
      text);
}

}  // namespace attica::app

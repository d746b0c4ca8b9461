#include "attica/plots/report.hpp"

#include <fmt/format.h>

#include <string_view>

#include "attica/plots/html.hpp"

namespace attica {
namespace {

/// The <svg> element of an SVG file, without XML declaration and comments around it.
std::string_view svg_element(std::string_view file) {
  const auto first = file.find("<svg");
  const auto last = file.rfind("</svg>");
  if (first == std::string_view::npos || last == std::string_view::npos) return {};
  constexpr std::string_view kEnd = "</svg>";
  return file.substr(first, last + kEnd.size() - first);
}

std::string table(const std::vector<std::string>& columns, const std::vector<ReportRow>& rows) {
  std::string html = R"(<div class="scroll" tabindex="0"><table><thead><tr>)";
  for (const std::string& column : columns)
    html += fmt::format(R"(<th scope="col">{}</th>)", html_text(column));
  html += "</tr></thead><tbody>\n";
  for (const ReportRow& row : rows) {
    html += fmt::format(R"(<tr class="{}">)", html_text(lower_case(row.verdict)));
    for (const std::string& cell : row.cells) html += fmt::format("<td>{}</td>", html_text(cell));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string definitions(const TextPairs& pairs) {
  std::string html = "<dl>\n";
  for (const auto& [name, value] : pairs) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
  }
  return html + "</dl>\n";
}

std::string folded(std::string_view heading, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", heading, body);
}

}  // namespace

std::string report_html(const ReportContent& c) {
  std::string html = fmt::format(
      "<h1>{}</h1>\n<p class=\"run\">study {}, run {}</p>\n"
      "<p class=\"verdict {}\"><strong>{}</strong><br>{}</p>\n",
      html_text(c.title),
      html_text(c.study),
      html_text(c.run),
      html_text(lower_case(c.verdict)),
      html_text(c.verdict),
      html_text(c.summary));
  for (const std::string& warning : c.warnings)
    html += fmt::format("<p class=\"warning\">{}</p>\n", html_text(warning));
  if (const std::string_view svg = svg_element(c.figure_svg); !svg.empty()) {
    html +=
        fmt::format("<figure><div class=\"sheet{}\">{}</div><figcaption>{}</figcaption></figure>\n",
                    c.wide ? " wide" : "",
                    svg,
                    html_text(c.caption));
  }
  if (!c.approximation.empty()) html += fmt::format("<p>{}</p>\n", html_text(c.approximation));
  if (!c.claims.empty()) {
    html += "<h2>Claims</h2>\n<div class=\"prose\">" +
            table({"verdict", "claim", "statement", "found"}, c.claims) + "</div>";
  }
  if (!c.rows.empty()) html += "<h2>Point by point</h2>\n" + table(c.columns, c.rows);
  for (const auto& [name, text] : c.texts) {
    html += fmt::format("<h2>{}</h2>\n<pre>{}</pre>\n", html_text(name), html_text(text));
  }
  html += "<h2>Reproduce</h2>\n<pre>" + html_text(c.reproduce) + "</pre>\n";
  html += folded("Configuration", "<pre>" + html_text(c.configuration) + "</pre>\n");
  html += folded("Diagnostics", definitions(c.diagnostics));
  html += folded("Provenance", definitions(c.provenance));
  if (!c.sources.empty()) {
    html += "<h2>Sources</h2>\n<ul>\n";
    for (const std::string& source : c.sources)
      html += fmt::format("<li>{}</li>\n", html_text(source));
    html += "</ul>\n";
  }
  return html_page(c.verdict + ": " + c.run, html);
}

}  // namespace attica

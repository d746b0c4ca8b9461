#pragma once
/// @file
/// @brief A run as one HTML page: no script, no network, figure inline, good on a phone and in the
/// dark.

#include <string>
#include <utility>
#include <vector>

namespace attica {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// A row of the verdict table; cells in the order of ReportContent::columns.
struct ReportRow {
  std::vector<std::string> cells;
  std::string verdict;  ///< "AGREE", "DISAGREE", "INCONCLUSIVE" or "NONE": decides the row's mark
};

/// @brief Everything the page shows, as plain text; the page escapes it.
struct ReportContent {
  std::string title;  ///< the study's question
  std::string study;
  std::string run;  ///< name and hash
  std::string verdict;
  std::string summary;        ///< one sentence: counts behind the verdict
  std::string approximation;  ///< what the theory neglects
  std::vector<std::string> warnings;
  std::string figure_svg;  ///< content of an SVG file; empty: no figure could be drawn
  std::string caption;
  bool wide = false;  ///< the figure has several columns of panels
  std::vector<std::string> columns;
  std::vector<ReportRow> rows;
  std::vector<ReportRow> claims;  ///< cells: verdict, name, statement, what was found
  TextPairs texts = {};           ///< name and content of files that are shown as they are
  TextPairs diagnostics;
  std::string configuration;  ///< TOML
  TextPairs provenance;
  std::string reproduce;  ///< a command line
  std::vector<std::string> sources;
};

/// @brief The page, complete.
std::string report_html(const ReportContent& content);

}  // namespace attica

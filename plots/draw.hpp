#pragma once
/// @file
/// @brief Figures from recorded results: writes the data, a complete gnuplot script and the figure
/// files.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/figure.hpp"
#include "attica/plots/look.hpp"

namespace attica {

enum class FigureWidth {
  half,  ///< a column of a two-column page; where there is one column, two such figures fit side by
         ///< side
  full,  ///< the page's whole text width
};

/// @param name "half" or "full"
inline FigureWidth figure_width(std::string_view name) {
  return name == "full" ? FigureWidth::full : FigureWidth::half;
}

/// @brief Where and how to draw.
struct DrawOptions {
  std::filesystem::path folder;                              ///< created if it does not exist
  std::vector<std::string> formats = {"svg", "pdf", "png"};  ///< any of these, and tex
  std::string style = "aps";                                 ///< one of style_names()
  /// Empty: full for several columns of panels, half for one.
  std::optional<FigureWidth> width = {};
  Look look = {};
  /// (name, value) pairs such as the run's id, hash and verdict, recorded inside every file: a
  /// trailing comment in SVG, TeX and the script, the information dictionary in PDF, tEXt chunks
  /// in PNG.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  bool replace_edited = false;  ///< also a script that somebody has edited
  std::string note = {};        ///< plain text printed small beneath the figure, e.g. the verdict
};

/// @brief Draws `figure` from `data` and returns the files written: NAME.csv, NAME.gp and
/// NAME.FORMAT for each format; of tex also the two files of gnuplot's LaTeX package that it needs.
///
/// Nothing is recomputed. NAME.csv holds every number drawn in its shortest round-trip form;
/// `gnuplot NAME.gp` in the folder draws the figure files again. Existing files are replaced only
/// after everything succeeded, and nothing of a figure whose script was edited. SVG and PNG are
/// identical between runs on one machine, PDF with SOURCE_DATE_EPOCH in the environment (else it
/// holds its creation date). Without gnuplot data and script are written all the same; with the one
/// that a package brings, SVG alone (see not_drawn).
///
/// What cannot be shown is never dropped in silence: values <= 0 on a logarithmic axis and values
/// beyond a fixed range are counted in a line beneath the figure; residuals far outside the others
/// appear as triangles at the edge of their panel.
/// @throws Error of kind input if the figure, an option or a layer cannot be drawn, or gnuplot is
/// not installed or
///   refuses the script; of kind numerical, naming the series, if a recorded number is not finite;
///   of kind storage if the folder cannot be written, the disk is full or the script was edited
std::vector<std::filesystem::path> draw(const Figure& figure,
                                        const FigureData& data,
                                        const DrawOptions& options);

/// @brief Which files draw() left out because no gnuplot for their format was found, and what to
/// install; empty if it drew them all. Where it can draw none of them, draw() throws that sentence.
/// @param written what draw() returned
std::string not_drawn(const Figure& figure,
                      const DrawOptions& options,
                      const std::vector<std::filesystem::path>& written);

/// @brief Whether a script that draw() wrote, or the data beside it, has been changed since. Its
/// last line holds their checksums.
bool was_edited(const std::filesystem::path& script);

/// @brief The names that DrawOptions::style accepts.
std::vector<std::string> style_names();

}  // namespace attica

#pragma once
/// @file
/// @brief Figures of publications: which runs make them, and what is drawn of these. All of it is
/// data, a file for each figure in app/figures/papers, embedded in the program.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/figures/figure_file.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// A run that a figure is made of.
struct PaperRun {
  std::string name;  ///< by which the layers of the figure's file call it
  std::string study;
  std::string preset = {};
  std::vector<Override> values = {};  ///< what differs from the preset
};

/// A figure of a publication.
struct PaperFigure {
  std::string file;          ///< "app/figures/papers/2410.23438-1.toml"
  Source paper;              ///< `used` is empty
  std::string figure;        ///< its number, or a name
  std::string shows;         ///< a clause: what is seen in it
  std::string differs = {};  ///< a clause: what is otherwise in the publication; empty: nothing
  std::vector<PaperRun> runs = {};
  std::string text = {};  ///< the file

  /// "2410.23438:1", by which `attica figure --paper` takes it.
  std::string id() const { return paper.arxiv + ":" + figure; }
};

/// @brief The surnames of "A. Smith, B. Jones": "Smith and Jones", and "Smith et al." of four and
/// more.
std::string surnames(const std::string& authors);

/// @brief All of them, by paper and figure. @throws Error of kind input for a file with mistakes,
/// which no release has
const std::vector<PaperFigure>& paper_figures();

/// @brief Reads one. @param file its path, for messages @throws Error of kind input with all
/// mistakes
PaperFigure read_paper_figure(const std::string& text, const std::string& file);

/// @brief The figure of that name. @throws Error of kind input naming those that there are
const PaperFigure& find_paper_figure(const std::string& id);

/// @brief What is drawn of its runs. @param folders the run folders by the names of the runs
FigureFile drawing_of(const PaperFigure& figure,
                      const std::map<std::string, std::filesystem::path>& folders);

}  // namespace attica::app

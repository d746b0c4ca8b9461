#pragma once
/// @file
/// @brief Figures of several runs and tables: what is drawn together, under which names.

#include <string>
#include <vector>

#include "attica/app/figures/figure_file.hpp"
#include "attica/app/verbs/verbs.hpp"

namespace attica::app {

/// A figure that is ready to be drawn, all but its folder.
struct Composition {
  Figure figure;
  FigureData data;
  DrawOptions drawing;
};

/// @brief The figure that a file describes. The files of every run are verified; curves carry the
/// coordinate `source`, which names their run or table.
/// @throws Error of kind input, with the place in the file, for runs, tables, series, coordinates
/// that are not there; of kind storage for runs that are not finished, damaged or edited
Composition compose_file(const FigureFile& file, const Registry& registry, bool accept_edits);

/// @brief Several runs in the figures of their studies: runs of one study share its panels, and a
/// curve carries the parameters in which its run differs from the others; where none does, `run` is
/// its name. Heat maps stand side by side.
/// @throws Error as compose_file
Composition compose_runs(const std::vector<std::string>& folders,
                         const Registry& registry,
                         bool accept_edits);

}  // namespace attica::app

#pragma once
/// @file
/// @brief What a figure's TOML file says, and `--set figure.KEY=VALUE`: read, checked, and entered
/// into a figure. The keys are those of docs/figures.md.

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/plots/draw.hpp"
#include "attica/sources/table.hpp"

namespace attica::app {

/// What is to be otherwise on an axis.
struct AxisChange {
  std::optional<std::string> label = {};  ///< enhanced
  std::optional<AxisScale> scale = {};
  std::optional<double> low = {};
  std::optional<double> high = {};
};

/// What is to be otherwise in a panel's inset, which comes with the first such change.
struct InsetChange {
  AxisChange x = {};
  AxisChange y = {};
  std::optional<Corner> corner = {};
  std::optional<std::array<double, 4>> place = {};
  std::optional<double> width = {};
  std::optional<double> height = {};
};

/// What is to be otherwise in a panel.
struct PanelChange {
  std::optional<std::string> title = {};  ///< enhanced
  AxisChange x = {};
  AxisChange y = {};
  AxisChange value = {};
  std::optional<bool> residuals = {};
  std::optional<bool> diagonal = {};
  std::optional<std::vector<double>> vertical = {};
  std::optional<std::vector<double>> horizontal = {};
  std::optional<std::vector<Annotation>> texts = {};
  std::optional<InsetChange> inset = {};
};

/// What is to be otherwise in a figure.
struct FigureChange {
  std::optional<std::string> name = {};
  std::optional<std::string> style = {};
  std::optional<FigureWidth> width = {};
  std::optional<double> inches = {};
  std::optional<std::vector<std::string>> formats = {};
  std::optional<std::size_t> columns = {};
  std::optional<LegendPlace> legend = {};
  std::optional<bool> key = {};
  std::optional<bool> letters = {};
  std::optional<std::string> font = {};
  std::optional<double> size = {};
  std::optional<double> aspect = {};
  PanelChange every = {};                       ///< of every panel
  std::map<std::size_t, PanelChange> one = {};  ///< of the panel with this number, from 0
};

/// One of a panel's layers: where its curves come from, which, and how they look.
struct LayerRequest {
  std::string where = {};  ///< "figure.toml:12:1"
  std::string name = {};   ///< "panels[0].layers[1]"
  std::string run = {};    ///< a run folder, or its name without the hash
  std::string csv = {};    ///< or a table
  std::string series = {};
  std::string x = {};  ///< name of x: which curves, or which column; empty: what there is, or "x"
  sources::TableColumns columns = {};     ///< of a table, where they have other names
  std::optional<std::string> label = {};  ///< enhanced; "{name}" is a coordinate or a parameter
  /// Coordinates and their allowed values.
  std::vector<std::pair<std::string, std::vector<CoordinateValue>>> only = {};
  bool theory = true;
  bool simulation = true;
  bool points = false;  ///< the values of a table are points without error bars, no line
  bool reference = false;
  bool trajectories = false;
  bool hollow = false;
  LayerLook look = {};
};

struct PanelRequest {
  std::string where = {};
  PanelKind kind = PanelKind::curves;
  std::string y_coordinate = {};
  PanelChange change = {};
  std::vector<LayerRequest> layers = {};
  std::vector<LayerRequest> inset_layers = {};  ///< none: those of the panel
};

/// A figure's file.
struct FigureFile {
  std::filesystem::path directory = {};  ///< where relative paths are looked up first
  FigureChange change = {};
  std::vector<PanelRequest> panels = {};
};

/// @brief Reads and checks a figure's file; all mistakes at once, a line each, as
/// `figure.toml:14:1: error: unknown key 'colr' in panels[0].layers[0]; did you mean 'colour'?`.
/// @throws Error of kind input
FigureFile read_figure_file(const std::string& path);

/// @brief The same of a text. @param source its path, for messages; also names the figure
/// @param others keys of the text that belong to someone else
FigureFile read_figure_text(const std::string& text,
                            const std::string& source,
                            const std::vector<std::string>& others = {});

/// @brief What [figure] and `--set figure.KEY=VALUE` ask for; later ones win. @throws Error of kind
/// input with all mistakes
FigureChange read_figure_changes(const std::vector<Override>& overrides);

/// @brief Enters a change into a figure and the way it is drawn. @throws Error of kind input if
/// there is no panel of a letter
void apply(const FigureChange& change, Figure& figure, DrawOptions& options);
/// @brief Enters a change into one panel.
void apply(const PanelChange& change, Panel& panel, PanelLook& look);

/// @brief All keys of a figure's file, as docs/figures.md names them: "legend", "x.label",
/// "layers.colour", "texts.anchor".
std::vector<std::string> figure_keys();

}  // namespace attica::app

#pragma once
/// @file
/// @brief From a study name or a TOML file, with presets and overrides, to a checked configuration.

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/words.hpp"
#include "attica/studies/expected_points.hpp"
#include "attica/studies/registry.hpp"
#include "attica/studies/study.hpp"
#include "attica/studies/toml_value.hpp"

namespace attica::app {

/// One assignment on the command line.
struct Override {
  std::string shown;       ///< as the user typed it, for messages: "--seed 3"
  std::string assignment;  ///< "sim.seed=3", dotted key and TOML value
};

/// What the command line says about the configuration.
struct ConfigurationRequest {
  std::string target;               ///< name of a study, or path of a TOML file
  std::string preset;               ///< name of a preset; empty: the defaults
  std::vector<Override> overrides;  ///< later ones win
  std::string text = {};            ///< what `target` would hold, where it is no file
};

/// A scalar of [model] or [sim] that [sweep] takes over: every value makes a problem of its own.
struct SweptScalar {
  std::string key;   ///< "model.rho"
  std::string name;  ///< "rho": the coordinate's name in points
  List values;
};

/// @brief A configuration that has passed all checks that need no problem to be built.
struct CheckedConfiguration {
  const Study* study = nullptr;
  std::shared_ptr<const Study> defined = {};  ///< of a study that the configuration defines
  Configuration values = {};
  std::vector<SweptScalar> swept;
  std::string text;                 ///< the file as read; empty if there was none
  std::filesystem::path directory;  ///< where relative input files are looked up first
  std::map<std::string, std::string>
      locations;  ///< "model.rho" -> "file.toml:3:1", for later errors
  /// What [figure] says, a key each, with the places: "figure.x.low=1". No number depends on it.
  std::vector<Override> figure;
  /// What the study fills in from its input, differently along the sweep: not written out.
  std::set<std::string> filled_in = {};
  /// How many points of each series the preset compares whose settings these are; empty: of no
  /// preset, or one that does not say.
  ExpectedPoints expected = {};

  /// @brief Whether [sweep] has taken this key over.
  bool is_swept(const std::string& key) const;
};

/// @brief The study's parameters followed by those every study has ([sim] seed, replicates;
/// [check]; [plot]).
std::vector<Parameter> all_parameters(const Study& study);

/// @brief Reads, overrides and checks. All errors are reported at once, a line each, as
/// `file.toml:14:1: error: unknown key 'replicate' in [sim]; did you mean 'replicates'?`.
/// @throws Error of kind input
CheckedConfiguration read_configuration(const ConfigurationRequest& request,
                                        const Registry& registry);

/// @brief The configuration of a study that its entries define, without a document.
/// @param entries flat dotted keys that the study takes, in the order of their parameters
/// @param overrides of the command line
/// @throws Error of kind input for a value that its parameter does not allow
CheckedConfiguration configuration_of(const Study& study,
                                      const Table& entries,
                                      const std::vector<Override>& overrides = {});

/// @brief Says which families of studies this build leaves out, and how to have them.
std::string left_out();

/// @brief The study of that name.
/// @throws Error of kind input with the nearest name, and the families that are left out
const Study& find_study(const std::string& name, const Registry& registry);
/// @throws Error of kind input that names the study's presets
const Preset& find_preset(const Study& study, const std::string& name);

/// @brief All combinations of the swept scalars, the first named varying slowest; one empty point
/// without any.
std::vector<Table> combinations(const std::vector<SweptScalar>& swept);

/// @brief A TOML document with every set value: reading it back gives the same run.
std::string to_toml(const CheckedConfiguration& configuration);

/// @brief A commented TOML template of a study with the values of a preset.
std::string configuration_template(const Study& study, const std::string& preset);

}  // namespace attica::app

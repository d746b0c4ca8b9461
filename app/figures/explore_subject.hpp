#pragma once
/// @file
/// @brief What the page of `attica explore` is about: a study with its parameters, its theory at
/// any values, and the points that lie over it.

#include <memory>
#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/run/json.hpp"
#include "attica/app/run/work.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/core/figure.hpp"
#include "attica/core/lazy.hpp"

namespace attica::app {

/// @brief Parameters as the page sends them: {"model.rho": "0.7", ...}, values in TOML.
class Subject {
 public:
  /// @param options target, preset, overrides and overlays
  /// @throws Error of kind input for a study without a curve of a theory, and as the configuration
  /// and the files do
  Subject(const Options& options, const Registry& registry);

  /// @brief What the page reads first: study, question, target, arguments (of the command),
  /// parameters, panels, overlays, replicates.
  const Json& description() const { return description_; }
  const std::string& name() const { return study_; }

  /// @brief What `attica theory --json` prints, at these values.
  Json theory(const Json& values, TheoryGrid grid) const;
  /// @brief The study's figure as SVG: its theory at these values, and the curves of overlays.
  std::string figure(const Json& values, const Json& overlays) const;
  /// @brief The words after `attica run` that simulate at these values, once it is known that they
  /// can be. @throws Error of kind input if they cannot, or start a program that is not allowed
  std::vector<std::string> simulation(const Json& values) const;
  /// @brief Points of a table (docs/own.md) or of a run folder: {label, series}, each series as
  /// `attica theory --json` has it, with sem, and with theory and margin where they were compared.
  /// @throws Error of kind input with the place
  Json overlay_of_table(const std::string& text, const std::string& name) const;
  Json overlay_of_run(const std::string& folder) const;
  /// @brief The values of a parameter written as for a sweep, each in TOML: "model.rho=[0.1, 0.5]".
  /// @throws Error of kind input if the study does not take them
  struct Grid {
    std::string key;
    std::vector<std::string> values;
  };
  Grid grid(const std::string& assignment) const;

 private:
  ConfigurationRequest request_at(const Json& values) const;
  Work work_at(const Json& values) const;

  const Registry& registry_;
  bool accept_edits_;
  bool allow_commands_;
  ConfigurationRequest request_;  ///< theory at the start
  std::string study_;
  std::vector<std::string> x_names_;  ///< of the curves
  Json description_;
  std::shared_ptr<SharedCache> shared_ = std::make_shared<SharedCache>();
};

}  // namespace attica::app

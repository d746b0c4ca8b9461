/// @file
/// @brief What a theory says of the layers of a network at step 0, next to what was measured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attica/app/command/command_line.hpp"
#include "attica/app/command/text.hpp"
#include "attica/solvers/statistics/agreement.hpp"

namespace attica::app {

/// Series of a study that run over blocks.
class LayerCurves {
 public:
  /// @param options those of `measure`: second_target is the study, values its parameters
  /// @throws Error if no series runs over blocks, or one has several curves
  LayerCurves(const Options& options, const Registry& registry);

  /// Enters what the theory says of a measured series after a block next to it: value and relative
  /// difference, and of the distance the same in standard deviations between networks.
  void compare(Json& entry, const std::string& name, int block) const;

 private:
  std::optional<double> at(const std::string& name, int block) const;
  bool compared(const std::string& name, int block) const;

  std::vector<Prediction> all_;
  std::map<std::string, std::size_t> curves_;
};

}  // namespace attica::app

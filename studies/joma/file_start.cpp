#include "attica/studies/joma/file_start.hpp"

#include "attica/core/error.hpp"
#include "attica/studies/start_file.hpp"

namespace attica {

bool take_file_start(const Configuration& configuration, JomaState& start) {
  const auto file = StartFile::of(configuration, {"V", "Z", "R"});
  if (!file) return false;
  start.v = file->matrix("V", {start.v.rows(), "units"}, {start.v.cols(), "tokens"});
  start.z = file->matrix("Z", {start.z.rows(), "queries"}, {start.z.cols(), "tokens"});
  if (file->has("R")) {
    start.r = file->matrix("R", {start.r.rows(), "units"}, {start.r.cols(), "queries"});
  } else {
    start.r.setZero();
  }
  return true;
}

std::vector<double> component_starts(const Configuration& configuration, std::size_t components) {
  const auto file = StartFile::of(configuration, {"V"}, {"model.v0"});
  if (!file) return std::vector<double>(components, configuration.real("model.v0"));
  return file->array("V", {{static_cast<Eigen::Index>(components), "components"}}).values;
}

}  // namespace attica

#include "attica/app/verbs/layer_curves.hpp"

#include <fmt/format.h>

#include "attica/app/run/work.hpp"
#include "attica/core/error.hpp"

namespace attica::app {

LayerCurves::LayerCurves(const Options& options, const Registry& registry) {
  Options asked = options;
  asked.target = options.second_target;
  const Work work = requested_work(asked, registry);
  const TheoryRecord theory = compute_theory(work, TheoryGrid::requested);
  for (const Prediction& p : theory.predictions) {
    const Series& s = p.series;
    if (s.x_name != "block") continue;
    const bool fresh = curves_.emplace(s.name, all_.size()).second;
    if (!fresh) {
      throw Error(ErrorKind::input,
                  fmt::format("--against {}: series {} has several curves; choose one, as with "
                              "--set 'sweep.beta=[1.5]'",
                              options.second_target,
                              s.name));
    }
    all_.push_back(p);
  }
  if (all_.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("--against {}: no series of it runs over blocks; expected a study "
                            "such as init-propagation",
                            options.second_target));
  }
}

/// The value of a series after a block; none where the theory has none.
std::optional<double> LayerCurves::at(const std::string& name, int block) const {
  const auto found = curves_.find(name);
  if (found == curves_.end()) return std::nullopt;
  const Series& s = all_[found->second].series;
  for (std::size_t k = 0; k < s.x.size(); ++k) {
    if (s.x[k] == block) return s.y[k];
  }
  return std::nullopt;
}

/// Whether the theory stands for what it says there.
bool LayerCurves::compared(const std::string& name, int block) const {
  const Prediction& p = all_[curves_.at(name)];
  for (std::size_t k = 0; k < p.series.x.size(); ++k) {
    if (p.series.x[k] == block) return p.compared.empty() || p.compared[k];
  }
  return false;
}

void LayerCurves::compare(Json& entry, const std::string& name, int block) const {
  const std::optional<double> theory = at(name, block);
  if (!theory) return;
  const auto value = entry[name].get<double>();
  entry["theory_" + name] = *theory;
  if (*theory != 0) entry["off_" + name] = value / *theory - 1;
  const std::optional<double> spread = at("network_spread", block);
  if (name == "distance" && spread && *spread > 0)
    entry["deviations_distance"] = (value - *theory) / *spread;
  if (!compared(name, block)) entry["described_" + name] = false;
}

}  // namespace attica::app

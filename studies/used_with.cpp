#include "attica/studies/used_with.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attica/core/error.hpp"
#include "attica/studies/registry.hpp"

namespace attica {

const UsedWith* used_with(const Parameter& parameter, std::span<const Parameter> study) {
  static const std::vector<UsedWith> all = {
      {"model.rho", "model.covariance", {"ar1", "equi", "arrow"}},
      {"model.noise_ratio", "model.covariance", {"groups"}},
      {"model.nu", "model.covariance", {"precision"}},
      {"model.tau", "model.covariance", {"precision"}},
      {"model.file", "model.covariance", {"explicit", "data"}},
      {"model.standardise", "model.covariance", {"data"}},
      {"model.density", "model.couplings", {"binary"}},
      {"model.file", "model.couplings", {"explicit"}},
      {"model.colour_file", "model.colour_couplings", {"explicit"}},
      {"model.p_diagonal", "model.instance", {"circulant", "cyclic"}},
      {"model.spread", "model.instance", {"sinkhorn"}},
      {"model.file", "model.instance", {"explicit", "text"}},
      {"model.unit", "model.instance", {"text"}},
      {"model.concentration", "model.prior", {"dirichlet"}},
      {"sim.momentum", "sim.optimiser", {"momentum"}},
      {"sim.beta1", "sim.optimiser", {"adam", "adamw"}},
      {"sim.beta2", "sim.optimiser", {"adam", "adamw"}},
      {"sim.adam_epsilon", "sim.optimiser", {"adam", "adamw"}},
      {"model.tuples", "model.rule", {"unambiguous"}},
      {"model.sigma", "model.rule", {"unambiguous", "dense"}},
      {"model.rule_seed", "model.rule", {"unambiguous", "dense"}},
      {"model.rho", "model.rule", {"broadcast"}},
      {"model.file", "model.rule", {"file"}},
      {"sim.documents", "sim.data", {"fixed"}},
      {"sim.width", "sim.network", {"transformer"}},
      {"sim.heads", "sim.network", {"transformer"}},
      {"sim.length", "sim.place", {"trained"}},
      {"sim.eta", "sim.place", {"trained"}},
      {"sim.batch", "sim.place", {"trained"}},
      {"sim.sets", "sim.place", {"threshold", "multiples"}},
      {"model.init_seed", "model.init", {"gaussian"}},
      {"model.init_seed", "sim.initialisation", {"small"}}};
  for (const UsedWith& rule : all) {
    if (rule.key != parameter.key) continue;
    for (const Parameter& other : study) {
      if (other.key != rule.decided_by || other.list) continue;
      const auto is_word = [&](std::string_view word) {
        return std::find(other.choices.begin(), other.choices.end(), word) != other.choices.end();
      };
      if (std::any_of(rule.words.begin(), rule.words.end(), is_word)) return &rule;
    }
  }
  return nullptr;
}

bool given_otherwise(const Configuration& configuration, const std::string& key) {
  if (!configuration.given(key)) return false;
  const Study* study = built_in().find(configuration.study());
  return study == nullptr || std::ranges::none_of(study->parameters, [&](const Parameter& p) {
           return p.key == key && p.fallback == configuration.at(key);
         });
}

void refuse_unused(const Configuration& configuration, std::span<const Parameter> study) {
  for (const Parameter& p : study) {
    const UsedWith* rule = used_with(p, study);
    if (rule == nullptr || !configuration.declares(p.key) || !configuration.given(p.key) ||
        p.fallback == configuration.at(p.key))
      continue;
    const std::string decider(rule->decided_by);
    if (!configuration.declares(decider) || !configuration.has(decider)) continue;
    const std::string& chosen = configuration.text(decider);
    if (std::ranges::find(rule->words, chosen) != rule->words.end()) continue;
    throw Error(
        ErrorKind::input,
        fmt::format("parameter '{}' has no meaning for {} = \"{}\"", p.key, decider, chosen),
        p.key);
  }
}

}  // namespace attica

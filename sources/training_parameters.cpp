#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "attica/sources/keys.hpp"
#include "attica/sources/training.hpp"
#include "attica/studies/parameters.hpp"

namespace attica::sources {
namespace {

std::string training_key(const std::string& name) { return "theory.training." + name; }

}  // namespace

std::vector<Parameter> training_parameters(const Table& entries) {
  const auto written = [&](const std::string& name) -> const Value* {
    const auto at =
        std::ranges::find(entries, training_key(name), [](const auto& entry) -> const std::string& {
          return entry.first;
        });
    return at == entries.end() ? nullptr : &at->second;
  };
  const auto is_text = [&](const std::string& name) {
    const Value* value = written(name);
    return value != nullptr && std::holds_alternative<std::string>(*value);
  };
  std::vector<Parameter> all = {
      text_parameter(training_key("command"),
                     "program that stays and answers passes: a list of arguments",
                     true),
      text_parameter(training_key("directory"),
                     "folder in which the command runs; unset: that of the configuration"),
      text_parameter(training_key("inputs"),
                     "further files on which the command depends: names, folders, patterns",
                     true),
      optional_real(
          training_key("max_seconds"), "time that a pass may take, in seconds", kPositive),
  };
  for (const auto& [name, meaning] :
       {std::pair{"start", "theta at step 0"},
        std::pair{"weights", "probabilities of the samples; unset: all equal"}}) {
    if (is_text(name)) {
      all.push_back(file_parameter(training_key(name), meaning));
    } else {
      all.push_back(optional_parameter(reals_parameter(training_key(name), {}, meaning)));
    }
  }
  for (const auto& [name, meaning] : std::initializer_list<std::pair<const char*, const char*>>{
           {"rate", "learning rate, or its formula in the step; unset: gradient flow"},
           {"batch", "samples in a batch; 0: all"},
           {"samples", "size of the training set, drawn once a run; 0: fresh samples"},
           {"momentum", "momentum of heavy ball"},
           {"decay", "weight decay"},
           {"epsilon", "epsilon of Adam"},
           {"clip_norm", "longer gradients are shortened to it; 0: none"},
           {"rank", "axes along which deviations are followed"},
           {"pairs", "mirrored pairs of runs, which estimate neglected orders"},
           {"hold", "steps over which derivatives are held"},
           {"difference", "step of finite differences"},
           {"seed", "seed of the random combinations and of the pairs"}}) {
    all.push_back(is_text(name) ? text_parameter(training_key(name), meaning)
                                : optional_real(training_key(name), meaning));
  }
  for (const auto& [name, choices, meaning] :
       std::initializer_list<std::tuple<const char*, std::vector<std::string>, const char*>>{
           {"revisit", {"epoch", "replace", "without"}, "how batches are taken from samples"},
           {"optimiser", {"descent", "heavy_ball", "adam"}, "update of a step"},
           {"method", {"low_rank", "dense", "pairs"}, "how the theory is computed"}}) {
    Parameter p = text_parameter(training_key(name), meaning);
    p.choices = choices;
    all.push_back(std::move(p));
  }
  all.push_back(optional_parameter(flag_parameter(
      training_key("decoupled"), false, "weight decay multiplies theta instead of the gradient")));
  for (const auto& [name, meaning] :
       {std::pair{"betas", "the two betas of Adam"},
        std::pair{"steps", "steps with predictions; unset: the run's x"},
        std::pair{"times", "the same as rate times step"}}) {
    all.push_back(optional_parameter(reals_parameter(training_key(name), {}, meaning)));
  }
  const std::string observables = training_key("observables.");
  for (const auto& [key, value] : entries) {
    if (!key.starts_with(observables)) continue;
    const std::string meaning =
        "observable: a formula of theta_0, theta_1, ... and further answers";
    const bool text = std::holds_alternative<std::string>(value);
    all.push_back(text ? text_parameter(key, meaning) : optional_real(key, meaning));
  }
  return all;
}

}  // namespace attica::sources

/// @file
/// @brief A side that is a study of attica's: `study`, or `experiment`.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "attica/core/error.hpp"
#include "attica/core/matching.hpp"
#include "attica/sources/keys.hpp"
#include "attica/sources/side.hpp"
#include "attica/studies/registry.hpp"

namespace attica::sources {

const Study* named_study(const std::string& key, const std::string& name) {
  if (const Study* study = built_in().find(name)) return study;
  throw invalid_parameter(key, name, "the name of a built-in study; `attica list` shows them");
}

namespace {

/// The key by which a side names a study; empty if it names none.
/// @throws Error of kind input if it uses both
std::string key_on(const Configuration& c, const std::string& side) {
  std::string found;
  for (const char* word : {".study", ".experiment"}) {
    const std::string key = side + word;
    if (!c.has(key)) continue;
    if (!found.empty()) {
      throw Error(ErrorKind::input,
                  fmt::format("[{}] has 'study' and 'experiment', which mean the same; expected "
                              "one of them",
                              side),
                  key);
    }
    found = key;
  }
  return found;
}

/// The coordinates that a key of [model] fixes: numbers of which the built-in study has a list in
/// [sweep], but no key of [model].
std::vector<std::string> selected(const Study& study, const Configuration& own) {
  std::vector<std::string> names;
  for (const auto& [key, value] : own.entries()) {
    if (!key.starts_with("model.") || !std::holds_alternative<double>(value)) continue;
    const std::string name = key.substr(key.find('.') + 1);
    if (!has_key(study.parameters, key) && has_key(study.parameters, "sweep." + name))
      names.push_back(name);
  }
  return names;
}

/// Takes a coordinate that is fixed out of a curve; false if the curve has another value of it.
bool take_selected(const Configuration& own, const std::string& name, Point& point) {
  const auto at = std::ranges::find(point, name, [](const auto& c) { return c.first; });
  if (at == point.end()) return true;
  if (!same_value(at->second, std::get<double>(own.at("model." + name)))) return false;
  point.erase(at);
  return true;
}

/// The configuration of a built-in study, from the parameters it shares with this one.
Configuration of_built_in(const Study& study, const Configuration& own) {
  std::vector<Parameter> parameters = study.parameters;
  // What every study has, such as the seed, is that of this run.
  for (const auto& [key, value] : own.entries()) {
    if (key.starts_with("sim.") && !has_key(parameters, key))
      parameters.push_back({.key = key, .fallback = value, .meaning = {}});
  }
  Configuration c(study.name, parameters);
  c.input_directories = own.input_directories;
  for (const Parameter& p : study.parameters) {
    if (own.declares(p.key) && own.has(p.key)) c.set(p.key, own.at(p.key), own.given(p.key));
  }
  // A single value of what the study has a list of.
  for (const std::string& name : selected(study, own)) {
    const std::string key = "sweep." + name;
    if (!own.given(key)) c.set(key, List{std::get<double>(own.at("model." + name))}, true);
  }
  return c;
}

class StudySide : public Side {
 public:
  StudySide(Configuration& c, const SideRequest& request) : c_(c) {
    const std::string key = key_on(c, request.name);
    const Study& study = *named_study(key, c.text(key));
    fixed_ = selected(study, c);
    Configuration own = of_built_in(study, c);
    experiment_ = study.make(own);
    if (request.name == "simulation" && experiment_->points() == 0)
      throw invalid_parameter(key, study.name, "a study with a simulation");
  }

  TheoryResult theory(TheoryGrid grid, const Side* /*simulation*/) const override {
    TheoryResult result = experiment_->theory(grid);
    for (const std::string& name : fixed_) {
      std::erase_if(result.predictions,
                    [&](Prediction& p) { return !take_selected(c_, name, p.series.point); });
    }
    for (Prediction& p : result.predictions) p.series.point = sorted(p.series.point);
    return result;
  }

  std::size_t points() const override { return experiment_->points(); }
  std::uint64_t replicates_per_piece(std::size_t point) const override {
    return experiment_->replicates_per_piece(point);
  }
  void require_usable() const override { experiment_->require_simulable(); }

  std::vector<Outcome> simulate(const Piece& piece,
                                const std::vector<Prediction>& /*predicted*/) const override {
    std::vector<Outcome> outcomes = experiment_->simulate(piece);
    for (Outcome& outcome : outcomes) {
      for (const std::string& name : fixed_)
        std::erase_if(outcome.series, [&](Series& s) { return !take_selected(c_, name, s.point); });
      for (Series& s : outcome.series) s.point = sorted(s.point);
    }
    return outcomes;
  }

  std::optional<SimulatedPlaces> places() const override {
    const std::scoped_lock lock(guard_);
    if (places_) return places_;
    SimulatedPlaces known{.series = {}, .line = false};
    for (const Prediction& p : experiment_->theory(TheoryGrid::run).predictions) {
      Series s = p.series;
      s.point = sorted(s.point);
      if (!p.compared.empty()) {
        s.x.clear();
        for (std::size_t k = 0; k < p.series.x.size(); ++k) {
          if (p.compared[k]) s.x.push_back(p.series.x[k]);
        }
      }
      known.series.push_back(std::move(s));
    }
    places_ = std::move(known);
    return places_;
  }

  std::vector<std::string> coordinate_names() const override { return {"x"}; }
  Table diagnostics() const override { return experiment_->diagnostics(); }
  std::vector<std::string> warnings() const override { return experiment_->warnings(); }

 private:
  Configuration c_;
  std::vector<std::string> fixed_;  ///< coordinates that [model] fixes
  std::unique_ptr<Experiment> experiment_;
  mutable std::mutex guard_;
  mutable std::optional<SimulatedPlaces> places_;  ///< where its theory has values, found once
};

std::vector<Parameter> study_parameters(const std::string& side) {
  return {text_parameter(side + ".study", "built-in study that is the " + side),
          text_parameter(side + ".experiment", "the same as study")};
}

}  // namespace

SourceKind study_kind() {
  return {.key = "study",
          .parameters = study_parameters,
          .given = [](const Configuration& c,
                      const std::string& side) { return !key_on(c, side).empty(); },
          .make = [](Configuration& c, const SideRequest& request) -> std::unique_ptr<Side> {
            return std::make_unique<StudySide>(c, request);
          }};
}

}  // namespace attica::sources

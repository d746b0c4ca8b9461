// Properties that every study of the registry has, so that a new one is covered the day it is
// added.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "attica/studies/grids.hpp"
#include "attica/studies/study.hpp"
#include "attica/studies/used_with.hpp"
#include "configured_study.hpp"

namespace attica {

using testing::configured;

TEST_CASE("every study: has words for what it asks, neglects, cites and yields", "[studies]") {
  std::set<std::string> names;
  for (const Study& study : studies()) {
    INFO(study.name);
    CHECK(names.insert(study.name).second);
    CHECK(study.question.back() == '?');
    CHECK_FALSE(study.approximation.empty());
    CHECK_FALSE(study.sources.empty());
    CHECK(study.make != nullptr);
    CHECK(study.figure != nullptr);
    std::set<std::string> keys;
    for (const Parameter& p : study.parameters) {
      INFO(p.key);
      CHECK(keys.insert(p.key).second);
      CHECK_FALSE(p.meaning.empty());
    }
    CHECK(keys.count("sim.replicates") == 1);
    // One word for a length, one for recorded steps, one for a learning rate.
    for (const Parameter& p : study.parameters) {
      INFO(p.key);
      if (p.key == "sim.steps") CHECK(p.list);
      if (p.key == "sim.length") CHECK_FALSE(p.list);
      CHECK(p.name().find("learning_rate") == std::string::npos);
    }
    for (const auto& [old_key, new_key] : study.renamed) {
      INFO(old_key);
      CHECK(keys.count(new_key) == 1);
    }
  }
}

TEST_CASE("every study: a parameter that another one gives no meaning is refused", "[studies]") {
  int rules = 0;
  for (const Study& study : studies()) {
    for (const Parameter& p : study.parameters) {
      const UsedWith* rule = used_with(p, study.parameters);
      if (rule == nullptr) continue;
      const std::string decider(rule->decided_by);
      const auto other = std::ranges::find_if(
          study.parameters, [&](const Parameter& one) { return one.key == decider; });
      for (const std::string& word : other->choices) {
        INFO(study.name << ' ' << p.key << ' ' << word);
        const bool used = std::ranges::find(rule->words, word) != rule->words.end();
        Table overrides{{decider, word}};
        const Value given = p.type == ParameterType::integer ? Value(std::int64_t{2})
                            : p.type == ParameterType::flag  ? Value(true)
                            : p.type == ParameterType::file  ? Value(std::string("none.csv"))
                                                             : Value(0.625);
        overrides.emplace_back(p.key, given);
        const std::string message = testing::refusal(study, overrides);
        CHECK((message.find("has no meaning for " + decider) != std::string::npos) == !used);
        ++rules;
      }
    }
  }
  CHECK(rules > 100);
}

TEST_CASE("every study: its size can be swept, margins of the limit are of compared series",
          "[studies]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    CHECK((study.limits.empty() || !study.size_coordinate.empty()));
    const auto of_study = [&](const Parameter& p) { return p.name() == study.size_coordinate; };
    CHECK((study.size_coordinate.empty() || std::ranges::any_of(study.parameters, of_study)));
    if (study.limits.empty()) continue;
    const std::vector<AgreementRule> rules = study.agreement(configured(study, {}));
    for (const LimitRule& limit : study.limits) {
      INFO(limit.series);
      CHECK(limit.relative + limit.absolute > 0);
      // The rule itself leaves all to finite size: it would be forgotten otherwise.
      CHECK(std::ranges::any_of(rules, [&](const AgreementRule& rule) {
        return rule.series == limit.series && rule.relative == 0 && rule.absolute == 0;
      }));
    }
  }
}

/// Legends of several layers fall back on the names of the series, which are for files.
TEST_CASE("every study: axes have labels, and layers side by side have words", "[studies]") {
  for (const Study& study : studies()) {
    INFO(study.name);
    for (const Panel& panel : study.figure(configured(study, {})).panels) {
      CHECK_FALSE(panel.x.label.empty());
      CHECK_FALSE(panel.y.label.empty());
      const bool map = panel.kind == PanelKind::heat_map || panel.kind == PanelKind::contours;
      for (std::size_t k = map ? 1 : 0; k < panel.layers.size(); ++k) {
        INFO(panel.layers[k].series);
        // Levels that the caption names are no curves.
        CHECK((panel.layers.size() == 1 || !panel.layers[k].label.empty() ||
               panel.layers[k].reference));
      }
    }
  }
}

TEST_CASE("steps_between: whole numbers, the recorded ones among them", "[studies]") {
  const std::vector<std::int64_t> steps = {0, 3, 100, 1000};
  CHECK(steps_between(steps, TheoryGrid::requested) == steps);
  const std::vector<std::int64_t> all = steps_between(steps, TheoryGrid::run);
  CHECK(all.size() > 30);
  CHECK(all.size() < 40);                                                     // 0, 1, 2, 3 once
  CHECK(std::ranges::adjacent_find(all, std::greater_equal{}) == all.end());  // rising
  CHECK(std::ranges::includes(all, steps));
}

}  // namespace attica

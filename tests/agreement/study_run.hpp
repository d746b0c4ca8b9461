#pragma once
/// @file
/// @brief A study run from its defaults to its verdict, in memory and in one thread.

#include <map>
#include <numeric>

#include "attica/core/error.hpp"
#include "attica/solvers/agreement.hpp"
#include "attica/studies/study.hpp"
#include "configured_study.hpp"

namespace attica::testing {

struct StudyRun {
  const Study& study;
  Configuration configuration;
  Observed observed;

  StudyRun(const Study& of, const Table& overrides)
      : study(of), configuration(configured(of, overrides)) {
    const std::unique_ptr<Experiment> experiment = study.make(configuration);
    observed.theory = experiment->theory(TheoryGrid::run).predictions;
    const auto replicates = static_cast<std::uint64_t>(configuration.integer("sim.replicates"));
    const auto seed = static_cast<std::uint64_t>(configuration.integer("sim.seed"));
    // (series, point, x_name) -> x -> values over replicates
    std::map<std::string, std::pair<Series, std::map<double, std::vector<double>>>> curves;
    for (std::size_t point = 0; point < experiment->points(); ++point) {
      for (const Outcome& outcome : experiment->simulate(
               {.point = point, .stream_point = point, .replicates = replicates, .seed = seed})) {
        for (const Series& s : outcome.series) {
          auto& [series, values] = curves[s.name + '|' + describe(s.point) + '|' + s.x_name];
          series = s;
          for (std::size_t k = 0; k < s.x.size(); ++k) values[s.x[k]].push_back(s.y[k]);
        }
      }
    }
    for (auto& [key, curve] : curves) {
      ObservedCurve c{.mean = curve.first, .values = {}, .replicates = {}};
      c.mean.x.clear();
      c.mean.y.clear();
      for (auto& [x, values] : curve.second) {
        c.mean.x.push_back(x);
        c.mean.y.push_back(summarise(values).mean);
        std::vector<std::uint64_t>& numbers = c.replicates.emplace_back(values.size());
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        c.values.push_back(std::move(values));
      }
      observed.simulation.push_back(std::move(c));
    }
  }

  const Prediction* prediction(const Series& of) const {
    for (const Prediction& p : observed.theory) {
      if (p.series.name == of.name && p.series.point == of.point && p.series.x_name == of.x_name) {
        return &p;
      }
    }
    return nullptr;
  }

  /// @brief The verdict over all compared points, each study's rules and allowances applied.
  Verdict points() const {
    std::vector<ComparedPoint> compared;
    for (const AgreementRule& rule : study.agreement(configuration)) {
      for (const ObservedCurve& curve : observed.simulation) {
        if (curve.mean.name != rule.series) continue;
        const Prediction* p = prediction(curve.mean);
        if (p == nullptr) throw std::logic_error("no theory of " + rule.series);
        for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
          const auto at = std::find(p->series.x.begin(), p->series.x.end(), curve.mean.x[k]);
          if (at == p->series.x.end()) throw std::logic_error("no theory at x of " + rule.series);
          const auto j = static_cast<std::size_t>(at - p->series.x.begin());
          if (!p->compared.empty() && !p->compared[j]) continue;
          compared.push_back(
              {.theory = p->series.y[j],
               .replicates = curve.values[k],
               .margin = {.absolute = rule.absolute,
                          .relative = rule.relative,
                          .finite_size = p->finite_size.empty() ? 0 : p->finite_size[j]},
               .tails = rule.tails,
               .deterministic = rule.deterministic});
        }
      }
    }
    return judge(compared).verdict;
  }

  /// @brief Plants an error in a series of the theory.
  void scale_theory(const std::string& series, double factor) {
    for (Prediction& p : observed.theory) {
      if (p.series.name != series) continue;
      for (double& y : p.series.y) y *= factor;
    }
  }
};

}  // namespace attica::testing

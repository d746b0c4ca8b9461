#pragma once
/// @file
/// @brief What agreement tests of Potts studies share: claims by name, and errors put into a
/// simulation.

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "agreement/study_run.hpp"

namespace attica::testing {

/// @brief The study agrees, and no longer with all of its theory times `planted`.
inline void check_agrees_until(const char* study,
                               Table assignments,
                               std::int64_t replicates,
                               double planted) {
  assignments.emplace_back("sim.replicates", replicates);
  StudyRun run(study_named(study), assignments);
  CHECK(run.points() == Verdict::agree);
  run.scale_theory("", planted);
  CHECK(run.points() == Verdict::disagree);
}

inline Verdict claim(const StudyRun& run, const std::string& name) {
  for (const ClaimResult& result : run.study.claims(run.configuration, run.observed)) {
    if (result.name == name) return result.verdict;
  }
  throw std::logic_error("no claim " + name);
}

/// @brief A factor and a shift for a simulated series with this point.
inline void change(
    StudyRun& run, const std::string& series, const Point& point, double factor, double shift) {
  for (ObservedCurve& curve : run.observed.simulation) {
    if (curve.mean.name != series || curve.mean.point != point) continue;
    for (double& y : curve.mean.y) y = factor * y + shift;
    for (std::vector<double>& values : curve.values) {
      for (double& y : values) y = factor * y + shift;
    }
  }
}

}  // namespace attica::testing

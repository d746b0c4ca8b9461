#include "attica/studies/icl/positional.hpp"

#include <algorithm>
#include <cmath>

#include "attica/theory/icl/positional.hpp"

namespace attica {

namespace {

/// Beyond the scatter's second order d |mean - flow| of either overlap stayed below 0.25 at d = 50,
/// 100 and 200, a = 0.5 to 2, η = 0.05 to 0.8, ω = 0.1 to 1; the presets have d = 400.
constexpr double kBias = 0.5;
/// Standard deviation of an overlap in units of sqrt(η/d), as measured there.
constexpr double kScatter = 0.93;

/// A start moved in the plane, and back into the disc where it left it.
PositionalOverlaps moved(const PositionalOverlaps& start, double e, double m) {
  const PositionalOverlaps there{start.e + e, start.m + m};
  const double size = std::max(1.0, std::hypot(there.e, there.m));
  return {there.e / size, there.m / size};
}

}  // namespace

PositionalSetup::PositionalSetup(const Configuration& c)
    : start{c.real("model.e0"), c.real("model.m0")},
      dimension(c.integer("model.dimension")),
      eta(c.real("sim.eta")),
      test_pairs(c.integer("sim.test_pairs")) {
  require(start.e * start.e + start.m * start.m <= 1,
          "model.e0",
          start.e,
          "with model.m0, e0^2 + m0^2 <= 1");
}

double PositionalSetup::time(std::int64_t step) const {
  return static_cast<double>(step) * eta / static_cast<double>(dimension);
}

std::int64_t PositionalSetup::steps(double time, const char* key) const {
  constexpr double kMost = 1e10;
  const double count = time * static_cast<double>(dimension) / eta;
  require(count <= kMost, key, time, "at most 1e10 steps, of which eta/d make a unit of time");
  return std::llround(count);
}

double PositionalSetup::scatter() const {
  return kScatter * std::sqrt(eta / static_cast<double>(dimension));
}

double PositionalSetup::flops(std::int64_t steps) const {
  constexpr double kStep = 600;  // seven normal numbers, a logarithm, four exponentials
  return kStep * static_cast<double>(steps);
}

PositionalPath predicted_path(const PositionalLandscape& landscape,
                              const PositionalTask& task,
                              const PositionalSetup& setup,
                              std::span<const double> times) {
  const auto from = [&](const PositionalOverlaps& start) {
    return positional_flow(landscape, task, start, setup.eta, times);
  };
  PositionalPath path{.overlaps = from(setup.start), .allowances = {}};
  path.allowances.assign(
      times.size(),
      {kBias / static_cast<double>(setup.dimension), kBias / static_cast<double>(setup.dimension)});
  constexpr double kFar = 3;
  const double one = setup.scatter() / std::sqrt(2.0);
  for (const double sign : {-1.0, 1.0}) {
    // To second order, runs that scatter by one deviation to either side have another mean.
    const auto up = from(moved(setup.start, one, sign * one));
    const auto down = from(moved(setup.start, -one, -sign * one));
    for (std::size_t k = 0; k < times.size(); ++k) {
      path.allowances[k].e += std::abs(up[k].e + down[k].e - 2 * path.overlaps[k].e) / 2;
      path.allowances[k].m += std::abs(up[k].m + down[k].m - 2 * path.overlaps[k].m) / 2;
    }
    for (const double side : {-kFar, kFar}) {
      const auto far = from(moved(setup.start, side * one, side * sign * one));
      path.decided = path.decided && state_of(far.back()) == state_of(path.overlaps.back());
    }
  }
  for (const PositionalOverlaps& at : path.overlaps) {
    constexpr double kTruncation = 1e-6;
    if (landscape.truncation(task, at) > kTruncation) {
      throw Error(ErrorKind::numerical, "positional loss: Mehler's series has not converged");
    }
  }
  return path;
}

bool PositionalPath::compared(const PositionalTask& task, std::size_t k) const {
  constexpr double kMerged = 1e-4;
  return decided && (task.omega > 0 || std::abs(overlaps[k].m) < 1 - kMerged);
}

ClaimResult basin_claim(const std::vector<bool>& same) {
  const std::string basin =
      "a run ends nearer to the state that the flow goes to, where starts within three standard "
      "deviations agree on it";
  return same.empty() ? claim_open("basin", basin, "no such omega")
                      : claim_rate("basin", basin, same, "");
}

int state_of(const PositionalOverlaps& overlaps) {
  const bool semantic = std::abs(overlaps.m) > std::abs(overlaps.e);
  const double larger = semantic ? overlaps.m : overlaps.e;
  return (semantic ? 1 : 2) * (larger < 0 ? -1 : 1);
}

}  // namespace attica

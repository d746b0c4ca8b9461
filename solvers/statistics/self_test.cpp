#include "attica/solvers/statistics/self_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "attica/core/error.hpp"
#include "attica/core/random.hpp"
#include "attica/solvers/statistics/agreement.hpp"
#include "attica/solvers/statistics/claim_tests.hpp"
#include "attica/solvers/statistics/distributions.hpp"
#include "attica/solvers/statistics/power.hpp"

namespace attica {
namespace {

constexpr double kLimitLevel = 0.01;
constexpr double kPower = 0.9;
constexpr double kSkewed = 0.5;
constexpr std::uint64_t kFirstOfClaims = 16;  // streams before are those of points

/// Distribution of a replicate, mean 0 and unit spread.
class Noise {
 public:
  static Noise normal() { return {Kind::normal, "normal", 0, 1}; }
  static Noise lognormal(double sigma, std::string name) {
    const double growth = std::exp(sigma * sigma);
    return {Kind::lognormal,
            std::move(name),
            std::sqrt(growth),
            std::sqrt((growth - 1) * growth),
            sigma};
  }
  // 1 / Gamma(3/2) = 2 / chi-square(3): mean 2, unit interquartile range.
  static Noise inverse_gamma() {
    const double range = 2 / chi_square_lower_quantile(0.25, 3) - 2 / chi_square_quantile(0.25, 3);
    return {Kind::inverse_gamma, "inverse gamma 1.5", 2, range};
  }

  const std::string& name() const { return name_; }

  void fill(RandomStream& stream, std::span<double> e) const {
    for (double& value : e) value = (draw(stream) - mean_) / spread_;
  }

 private:
  enum class Kind { normal, lognormal, inverse_gamma };
  Noise(Kind kind, std::string name, double mean, double spread, double sigma = 0)
      : kind_(kind), name_(std::move(name)), mean_(mean), spread_(spread), sigma_(sigma) {}

  double draw(RandomStream& stream) const {
    const double z = stream.normal();
    if (kind_ == Kind::normal) return z;
    if (kind_ == Kind::lognormal) return std::exp(sigma_ * z);
    const double z2 = stream.normal();
    const double z3 = stream.normal();
    return 2 / (z * z + z2 * z2 + z3 * z3);
  }

  Kind kind_;
  std::string name_;
  double mean_;
  double spread_;
  double sigma_;
};

/// Normal first, then ever longer tails.
std::vector<Noise> all_noise() {
  return {Noise::normal(),
          Noise::lognormal(0.5, "lognormal 0.5"),
          Noise::lognormal(1, "lognormal 1"),
          Noise::inverse_gamma()};
}

enum class Rate { run_disagrees, point_agrees, point_disagrees };

/// mu at the first point and at all the others.
struct Perturbation {
  std::string text;
  double first;
  double others;
  Rate rate;
};

std::vector<Perturbation> perturbations(const SelfTestOptions& options, bool with_power) {
  const double m = options.margin;
  std::vector<Perturbation> list{{"no difference", 0, 0, Rate::run_disagrees},
                                 {"one point at +margin", m, 0, Rate::run_disagrees},
                                 {"one point at -margin", -m, 0, Rate::run_disagrees},
                                 {"every point at +margin", m, m, Rate::point_agrees},
                                 {"every point at -margin", -m, -m, Rate::point_agrees},
                                 {"all points at +margin", m, m, Rate::run_disagrees}};
  if (with_power) {
    const PowerProblem problem{.margin = m, .delta = 0, .sigma = 1};
    const double gap = detectable_gap(options.replicates, problem, options.points, kPower);
    list.push_back({"one point at the detectable gap", gap, 0, Rate::point_disagrees});
  }
  return list;
}

// What one run adds to the count of a perturbation, by the judge that judges runs. A difference of
// mu is a theory at -mu.
Count observe(std::vector<ComparedPoint>& run, const Perturbation& perturbation) {
  for (std::size_t p = 0; p < run.size(); ++p) {
    run[p].theory = p == 0 ? -perturbation.first : -perturbation.others;
  }
  const RunVerdict verdict = judge(run, {.details = false});
  switch (perturbation.rate) {
    case Rate::run_disagrees:
      return {verdict.disagree > 0 ? 1U : 0U, 1};
    case Rate::point_agrees:
      return {verdict.agree, run.size()};
    case Rate::point_disagrees:
      return {verdict.points.front().verdict == Verdict::disagree ? 1U : 0U, 1};
  }
  return {};
}

SelfTestRow row(const Noise& noise,
                const Perturbation& perturbation,
                const Count& count,
                bool promised) {
  SelfTestRow r{.family = noise.name(),
                .perturbed = perturbation.text,
                .rate = "",
                .count = count,
                .limits = clopper_pearson(count, kLimitLevel),
                .promised = promised};
  switch (perturbation.rate) {
    case Rate::run_disagrees:
      r.rate = "false DISAGREE of a run";
      r.stated = kDisagreeLevel;
      break;
    case Rate::point_agrees:
      r.rate = "false AGREE of a point";
      r.stated = kAgreeLevel;
      break;
    case Rate::point_disagrees:
      r.rate = "DISAGREE of a point";
      r.stated = kPower;
      break;
  }
  r.pass = perturbation.rate == Rate::point_disagrees ? r.limits.high >= r.stated
                                                      : r.limits.low <= r.stated;
  return r;
}

/// Counts claims of many runs; `claim` draws the replicates of one and tests it.
template <class Claim>
void add_claims(std::vector<SelfTestRow>& rows,
                const std::string& family,
                const std::string& perturbed,
                const SelfTestOptions& options,
                std::uint64_t stream_point,
                const Claim& claim) {
  Count agree;     // of claims
  Count disagree;  // of runs
  std::vector<double> p_agree(options.claims);
  std::vector<double> p_disagree(options.claims);
  for (std::size_t r = 0; r < options.runs; ++r) {
    RandomStream stream(
        {.seed = options.seed, .id = StreamId::self_test, .point = stream_point, .replicate = r});
    for (std::size_t k = 0; k < options.claims; ++k) {
      const ClaimTest test = claim(stream);
      p_agree[k] = test.p_agree;
      p_disagree[k] = test.p_disagree;
    }
    const std::vector<Verdict> verdicts = claim_verdicts(p_agree, p_disagree);
    agree.k += static_cast<std::size_t>(std::ranges::count(verdicts, Verdict::agree));
    agree.n += verdicts.size();
    disagree.k += std::ranges::count(verdicts, Verdict::disagree) > 0 ? 1U : 0U;
    ++disagree.n;
  }
  for (const auto& [rate, count] : {std::pair{"false AGREE of a claim", agree},
                                    std::pair{"false DISAGREE of a run", disagree}}) {
    rows.push_back({.family = family,
                    .perturbed = perturbed,
                    .rate = rate,
                    .stated = kClaimLevel,
                    .count = count,
                    .limits = clopper_pearson(count, kLimitLevel)});
    rows.back().pass = rows.back().limits.low <= kClaimLevel;
  }
}

void add_claims(std::vector<SelfTestRow>& rows, const SelfTestOptions& options) {
  std::uint64_t next = kFirstOfClaims;
  for (const double share : {0.5, 0.8}) {
    const std::string name = share == 0.5 ? "share 0.5" : "share 0.8";
    std::vector<bool> holds(options.replicates);
    add_claims(rows, name, "every share at its bound", options, next++, [&](RandomStream& stream) {
      std::generate(holds.begin(), holds.end(), [&] { return stream.uniform() < share; });
      return rate_at_least(holds, share);
    });
  }
  if (options.replicates < kFewestReplicates) return;  // these means show nothing
  std::vector<double> values(options.replicates);
  for (const Noise& noise : all_noise()) {
    for (const bool lower : {true, false}) {
      const char* perturbed =
          lower ? "every mean at its lower bound" : "every mean at its upper bound";
      add_claims(rows, noise.name(), perturbed, options, next++, [&](RandomStream& stream) {
        noise.fill(stream, values);
        return lower ? mean_above(values, 0) : mean_below(values, 0);
      });
    }
  }
}

void add_points(SelfTest& result, const SelfTestOptions& options) {
  const bool guarded = options.tails == Tails::guarded;
  const bool skewed = std::abs(options.skewness) > kSkewed;
  std::vector<Noise> families = all_noise();
  if (!guarded) families.resize(skewed ? 3 : 1, families.front());
  if (!guarded && skewed) result.warning = "replicates declared near-symmetric are skewed";

  const std::size_t n = options.replicates;
  std::vector<ComparedPoint> run(options.points,
                                 {.theory = 0.0,
                                  .replicates = std::vector<double>(n),
                                  .margin = {.absolute = options.margin},
                                  .tails = options.tails,
                                  .series = 0});
  for (std::size_t f = 0; f < families.size(); ++f) {
    const auto perturbed = perturbations(options, f == 0 && !guarded);
    std::vector<Count> counts(perturbed.size());
    for (std::size_t r = 0; r < options.runs; ++r) {
      RandomStream stream(
          {.seed = options.seed, .id = StreamId::self_test, .point = f, .replicate = r});
      for (ComparedPoint& point : run) families[f].fill(stream, point.replicates);
      for (std::size_t i = 0; i < perturbed.size(); ++i) {
        const Count seen = observe(run, perturbed[i]);
        counts[i].k += seen.k;
        counts[i].n += seen.n;
      }
    }
    for (std::size_t i = 0; i < perturbed.size(); ++i) {
      result.rows.push_back(row(families[f], perturbed[i], counts[i], guarded || f == 0));
    }
  }
}

}  // namespace

SelfTest self_test(const SelfTestOptions& options) {
  require(options.points + options.claims >= 1, "points", 0, "at least one, or a claim");
  require(options.replicates >= (options.points > 0 ? kFewestReplicates : 1),
          "replicates",
          static_cast<double>(options.replicates),
          options.points > 0 ? "8 or more" : "at least one");
  require(std::isfinite(options.margin) && options.margin > 0,
          "margin",
          options.margin,
          "a finite number > 0");
  require(options.runs >= 1, "runs", static_cast<double>(options.runs), "at least one");

  SelfTest result;
  if (options.points > 0) add_points(result, options);
  if (options.claims > 0) add_claims(result.rows, options);
  result.pass =
      std::ranges::all_of(result.rows, [](const auto& r) { return r.pass || !r.promised; });
  return result;
}

}  // namespace attica

#include "attica/sim/bigrams/training.hpp"

#include <cmath>

#include "attica/core/error.hpp"

namespace attica {

std::string describe(BigramStatus status) {
  switch (status) {
    case BigramStatus::converged:
      return "converged";
    case BigramStatus::boosting:
      return "boosting";
    case BigramStatus::mirror:
      return "mirror";
    case BigramStatus::collapsed:
      return "collapsed";
    case BigramStatus::diverged:
      return "diverged";
    case BigramStatus::failed:
      return "failed";
  }
  return "";
}

BigramStatus status_of(const BigramTrainer& trainer) {
  constexpr double kCollapsed = 1e-3;
  if (trainer.diverged()) return BigramStatus::diverged;
  const BigramState now = trainer.state();
  if (trainer.l1() > 0 &&
      (trainer.sums().norm2.minCoeff() == 0 || now.k_v < kCollapsed * trainer.model().k_p())) {
    return BigramStatus::collapsed;
  }
  return now.alpha_v < 0 ? BigramStatus::mirror : BigramStatus::converged;
}

double grow_signal(BigramTrainer& trainer,
                   double theta,
                   double most_steps,
                   const std::stop_token& stop) {
  double alpha = trainer.value_state().alpha_v;
  while (std::abs(alpha) < theta && static_cast<double>(trainer.steps()) < most_steps &&
         !stop.stop_requested()) {
    trainer.step();
    alpha = trainer.value_state().alpha_v;
  }
  return alpha;
}

BigramTrainingEnd run_stages(BigramTrainer& trainer,
                             const BigramStages& stages,
                             const std::function<bool(std::int64_t)>& observe) {
  require(stages.theta > 0 && stages.theta <= 1, "theta", stages.theta, "0 < theta <= 1");
  require(stages.lambda >= 0, "l1", stages.lambda, "l1 >= 0");
  constexpr std::int64_t kCheckEvery = 16;  // steps between looks at how the run stands
  const double k_p = trainer.model().k_p();
  BigramTrainingEnd end;
  const auto ended = [&](BigramStatus status) {
    end.status = status;
    end.steps = trainer.steps();
    return end;
  };

  trainer.set_l1(0);
  const std::int64_t first = trainer.steps();
  while (stages.boost) {
    const BigramValueState now = trainer.value_state();
    if (now.k_v >= stages.theta * stages.theta * k_p) {
      if (now.alpha_v < 0) return ended(BigramStatus::mirror);
      break;
    }
    if (trainer.steps() - first >= stages.boost_cap || stages.stop.stop_requested()) {
      return ended(trainer.diverged() ? BigramStatus::diverged : BigramStatus::boosting);
    }
    if (stages.while_boosting) stages.while_boosting(trainer.steps() - first);
    trainer.step();
  }
  end.boost_steps = trainer.steps() - first;

  if (stages.cut > 0) trainer.threshold(stages.cut);
  trainer.set_l1(stages.lambda);
  for (std::int64_t n = 0; n <= stages.steps; ++n) {
    if (n > 0 && n % kCheckEvery == 0) {
      const BigramStatus now = status_of(trainer);
      if (now == BigramStatus::diverged || now == BigramStatus::collapsed) return ended(now);
    }
    if (stages.stop.stop_requested()) break;
    if (n % stages.measure_every == 0 && !observe(n)) break;
    if (n < stages.steps) trainer.step();
  }
  return ended(status_of(trainer));
}

RoundedRun run_and_round(BigramTrainer& trainer,
                         const BigramStages& stages,
                         const std::function<bool(std::int64_t)>& observe) {
  RoundedRun run{.status = run_stages(trainer, stages, observe).status};
  if (run.status != BigramStatus::converged) return run;
  run.result = rounded(trainer, stages.theta);
  if (run.result.failed) run.status = BigramStatus::failed;
  return run;
}

}  // namespace attica

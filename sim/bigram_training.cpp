#include "attica/sim/bigram_training.hpp"

#include "attica/core/error.hpp"

namespace attica {

std::string describe(BigramStatus status) {
  switch (status) {
    case BigramStatus::finished:
      return "finished";
    case BigramStatus::boosting:
      return "boosting";
    case BigramStatus::mirror:
      return "mirror";
    case BigramStatus::collapsed:
      return "collapsed";
    case BigramStatus::diverged:
      return "diverged";
  }
  return "";
}

BigramTrainingEnd run_stages(BigramTrainer& trainer,
                             const BigramStages& stages,
                             const std::function<bool(std::int64_t)>& observe) {
  require(stages.theta > 0 && stages.theta <= 1, "theta", stages.theta, "0 < theta <= 1");
  require(stages.lambda >= 0, "l1", stages.lambda, "l1 >= 0");
  constexpr double kCollapsed = 1e-3;
  constexpr std::int64_t kCheckEvery = 16;  // steps between looks at divergence
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
    const BigramState now = trainer.state();
    if (now.k_v >= stages.theta * stages.theta * k_p) {
      if (now.alpha_v < 0) return ended(BigramStatus::mirror);
      break;
    }
    if (trainer.steps() - first >= stages.boost_cap) return ended(BigramStatus::boosting);
    trainer.step();
  }
  end.boost_steps = trainer.steps() - first;

  if (stages.cut > 0) trainer.threshold(stages.cut);
  trainer.set_l1(stages.lambda);
  for (std::int64_t n = 0; n <= stages.steps; ++n) {
    if (n % kCheckEvery == 0) {
      if (trainer.diverged()) return ended(BigramStatus::diverged);
      const bool emptied = n > 0 && trainer.sums().norm2.minCoeff() == 0;
      if (emptied || trainer.state().k_v < kCollapsed * k_p) return ended(BigramStatus::collapsed);
    }
    if (n % stages.measure_every == 0 && !observe(n)) break;
    if (n < stages.steps) trainer.step();
  }
  if (trainer.diverged()) return ended(BigramStatus::diverged);
  return ended(trainer.state().alpha_v < 0 ? BigramStatus::mirror : BigramStatus::finished);
}

}  // namespace attica

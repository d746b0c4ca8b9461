/// @file
/// @brief Study icl-merged: training of linear attention with merged keys and queries on regression
/// in context: one plateau and one abrupt drop.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/studies/icl/key_query.hpp"
#include "attica/studies/start_file.hpp"
#include "attica/theory/icl/key_query.hpp"

namespace attica::icl_merged {
namespace {

using Eigen::VectorXd;

/// A start from a file, and what follows from it.
struct FileStart {
  VectorXd weights;  ///< empty: none
  Eigen::Index heads = 0;
};

FileStart file_start(Configuration& c) {
  const auto file = StartFile::of(c, {"v", "U"}, {"model.init", "model.init_seed"});
  if (!file) return {};
  const auto inputs = c.integer("model.dimension");
  const Eigen::Index wanted = c.has("model.heads") ? c.integer("model.heads") : 0;
  const NumberArray v = file->array("v", {{wanted, "heads"}});
  const auto heads = static_cast<Eigen::Index>(v.values.size());
  const NumberArray u =
      file->array("U", {{heads, "heads"}, {inputs, "inputs"}, {inputs, "inputs"}});
  FileStart start{.weights = VectorXd(heads * (1 + inputs * inputs)), .heads = heads};
  start.weights << Eigen::Map<const VectorXd>(v.values.data(), heads),
      Eigen::Map<const VectorXd>(u.values.data(), static_cast<Eigen::Index>(u.values.size()));
  if (!c.given("sweep.init_scale")) c.set("sweep.init_scale", List{1.0}, false);
  return start;
}

class Merged : public PointwiseExperiment {
 public:
  explicit Merged(Configuration& c)
      : file_(file_start(c)),
        setup_(c),
        shape_({.kind = KeyQuery::merged,
                .heads = file_.heads > 0        ? file_.heads
                         : c.has("model.heads") ? c.integer("model.heads")
                                                : kHeads,
                .dimension = setup_.task.dimension()}),
        white_(c.text("model.init") == "white"),
        seed_(c.integer<std::uint64_t>("model.init_seed")),
        scales_(ascending(c.reals("sweep.init_scale"))),
        enough_(enough_sequences(c)) {
    if (white_ && c.real("model.spectrum_power") != 0) {
      throw invalid_parameter("model.init",
                              "white",
                              "\"gaussian\", or model.spectrum_power = 0: a start proportional to "
                              "the identity stays one for equal eigenvalues only");
    }
    // At the end the heads of a small start are balanced: sum of squares 2 |U*|.
    const Eigen::ArrayXd best = setup_.task.spectrum().array() / setup_.task.second().array();
    setup_.warn_if_unstable(2 * best.matrix().norm(), warnings_);
    rounded_ = {times_of_steps(c, "sim.times", setup_.descent.eta)};
    if (scales_.front() == 0) {
      warnings_.emplace_back("sweep.init_scale = 0 is a fixed point: the error stays what it is");
    }
  }

  static constexpr std::int64_t kHeads = 8;

  TheoryResult theory(TheoryGrid grid) const override {
    std::vector<double> times;
    for (const std::int64_t step : setup_.steps) times.push_back(setup_.time(step));
    times = line_between(times, AxisScale::linear, grid, 8);
    TheoryResult result;
    Curves drops({}, "init_scale", {"drop_time"});
    constexpr double kSmall = 0.05;
    constexpr double kMostShare = 0.8;
    const double share = drop_share(setup_.task);
    for (const double scale : scales_) {
      const VectorXd start = weights(scale);
      const std::vector<double> mse = at_point({{"init_scale", scale}}, [&] {
        return flow_mse(setup_.task, shape_, start, times, setup_.descent.eta);
      });
      Curves curve({{"init_scale", scale}}, "t", {"mse"});
      for (std::size_t k = 0; k < times.size(); ++k) {
        curve.add(times[k], {PredictedValue(mse[k], 0, enough_)});
      }
      curve.into(result);
      if (scale == 0) continue;
      const double time = drop_time(setup_.task, shape_, start, setup_.descent.eta);
      // Of a start from a file: the root mean square of its weights.
      const double size =
          file_.heads > 0 ? start.norm() / std::sqrt(static_cast<double>(start.size())) : scale;
      const bool known = enough_ && std::isfinite(time) && size <= kSmall && share <= kMostShare &&
                         time < times.back();
      drops.add(scale, {{time, known ? drop_allowance(size, time) : 0.0, known}});
    }
    drops.into(result);
    add_context_moments(setup_.task, result);
    for (const bool grows : {true, false}) {
      Curves curve = white_curve(grows);
      for (const double t : asked_times()) {
        curve.add(t, {white_mse(white_task(), shape_, white_start(grows), t)});
      }
      curve.into(result);
    }
    for (const Eigen::Index modes : {Eigen::Index{0}, setup_.task.dimension()}) {
      add_constant(
          result, "plateau", setup_.task.plateau(modes), {{"modes", static_cast<double>(modes)}});
    }
    return result;
  }

  /// Every scale; then starts proportional to the identity, equal eigenvalues, on the population.
  std::size_t points() const override { return scales_.size() + 1; }

  void require_simulable() const override {
    PointwiseExperiment::require_simulable();
    require_start("sweep.init_scale", scales_.front());
    setup_.require_memory();
  }

 protected:
  double flops(std::size_t) const override { return setup_.flops(); }
  bool deterministic(std::size_t point) const override {
    return point == scales_.size() || setup_.descent.data == TrainingData::population;
  }

  Outcome run(const Replicate& replicate) const override {
    if (replicate.point() == scales_.size()) return white_runs(replicate);
    const double scale = scales_[replicate.point()];
    const double half = (setup_.task.plateau(0) + setup_.task.plateau(setup_.task.dimension())) / 2;
    const KeyQueryRun done = simulate_run(setup_, shape_, weights(scale), {half}, replicate);
    Outcome outcome;
    if (record_divergence(outcome, done)) return outcome;
    if (replicate.point() == 0 && !deterministic(0)) {
      draw_contexts(setup_.task, replicate, outcome);
    }
    Curves curve({{"init_scale", scale}}, "t", {"mse"});
    for (std::size_t k = 0; k < done.mse.size(); ++k) {
      curve.add(setup_.time(setup_.steps[k]), {done.mse[k]});
    }
    curve.into(outcome);
    if (!done.crossings.empty()) {
      Curves({}, "init_scale", {"drop_time"}).add(scale, {done.crossings.front()}).into(outcome);
    }
    return outcome;
  }

 private:
  /// In units of 1/(2σ): other directions, at shares up to 0.8 (72 spectra, D = 2 to 64, N = 1 to
  /// 1000), and what the start has besides the growing component (six starts each of D = 1, 4, 8,
  /// N = 1 and 31). Of the time itself: ησ for the noise of steps, and that of few sequences.
  double drop_allowance(double scale, double time) const {
    constexpr double kOther = 0.4;
    constexpr double kStart = 2.5;
    constexpr double kFixed = 50;
    const KeyQueryDescent& descent = setup_.descent;
    const double sigma = setup_.task.spectrum().array().square().matrix().norm();
    const double context = 1 + 1 / static_cast<double>(setup_.task.context());
    const auto sequences = static_cast<double>(descent.sequences);
    const double formula = kOther * (drop_share(setup_.task) - 0.5) + kStart * context * scale;
    double noise = descent.eta * sigma;
    if (descent.data == TrainingData::online) noise *= std::max(1.0, kUsualBatch / sequences);
    if (descent.data == TrainingData::fixed) noise += kFixed / sequences;
    return formula / (2 * sigma) + noise * time;
  }
  std::vector<double> asked_times() const {
    std::vector<double> times;
    for (const std::int64_t step : setup_.steps) times.push_back(setup_.time(step));
    return times;
  }
  KeyQueryTask white_task() const {
    return KeyQueryTask::power_law(setup_.task.dimension(), 0, setup_.task.context());
  }
  /// A start that learns, or one that only decays: v_h = -<U_h, 1>/√d.
  VectorXd white_start(bool grows) const {
    RandomStream stream({.seed = seed_, .id = StreamId::initialisation});
    // What decays does so alone, unless it is large.
    VectorXd start = white_weights(shape_, grows ? 0.2 : 0.8, stream);
    const Eigen::Index block = shape_.dimension * shape_.dimension;
    for (Eigen::Index h = 0; h < shape_.heads && !grows; ++h) {
      start(h) =
          -start(shape_.heads + h * block) * std::sqrt(static_cast<double>(shape_.dimension));
    }
    return start;
  }
  static Curves white_curve(bool grows) {
    return {{{"start", std::string(grows ? "grows" : "decays")}}, "t", {"white_mse"}};
  }
  Outcome white_runs(const Replicate& replicate) const {
    KeyQuerySetup setup = setup_.on_population();
    setup.task = white_task();
    Outcome outcome;
    for (const bool grows : {true, false}) {
      const KeyQueryRun done = simulate_run(setup, shape_, white_start(grows), {}, replicate);
      if (record_divergence(outcome, done)) return outcome;
      Curves curve = white_curve(grows);
      for (std::size_t k = 0; k < done.mse.size(); ++k) {
        curve.add(setup.time(setup.steps[k]), {done.mse[k]});
      }
      curve.into(outcome);
    }
    return outcome;
  }
  VectorXd weights(double scale) const {
    if (file_.heads > 0) return scale * file_.weights;
    RandomStream stream({.seed = seed_, .id = StreamId::initialisation});
    return white_ ? white_weights(shape_, scale, stream) : gaussian_weights(shape_, scale, stream);
  }

  FileStart file_;
  KeyQuerySetup setup_;
  KeyQueryShape shape_;
  bool white_;
  std::uint64_t seed_;
  std::vector<double> scales_;
  bool enough_;  ///< sequences for the population's theory
};

std::vector<AgreementRule> agreement(const Configuration& c) {
  const AgreementRule mse = mse_rule(c, 0.015);
  std::vector<AgreementRule> all = context_moments_rules();
  all.push_back(mse);
  all.push_back({.series = "drop_time", .relative = 0, .deterministic = mse.deterministic});
  all.push_back({.series = "white_mse", .relative = kPopulationMargin, .deterministic = true});
  return all;
}

/// Whether the theory has the error above this level at the last time, as it has of large inputs.
bool denies_end(const Observed& observed, const Point& point, double level) {
  return std::ranges::any_of(observed.theory, [&](const Prediction& p) {
    return p.series.name == "mse" && p.series.point == point && p.series.y.back() > level;
  });
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  // What is claimed is claimed of small starts.
  if (!enough_sequences(c) || c.has(kInitFile)) return {};
  constexpr double kMost = 0.9;
  const auto highest = observed.predicted("plateau", {{"modes", 0.0}});
  const auto lowest =
      observed.predicted("plateau", {{"modes", static_cast<double>(c.integer("model.dimension"))}});
  if (!highest || !lowest) return {};  // their theory failed
  const double first = *highest;
  const double last = *lowest;
  std::vector<bool> single;
  std::vector<bool> learnt;
  double least = 1;
  for (const double scale : ascending(c.reals("sweep.init_scale"))) {
    const Point point{{"init_scale", scale}};
    const bool ends = !denies_end(observed, point, first - kMost * (first - last));
    const auto paths = by_replicate(observed.paths("mse", point));
    const auto in_one_go = [&](const std::vector<double>& path) {
      // Values in the middle half stand side by side.
      int entries = 0;
      bool inside = false;
      for (const double mse : path) {
        constexpr double kQuarter = 0.25;
        const double done = (first - mse) / (first - last);
        const bool middle = done > kQuarter && done < 1 - kQuarter;
        entries += middle && !inside ? 1 : 0;
        inside = middle;
      }
      return entries <= 1;
    };
    append(single, paths.where(in_one_go));
    if (!ends) continue;
    const auto done = by_replicate(paths.of(
        [&](const std::vector<double>& path) { return (first - path.back()) / (first - last); }));
    for (const double share : done.entries()) least = std::min(least, share);
    append(learnt, done.where([](double share) { return share > kMost; }));
  }
  std::vector<ClaimResult> all;
  if (!learnt.empty()) {
    all.push_back(claim_rate("final",
                             "at the last time the error has made 90 % of its way to the optimum",
                             learnt,
                             fmt::format("least {:.1f} %", 100 * least)));
  }
  all.push_back(claim_rate(
      "single_drop", "the error crosses the middle half of its range in one go", single, ""));
  return all;
}

}  // namespace

Study study() {
  return described(
      {.name = "icl-merged", .make = make<Merged>, .agreement = agreement, .claims = claims});
}

}  // namespace attica::icl_merged

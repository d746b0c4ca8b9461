/// @file
/// @brief Study bigrams-flow: gradient flow of the linear transformer on sparse contextual bigrams,
/// four numbers against all entries of V and A, and against gradient descent with whole steps; from
/// the standard start, and on an unequal law from a start where all four move.

#include "attica/theory/bigrams/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "attica/studies/bigrams/model.hpp"
#include "attica/studies/start_file.hpp"
#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/recursion.hpp"

namespace attica::bigrams_flow {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

const std::vector<std::string> kNames = {"alpha_V", "alpha_A", "excess_loss", "d_V", "d_A"};

/// A law with a start.
struct Problem {
  std::string name;
  BigramSetup setup;
  MatrixXd value;
  MatrixXd attention = {};  ///< empty: uniform, which theory need not store

  MatrixXd start_attention() const {
    return attention.size() > 0 ? attention : uniform_attention(setup.model);
  }
  BigramState start() const {
    if (attention.size() > 0) {
      return bigram_state(setup.model, value, attention_sums(setup.model, attention));
    }
    const VectorXd level = VectorXd::Constant(setup.model.tokens(), 1 / setup.context());
    return bigram_state(setup.model,
                        value,
                        {.sum = VectorXd::Ones(level.size()), .norm2 = level, .overlap = level});
  }
};

constexpr double kCorrections = 3;   ///< closed form of the slow rate: relative, over T
constexpr double kLevels = 1.2;      ///< of levels: see Flow::add_closed_forms
constexpr double kTail = 1.5;        ///< of the slow rate: times α_V - 1, which is linearised
constexpr double kSaturated = 0.01;  ///< saturation: α_V α_A = 1 less this
const std::vector<std::string> kStages = {
    "boosting_time", "saturation_time", "alpha_V_plateau", "alpha_A_plateau", "slow_rate"};

constexpr double kStartBytes = 24;  // a start of A, while it is drawn

/// Tokens of unequal frequency, random attention weights, and a start with remainders: nothing that
/// the standard problem makes equal, or leaves at 0, is so.
Problem general_problem(Configuration c) {
  c.set("model.instance", std::string("sinkhorn"), false);
  c.set("model.weights", std::string("random"), false);
  c.set("model.contrast", c.real("sim.general_contrast"), false);
  BigramSetup setup = bigram_setup(c, RateCheck::descent);
  require_entries(setup.model, kStartBytes, ", or sweep.problem = [\"standard\"]");
  RandomStream stream({.seed = c.seed(), .id = StreamId::initialisation});
  BigramStart start = perturbed_start(setup.model, c.real("sim.remainder"), stream);
  return {"general", std::move(setup), std::move(start.value), std::move(start.attention)};
}

/// A start from a file. The reduction needs columns that sum to 1.
Problem file_problem(const StartFile& file, BigramSetup setup) {
  require_entries(setup.model, kStartBytes, ", or a start without model.init_file");
  const Eigen::Index tokens = setup.model.tokens();
  MatrixXd value = file.matrix("V", {tokens, "tokens"}, {tokens, "tokens"});
  MatrixXd attention = file.matrix("A", {setup.model.context(), "context"}, {tokens, "tokens"});
  constexpr double kSingle = 1e-5;  // sums of single precision
  for (auto& [name, m] : {std::pair<const char*, MatrixXd*>{"V", &value}, {"A", &attention}}) {
    const double off = (m->colwise().sum().array() - 1).abs().maxCoeff();
    if (off > kSingle) {
      throw invalid_parameter(kInitFile,
                              fmt::format("{} with columns that sum to 1 within {:.2g}", name, off),
                              "columns that sum to 1 within 1e-5, as those of the standard start; "
                              "the hat gradients keep their sums");
    }
    m->array().rowwise() /= m->colwise().sum().array().eval();
  }
  return {"standard", std::move(setup), std::move(value), std::move(attention)};
}

Problem standard_problem(const Configuration& c) {
  BigramSetup setup = bigram_setup(c, RateCheck::descent);
  if (const auto file = StartFile::of(c, {"V", "A"})) return file_problem(*file, std::move(setup));
  MatrixXd value = setup.start;
  return {"standard", std::move(setup), std::move(value)};
}

/// Those asked for; by default the general one only beside the default law, where its start can be
/// stored.
std::vector<std::string> problems_of(const Configuration& c) {
  const double bytes = kStartBytes * static_cast<double>(c.integer("model.tokens")) *
                       static_cast<double>(c.integer("model.context"));
  const bool alone = c.text("model.instance") != "circulant" || bytes > kBigramMemory;
  if ((alone || c.has(kInitFile)) && !c.given("sweep.problem")) return {"standard"};
  return c.texts("sweep.problem");
}

class Flow : public PointwiseExperiment {
 public:
  explicit Flow(Configuration& c) : theta_(c.real("sim.theta")), from_file_(c.has(kInitFile)) {
    require_sequences(c, "\"none\": neither a flow nor descent of the population draws samples");
    std::string left_out;
    for (const std::string& name : problems_of(c)) {
      try {
        problems_.push_back(name == "general" ? general_problem(c) : standard_problem(c));
      } catch (const Error& error) {
        // A law that nobody asked for, and that cannot be drawn, is no reason to refuse the other.
        if (name != "general" || error.parameter() != "spread" || c.given("sweep.problem")) throw;
        left_out = error.what();
        c.set("sweep.problem", List{"standard"}, false);
      }
    }
    // Gradient descent is recorded up to here; the flow goes on through the slow tail.
    constexpr std::int64_t kLongestDescent = 20000;
    steps_ = problems_.front().setup.steps;
    descent_steps_ = steps_;
    std::erase_if(descent_steps_, [](std::int64_t step) { return step > kLongestDescent; });
    diagnostics_ = problems_.front().setup.diagnostics;
    warnings_ = problems_.front().setup.warnings;
    if (!left_out.empty())
      warnings_.push_back("the problem \"general\" is left out, its law cannot be drawn: " +
                          left_out);
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    for (const Problem& p : problems_) {
      const BigramConstants c = constants(p.setup.model);
      const BigramState s = p.start();
      const BigramSignals start{s.alpha_v, s.alpha_a, s.d_v - mismatch2(p), s.d_a};
      const BigramCurve flow = at_point({{"problem", p.name}}, [&] {
        return reduced_flow(c, p.setup.rates, start, as_reals(steps_));
      });
      if (flow.status != OdeStatus::finished) {
        throw Error(ErrorKind::numerical, "reduced flow: " + to_string(flow.status));
      }
      add(p, "flow", steps_, flow.signals, result);
      // The reduction is as exact for whole steps as it is in continuous time.
      add(p,
          "descent",
          descent_steps_,
          reduced_descent(c, p.setup.rates, start, descent_steps_),
          result);
    }
    if (problems_.front().name == "standard" && !from_file_) add_closed_forms(result);
    return result;
  }

  std::size_t points() const override { return 2 * problems_.size(); }
  void require_simulable() const override {
    constexpr double kBytes = 100;  // stages of the integrator in double precision
    for (const Problem& p : problems_) require_entries(p.setup.model, kBytes);
  }

 protected:
  bool deterministic(std::size_t) const override { return true; }

  Outcome run(const Replicate& replicate) const override {
    const Problem& p = problems_[replicate.point() / 2];
    return replicate.point() % 2 == 0 ? integrated(p) : descended(p);
  }

 private:
  /// Of |Vμ - μ|².
  static double mismatch2(const Problem& p) {
    return (p.value * p.setup.model.stationary() - p.setup.model.stationary()).squaredNorm();
  }
  static Curves curves(const Problem& p, const std::string& method) {
    return {{{"problem", p.name}, {"method", method}}, "step", kNames};
  }

  /// The four numbers as curves, as many as were reached. The hat gradients leave Vμ: half its
  /// squared distance to μ stays in the loss.
  static void add(const Problem& p,
                  const std::string& method,
                  const std::vector<std::int64_t>& steps,
                  const std::vector<BigramSignals>& signals,
                  TheoryResult& result) {
    signal_curves(p, method, steps, signals).into(result);
  }
  static Curves signal_curves(const Problem& p,
                              const std::string& method,
                              const std::vector<std::int64_t>& steps,
                              const std::vector<BigramSignals>& signals) {
    const BigramConstants c = constants(p.setup.model);
    Curves all = curves(p, method);
    for (std::size_t k = 0; k < signals.size(); ++k) {
      const BigramSignals& s = signals[k];
      all.add(static_cast<double>(steps[k]),
              {s.alpha_v,
               s.alpha_a,
               reduced_excess_loss(c, s) + 0.5 * mismatch2(p),
               s.d_v + mismatch2(p),
               s.d_a});
    }
    return all;
  }

  void add_closed_forms(TheoryResult& result) const {
    const BoostingTheory closed = problems_.front().setup.boosting();
    const double level = closed.plateau_alpha_v();
    const std::vector<double> times = as_reals(steps_);
    Curves linear({}, "step", {"alpha_V_linear", "alpha_A_linear"});
    for (const double t : times) {
      constexpr double kBeyondSaturation = 10;  // far enough to be seen to leave the flow
      constexpr double kLinear = 0.1;
      const double v = closed.alpha_v(t);
      const double a = closed.alpha_a(t);
      if (std::max(v, a) > kBeyondSaturation) break;
      // What is left out is n̄ α_V and α_V² α_A, of relative order α.
      linear.add(t, {{v, (v + a) * v, v + a < kLinear}, {a, (v + a) * a, v + a < kLinear}});
    }
    linear.into(result);
    // Left out is the decay of α_V at rate η_V/T: it slows growth by half of that, which delays a
    // time t by t η_V/(2 T ω). Saturation enters at order θ².
    const BigramSetup& setup = problems_.front().setup;
    const double decay = setup.rates.eta_v / (setup.context() * closed.omega());
    const double boosting = closed.boosting_time(theta_);
    const double saturation = closed.saturation_time(kSaturated);
    const double slow = closed.slow_rate();
    const bool saturated = times.back() > 2 * saturation;
    const bool settled = times.back() * slow > 3;
    // It also shifts the levels, by a share of η_V/(T ω) that follows from the level alone: 1.26,
    // 0.83, 0.42, 0.20, -0.28, -0.54, -0.74, -0.89 at 0.62, 0.76, 0.96, 1.1, 1.7, 2.4, 3.6, 5.4
    // (K_P = 0.0006 to 1.5, T = 1000 to 100000), -1.14 at most where they are hardly reached.
    const double shift = kLevels * decay * std::max(1.0, 1 / level);
    const double delay = saturated ? decay * saturation : 0;
    // α_V - 1 at the record before the last, from which the rate is taken: at three instances the
    // rate was 0 to 1.2 times that too high.
    const double before = times.size() < 2 ? 0 : times[times.size() - 2];
    const double since = std::isfinite(saturation) ? before - saturation : before;
    const double left = settled ? std::abs(level - 1) * std::exp(-slow * since) : 0;
    const std::vector<PredictedValue> values = {
        {boosting, decay * boosting + theta_ * theta_ / closed.omega(), saturated},
        {saturation, delay, saturated},
        {level, shift * level, saturated},
        {1 / level, shift / level, saturated},
        {slow, (kCorrections / setup.context() + kTail * left) * slow, settled}};
    for (std::size_t k = 0; k < kStages.size(); ++k) add_constant(result, kStages[k], values[k]);
    result.diagnostics = {{"omega", closed.omega()},
                          {"boosting_time", boosting},
                          {"plateau_alpha_V", level},
                          {"slow_rate", slow}};
    if (std::isfinite(saturation)) {
      result.diagnostics.emplace_back("saturation_time", saturation);
    } else {
      result.warnings.emplace_back(
          "alpha_V alpha_A comes to rest below 0.99: K_P or T is too small for a time of "
          "saturation");
    }
  }

  Outcome integrated(const Problem& p) const {
    BigramCurve flow =
        full_flow(p.setup.model, p.setup.rates, p.value, p.start_attention(), as_reals(steps_));
    for (BigramSignals& s : flow.signals) s.d_v -= mismatch2(p);
    Outcome outcome;
    signal_curves(p, "flow", steps_, flow.signals).into(outcome);
    if (p.name == "standard" && !from_file_) add_stages(p, flow.signals, outcome);
    if (flow.status != OdeStatus::finished) {
      outcome.status = to_string(flow.status);
      outcome.failed = true;
      outcome.message = "the flow of all entries did not reach its last time";
    }
    return outcome;
  }

  /// Signals of the flow where f of them, which rises, first is 0: between two records it is
  /// followed more closely.
  std::optional<std::pair<double, BigramSignals>> first_zero(
      const Problem& p,
      const std::vector<BigramSignals>& signals,
      const std::function<double(const BigramSignals&)>& f) const {
    const auto reached =
        std::ranges::find_if(signals, [&](const BigramSignals& s) { return f(s) >= 0; });
    if (reached == signals.end() || reached == signals.begin()) return {};
    constexpr int kParts = 64;
    const auto last = static_cast<std::size_t>(reached - signals.begin());
    const auto low = static_cast<double>(steps_[last - 1]);
    const double part = (static_cast<double>(steps_[last]) - low) / kParts;
    std::vector<double> times;
    for (int k = 0; k <= kParts; ++k) times.push_back(low + k * part);
    const BigramCurve close =
        full_flow(p.setup.model, p.setup.rates, p.value, p.start_attention(), times);
    Crossing zero(0, low, f(close.signals[0]));
    for (std::size_t k = 1; k < close.signals.size(); ++k) {
      zero.see(times[k], f(close.signals[k]));
      if (zero.at()) return {{*zero.at(), close.signals[k]}};
    }
    return {};
  }

  void add_stages(const Problem& p,
                  const std::vector<BigramSignals>& signals,
                  Outcome& outcome) const {
    Curves linear({}, "step", {"alpha_V_linear", "alpha_A_linear"});
    for (std::size_t k = 0; k < signals.size(); ++k) {
      linear.add(static_cast<double>(steps_[k]), {signals[k].alpha_v, signals[k].alpha_a});
    }
    linear.into(outcome);
    if (const auto boosted =
            first_zero(p, signals, [&](const BigramSignals& s) { return s.alpha_v - theta_; })) {
      add_constant(outcome, "boosting_time", boosted->first);
    }
    if (const auto saturated = first_zero(p, signals, [&](const BigramSignals& s) {
          return s.alpha_v * s.alpha_a - (1 - kSaturated);
        })) {
      const BigramSignals& s = saturated->second;
      const double level = std::sqrt(s.alpha_v / s.alpha_a);
      add_constant(outcome, "saturation_time", saturated->first);
      add_constant(outcome, "alpha_V_plateau", level);
      add_constant(outcome, "alpha_A_plateau", 1 / level);
    }
    if (signals.size() < 2) return;
    const double before = signals[signals.size() - 2].alpha_v - 1;
    const double rate =
        std::log(before / (signals.back().alpha_v - 1)) /
        static_cast<double>(steps_[signals.size() - 1] - steps_[signals.size() - 2]);
    if (std::isfinite(rate)) add_constant(outcome, "slow_rate", rate);
  }

  Outcome descended(const Problem& p) const {
    const std::vector<BigramState> states =
        full_descent(p.setup.model, p.setup.rates, p.value, p.start_attention(), descent_steps_);
    Curves all = curves(p, "descent");
    for (std::size_t k = 0; k < states.size(); ++k) {
      all.add(static_cast<double>(descent_steps_[k]), observables(kNames, states[k]));
    }
    Outcome outcome;
    all.into(outcome);
    return outcome;
  }

  std::vector<Problem> problems_;
  double theta_;
  bool from_file_;  ///< the standard problem starts there
  std::vector<std::int64_t> steps_;
  std::vector<std::int64_t> descent_steps_;
};

Figure figure(const Configuration& c) {
  const Axis step{.label = "step {/:Italic t}", .scale = AxisScale::log};
  const std::vector<std::string> problems = problems_of(c);
  const auto panel = [&](const std::string& name, const std::string& label) {
    Panel p{
        .x = step, .y = {.label = label, .scale = AxisScale::log}, .layers = {}, .x_name = "step"};
    for (const std::string& problem : problems) {
      const std::string prefix = problem == "general" ? "general, " : "";
      for (const std::string method : {"flow", "descent"}) {
        p.layers.push_back({.series = name,
                            .label = prefix + method,
                            .hollow = method == "descent",
                            .only = {{"problem", problem}, {"method", method}}});
      }
    }
    return p;
  };
  const auto signal_panel = [&](const std::string& name, const std::string& label) {
    Panel signal = panel(name, label);
    signal.layers.push_back(
        {.series = name + "_linear", .label = "linear regime", .reference = true});
    signal.layers.push_back({.series = name + "_plateau", .label = "plateau", .reference = true});
    return signal;
  };
  Panel remainders{.x = step,
                   .y = {.label = "remainder {/:Italic d}",
                         .scale = AxisScale::log,
                         .low = 1e-12,  // below: rounding
                         .high = 10},
                   .layers = {},
                   .x_name = "step"};
  for (const auto& [name, label] :
       {std::pair{"d_V", "{/:Italic d}_V"}, {"d_A", "{/:Italic d}_A"}}) {
    remainders.layers.push_back(
        {.series = name,
         .label = std::string(label) + ", " + problems.back(),
         .only = {{"problem", problems.back()}, {"method", std::string("flow")}}});
  }
  return {
      .name = "bigrams-flow",
      .panels = {signal_panel("alpha_V", "signal {/:Italic α}_V"),
                 signal_panel("alpha_A", "signal {/:Italic α}_A"),
                 panel("excess_loss", "excess loss {/:Italic L} − {/:Italic L}*"),
                 remainders},
      .columns = 2,
      .caption =
          "Gradient flow on sparse contextual bigrams, from the standard start and (general) on an "
          "unequal law from a start with remainders. Lines: "
          "four-variable flow, and the same four numbers by whole steps; points: flow of "
          "all entries of V and A, and gradient descent, which lies on the flow but for the first "
          "steps of α_A and ends earlier; dashed: closed forms of the linear regime and the "
          "plateau. No randomness, no error bars."};
}

}  // namespace

Study study() { return described({.name = "bigrams-flow", .make = make<Flow>, .figure = figure}); }

}  // namespace attica::bigrams_flow

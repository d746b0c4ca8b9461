/// @file
/// @brief Study gauss-sgd-steady: the error at which online SGD settles, against the learning rate.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/studies/gaussian_studies.hpp"
#include "attica/studies/ridge_sweep.hpp"
#include "attica/studies/sgd_curves.hpp"

namespace attica {
namespace {

/// Nearer to instability the error has heavy tails and its mean is not seen in a run.
constexpr double kLargestChi = 0.5;
/// The line ends at this chi, with ten times the error of the best predictor.
constexpr double kLargestDrawnChi = 0.9;
/// Points of the theory's line between the simulated ones.
constexpr int kLinePoints = 160;

struct Steady {
  double error = 0;  ///< mean over the sites
  double chi = 0;    ///< largest of the sites
};

class SteadySgd : public Experiment {
 public:
  explicit SteadySgd(Configuration& c)
      : model_(GaussianModel::from(c)),
        sites_(site_regressions(model_.problem())),
        burn_in_time_(c.real("sim.burn_in_time")),
        average_time_(c.real("sim.average_time")) {
    std::map<std::int64_t, double> eta_max;
    std::map<std::int64_t, int> unstable;
    for (SgdRule& rule : sgd_rules(c, model_, c.real("sim.mask_probability"))) {
      const auto [at, fresh] = eta_max.try_emplace(rule.batch, 0);
      if (fresh) {
        at->second = smallest_eta_max(sites_, rule, model_);
        eta_max_.emplace_back(fmt::format("{}", rule.batch), at->second);
        batches_.push_back(rule);
      }
      etas_.push_back(rule.eta);
      const bool stable = rule.eta < at->second;
      if (!stable) ++unstable[rule.batch];
      if (stable || c.flag("sim.allow_unstable")) rules_.push_back(std::move(rule));
    }
    for (const auto& [batch, number] : unstable) {
      warnings_.push_back(fmt::format(
          "with batches of {}, eta < {:.6g} is stable; at {} larger rates the mean test error "
          "grows without bound: no theory{}",
          batch,
          eta_max.at(batch),
          number,
          c.flag("sim.allow_unstable") ? "" : ", and no simulation without sim.allow_unstable"));
    }
    std::sort(etas_.begin(), etas_.end());
    etas_.erase(std::unique(etas_.begin(), etas_.end()), etas_.end());
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (const SgdRule& first : batches_) {
      std::vector<double> x = etas_;
      if (grid == TheoryGrid::run && x.size() > 1) {
        const std::vector<double> line = log_grid(x.front(), x.back(), kLinePoints);
        x.insert(x.end(), line.begin() + 1, line.end() - 1);
        std::sort(x.begin(), x.end());
      }
      Prediction p{
          .series = {
              .name = "steady_error", .point = point(first), .x_name = "eta", .x = {}, .y = {}}};
      for (const double eta : x) {
        const Steady steady = settled(first, eta);
        const bool asked = std::binary_search(etas_.begin(), etas_.end(), eta);
        if (!asked && steady.chi > kLargestDrawnChi) continue;
        p.series.x.push_back(eta);
        p.series.y.push_back(steady.error);
        p.compared.push_back(steady.chi <= kLargestChi);
      }
      result.predictions.push_back(std::move(p));
    }
    double bayes = 0;
    for (const SiteRegression& site : sites_) {
      bayes += site.bayes_error / static_cast<double>(sites_.size());
    }
    result.predictions.push_back(
        {.series = {.name = "bayes_error", .point = {}, .x_name = "none", .x = {0}, .y = {bayes}}});
    return result;
  }

  std::size_t points() const override { return rules_.size(); }

  std::uint64_t replicates_per_piece(std::size_t point) const override {
    const SteadyPlan times = plan(rules_[point]);
    return sgd_replicates_per_piece(times.burn_in + times.records * times.interval,
                                    rules_[point].batch,
                                    model_.problem().sites());
  }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const SgdRule& rule = rules_[piece.point];
    return each_replicate(piece, [&](std::uint64_t replicate) {
      RandomStream samples(piece.stream(replicate));
      RandomStream masks(piece.stream(replicate, StreamId::minibatch));
      LinearAttentionSgd sgd(
          model_.problem().sites(), rule.settings, fresh_samples(model_, samples), masks);
      const SteadyError steady = steady_sgd_error(model_.problem(), sgd, plan(rule));
      const auto seen = [&](const char* name, const char* x_name, double x, double y) {
        return Series{.name = name, .point = point(rule), .x_name = x_name, .x = {x}, .y = {y}};
      };
      Outcome outcome;
      if (steady.diverged) {
        outcome.status = "diverged";
        outcome.series = {
            seen("divergence_step", "eta", rule.eta, static_cast<double>(*steady.diverged))};
      } else {
        outcome.series = {seen("steady_error", "eta", rule.eta, steady.mean),
                          seen("block_error", "eta", rule.eta, steady.standard_error)};
      }
      return outcome;
    });
  }

  Table diagnostics() const override {
    Table facts = model_.diagnostics();
    facts.emplace_back("eta_max", eta_max_);
    return facts;
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> all = model_.warnings();
    all.insert(all.end(), warnings_.begin(), warnings_.end());
    return all;
  }

 private:
  static Point point(const SgdRule& rule) { return {{"batch", static_cast<double>(rule.batch)}}; }

  Steady settled(const SgdRule& rule, double eta) const {
    SgdParameters parameters = rule.parameters;
    parameters.eta = eta / model_.absolute_lambda(1);
    Steady mean;
    for (const SiteRegression& site : sites_) {
      const SgdSteadyState one = online_sgd_steady(site, parameters);
      mean.error += one.error / static_cast<double>(sites_.size());
      mean.chi = std::max(mean.chi, one.chi);
    }
    return mean;
  }

  /// Times are numbers of steps times eta, the clock of gradient flow. Errors are recorded several
  /// times within the time in which the fastest direction is learnt anew.
  SteadyPlan plan(const SgdRule& rule) const {
    constexpr double kInterval = 0.2;
    const auto steps = [&](double time) {
      return static_cast<std::int64_t>(std::llround(time / rule.eta));
    };
    SteadyPlan plan;
    plan.burn_in = steps(burn_in_time_);
    plan.interval = std::max<std::int64_t>(1, steps(kInterval));
    plan.records = std::max(plan.blocks, steps(average_time_) / plan.interval);
    return plan;
  }

  GaussianModel model_;
  std::vector<SiteRegression> sites_;
  double burn_in_time_, average_time_;
  std::vector<double> etas_;      ///< rising
  std::vector<SgdRule> batches_;  ///< one rule of each batch size
  std::vector<SgdRule> rules_;    ///< those that are simulated
  Table eta_max_;
  std::vector<std::string> warnings_;
};

std::unique_ptr<Experiment> make(Configuration& c) { return std::make_unique<SteadySgd>(c); }

Figure figure(const Configuration&) {
  Panel steady{.x = {.label = "learning rate {/:Italic η}", .scale = AxisScale::log},
               .y = {.label = "steady error {/:Italic E}_{∞}", .scale = AxisScale::log},
               .layers = {{.series = "steady_error", .label = "{/:Italic B} = {batch}"},
                          {.series = "bayes_error", .label = "{/:Italic σ}^2", .reference = true}},
               .x_name = "eta"};
  steady.residuals = true;
  return {.name = "gauss-sgd-steady",
          .panels = {steady},
          .columns = 1,
          .caption =
              "Online stochastic gradient descent of linear attention in Gaussian masked "
              "modelling: the test error at which it settles, averaged over sites, against the "
              "learning rate. Lines: exact second moments, ending where they diverge; points: time "
              "averages, mean and standard error over runs, compared up to twice the error of the "
              "best predictor (dashed); band: declared margin."};
}

std::vector<AgreementRule> agreement(const Configuration& c) {
  return {{.series = "steady_error", .relative = sgd_margin(c)}};
}

}  // namespace

Study gauss_sgd_steady() {
  std::vector<Parameter> parameters = gaussian_model_parameters(20);
  parameters.push_back(eta_parameter(log_grid(0.012, 0.35, 10)));
  parameters.push_back(batch_parameter({1, 4, 16}));
  parameters.push_back(mask_probability_parameter());
  parameters.push_back(real_parameter("sim.burn_in_time",
                                      20.0,
                                      "eta times the steps before the average, in 1/lambda_unit",
                                      kNotNegative));
  parameters.push_back(real_parameter(
      "sim.average_time", 30.0, "eta times the steps of the average, in 1/lambda_unit", kPositive));
  parameters.push_back(allow_unstable_parameter());
  parameters.push_back(runs_parameter(160, "independent runs of every learning rate and batch"));
  return {
      .name = "gauss-sgd-steady",
      .question = "At which error does online SGD settle, and which learning rate is too large?",
      .neglects =
          "nothing on Gaussian data; of the simulation, what the burn-in leaves of the start. On "
          "data, the moments of fourth order beyond the covariance",
      .parameters = std::move(parameters),
      .series = {{"steady_error",
                  "sigma^2/(1-chi)",
                  "test error at late times, averaged over sites, no factor 1/2"},
                 {"bayes_error", "sigma^2", "error of the best predictor (theory)"},
                 {"block_error",
                  "SEM",
                  "standard error of a run's time average from its blocks (simulation)"},
                 {"divergence_step",
                  "n_div",
                  "step in which an unstable run left the finite numbers (simulation)"}},
      .presets = {{"quick", "the defaults: L = 20, 10 eta, 3 batch sizes, 160 runs", {}},
                  {"paper",
                   "L = 200, 16 eta, 3 batch sizes, 20 runs",
                   {{"model.sites", 200},
                    {"sweep.eta", log_grid(1e-3, 0.3, 16)},
                    {"sweep.batch", List{1, 4, 64}},
                    {"sim.replicates", 20}}}},
      .sources = sgd_sources(),
      .make = make,
      .figure = figure,
      .agreement = agreement,
  };
}

}  // namespace attica

/// @file
/// @brief Study potts-couplings: the attention and value matrices that factored attention learns
/// are the couplings of the Potts model.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_end.hpp"

namespace attica::potts_couplings {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Entries of a learnt matrix against those of the true one: of equal ones the mean is taken, of
/// A_ij with A_ji first of all.
class Scatter {
 public:
  void add(double truth, double learnt) {
    auto& [sum, count] = sums_[truth];
    sum += learnt;
    count += 1;
  }
  template <class Result>
  void into(const std::string& series, const std::string& x, double allowance, Result& result) {
    Curves curve({}, x, {series});
    for (const auto& [at, entry] : sums_) curve.add(at, {{entry.first / entry.second, allowance}});
    curve.into(result);
  }

 private:
  std::map<double, std::pair<double, double>> sums_;
};

/// A against beta J, and the symmetric part of V against U's, without what the softmax does not
/// see.
template <class Result>
void add_scatters(const PottsModel& model,
                  const FactoredAttention& shown,
                  double share,
                  Result& result) {
  const MatrixXd& truth = model.as_student().attention;
  Scatter sites;
  for (Index i = 0; i < model.sites(); ++i) {
    for (Index j = 0; j < model.sites(); ++j) {
      if (i != j) sites.add(truth(i, j), shown.attention(i, j));
    }
  }
  sites.into("coupling", "beta_J", share * truth.cwiseAbs().maxCoeff(), result);
  const MatrixXd colours = display_gauge(model, model.as_student()).values;
  Scatter values;
  const auto pair = [](const MatrixXd& m, Index a, Index b) { return (m(a, b) + m(b, a)) / 2; };
  for (Index b = 0; b < model.colours(); ++b) {
    for (Index a = 0; a <= b; ++a) values.add(pair(colours, a, b), pair(shown.values, a, b));
  }
  values.into("colour_coupling", "U", share * colours.cwiseAbs().maxCoeff(), result);
}

/// Row by row as curves over the columns, for heat maps.
template <class Result>
void add_rows(const MatrixXd& attention, Result& result) {
  for (Index i = 0; i < attention.rows(); ++i) {
    Curves row({{"query", static_cast<double>(i)}}, "key", {"attention"});
    for (Index j = 0; j < attention.cols(); ++j) {
      row.add(static_cast<double>(j), {{attention(i, j), 0, false}});
    }
    row.into(result);
  }
}

class Couplings : public PointwiseExperiment {
 public:
  explicit Couplings(Configuration& c)
      : family_(c),
        drawn_([family = family_] {
          PottsFamily::Realisation drawn = family.realise(0);
          drawn.enumeration.reset();  // no use for it here
          return drawn;
        }),
        data_([this, options = gibbs_pool_options(c)] {
          return PottsData(model(), options, {.seed = family_.seed()});
        }),
        plan_(c, "sim.eta", 20) {
    // Draws that teach nothing are replaced; without that demand the first draw is the model.
    if (c.real("model.least_learnable") > 0) return;
    const PottsModel& truth = model();
    if (!std::isfinite(coupling_error(truth, truth.as_student()))) {
      throw invalid_parameter("model.couplings", "zero", "couplings that can be found");
    }
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    // SGD stops at a distance that falls with the learning rate: a share of the largest coupling,
    // at most 0.25 % with standard errors of 0.13 % in 30 runs.
    constexpr double kShare = 0.01;
    add_scatters(model(), display_gauge(model(), model().as_student()), kShare, result);
    add_rows(model().as_student().attention, result);
    tell_rejected(drawn_.get().rejected_draws, result);
    return result;
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    const PottsModel& model = this->model();
    const PottsData& data = data_.get();
    const SequenceSource source = [&](Index n, RandomStream& s) { return data.draw(n, s); };
    const auto stop = [&] { return replicate.stopped(); };
    const ChosenStart chosen = choose_start(model.sites(),
                                            model.colours(),
                                            plan_.starts,
                                            plan_.training,
                                            source,
                                            replicate.address(),
                                            stop);
    if (replicate.stopped()) return {};  // the choice may have been cut short: no state of it
    Curves errors({}, "step", {"coupling_error"});
    FactoredAttention last;
    const auto end = train_factored(
        chosen.start,
        plan_.training,
        source,
        replicate.address(),
        [&](std::uint64_t step, const FactoredAttention& student) {
          errors.add(static_cast<double>(step), {coupling_error(model, student)});
          last = student;
        },
        stop,
        replicate.state_file());
    Outcome outcome;
    mark_end(outcome, end);
    if (errors.empty()) return outcome;  // stopped or diverged before the first record
    errors.into(outcome);
    const FactoredAttention shown = display_gauge(model, last);
    add_scatters(model, shown, 0, outcome);
    add_start_spread(chosen, plan_.starts, {}, outcome);
    add_rows(shown.attention, outcome);
    return outcome;
  }

 private:
  const PottsModel& model() const { return drawn_.get().model; }

  PottsFamily family_;
  Lazy<PottsFamily::Realisation> drawn_;
  Lazy<PottsData> data_;
  FactoredPlan plan_;
};

Figure figure(const Configuration& /*c*/) {
  const auto scatter =
      [](const char* series, const char* x, const char* truth, const char* learnt) {
        Panel panel{.kind = PanelKind::scatter,
                    .x = {.label = truth},
                    .y = {.label = learnt},
                    .layers = {{.series = series, .label = "", .theory = false}},
                    .x_name = x};
        panel.diagonal = true;
        return panel;
      };
  Panel error{.x = {.label = "step", .scale = AxisScale::log},
              .y = {.label = "coupling error {/:Italic ε_W}", .scale = AxisScale::log},
              .layers = {{.series = "coupling_error", .label = "factored attention"}},
              .x_name = "step"};
  const auto map = [](const char* title, bool theory) {
    Panel panel{.kind = PanelKind::heat_map,
                .x = {.label = "site {/:Italic j}"},
                .y = {.label = "site {/:Italic i}"},
                .layers = {{.series = "attention", .theory = theory, .simulation = !theory}},
                .x_name = "key"};
    panel.y_coordinate = "query";
    panel.title = title;
    panel.value = {.label = theory ? "{/:Italic βJ_{ij}}" : "{/:Italic A_{ij}}"};
    return panel;
  };
  return {
      .name = "potts-couplings",
      .panels = {scatter("coupling",
                         "beta_J",
                         "coupling {/:Italic β J_{ij}}",
                         "learnt attention {/:Italic A_{ij}}"),
                 scatter("colour_coupling",
                         "U",
                         "colour coupling {/:Italic U_{ab}}",
                         "learnt value {/:Italic V_{ab}}"),
                 map("couplings {/:Italic βJ}", true),
                 map("learnt {/:Italic A}", false),
                 error},
      .columns = 2,
      .caption =
          "What factored attention learns from sequences of a Potts model, in the gauge of the "
          "model: attention against couplings of sites, values against couplings of colours, both "
          "matrices of sites in the same colours, and the error of all couplings against "
          "training steps, the last drop of which is the cosine decay of the learning rate. Mean "
          "and standard error over training runs."};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  // Sums of many small steps: no heavier tails than normal ones (76 points of two seeds).
  return {{.series = "coupling", .relative = 0, .tails = Tails::normal},
          {.series = "colour_coupling", .relative = 0, .tails = Tails::normal}};
}

std::vector<ClaimResult> claims(const Configuration& /*c*/, const Observed& observed) {
  constexpr double kSmall = 0.02;
  std::vector<bool> holds;
  double largest = 0;
  for (const double value : observed.last("coupling_error")) {
    holds.push_back(value < kSmall);
    largest = std::max(largest, value);
  }
  return {claim_rate("couplings-found",
                     fmt::format("relative squared error of the couplings < {}", kSmall),
                     holds,
                     fmt::format("largest {:.3g}", largest))};
}

}  // namespace

Study study() {
  return {
      .name = "potts-couplings",
      .question = "Are the weights that factored attention learns the couplings of the data?",
      .neglects =
          "the noise that training with a finite learning rate leaves: 1 % of the largest coupling",
      .outside =
          "attention row by row, which is the heat map: its entries are compared as couplings",
      .parameters = together(
          {potts_model_parameters(PottsDefaults::gaussian(8, 4, 1.5, 0.2, 2e-3)),
           factored_plan_parameters(3000, "sim.eta"),
           {replicates_parameter(30, "training runs with their own data and start; one model")},
           gibbs_pool_parameters()}),
      .series = {{"coupling", "A_ij", "learnt attention in the gauge of the model, over beta J_ij"},
                 {"colour_coupling",
                  "V_ab",
                  "learnt values in the gauge of the model, over U_ab; of both the mean over a "
                  "removed, and the symmetric part"},
                 kCouplingError,
                 kStartSpread,
                 {"attention", "A", "rows of the attention matrix in the gauge of the model"}},
      .presets = {{"quick", "the defaults: L = 8, C = 4, 3000 steps, 30 runs", {}},
                  {"paper",
                   "L = 20, C = 20, a pool of a million sequences",
                   {{"model.sites", 20},
                    {"model.colours", 20},
                    {"model.least_learnable", 0.0},
                    {"model.least_curvature", 0.0},
                    {"sim.burn_in", 4000},
                    {"sim.chains", 100000},
                    {"sim.draws", 10},
                    {"sim.eta", 2.0}}}},
      .sources = {potts_source("the attention matrix becomes the interaction matrix")},
      .make = make<Couplings>,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
      .plants = {{.name = "beta",
                  .series = "coupling",
                  .factor = 1.03,
                  .meaning = "the inverse temperature 3 % too high"},
                 {.name = "colours",
                  .series = "colour_coupling",
                  .factor = 0.97,
                  .meaning = "couplings of colours 3 % too small"},
                 {.name = "factor",
                  .series = "coupling",
                  .factor = 0.9,
                  .meaning = "a forgotten factor of nine tenths"}},
      .renamed = {{"sim.steps", "sim.length"}},
      .diagnostic = {"start_spread"}};
}

}  // namespace attica::potts_couplings

/// @file
/// @brief Study potts-couplings: the attention and value matrices that factored attention learns
/// are the couplings of the Potts model.

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "attica/core/error.hpp"
#include "attica/core/lazy.hpp"
#include "attica/sim/factored_attention.hpp"
#include "attica/studies/potts_setup.hpp"
#include "attica/studies/potts_studies.hpp"
#include "attica/studies/training_end.hpp"

namespace attica {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// A against beta J as a curve: pairs with equal beta J are averaged, A_ij with A_ji first of all.
Series coupling_series(const PottsModel& model, const MatrixXd& attention) {
  std::map<double, std::pair<double, double>> sums;
  const MatrixXd& truth = model.as_student().attention;
  for (Index i = 0; i < model.sites(); ++i) {
    for (Index j = 0; j < model.sites(); ++j) {
      if (i == j) continue;
      auto& [sum, count] = sums[truth(i, j)];
      sum += attention(i, j);
      count += 1;
    }
  }
  Series series{"coupling", {}, "beta_J", {}, {}};
  for (const auto& [x, entry] : sums) {
    series.x.push_back(x);
    series.y.push_back(entry.first / entry.second);
  }
  return series;
}

/// Row i of a matrix as a curve over its columns, for heat maps.
std::vector<Series> rows(const std::string& name, const MatrixXd& m) {
  std::vector<Series> all;
  for (Index i = 0; i < m.rows(); ++i) {
    Series row{name, {{"query", static_cast<double>(i)}}, "key", {}, {}};
    for (Index j = 0; j < m.cols(); ++j) {
      row.x.push_back(static_cast<double>(j));
      row.y.push_back(m(i, j));
    }
    all.push_back(std::move(row));
  }
  return all;
}

/// The model and sequences of it.
struct Truth {
  Truth(const PottsModel& of, const GibbsPoolOptions& options, std::uint64_t seed)
      : model(of), data(model, options, {.seed = seed}) {}

  PottsModel model;
  PottsData data;
};

class Couplings : public Experiment {
 public:
  Couplings(const PottsFamily& family, const Configuration& c)
      : truth_([family,
                options = GibbsPoolOptions::from(c),
                seed = static_cast<std::uint64_t>(c.integer("sim.seed"))] {
          return Truth(family.model(0), options, seed);
        }) {
    const auto steps = static_cast<std::uint64_t>(c.integer("sim.steps"));
    constexpr std::uint64_t kFirstRecord = 10;
    constexpr int kRecords = 20;
    plan_ = FactoredPlan::from(c, "sim.eta", recorded_steps(kFirstRecord, steps, kRecords));
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    const PottsModel& model = truth_.get().model;
    const MatrixXd& truth = model.as_student().attention;
    // SGD stops at a distance that falls with the learning rate: a twentieth of the largest
    // coupling.
    constexpr double kShare = 0.05;
    Series line = coupling_series(model, truth);
    Prediction coupling{.series = std::move(line)};
    coupling.finite_size.assign(coupling.series.x.size(), kShare * truth.cwiseAbs().maxCoeff());
    result.predictions.push_back(std::move(coupling));
    for (Series& row : rows("attention", truth)) {
      Prediction p{.series = std::move(row)};
      p.compared.assign(p.series.x.size(), false);
      result.predictions.push_back(std::move(p));
    }
    return result;
  }

  std::size_t points() const override { return 1; }
  std::uint64_t replicates_per_piece(std::size_t /*point*/) const override { return 1; }

  std::vector<Outcome> simulate(const Piece& piece) const override {
    const Truth& truth = truth_.get();
    const PottsModel& model = truth.model;
    const SequenceSource source = [&](Index n, RandomStream& s) { return truth.data.draw(n, s); };
    return each_replicate(piece, [&](std::uint64_t replicate) {
      const StreamAddress address = piece.stream(replicate);
      const auto stop = [&] { return piece.stop.stop_requested(); };
      const ChosenStart chosen = choose_start(
          model.sites(), model.colours(), plan_.starts, plan_.training, source, address, stop);
      Series error{"coupling_error", {}, "step", {}, {}};
      FactoredAttention last;
      const auto end = train_factored(
          chosen.start,
          plan_.training,
          source,
          address,
          [&](std::uint64_t step, const FactoredAttention& student) {
            error.x.push_back(static_cast<double>(step));
            error.y.push_back(coupling_error(model, student));
            last = student;
          },
          stop);
      Outcome outcome{.series = {std::move(error)}};
      mark_end(outcome, end);
      if (last.sites() == 0) return outcome;  // stopped or diverged before the first record
      const MatrixXd shown = display_gauge(model, last).attention;
      outcome.series.push_back(coupling_series(model, shown));
      if (plan_.starts.count > 1) {
        outcome.series.push_back({"start_spread",
                                  {},
                                  "step",
                                  {static_cast<double>(plan_.starts.trial_steps)},
                                  {chosen.spread}});
      }
      for (Series& row : rows("attention", shown)) outcome.series.push_back(std::move(row));
      return outcome;
    });
  }

 private:
  Lazy<Truth> truth_;
  FactoredPlan plan_;
};

std::unique_ptr<Experiment> make(Configuration& c) {
  const PottsFamily family = PottsFamily::from(c);
  // Draws that teach nothing are replaced; without that demand the first draw is the model.
  if (c.real("model.least_learnable") == 0) {
    const PottsModel model = family.model(0);
    if (!std::isfinite(coupling_error(model, model.as_student()))) {
      throw invalid_parameter("model.couplings", "zero", "couplings that can be found");
    }
  }
  return std::make_unique<Couplings>(family, c);
}

Figure figure(const Configuration& /*c*/) {
  Panel scatter{.kind = PanelKind::scatter,
                .x = {.label = "coupling {/:Italic β J_{ij}}"},
                .y = {.label = "learnt attention {/:Italic A_{ij}}"},
                .layers = {{.series = "coupling", .label = "", .theory = false}},
                .x_name = "beta_J"};
  scatter.diagonal = true;
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
  return {.name = "potts-couplings",
          .panels = {scatter,
                     error,
                     map("couplings {/:Italic βJ}", true),
                     map("learnt {/:Italic A}", false)},
          .columns = 2,
          .caption =
              "What factored attention learns from sequences of a Potts model, in the gauge "
              "of the model: attention against couplings, error of all couplings against "
              "training steps, the last drop of which is the cosine decay of the learning rate, "
              "and both matrices in the same colours. Mean and standard error over training "
              "runs."};
}

std::vector<AgreementRule> agreement(const Configuration& /*c*/) {
  return {{.series = "coupling", .relative = 0}};
}

std::vector<ClaimResult> claims(const Configuration& /*c*/, const Observed& observed) {
  constexpr double kSmall = 0.05;
  std::vector<bool> holds;
  double largest = 0;
  for (const double value : last_values(observed, "coupling_error", {})) {
    holds.push_back(value < kSmall);
    largest = std::max(largest, value);
  }
  return {claim_in_every("couplings-found",
                         fmt::format("relative squared error of the couplings < {}", kSmall),
                         holds,
                         fmt::format("largest {:.3g}", largest))};
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = potts_model_parameters({.sites = 8,
                                                       .colours = 4,
                                                       .beta = 1.5,
                                                       .couplings = "gauss",
                                                       .colour_couplings = "gauss",
                                                       .zero_sum = true,
                                                       .least_learnable = 0.2,
                                                       .least_curvature = 2e-3});
  for (Parameter& p : factored_plan_parameters(3000, "sim.eta")) all.push_back(std::move(p));
  const std::vector<Parameter> own = {
      full_width_parameter(),
      replicates_parameter(30, "training runs with their own data and start; one model"),
  };
  all.insert(all.end(), own.begin(), own.end());
  for (Parameter& p : gibbs_pool_parameters()) all.push_back(std::move(p));
  return all;
}

}  // namespace

Study potts_couplings() {
  return {
      .name = "potts-couplings",
      .question = "Are the weights that factored attention learns the couplings of the data?",
      .neglects =
          "the noise that training with a finite learning rate leaves: 5 % of the largest "
          "coupling",
      .parameters = parameters(),
      .series = {{"coupling", "A_ij", "learnt attention in the gauge of the model, over beta J_ij"},
                 {"coupling_error",
                  "ε_W",
                  "squared error of the learnt couplings over their square, gauge removed"},
                 {"start_spread",
                  "Δε",
                  "highest minus lowest loss of the starts after their trial, nats"},
                 {"attention", "A", "rows of the attention matrix in the gauge of the model"}},
      .presets = {{"quick", "the defaults: L = 8, C = 4, 3000 steps, 30 runs", {}},
                  {"paper",
                   "L = 20, C = 20",
                   {{"model.sites", 20},
                    {"model.colours", 20},
                    {"model.least_learnable", 0.0},
                    {"model.least_curvature", 0.0},
                    {"sim.burn_in", 4000},
                    {"sim.eta", 2.0}}}},
      .sources = {potts_source("the attention matrix becomes the interaction matrix")},
      .make = make,
      .figure = figure,
      .agreement = agreement,
      .claims = claims,
  };
}

}  // namespace attica

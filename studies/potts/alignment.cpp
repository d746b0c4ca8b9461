/// @file
/// @brief Study potts-alignment: general couplings and factored attention on a user's sequence
/// alignment.

#include "attica/core/potts/alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/sim/potts/coupling_scores.hpp"
#include "attica/sim/potts/factored_regression.hpp"
#include "attica/solvers/statistics/rank_correlation.hpp"
#include "attica/studies/potts/model.hpp"

namespace attica::potts_alignment {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

Point model_point(const char* model) { return {{"model", model}}; }

/// The configured alignment, of a size whose couplings can be fitted.
Alignment configured_alignment(const Configuration& c) {
  constexpr std::string_view kExpected = ": expected ";
  Alignment alignment = [&] {
    try {
      return read_alignment(c.input_file("model.file"), c.text("model.alphabet"));
    } catch (const Error& error) {
      if (error.parameter() != "alphabet") throw;
      const std::string_view what = error.what();
      throw invalid_parameter("model.alphabet",
                              c.text("model.alphabet"),
                              what.substr(what.rfind(kExpected) + kExpected.size()));
    }
  }();
  // All couplings W_ij of both directions are held at once.
  constexpr double kMostCouplings = 2e8;
  const auto colours = static_cast<double>(alignment.colours());
  const auto sites = static_cast<double>(alignment.sequences.cols());
  constexpr double kFewestSites = 3;  // two have one pair: no scores to correct or to rank
  if (sites < kFewestSites || std::pow(sites * colours, 2) > kMostCouplings) {
    throw invalid_parameter("model.file",
                            fmt::format("{} ({} column{})",
                                        c.text("model.file"),
                                        alignment.sequences.cols(),
                                        alignment.sequences.cols() == 1 ? "" : "s"),
                            fmt::format("{:.0f} to {:.0f} columns with {} colours",
                                        kFewestSites,
                                        std::floor(std::sqrt(kMostCouplings) / colours),
                                        alignment.colours()));
  }
  const auto count = static_cast<double>(alignment.sequences.rows());
  const double share = c.real("sim.held_out");
  require(std::round(share * count) <= count - 2,
          "sim.held_out",
          share,
          "a share that leaves 2 sequences to train on");
  require(share == 0 || std::round(share * count) >= 1,
          "sim.held_out",
          share,
          fmt::format("0, or a share that holds out one of {:.0f} sequences", count));
  return alignment;
}

class AlignmentFits : public PointwiseExperiment {
 public:
  explicit AlignmentFits(const Configuration& c)
      : alignment_(configured_alignment(c)),
        identity_(c.real("model.identity")),
        lambda_(c.real("sim.lambda")),
        bias_lambda_(c.real("sim.bias_lambda")),
        held_out_(std::llround(c.real("sim.held_out") *
                               static_cast<double>(alignment_.sequences.rows()))),
        search_({.gradient_tolerance = c.real("sim.tolerance")}),
        groups_([this] { return relative_groups(alignment_.sequences, identity_); }) {
    diagnostics_ = {{"format", alignment_.format},
                    {"sequences", static_cast<std::int64_t>(alignment_.sequences.rows())},
                    {"sites", static_cast<std::int64_t>(alignment_.sequences.cols())},
                    {"colours", static_cast<std::int64_t>(alignment_.colours())},
                    {"unknown_letters", alignment_.unknown},
                    {"inserted_letters_left_out", alignment_.inserted},
                    {"annotation_records_left_out", alignment_.annotations}};
    const auto count = static_cast<double>(alignment_.sequences.rows());
    const auto held_out = static_cast<double>(held_out_);
    rounded_.emplace_back(c,
                          "sim.held_out",
                          "held_out",
                          fmt::format("sequences are whole, {:.0f} of them", count),
                          std::vector<RunAt>{{.asked = c.real("sim.held_out"),
                                              .realised = held_out / count,
                                              .words = fmt::format("{:.0f} sequences", held_out)}});
    for (const std::string& warning : alignment_.warnings) {
      warnings_.push_back("model.file: " + warning);
    }
  }

  TheoryResult theory(TheoryGrid /*grid*/) const override {
    TheoryResult result;
    if (held_out_ == 0) return result;
    const RelativeGroups& groups = checked_groups();
    const Index largest = *std::max_element(groups.sizes.begin(), groups.sizes.end());
    result.diagnostics = {{"groups_of_relatives", static_cast<std::int64_t>(groups.sizes.size())},
                          {"largest_group", static_cast<std::int64_t>(largest)}};
    const Index others = alignment_.sequences.rows() - largest;
    if (others < held_out_) {
      result.warnings.push_back(fmt::format(
          "model.file: {} of {} sequences are one group of relatives (model.identity = {}), which "
          "is trained on as a whole: sim.held_out asks for {} sequences, and {} are left for it",
          largest,
          alignment_.sequences.rows(),
          identity_,
          held_out_,
          others));
    }
    return result;
  }

  void prepare() const override {
    if (held_out_ > 0) checked_groups();
  }

 protected:
  Outcome run(const Replicate& replicate) const override {
    RandomStream stream = replicate.stream(StreamId::minibatch);
    const RelativeGroups none;
    const RelativeGroups& groups = held_out_ > 0 ? checked_groups() : none;
    const auto [train, test] =
        split_alignment(alignment_.sequences, groups, held_out_, identity_, stream);
    const Index colours = alignment_.colours();
    const PseudoLikelihoodFit general =
        fit_pseudo_likelihood(train.data, colours, lambda_, search_, bias_lambda_);
    const FactoredRegressionFit factored =
        fit_factored_regression(train.data, colours, lambda_, bias_lambda_, search_);
    const BiasedAttention independent =
        independent_sites(train.data, colours, 1 / (1 + train.effective));

    Outcome outcome;
    const auto of_models = [&](const char* name, double first, double second, double third) {
      add_constant(outcome, name, first, model_point("independent"));
      add_constant(outcome, name, second, model_point("factored"));
      add_constant(outcome, name, third, model_point("general"));
    };
    const auto add_losses = [&](const char* name, const WeightedSequences& data) {
      of_models(name,
                pseudo_likelihood_loss(independent, data),
                pseudo_likelihood_loss(factored.model, data),
                pseudo_likelihood_loss(general, data));
    };
    add_losses("train_loss", train.data);
    if (held_out_ > 0) add_losses("test_loss", test.data);
    add_balances(general, factored.model, train.data, outcome);
    add_constant(outcome, "effective_sequences", train.effective);
    const auto sites = static_cast<double>(alignment_.sequences.cols());
    const auto free = static_cast<double>(colours - 1);  // what the softmax sees of C numbers
    const double ordered_pairs = sites * (sites - 1);
    of_models("parameters",
              sites * free,
              sites * free + ordered_pairs + free * free - 1,
              sites * free + ordered_pairs * free * free);
    const MatrixXd of_general = average_product_corrected(coupling_norms(general));
    const MatrixXd of_factored =
        average_product_corrected(coupling_norms(factored.model.attention));
    const auto listed = [](const MatrixXd& scores) {
      const Eigen::VectorXd list = pairs(scores);
      return std::vector<double>(list.begin(), list.end());
    };
    const double correlation = rank_correlation(listed(of_general), listed(of_factored));
    if (std::isfinite(correlation)) add_constant(outcome, "rank_correlation", correlation);
    add_scores(of_general, "general", outcome);
    add_scores(of_factored, "factored", outcome);
    if (!general.converged || !factored.converged) {
      outcome.status = "not converged";
      outcome.failed = true;
      outcome.message = fmt::format(
          "the fit of the {} model did not converge; raise sim.lambda = {} or sim.tolerance = {}",
          factored.converged ? "general" : "factored",
          lambda_,
          search_.gradient_tolerance);
    }
    return outcome;
  }

 private:
  const RelativeGroups& checked_groups() const {
    const RelativeGroups& groups = groups_.get();
    require(groups.sizes.size() > 1,
            "sim.held_out",
            static_cast<double>(held_out_) / static_cast<double>(alignment_.sequences.rows()),
            fmt::format("0, or a larger model.identity than {}: all sequences are relatives, so "
                        "that what is held out was trained on",
                        identity_));
    return groups;
  }

  /// Couplings, fields and the largest column of V alone.
  void add_balances(const PseudoLikelihoodFit& general,
                    const BiasedAttention& factored,
                    const WeightedSequences& data,
                    Outcome& outcome) const {
    const auto add =
        [&](const char* model, const char* part, double lambda, double square, const auto& scaled) {
          const auto loss_at = [&](double length) {
            return pseudo_likelihood_loss(scaled(length), data);
          };
          const double gain = lambda * square / static_cast<double>(data.sequences.cols());
          if (const auto balance = penalty_balance(loss_at, gain))
            add_constant(
                outcome, "penalty_balance", *balance, joined(model_point(model), {{"part", part}}));
        };
    const Index colours = general.colours;
    const auto fields = general.parameters.topRows(colours);
    const auto couplings = general.parameters.bottomRows(general.parameters.rows() - colours);
    add("general", "couplings", lambda_, couplings.squaredNorm(), [&](double length) {
      PseudoLikelihoodFit fit = general;
      fit.parameters.bottomRows(couplings.rows()) *= length;
      return fit;
    });
    add("general", "fields", bias_lambda_, fields.squaredNorm(), [&](double length) {
      PseudoLikelihoodFit fit = general;
      fit.parameters.topRows(colours) *= length;
      return fit;
    });
    const double square =
        factored.attention.attention.squaredNorm() * factored.attention.values.squaredNorm();
    add("factored", "couplings", lambda_, square, [&](double length) {
      BiasedAttention model = factored;
      model.attention.values *= length;
      return model;
    });
    // A and V have one length between them: the search may balance it by A alone.
    Index column = 0;
    const double norm = factored.attention.values.colwise().norm().maxCoeff(&column);
    add("factored",
        "values",
        lambda_,
        factored.attention.attention.squaredNorm() * norm * norm,
        [&](double length) {
          BiasedAttention model = factored;
          model.attention.values.col(column) *= length;
          return model;
        });
    add("factored", "fields", bias_lambda_, factored.biases.squaredNorm(), [&](double length) {
      BiasedAttention model = factored;
      model.biases *= length;
      return model;
    });
  }

  /// One curve per site i, over the sites j > i. Sites count from 1.
  static void add_scores(const MatrixXd& scores, const char* model, Outcome& outcome) {
    for (Index i = 0; i + 1 < scores.rows(); ++i) {
      Point point = model_point(model);
      point.emplace_back("i", static_cast<double>(i + 1));
      Curves row(point, "j", {"score"});
      for (Index j = i + 1; j < scores.cols(); ++j) {
        row.add(static_cast<double>(j + 1), {scores(i, j)});
      }
      row.into(outcome);
    }
  }

  Alignment alignment_;
  double identity_;
  double lambda_;
  double bias_lambda_;
  Index held_out_;
  LbfgsOptions search_;
  Lazy<RelativeGroups> groups_;
};

Figure figure(const Configuration& c) {
  const auto map = [](const std::string& title, const char* model) {
    return Panel{.kind = PanelKind::heat_map,
                 .x = {.label = "site {/:Italic j}"},
                 .y = {.label = "site {/:Italic i}"},
                 .layers = {{.series = "score", .only = model_point(model)}},
                 .x_name = "j",
                 .y_coordinate = "i",
                 .title = title,
                 .value = {.label = "score {/:Italic S_{ij}}"}};
  };
  return {.name = "potts-alignment",
          .panels = {map("general couplings", "general"), map("factored attention", "factored")},
          .columns = 2,
          .caption = fmt::format(
              "Coupling scores of the alignment {}: Frobenius norms with average-product "
              "correction, for general couplings (pseudo-likelihood) and for factored attention, "
              "in the same colours. "
              "Mean over splits into training and held-out sequences.",
              std::filesystem::path(c.text("model.file")).filename().string())};
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  if (c.real("sim.held_out") == 0) return {};
  std::vector<ClaimResult> results;
  for (const char* model : {"factored", "general"}) {
    for (const char* part : {"couplings", "values", "fields"}) {
      const auto values = by_replicate(
          observed.last("penalty_balance", joined(model_point(model), {{"part", part}})));
      if (values.empty()) continue;  // general couplings have no values
      // The search ends where 1 % of the penalty's gradient is left, of all columns of V together.
      constexpr double kClose = 0.02;
      results.push_back(claim_rate(
          fmt::format("{}-{}-at-a-minimum", model, part),
          fmt::format("the {} of the {} fit are at a minimum: what the loss falls by when they "
                      "grow is what their penalty gains, within {:.3g} %",
                      part,
                      model,
                      100 * kClose),
          values.where([](double value) { return std::abs(value - 1) < kClose; }),
          "balance " + listed(values.entries(), "{:.4f}"),
          kHalf));
    }
    const auto losses = by_replicate(
        observed, {{"test_loss", model_point(model)}, {"test_loss", model_point("independent")}});
    std::string detail = "nats per site, against independent sites:";
    for (const auto& [loss, apart] : losses.entries()) {
      detail += fmt::format(" {:.4f}/{:.4f}", loss, apart);
    }
    results.push_back(claim_rate(
        fmt::format("{}-uses-context", model),
        fmt::format("the {} model predicts held-out sites better than independent sites do", model),
        losses.where([](double loss, double apart) { return loss < apart; }),
        detail,
        kHalf));
  }
  return results;
}

/// scores.csv of the general couplings, scores_factored.csv of factored attention.
std::vector<TextFile> files(const Configuration& /*c*/, const Observed& observed) {
  std::vector<TextFile> written;
  for (const auto& [name, model] :
       {std::pair{"scores.csv", "general"}, std::pair{"scores_factored.csv", "factored"}}) {
    TextFile file{.name = name, .content = "i,j,score\n"};
    for (const ObservedCurve& curve : observed.simulation) {
      if (curve.mean.name != "score" || curve.mean.point.front().second != CoordinateValue(model)) {
        continue;
      }
      for (std::size_t k = 0; k < curve.mean.x.size(); ++k) {
        file.content += fmt::format("{},{},{}\n",
                                    describe(curve.mean.point.back().second),
                                    curve.mean.x[k],
                                    curve.mean.y[k]);
      }
    }
    written.push_back(std::move(file));
  }
  return written;
}

}  // namespace

Study study() {
  return described({.name = "potts-alignment",
                    .make = make<AlignmentFits>,
                    .figure = figure,
                    .claims = claims,
                    .files = files});
}

}  // namespace attica::potts_alignment

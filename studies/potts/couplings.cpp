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

std::vector<ClaimResult> claims(const Configuration& /*c*/, const Observed& observed) {
  constexpr double kSmall = 0.02;
  const auto errors = by_replicate(observed.last("coupling_error"));
  double largest = 0;
  for (const double value : errors.entries()) largest = std::max(largest, value);
  return {claim_rate("couplings-found",
                     fmt::format("relative squared error of the couplings < {}", kSmall),
                     errors.where([](double value) { return value < kSmall; }),
                     fmt::format("largest {:.3g}", largest))};
}

}  // namespace

Study study() {
  return described({.name = "potts-couplings", .make = make<Couplings>, .claims = claims});
}

}  // namespace attica::potts_couplings

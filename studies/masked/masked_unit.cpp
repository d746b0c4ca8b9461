#include "attica/studies/masked/masked_unit.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/core/parallel.hpp"
#include "attica/sim/masked/ridge.hpp"
#include "attica/studies/masked/model.hpp"

namespace attica {

using Eigen::Index;

namespace {

const Choices<NoiseLaw> kNoiseLaws = {
    {"beta", NoiseLaw::beta}, {"equal", NoiseLaw::equal}, {"groups", NoiseLaw::groups}};

}  // namespace

MaskedUnit::MaskedUnit(const Configuration& c)
    : noise{kNoiseLaws.of(c, "model.noise"), c.real("model.low")},
      beta(c.real("model.beta")),
      rho(c.real("model.rho")),
      lambda(c.real("model.lambda")),
      max_memory(c.real("sim.max_memory")),
      normal(c.text("model.spike") == "gauss") {
  for (const Value& value : std::get<List>(c.at("sweep.masks"))) {
    const auto* number = std::get_if<std::int64_t>(&value);
    masks.push_back(number ? std::optional<Index>(*number) : std::nullopt);
  }
  if (c.declares("model.activation")) {
    const bool relu = c.text("model.activation") == "relu";
    activation = relu ? MaskActivation::relu : MaskActivation::tanh;
    trained = relu ? UnitActivation::relu : UnitActivation::tanh;
  }
  constexpr double kLow = 0.4;  // the default: a recorded configuration gives it, too
  require(noise.law == NoiseLaw::groups || noise.low == kLow,
          "model.low",
          noise.low,
          "its default unless model.noise = \"groups\"");
}

ResamplingProblem MaskedUnit::problem(std::optional<Index> number, double alpha) const {
  ResamplingProblem p{
      .noise = noise_shares(noise), .alpha = alpha, .beta = beta, .rho = rho, .lambda = lambda};
  if (number) p.masks = static_cast<double>(*number);
  p.activation = activation;
  return p;
}

ResamplingPoint MaskedUnit::at(std::optional<Index> number, double alpha) const {
  return at_point(joined(point(number), {{"alpha", alpha}}),
                  [&] { return resampled_masks(problem(number, alpha)); });
}

UnitObjective MaskedUnit::objective(std::optional<Index> number) const {
  return {.rho = rho, .lambda = lambda, .masks = number, .activation = trained};
}

Point MaskedUnit::point(std::optional<Index> number) {
  if (number) return {{"masks", static_cast<double>(*number)}};
  return {{"masks", "fresh"}};
}

std::vector<double> MaskedUnit::thresholds() const {
  return parallel_map(masks, [this](std::optional<Index> number) {
    return at_point(point(number), [&] { return resampling_threshold(problem(number, 1)); });
  });
}

SpikedSamples MaskedUnit::drawn(StreamAddress address, double d, std::int64_t samples) const {
  RandomStream data(address);
  address.id = StreamId::model;
  RandomStream model(address);
  return draw_samples(
      draw_source(noise, beta, static_cast<Index>(d), normal, model), samples, data);
}

void MaskedUnit::require_memory(double d, std::int64_t samples, std::optional<Index> number) const {
  const double need = 1e-9 * training_bytes(d, static_cast<double>(samples), objective(number));
  require(
      need <= max_memory,
      "sim.max_memory",
      max_memory,
      fmt::format("at least {:.3g} GB for {} samples and their masks, d = {:g}", need, samples, d));
}

bool MaskedUnit::reached(std::optional<Index> number, double alpha, double d) const {
  constexpr double kLeast = 400;
  const double squares = beta * beta * weak_signal_threshold(problem({}, 1));  // E γ²
  return !number || (d >= kLeast && (*number > 1 || alpha * squares >= 1));
}

UnitExperiment::UnitExperiment(Configuration& c)
    : unit_(c),
      d_(static_cast<double>(c.integer("model.dimension"))),
      sizes_(masked_sizes(with_distinct_ratios(c, d_))) {
  if (unit_.noise.law == NoiseLaw::groups) require_halves(c);
  warnings_ = rounded_ratios(c, sizes_);
}

void UnitExperiment::require_simulable() const {
  require_distinct_samples(sizes_);
  for (const auto number : unit_.masks)
    unit_.require_memory(d_, sizes_[sizes_.count() - 1], number);
}

double UnitExperiment::flops(std::size_t point) const {
  double all = 0;
  for (const auto number : unit_.masks)
    all += training_flops(d_, static_cast<double>(sizes_[point]), unit_.objective(number));
  return all;
}

SpikedSamples UnitExperiment::drawn(const Replicate& replicate) const {
  return unit_.drawn(replicate.address(), d_, sizes_[replicate.point()]);
}

Outcome UnitExperiment::trained(
    const Replicate& replicate,
    const SpikedSamples& samples,
    const std::function<void(
        std::optional<Index>, const TrainedUnit&, const UnitMeasures&, Outcome&)>& record) const {
  Outcome outcome;
  for (const auto number : unit_.masks) {
    const TrainedUnit unit = train_unit(samples, unit_.objective(number), replicate.address());
    // A replicate says in its status what its values do not.
    if (outcome.status == "finished") outcome.status = unit.status();
    record(number, unit, measured(samples.source, unit.w, unit_.rho), outcome);
  }
  return outcome;
}

const std::vector<std::string>& unit_series() {
  static const std::vector<std::string> all = {
      "weight_norm", "noise_norm", "train_loss", "cosine", "overlap", "test_loss", "accuracy"};
  return all;
}

std::vector<PredictedValue> with_allowances(
    const ResamplingPoint& p, double distance, double d, bool reached, double edge) {
  const bool below = distance <= 0.77;
  const bool norms = reached && (below || distance >= 1.3);
  const bool cosines = reached && distance >= kWellAbove;
  // The branch M = 0 is marginal: its corrections fall as d^(-2/3).
  edge += 3 * std::pow(d, -2.0 / 3);
  const double scale = (distance < 1.6 ? 2 : 1) / d;
  const auto norm = [&](double y, double above) {
    return PredictedValue(y, std::abs(y) * (below ? edge : above * scale), norms);
  };
  return {norm(p.weight_norm, 3),
          norm(p.noise_norm, 6),
          norm(p.train_loss, 6),
          {p.cosine, p.cosine * 11 / d, cosines},
          {p.cosine * p.cosine, 8 / d, cosines},
          {p.test_loss, below ? std::abs(p.test_loss) * 2 * edge : 5 / d, below ? norms : cosines},
          {p.accuracy, 3 / d, cosines}};
}

std::vector<double> unit_values(const UnitMeasures& m, const TrainedUnit& unit) {
  return {m.weight_norm,
          m.noise_norm,
          unit.train_loss,
          std::sqrt(m.overlap),
          m.overlap,
          m.test_loss,
          m.accuracy};
}

}  // namespace attica

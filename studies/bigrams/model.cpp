#include "attica/studies/bigrams/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/theory/bigrams/boosting.hpp"
#include "attica/theory/bigrams/population.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

const Choices<BigramAlgorithm> kAlgorithms = {{"sgd_raw", BigramAlgorithm::sgd_raw},
                                              {"sgd_projected", BigramAlgorithm::sgd_projected},
                                              {"sgd_hat", BigramAlgorithm::sgd_hat},
                                              {"l1", BigramAlgorithm::l1},
                                              {"l1_sum1", BigramAlgorithm::l1_sum1},
                                              {"softmax", BigramAlgorithm::softmax}};
const Choices<BigramSampling> kSampling = {{"none", BigramSampling::sequences},
                                           {"dense", BigramSampling::dense},
                                           {"aggregated", BigramSampling::aggregated},
                                           {"sparse", BigramSampling::sparse}};
const Choices<AttentionWeights> kWeights = {{"uniform", AttentionWeights::uniform},
                                            {"random", AttentionWeights::random}};
const Choices<TextUnit> kUnits = {{"character", TextUnit::character}, {"word", TextUnit::word}};

/// Streams of the problem: 0 the chain, 1 the attention pattern, 2 a source's chain.
RandomStream problem_stream(const Configuration& c, std::uint64_t point) {
  return RandomStream({.seed = c.seed(), .id = StreamId::model, .point = point});
}

}  // namespace

BoostingTheory BigramSetup::boosting() const { return {constants(model), rates}; }

// The law.

namespace {

BigramChain configured_chain(const Configuration& c,
                             Table& diagnostics,
                             std::vector<std::string>& warnings) {
  const Index tokens = c.integer("model.tokens");
  constexpr double kMatrices = 8;  // N x N at a time, in double precision
  const double bytes = kMatrices * 8 * static_cast<double>(tokens) * static_cast<double>(tokens);
  require(bytes <= kBigramMemory,
          "model.tokens",
          static_cast<double>(tokens),
          fmt::format("matrices of at most {:.0f} MB in all (these: {:.0f} MB)",
                      kBigramMemory / 1e6,
                      bytes / 1e6));
  const std::string& kind = c.text("model.instance");
  if (kind == "circulant") return circulant_chain(tokens, c.real("model.p_diagonal"));
  if (kind == "cyclic") {
    return cyclic_chain(tokens, c.real("model.p_diagonal"), c.real("model.contrast"));
  }
  if (kind == "sinkhorn") {
    RandomStream stream = problem_stream(c, 0);
    return sinkhorn_chain(tokens, c.real("model.spread"), c.real("model.contrast"), stream);
  }
  if (!c.has("model.file")) {
    throw invalid_parameter("model.file", "", fmt::format("a file for instance = \"{}\"", kind));
  }
  if (kind == "explicit") return read_bigram_file(c.input_file("model.file")).chain;
  TextChain text = text_chain(c.input_text("model.file"), kUnits.of(c, "model.unit"), tokens);
  diagnostics.emplace_back("symbols", List(text.symbols.begin(), text.symbols.end()));
  warnings = std::move(text.warnings);
  return text.chain;
}

std::vector<SparseColumn> configured_attention(const Configuration& c, Index tokens) {
  if (c.text("model.instance") == "explicit") {
    std::vector<SparseColumn> given = read_bigram_file(c.input_file("model.file")).attention;
    if (!given.empty()) return given;
  }
  // A stream of its own: the attention pattern does not depend on how the chain was made.
  RandomStream stream = problem_stream(c, 1);
  const auto draw = c.text("model.support") == "strided" ? strided_attention : random_attention;
  return draw(tokens,
              c.integer("model.context"),
              c.integer("model.sparsity"),
              kWeights.of(c, "model.weights"),
              stream);
}

BigramModel configured_model(const Configuration& c,
                             Table& diagnostics,
                             std::vector<std::string>& warnings) {
  BigramChain chain = configured_chain(c, diagnostics, warnings);
  std::vector<SparseColumn> attention = configured_attention(c, chain.tokens());
  return {std::move(chain),
          c.integer("model.context"),
          c.integer("model.sparsity"),
          std::move(attention)};
}

// Rates and limits.

BigramRates configured_rates(const Configuration& c) {
  const auto rate = [&](const char* key) { return c.real(c.has(key) ? key : "sim.eta"); };
  return {rate("sim.eta_V"), rate("sim.eta_A")};
}

/// Near a solution α_V α_A = 1 whole steps with hat gradients multiply 1 - α_V α_A by
/// 1 - η_V K_Q α_A² - η_A K_P α_V², and what is subtracted is at least 2ω: from
/// ω² = η_V η_A K_P K_Q = 1 on no solution is stable.
void require_descent(const Configuration& c, const BigramModel& model, const BigramRates& rates) {
  const double signal = model.k_p() * model.k_q();
  if (c.has("sim.eta_A")) {
    require_stable_rate("sim.eta_A", rates.eta_a, 1 / (rates.eta_v * signal));
  } else if (c.has("sim.eta_V")) {
    require_stable_rate("sim.eta_V", rates.eta_v, 1 / (rates.eta_a * signal));
  } else {
    require_stable_rate("sim.eta", rates.eta_v, 1 / std::sqrt(signal));
  }
}

/// Surrogates take hat gradients, and not all of them know l1.
void require_fitting_surrogate(const Configuration& c, const BigramSetup& s) {
  if (s.sampled()) return;
  if (s.algorithm != BigramAlgorithm::sgd_hat && s.algorithm != BigramAlgorithm::l1) {
    throw invalid_parameter("sim.surrogate",
                            c.text("sim.surrogate"),
                            "\"none\" with this sim.algorithm: surrogates take hat gradients");
  }
  if (s.lambda > 0 && s.sampling == BigramSampling::aggregated) {
    throw invalid_parameter("sim.surrogate", "aggregated", "dense or sparse where l1 > 0");
  }
}

/// Refuses what cannot be learnt, warns of what is doubtful.
void check_signal(BigramSetup& s, NoSignal no_signal) {
  const BigramModel& model = s.model;
  if (no_signal == NoSignal::refuse) require_signal(model);
  if (!has_signal(model)) {
    s.warnings.push_back(fmt::format(
        "K_P = {:.3g}, K_Q = {:.3g}: without signal there is no theory", model.k_p(), model.k_q()));
  }
  const Index many = 10 * model.tokens() * model.sparsity();
  if (model.context() < many || model.k_q() <= 0) {
    s.warnings.push_back(fmt::format(
        "T = {} is below 10 N Q = {}: closed forms are unreliable", model.context(), many));
  }
}

void check_rates(const Configuration& c, BigramSetup& s, RateCheck check) {
  const bool plain =
      s.algorithm == BigramAlgorithm::sgd_raw || s.algorithm == BigramAlgorithm::sgd_projected;
  if (check != RateCheck::none && !plain && has_signal(s.model)) {
    require_descent(c, s.model, s.rates);
  }
  if (check == RateCheck::batch && s.rates.eta_a > s.rate_limit) {
    s.warnings.push_back(fmt::format(
        "eta_A = {} is above the stability limit {:.3g} at V = P, B = {}: expect divergence",
        s.rates.eta_a,
        s.rate_limit,
        s.batch));
  }
}

}  // namespace

BigramSetup bigram_setup(const Configuration& c, RateCheck rate_check, NoSignal no_signal) {
  Table diagnostics;
  std::vector<std::string> warnings;
  BigramSetup s{.model = configured_model(c, diagnostics, warnings),
                .rates = configured_rates(c),
                .batch = static_cast<double>(c.integer("sim.batch")),
                .lambda = c.declares("sim.l1") ? c.real("sim.l1") : 0,
                .steps = c.declares("sim.steps") ? recorded_steps(c) : std::vector<std::int64_t>{},
                .sampling = kSampling.of(c, "sim.surrogate"),
                .algorithm = kAlgorithms.of(c, "sim.algorithm")};
  s.warnings = std::move(warnings);
  const Index n = s.model.tokens();
  s.start = c.text("sim.start") == "uniform" ? MatrixXd::Constant(n, n, 1 / static_cast<double>(n))
                                             : stationary_value(s.model);
  if (s.model.has_signal()) {
    s.rate_limit = attention_rate_limit(s.model, s.model.transition(), s.batch);
  }
  require_fitting_surrogate(c, s);
  check_signal(s, no_signal);
  check_rates(c, s, rate_check);
  s.diagnostics = std::move(diagnostics);
  s.diagnostics.emplace_back("K_P", s.model.k_p());
  s.diagnostics.emplace_back("K_Q", s.model.k_q());
  if (s.model.has_signal()) {
    s.diagnostics.emplace_back("kappa_V", s.model.kappa_v());
    s.diagnostics.emplace_back("eta_A_limit", s.rate_limit);
  }
  return s;
}

double BigramSetup::flops(double length) const {
  constexpr double kPosition = 8;  // some 2 ns
  return kPosition * context() * batch * length;
}

void BigramSetup::require_memory() const {
  if (sampling == BigramSampling::aggregated || sampling == BigramSampling::sparse) return;
  require_entries(model, sizeof(float), ", or sim.surrogate = \"aggregated\" (\"sparse\" with l1)");
}

void require_entries(const BigramModel& model, double bytes, const std::string& instead) {
  const auto context = static_cast<double>(model.context());
  const double memory = bytes * static_cast<double>(model.tokens()) * context;
  require(memory <= kBigramMemory,
          "model.context",
          context,
          fmt::format("A of at most {:.0f} MB (this one: {:.0f} MB){}",
                      kBigramMemory / 1e6,
                      memory / 1e6,
                      instead));
}

void require_stable_rate(const std::string& key, double rate, double limit) {
  constexpr const char* kWhy = "a rate below {:.3g}: from there on descent leaves every solution";
  require(rate < limit, key, rate, fmt::format(kWhy, limit));
}

std::string sampling_sentence(const Configuration& c) {
  const std::string& given = c.text("sim.surrogate");
  return given == "none" ? "Real sequences."
                         : fmt::format("Gaussian surrogate ({}) in place of sequences.", given);
}

void require_sequences(const Configuration& c, const std::string& expected) {
  const std::string& given = c.text("sim.surrogate");
  if (given != "none") throw invalid_parameter("sim.surrogate", given, expected);
}

bool has_mean_field(const BigramSetup& setup, TheoryGrid grid) {
  if (setup.rates.eta_a < setup.rate_limit) return true;
  if (grid == TheoryGrid::run) return false;
  constexpr const char* kWhy =
      "no mean field: eta_A = {} is not below the stability limit {:.3g} at V = P, B = {}: lower "
      "sim.eta or raise sim.batch";
  throw Error(ErrorKind::numerical,
              fmt::format(kWhy, setup.rates.eta_a, setup.rate_limit, setup.batch));
}

bool has_signal(const BigramModel& model) {
  constexpr double kRounding = 1e-12;
  return model.has_signal() && model.k_q() > kRounding;
}

void require_signal(const BigramModel& model) {
  if (!model.has_signal()) {
    throw invalid_parameter("model.instance",
                            fmt::format("law with K_P = {:.3g}", model.k_p()),
                            "columns of P that differ: without signal there is no theory");
  }
  constexpr const char* kWhy =
      "weights that are not all 1/T (K_Q = {:.3g}): without signal there is no theory";
  const auto sparsity = static_cast<double>(model.sparsity());
  require(has_signal(model), "model.sparsity", sparsity, fmt::format(kWhy, model.k_q()));
}

BigramChain source_chain(const Configuration& c,
                         const BigramModel& model,
                         double correlation,
                         std::optional<double> contrast) {
  RandomStream stream = problem_stream(c, 2);
  return contrast ? shifted_chain(model.chain(), correlation, *contrast, stream)
                  : correlated_chain(model.chain(), correlation, stream);
}

std::unique_ptr<BigramTrainer> make_trainer(const BigramSetup& s,
                                            BigramAlgorithm algorithm,
                                            const MatrixXd& start,
                                            StreamAddress address) {
  return make_bigram_run(s.sampling, algorithm, s.model, s.rates, s.batch, start, address);
}

void record_end(Outcome& outcome, BigramStatus status, const BigramTrainer& trainer) {
  outcome.status = describe(status);
  if (status != BigramStatus::converged) outcome.series.clear();
  if (status == BigramStatus::diverged) outcome = diverged_outcome(trainer.steps());
}

Outcome diverged_outcome(std::int64_t step) {
  return {.series = {},
          .status = describe(BigramStatus::diverged),
          .failed = true,
          .message = fmt::format("diverged at step {}", step)};
}

StreamAddress member_address(const Replicate& replicate, int member) {
  StreamAddress address = replicate.address();
  address.replicate = replicate.number * kGroup + static_cast<std::uint64_t>(member);
  return address;
}

double group_flops(const BigramSetup& setup, double steps) {
  constexpr double kSurrogateStep = 24000;  // of the aggregated one, some 6 µs
  return kGroup * (setup.sampled() ? setup.flops(steps) : kSurrogateStep * steps);
}

// Observables.

namespace {

struct StateNumber {
  SeriesInfo info;
  double BigramState::*value;
};

const StateNumber& observable(const std::string& name) {
  const char* const squared = "squared distance, columns weighted by mu";
  static const std::vector<StateNumber> all = {
      {{"loss", "L", "exact population loss, 1/2 mean square"}, &BigramState::loss},
      {{"excess_loss", "L - L*", "above the Bayes risk"}, &BigramState::excess_loss},
      {{"alpha_V", "alpha_V", "signal of V along P, 1 at the truth"}, &BigramState::alpha_v},
      {{"alpha_A", "alpha_A", "signal of A along Q, 1 at the truth"}, &BigramState::alpha_a},
      {{"d_V", "d_V", "squared remainder of V, weighted by mu"}, &BigramState::d_v},
      {{"d_A", "d_A", "squared remainder of A, weighted by mu"}, &BigramState::d_a},
      {{"distance_V", "|V-P|^2", squared}, &BigramState::distance_v2},
      {{"distance_A", "|A-Q|^2", squared}, &BigramState::distance_a2}};
  return *std::ranges::find(all, name, [](const StateNumber& o) { return o.info.name; });
}

}  // namespace

std::vector<double> observables(const std::vector<std::string>& names, const BigramState& state) {
  std::vector<double> values;
  for (const std::string& name : names) values.push_back(state.*observable(name).value);
  return values;
}

double curve_allowance(double value, double full_scale, double of_value) {
  constexpr double kOfFullScale = 0.01;
  return std::min(kOfFullScale * full_scale, of_value * std::abs(value));
}

double surrogate_noise_order(const Configuration& c) {
  if (c.text("sim.surrogate") == "none") return 0;
  return std::min(0.5, 1 / static_cast<double>(c.integer("model.tokens") - 1));
}

}  // namespace attica

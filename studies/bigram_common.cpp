#include "attica/studies/bigram_common.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "attica/core/error.hpp"
#include "attica/studies/parameters.hpp"
#include "attica/theory/bigram_population.hpp"

namespace attica {

using Eigen::Index;

namespace {

List as_list(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

BigramAlgorithm algorithm_named(const std::string& name) {
  static const std::map<std::string, BigramAlgorithm> all = {
      {"sgd_raw", BigramAlgorithm::sgd_raw},
      {"sgd_projected", BigramAlgorithm::sgd_projected},
      {"sgd_hat", BigramAlgorithm::sgd_hat},
      {"l1", BigramAlgorithm::l1},
      {"l1_sum1", BigramAlgorithm::l1_sum1},
      {"softmax", BigramAlgorithm::softmax}};
  return all.at(name);
}

RandomStream instance_stream(const Configuration& c) {
  return RandomStream(
      {.seed = static_cast<std::uint64_t>(c.integer("sim.seed")), .id = StreamId::model});
}

}  // namespace

std::vector<Parameter> bigram_parameters(const BigramDefaults& d) {
  constexpr double kMost = 1e9;
  const auto integer = [](const char* key, std::int64_t value, const char* meaning, double low) {
    return Parameter{.key = key,
                     .type = ParameterType::integer,
                     .fallback = Value(value),
                     .meaning = meaning,
                     .range = {.low = low, .high = kMost}};
  };
  const auto word = [](const char* key,
                       const char* value,
                       const char* meaning,
                       std::vector<std::string> choices) {
    return Parameter{.key = key,
                     .type = ParameterType::text,
                     .fallback = Value(value),
                     .meaning = meaning,
                     .choices = std::move(choices)};
  };
  const Range positive{.low = 0, .low_open = true};
  constexpr double kSlowest = 1e-9;  // boosting takes some 1e10 steps
  const Range rate{.low = kSlowest};
  std::vector<Parameter> all = {
      integer("model.tokens", d.tokens, "N, size of the vocabulary", 2),
      integer("model.context", d.context, "T, positions before the last token", 2),
      integer("model.sparsity", d.sparsity, "Q, positions that a last token attends to", 1),
      word("model.instance",
           "circulant",
           "bigram law: circulant (p_diagonal), sinkhorn (random), explicit (file), text (file)",
           {"circulant", "sinkhorn", "explicit", "text"}),
      real_parameter("model.p_diagonal",
                     0.8,
                     "circulant: probability that a token is followed by itself",
                     {.low = 0, .high = 1}),
      {.key = "model.spread",
       .type = ParameterType::real,
       .fallback = Value(2.0),
       .meaning = "sinkhorn: standard deviation of the log weights",
       .range = positive},
      real_parameter("model.contrast",
                     2.0,
                     "sinkhorn: tokens' frequencies are proportional to U[1, contrast]",
                     {.low = 1}),
      word("model.support",
           "random",
           "attended positions: random without replacement, or strided (deterministic)",
           {"random", "strided"}),
      word("model.weights",
           "uniform",
           "attention weights: 1/Q, or U[1,2] normalised",
           {"uniform", "random"}),
      {.key = "model.file",
       .type = ParameterType::file,
       .fallback = {},
       .meaning = "explicit: instance file with mu, P and Q; text: the text"},
      word("model.unit", "character", "text: what a token is", {"character", "word"}),
      {.key = "sim.eta",
       .type = ParameterType::real,
       .fallback = Value(d.eta),
       .meaning = "learning rate of V and A",
       .range = rate},
      {.key = "sim.eta_V",
       .type = ParameterType::real,
       .fallback = {},
       .meaning = "learning rate of V; default: eta",
       .range = rate},
      {.key = "sim.eta_A",
       .type = ParameterType::real,
       .fallback = {},
       .meaning = "learning rate of A; default: eta",
       .range = rate},
      integer("sim.batch", d.batch, "B, fresh sequences per step", 1),
      real_parameter("sim.l1", d.l1, "lambda of the l1 penalty on A", kNotNegative),
      word("sim.surrogate",
           d.surrogate.c_str(),
           "none: real sequences; else population gradient plus Gaussian noise, by storage of A",
           {"none", "dense", "aggregated", "sparse"}),
      integer("sim.replicates", d.replicates, "independent runs", 1),
      word("sim.algorithm",
           d.algorithms.front().c_str(),
           "update rule: plain (sgd_raw), projected (sgd_projected), projected and preconditioned "
           "(sgd_hat); the latter with soft threshold (l1), under column sums 1 (l1_sum1), or for "
           "softmax attention (softmax); those that this study knows",
           d.algorithms),
      word("sim.start",
           d.starts.front().c_str(),
           "start of V: mu 1^T (stationary) or 1 1^T/N (uniform)",
           d.starts)};
  if (!d.steps.empty()) {
    all.push_back(integers_parameter("sim.steps",
                                     as_list(d.steps),
                                     "recorded steps, the last one being the length",
                                     {.low = 0, .high = kMost}));
  }
  return all;
}

namespace {

constexpr double kMemoryLimit = 2e9;

Error too_large(const BigramModel& model, double memory, const std::string& instead) {
  return invalid_parameter("model.context",
                           static_cast<double>(model.context()),
                           fmt::format("A of at most {:.0f} MB (this one: {:.0f} MB){}",
                                       kMemoryLimit / 1e6,
                                       memory / 1e6,
                                       instead));
}

/// Near a solution α_V α_A = 1 whole steps with hat gradients multiply 1 - α_V α_A by
/// 1 - η_V K_Q α_A² - η_A K_P α_V², and what is subtracted is at least 2ω: from
/// ω² = η_V η_A K_P K_Q = 1 on no solution is stable.
void require_descent(const Configuration& c, const BigramModel& model, const BigramRates& rates) {
  const double signal = model.k_p() * model.k_q();
  if (c.has("sim.eta_A")) {
    require_stable_rate("sim.eta_A", rates.attention, 1 / (rates.value * signal));
  } else if (c.has("sim.eta_V")) {
    require_stable_rate("sim.eta_V", rates.value, 1 / (rates.attention * signal));
  } else {
    require_stable_rate("sim.eta", rates.value, 1 / std::sqrt(signal));
  }
}

}  // namespace

void require_stable_rate(const std::string& key, double rate, double limit) {
  if (rate < limit) return;
  throw invalid_parameter(
      key,
      rate,
      fmt::format("a rate below {:.3g}: from there on descent leaves every solution", limit));
}

bool has_mean_field(const BigramSetup& setup, TheoryGrid grid) {
  if (setup.rates.attention < setup.rate_limit) return true;
  if (grid == TheoryGrid::run) return false;
  throw Error(ErrorKind::numerical,
              fmt::format("no mean field: eta_A = {} is not below the stability limit {:.3g} at "
                          "V = P, B = {}: lower sim.eta or raise sim.batch",
                          setup.rates.attention,
                          setup.rate_limit,
                          setup.batch));
}

BigramChain configured_chain(const Configuration& c, Table& diagnostics) {
  const Index tokens = c.integer("model.tokens");
  constexpr double kMatrices = 8;  // N x N at a time, in double precision
  const double bytes = kMatrices * 8 * static_cast<double>(tokens) * static_cast<double>(tokens);
  if (bytes > kMemoryLimit) {
    throw invalid_parameter("model.tokens",
                            static_cast<double>(tokens),
                            fmt::format("matrices of at most {:.0f} MB in all (these: {:.0f} MB)",
                                        kMemoryLimit / 1e6,
                                        bytes / 1e6));
  }
  const std::string& kind = c.text("model.instance");
  if (kind == "circulant") return circulant_chain(tokens, c.real("model.p_diagonal"));
  if (kind == "sinkhorn") {
    RandomStream stream = instance_stream(c);
    return sinkhorn_chain(tokens, c.real("model.spread"), c.real("model.contrast"), stream);
  }
  if (!c.has("model.file")) {
    throw invalid_parameter("model.file", "", fmt::format("a file for instance = \"{}\"", kind));
  }
  if (kind == "explicit") return read_bigram_file(c.input_file("model.file")).chain;
  const TextUnit unit = c.text("model.unit") == "word" ? TextUnit::word : TextUnit::character;
  TextChain text = text_chain(c.input_text("model.file"), unit, tokens);
  diagnostics.emplace_back("symbols", List(text.symbols.begin(), text.symbols.end()));
  return text.chain;
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
  if (!has_signal(model)) {
    throw invalid_parameter("model.sparsity",
                            static_cast<double>(model.sparsity()),
                            fmt::format("weights that are not all 1/T (K_Q = {:.3g}): without "
                                        "signal there is no theory",
                                        model.k_q()));
  }
}

void require_entries(const BigramModel& model, double bytes) {
  const double memory =
      bytes * static_cast<double>(model.tokens()) * static_cast<double>(model.context());
  if (memory > kMemoryLimit) throw too_large(model, memory, "");
}

BigramSetup bigram_setup(const Configuration& c, RateCheck rate_check, NoSignal no_signal) {
  Table diagnostics;
  const BigramChain chain = configured_chain(c, diagnostics);
  const Index context = c.integer("model.context");
  const Index sparsity = c.integer("model.sparsity");
  const AttentionWeights weights =
      c.text("model.weights") == "random" ? AttentionWeights::random : AttentionWeights::uniform;
  // A stream of its own: the attention pattern does not depend on how the chain was made.
  RandomStream stream({.seed = static_cast<std::uint64_t>(c.integer("sim.seed")),
                       .id = StreamId::model,
                       .point = 1});
  std::vector<SparseColumn> attention;
  if (c.text("model.instance") == "explicit") {
    attention = read_bigram_file(c.input_file("model.file")).attention;
  }
  if (attention.empty()) {
    attention = c.text("model.support") == "strided"
                    ? strided_attention(chain.tokens(), context, sparsity, weights, stream)
                    : random_attention(chain.tokens(), context, sparsity, weights, stream);
  }
  const double eta = c.real("sim.eta");
  BigramSetup setup{.model = BigramModel(chain, context, sparsity, std::move(attention)),
                    .rates = {c.has("sim.eta_V") ? c.real("sim.eta_V") : eta,
                              c.has("sim.eta_A") ? c.real("sim.eta_A") : eta},
                    .batch = static_cast<double>(c.integer("sim.batch")),
                    .lambda = c.real("sim.l1"),
                    .steps = {},
                    .surrogate = c.text("sim.surrogate"),
                    .algorithm = algorithm_named(c.text("sim.algorithm")),
                    .start = {},
                    .warnings = {},
                    .diagnostics = std::move(diagnostics)};
  const BigramModel& model = setup.model;
  setup.start = c.text("sim.start") == "uniform"
                    ? Eigen::MatrixXd::Constant(
                          model.tokens(), model.tokens(), 1 / static_cast<double>(model.tokens()))
                    : stationary_value(model);
  if (setup.surrogate != "none" && setup.algorithm != BigramAlgorithm::sgd_hat &&
      setup.algorithm != BigramAlgorithm::l1) {
    throw invalid_parameter("sim.surrogate",
                            setup.surrogate,
                            "\"none\" with this sim.algorithm: surrogates take hat gradients");
  }
  if (no_signal == NoSignal::refuse) require_signal(model);
  if (!has_signal(model)) {
    setup.warnings.push_back(fmt::format(
        "K_P = {:.3g}, K_Q = {:.3g}: without signal there is no theory", model.k_p(), model.k_q()));
  }
  constexpr double kManyPositions = 10;
  if (static_cast<double>(context) <
          kManyPositions * static_cast<double>(model.tokens() * sparsity) ||
      model.k_q() <= 0) {
    setup.warnings.push_back(fmt::format("T = {} is below 10 N Q = {}: closed forms are unreliable",
                                         context,
                                         10 * model.tokens() * sparsity));
  }
  if (model.has_signal()) {
    setup.rate_limit = attention_rate_limit(model, model.transition(), setup.batch);
  }
  const bool plain = setup.algorithm == BigramAlgorithm::sgd_raw ||
                     setup.algorithm == BigramAlgorithm::sgd_projected;
  if (rate_check != RateCheck::none && !plain && has_signal(model)) {
    require_descent(c, model, setup.rates);
  }
  if (rate_check == RateCheck::batch && setup.rates.attention > setup.rate_limit) {
    setup.warnings.push_back(
        fmt::format("eta_A = {} is above the stability limit {:.3g} at V = P, B = {}: expect "
                    "divergence",
                    setup.rates.attention,
                    setup.rate_limit,
                    setup.batch));
  }
  if (setup.lambda > 0 && setup.surrogate == "aggregated") {
    throw invalid_parameter("sim.surrogate", "aggregated", "dense or sparse where l1 > 0");
  }
  const double memory = DenseSurrogate::memory(model.tokens(), context);
  if (setup.surrogate != "aggregated" && setup.surrogate != "sparse" && memory > kMemoryLimit) {
    throw too_large(model, memory, ", or sim.surrogate = \"aggregated\" (\"sparse\" with l1)");
  }
  for (const auto& [key, value] : c.entries()) {
    if (key == "sim.steps") setup.steps = c.integers("sim.steps");
  }
  std::sort(setup.steps.begin(), setup.steps.end());
  setup.diagnostics.emplace_back("K_P", model.k_p());
  setup.diagnostics.emplace_back("K_Q", model.k_q());
  if (model.has_signal()) {
    setup.diagnostics.emplace_back("kappa_V", model.kappa_v());
    setup.diagnostics.emplace_back("eta_A_limit", setup.rate_limit);
  }
  return setup;
}

std::unique_ptr<BigramTrainer> make_trainer(const BigramSetup& setup,
                                            BigramAlgorithm algorithm,
                                            const Eigen::MatrixXd& start,
                                            const Piece& piece,
                                            std::uint64_t replicate) {
  const bool real = setup.surrogate == "none";
  const StreamAddress address{.seed = piece.seed,
                              .id = real ? StreamId::minibatch : StreamId::surrogate,
                              .point = piece.stream_point,
                              .replicate = replicate};
  if (real) {
    return std::make_unique<BigramSgd<float>>(
        setup.model, algorithm, setup.sizes(), start, address);
  }
  if (setup.surrogate == "aggregated") {
    return std::make_unique<AggregatedSurrogate>(setup.model, setup.sizes(), start, address);
  }
  if (setup.surrogate == "dense") {
    return std::make_unique<DenseSurrogate>(setup.model, setup.sizes(), start, address);
  }
  return std::make_unique<SparseSurrogate>(setup.model, setup.sizes(), start, address);
}

BigramRecorder::BigramRecorder(std::vector<std::string> names, Point point, std::string x_name) {
  for (std::string& name : names) {
    series_.push_back({std::move(name), point, x_name, {}, {}});
  }
}

namespace {

const std::map<std::string, double BigramState::*>& observables() {
  static const std::map<std::string, double BigramState::*> all = {
      {"loss", &BigramState::loss},
      {"excess_loss", &BigramState::excess_loss},
      {"alpha_V", &BigramState::alpha_v},
      {"alpha_A", &BigramState::alpha_a},
      {"d_V", &BigramState::d_v},
      {"d_A", &BigramState::d_a},
      {"distance_V", &BigramState::distance_v2},
      {"distance_A", &BigramState::distance_a2}};
  return all;
}

}  // namespace

void BigramRecorder::record(double x, const BigramState& state) {
  for (Series& series : series_) {
    series.x.push_back(x);
    series.y.push_back(state.*observables().at(series.name));
  }
}

void BigramRecorder::append_to(Outcome& outcome) const {
  outcome.series.insert(outcome.series.end(), series_.begin(), series_.end());
}

std::vector<SeriesInfo> bigram_series(const std::vector<std::string>& names) {
  static const std::map<std::string, std::pair<const char*, const char*>> known = {
      {"loss", {"L", "exact population loss, 1/2 mean square"}},
      {"excess_loss", {"L - L*", "above the Bayes risk"}},
      {"alpha_V", {"alpha_V", "signal of V along P, 1 at the truth"}},
      {"alpha_A", {"alpha_A", "signal of A along Q, 1 at the truth"}},
      {"d_V", {"d_V", "squared remainder of V, weighted by mu"}},
      {"d_A", {"d_A", "squared remainder of A, weighted by mu"}},
      {"distance_V", {"|V-P|^2", "squared distance, columns weighted by mu"}},
      {"distance_A", {"|A-Q|^2", "squared distance, columns weighted by mu"}}};
  std::vector<SeriesInfo> infos;
  for (const std::string& name : names) {
    infos.push_back({name, known.at(name).first, known.at(name).second});
  }
  return infos;
}

Prediction bigram_prediction(const std::string& name, Point point, const std::string& x_name) {
  return {.series = {.name = name, .point = std::move(point), .x_name = x_name, .x = {}, .y = {}}};
}

std::vector<double> as_reals(std::span<const std::int64_t> steps) {
  return {steps.begin(), steps.end()};
}

double curve_allowance(double value, double full_scale) {
  constexpr double kOfFullScale = 0.01;
  constexpr double kOfValue = 0.15;
  return std::min(kOfFullScale * full_scale, kOfValue * std::abs(value));
}

double value_noise_order(std::int64_t tokens) {
  return std::min(0.5, 1 / static_cast<double>(tokens - 1));
}

std::vector<std::int64_t> geometric_steps(std::int64_t first, std::int64_t last, int count) {
  std::vector<std::int64_t> steps;
  const double ratio = static_cast<double>(last) / static_cast<double>(first);
  for (int k = 0; k < count; ++k) {
    steps.push_back(std::llround(static_cast<double>(first) *
                                 std::pow(ratio, static_cast<double>(k) / (count - 1))));
  }
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

Source bigram_source(const std::string& used) {
  return {"ren2024learning",
          "Learning and Transferring Sparse Contextual Bigrams with Linear Transformers",
          "Y. Ren, Z. Wang, J. D. Lee",
          2024,
          "2410.23438",
          used};
}

void record_end(Outcome& outcome, BigramStatus status, const BigramTrainer& trainer) {
  outcome.status = describe(status);
  if (status != BigramStatus::converged) outcome.series.clear();
  if (status != BigramStatus::diverged) return;
  outcome.failed = true;
  outcome.message = fmt::format("diverged at step {}", trainer.steps());
}

}  // namespace attica

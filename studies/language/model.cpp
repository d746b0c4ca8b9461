#include "attica/studies/language/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/theory/language/floors.hpp"

namespace attica {

using Eigen::Index;

namespace {

const Choices<SymbolKind>& kinds() {
  static const Choices<SymbolKind> all = {{"letters", SymbolKind::letters},
                                          {"words", SymbolKind::words}};
  return all;
}

std::vector<int> checked_orders(const Configuration& c, Index symbols) {
  const std::vector<std::int64_t> asked = c.integers("model.chain_orders");
  const std::vector<std::int64_t> rising = ascending(asked);
  require(rising.size() == asked.size(),
          "model.chain_orders",
          static_cast<double>(asked.size()),
          "every order once");
  std::vector<int> orders;
  for (const std::int64_t n : rising) {
    require(n <= c.integer("model.sites"),
            "model.chain_orders",
            static_cast<double>(n),
            fmt::format("orders of at most model.sites = {}", c.integer("model.sites")));
    require(std::pow(static_cast<double>(symbols), static_cast<double>(n)) <=
                TupleFrequencies::kMostEntries,
            "model.chain_orders",
            static_cast<double>(n),
            fmt::format("orders n with C^n <= 2^24 tuples; the text has C = {} symbols", symbols));
    orders.push_back(static_cast<int>(n));
  }
  return orders;
}

}  // namespace

LanguageProblem::LanguageProblem(const Configuration& c)
    : kind_(kinds().of(c, "model.symbols")),
      sites_(c.integer("model.sites")),
      text_(
          read_language(c.input_text("model.file"), kind_, c.integer("model.vocabulary"), sites_)),
      orders_(checked_orders(c, text_.size())),
      frequencies_([this] {
        return std::make_shared<const TupleFrequencies>(text_.training, symbols(), orders_.back());
      }) {}

Windows LanguageProblem::held_out() const {
  constexpr Index kMost = 400000;
  return even_windows(text_.held_out, sites_, kMost);
}

TheoryResult LanguageProblem::theory() const {
  TheoryResult result;
  Curves floor({}, "order", {"floor"});
  Curves plateau({}, "order", {"plateau"});
  const Windows windows = held_out();
  for (const int n : orders_) {
    const MarkovClone clone = chain(n);
    if (floor_is_exact(symbols(), n)) floor.add(n, {masked_floor(clone, sites_)});
    plateau.add(n, {masked_plateau(clone, windows)});
  }
  if (!floor.empty()) floor.into(result);
  plateau.into(result);
  const Series told = result.predictions.back().series;
  for (std::size_t k = 1; k < told.x.size(); ++k) {
    if (told.y[k] < told.y[k - 1]) continue;
    result.warnings.push_back(
        fmt::format("model.file: the chain of order {:g} predicts the held-out text no better than "
                    "that of order {:g}: the text is too short for it",
                    told.x[k],
                    told.x[k - 1]));
  }
  return result;
}

Table LanguageProblem::diagnostics() const {
  return {{"symbols", std::int64_t{symbols()}},
          {"units", text_.units},
          {"training_symbols", static_cast<std::int64_t>(text_.training.size())},
          {"held_out_symbols", static_cast<std::int64_t>(text_.held_out.size())}};
}

void LanguageProblem::warn_of_pairs(std::vector<std::string>& warnings) const {
  const double weights = pair_weights(sites_, symbols());
  const auto length = static_cast<double>(text_.training.size());
  if (weights <= length) return;
  warnings.push_back(fmt::format(
      "model.file: pairs have {:.0f} weights for {:.0f} symbols to train on: they learn "
      "the text by heart; a longer text, or a smaller model.vocabulary or model.sites, "
      "is needed for pairs that are a clone",
      weights,
      length));
}

void LanguageProblem::warn_of_repetition(std::uint64_t steps,
                                         Index batch,
                                         std::vector<std::string>& warnings) const {
  const auto shown = static_cast<double>(steps) * static_cast<double>(batch);
  const auto different = static_cast<double>(text_.training.size()) * static_cast<double>(sites_);
  if (shown <= different) return;
  warnings.push_back(fmt::format(
      "model.file: training shows {:.3g} windows of a text that has {:.3g}, counted with the "
      "hidden "
      "site: the network may learn it by heart; compare training_loss with the end of test_loss",
      shown,
      different));
}

void require_laws(Index windows, int tables, Index symbols, const std::string& parameter) {
  constexpr double kMost = 4e9;
  const double bytes =
      sizeof(double) * static_cast<double>(windows) * tables * static_cast<double>(symbols);
  if (bytes <= kMost) return;
  throw invalid_parameter(
      parameter,
      static_cast<double>(windows),
      fmt::format(
          "fewer windows: laws of {} symbols for these take {:.0f} bytes of 4e9", symbols, bytes));
}

double pair_weights(Index sites, Index symbols) {
  const auto l = static_cast<double>(sites);
  const auto c = static_cast<double>(symbols) - 1;
  return l * c * (1 + (l - 1) * c);
}

PairModel fitted_pairs(const LanguageProblem& problem,
                       const WindowSource& source,
                       const PairFit& fit,
                       Index batch,
                       StreamAddress address,
                       std::uint64_t stride,
                       const std::function<bool()>& stop) {
  PairModel model(problem.sites(), problem.symbols());
  const std::uint64_t first = address.step;
  model.fit(
      fit,
      [&](std::int64_t step) {
        address.step = first + static_cast<std::uint64_t>(step) * stride;
        RandomStream stream(address);
        return PairModel::Examples{hide_one(source(batch, stream), stream), {}};
      },
      stop);
  const auto weights = model.parameters().values();
  if (!std::ranges::all_of(weights, [](float w) { return std::isfinite(w); })) {
    throw Error(ErrorKind::numerical, "the fit of pairs diverged: its learning rate is too large");
  }
  return model;
}

MaskedTraining factored_clone(std::int64_t steps, int layers) {
  return {.factored = true,
          .layers = layers,
          .eta = 3e-3,
          .tail = true,
          .batch = 256,
          .recorded = {static_cast<std::uint64_t>(steps)}};
}

namespace {

/// Takes over what a network of fewer layers has; the outputs of the last layer are 0.
void continue_from(MaskedNetwork& network, const MaskedNetwork& fewer) {
  for (const networks::Block& block : fewer.parameters().blocks()) {
    network.parameters().matrix(block.name).map() = fewer.parameters().matrix(block.name).map();
  }
  const std::string last = fmt::format("layer{}.", network.shape().layers - 1);
  for (const char* output : {"W_O", "W_2"})
    network.parameters().matrix(last + output).map().setZero();
}

}  // namespace

std::vector<MaskedNetwork> fitted_factored(const LanguageProblem& problem,
                                           const WindowSource& source,
                                           const MaskedTraining& training,
                                           const StreamAddress& address,
                                           const std::function<bool()>& stop) {
  const MaskedRecords nothing{
      .measure = [](std::uint64_t, MaskedNetwork&) { return std::vector<double>(); },
      .tell = [](std::uint64_t, const std::vector<double>&) {}};
  std::vector<MaskedNetwork> fitted;
  for (int layers = 1; layers <= training.layers; ++layers) {
    MaskedTraining one = training;
    one.layers = layers;
    // No replicate has such a number: its streams are those of the clone.
    StreamAddress own = address;
    own.replicate = ~address.replicate;
    own.point += (static_cast<std::uint64_t>(layers) - 1) << 32U;
    MaskedNetwork network = masked_network(one, problem.sites(), problem.symbols(), own);
    if (!fitted.empty()) continue_from(network, fitted.back());
    const auto end = train_masked(network, one, source, own, nothing, stop);
    if (end.status == networks::TrainingStatus::diverged) {
      throw Error(ErrorKind::numerical,
                  fmt::format("the factored clone diverged at step {}", end.step));
    }
    fitted.push_back(std::move(network));
  }
  return fitted;
}

std::string chain_name(int order) { return fmt::format("chain-{}", order); }

std::string clone_label(const std::string& clone) {
  const std::string chain = "chain-";
  return clone.starts_with(chain) ? "chain {/:Italic n} = " + clone.substr(chain.size()) : clone;
}

}  // namespace attica

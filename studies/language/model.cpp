#include "attica/studies/language/model.hpp"

#include <fmt/format.h>

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
  return result;
}

Table LanguageProblem::diagnostics() const {
  return {{"symbols", std::int64_t{symbols()}},
          {"units", text_.units},
          {"training_symbols", static_cast<std::int64_t>(text_.training.size())},
          {"held_out_symbols", static_cast<std::int64_t>(text_.held_out.size())}};
}

std::vector<std::string> LanguageProblem::warnings() const {
  std::vector<std::string> all;
  if (text_.bad_bytes > 0) {
    all.push_back(
        fmt::format("model.file: {} bytes are not UTF-8, read as spaces", text_.bad_bytes));
  }
  return all;
}

std::vector<Parameter> language_parameters(const List& orders) {
  Parameter file = file_parameter(
      "model.file", "a plain text, UTF-8; psalms.txt, 60 psalms in English, comes with attica");
  file.fallback = Value(std::string("psalms.txt"));
  return {
      file,
      kinds().parameter("model.symbols",
                        "letters",
                        "lower-case letters, and one space for all between words; or words"),
      integer_parameter("model.vocabulary",
                        64,
                        "most symbols that are kept: rarer letters are read as spaces, rarer "
                        "words as one",
                        {.low = 2, .high = 4096}),
      integer_parameter(
          "model.sites", 8, "symbols of a window, L, one of them hidden", {.low = 3, .high = 64}),
      integers_parameter("model.chain_orders",
                         orders,
                         "orders n of the clones that are Markov chains: interactions of n "
                         "neighbours",
                         {.low = 1, .high = 24})};
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

std::string chain_name(int order) { return fmt::format("chain-{}", order); }

std::vector<SeriesInfo> language_series(const std::vector<SeriesInfo>& own) {
  std::vector<SeriesInfo> all = {
      {"floor",
       "H_n",
       "entropy of a hidden symbol of the clone of order n: no loss on it is lower, nats"},
      {"plateau",
       "ε_n",
       "loss on the held-out text of predictions with interactions of n neighbours, nats"}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace attica

#include "attica/core/bigrams/instances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "attica/core/error.hpp"
#include "attica/core/text/words.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Scales the rows and columns of a positive matrix until both marginals are `law`.
MatrixXd sinkhorn_joint(MatrixXd matrix, const VectorXd& law) {
  constexpr double kTolerance = 1e-13;
  constexpr int kSweeps = 10000;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    matrix.array().colwise() *= law.array() / matrix.rowwise().sum().array();
    matrix.array().rowwise() *=
        (law.array() / matrix.colwise().sum().transpose().array()).transpose();
    if ((matrix.rowwise().sum() - law).cwiseAbs().maxCoeff() < kTolerance) break;
  }
  return matrix;
}

BigramChain chain_of_joint(const MatrixXd& joint, const VectorXd& law) {
  return {joint * law.cwiseInverse().asDiagonal(), law};
}

/// Frequencies proportional to U[1, contrast].
VectorXd random_law(Index tokens, double contrast, RandomStream& stream) {
  VectorXd law(tokens);
  for (double& m : law) m = 1 + (contrast - 1) * stream.uniform();
  return law / law.sum();
}

MatrixXd random_joint(const VectorXd& law, double spread, RandomStream& stream) {
  MatrixXd matrix(law.size(), law.size());
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = std::exp(spread * stream.normal());
  return sinkhorn_joint(std::move(matrix), law);
}

/// tr(P̂ᵀPΣ): overlap of the columns, centred with the first chain's law.
double signal(const BigramChain& chain, const BigramChain& other) {
  const VectorXd& mu = chain.stationary;
  return (chain.transition.colwise() - mu)
      .cwiseProduct(other.transition.colwise() - other.transition * mu)
      .colwise()
      .sum()
      .dot(mu.transpose());
}

std::vector<double> draw_weights(Index count, AttentionWeights kind, RandomStream& stream) {
  std::vector<double> weights(static_cast<std::size_t>(count), 1.0);
  double total = 0;
  for (double& w : weights) {
    if (kind == AttentionWeights::random) w = 1 + stream.uniform();
    total += w;
  }
  for (double& w : weights) w /= total;
  return weights;
}

void check_sizes(Index tokens, Index context, Index sparsity) {
  require(tokens >= 2, "tokens", static_cast<double>(tokens), "N >= 2");
  require(context >= 2, "context", static_cast<double>(context), "T >= 2");
  require(sparsity >= 1 && sparsity <= context,
          "sparsity",
          static_cast<double>(sparsity),
          fmt::format("1 <= Q <= context = {}", context));
}

}  // namespace

BigramChain circulant_chain(Index tokens, double diagonal) {
  require(tokens >= 2, "tokens", static_cast<double>(tokens), "N >= 2");
  require(diagonal >= 0 && diagonal <= 1, "p_diagonal", diagonal, "0 <= p_diagonal <= 1");
  const auto n = static_cast<double>(tokens);
  MatrixXd p = MatrixXd::Constant(tokens, tokens, (1 - diagonal) / (n - 1));
  p.diagonal().setConstant(diagonal);
  return {p, VectorXd::Constant(tokens, 1 / n)};
}

BigramChain cyclic_chain(Index tokens, double share, double contrast) {
  require(tokens >= 2, "tokens", static_cast<double>(tokens), "N >= 2");
  require(share > 0 && share < 1, "p_diagonal", share, "0 < p_diagonal < 1 in a cyclic law");
  require(contrast >= 1, "contrast", contrast, "contrast >= 1");
  VectorXd law = VectorXd::LinSpaced(tokens, 1, contrast);
  law /= law.sum();
  const double other = (1 - share) / static_cast<double>(tokens - 1);
  MatrixXd weights = MatrixXd::Constant(tokens, tokens, other);
  for (Index n = 0; n < tokens; ++n) weights((n + 1) % tokens, n) = share;
  const MatrixXd joint = sinkhorn_joint(std::move(weights), law);
  constexpr double kRounding = 1e-12;
  if ((joint.rowwise().sum() - law).cwiseAbs().maxCoeff() > kRounding) {
    throw invalid_parameter("p_diagonal",
                            share,
                            "a number farther from 0 and 1: the scaling of the cyclic law did not "
                            "end");
  }
  return chain_of_joint(joint, law);
}

BigramChain sinkhorn_chain(Index tokens, double spread, double contrast, RandomStream& stream) {
  require(tokens >= 2, "tokens", static_cast<double>(tokens), "N >= 2");
  require(spread > 0, "spread", spread, "spread > 0");
  require(contrast >= 1, "contrast", contrast, "contrast >= 1");
  const VectorXd law = random_law(tokens, contrast, stream);
  constexpr int kDraws = 100;
  constexpr double kSmallestShare = 0.2;
  for (int draw = 0; draw < kDraws; ++draw) {
    BigramChain chain = chain_of_joint(random_joint(law, spread, stream), law);
    if (signal(chain, chain) >= kSmallestShare * (1 - law.squaredNorm())) return chain;
  }
  throw invalid_parameter(
      "spread",
      spread,
      fmt::format(
          "a larger one, or fewer tokens: none of {} Sinkhorn laws of {} tokens had a fifth "
          "of the largest signal",
          kDraws,
          tokens));
}

BigramChain correlated_chain(const BigramChain& chain, double correlation, RandomStream& stream) {
  require(correlation <= 1, "correlation", correlation, "correlation <= 1");
  constexpr double kSpread = 2;
  constexpr int kDraws = 100;
  const VectorXd& law = chain.stationary;
  for (int draw = 0; draw < kDraws; ++draw) {
    const BigramChain partner = chain_of_joint(random_joint(law, kSpread, stream), law);
    const double own = chain_correlation(chain, partner);
    if (own > correlation) continue;
    // The correlation of the mixture is w + (1 - w) own.
    const double w = own < 1 ? (correlation - own) / (1 - own) : 1;
    return {w * chain.transition + (1 - w) * partner.transition, law};
  }
  throw invalid_parameter(
      "correlation", correlation, "a correlation that random laws with this mu can have");
}

BigramChain shifted_chain(const BigramChain& chain,
                          double correlation,
                          double contrast,
                          RandomStream& stream) {
  require(correlation <= 1, "correlation", correlation, "correlation <= 1");
  require(contrast >= 1, "source_contrast", contrast, "source_contrast >= 1");
  constexpr double kSpread = 2;
  constexpr int kDraws = 100;
  constexpr int kHalvings = 60;  // w to the last bit
  const MatrixXd joint = chain.transition * chain.stationary.asDiagonal();
  for (int draw = 0; draw < kDraws; ++draw) {
    const VectorXd law = random_law(chain.tokens(), contrast, stream);
    const MatrixXd partner = random_joint(law, kSpread, stream);
    const auto mixture = [&](double w) {
      return chain_of_joint(w * joint + (1 - w) * partner, w * chain.stationary + (1 - w) * law);
    };
    if (chain_correlation(chain, mixture(0)) > correlation) continue;
    double low = 0;
    double high = 1;  // a correlation of 1
    for (int k = 0; k < kHalvings; ++k) {
      const double middle = 0.5 * (low + high);
      (chain_correlation(chain, mixture(middle)) > correlation ? high : low) = middle;
    }
    return mixture(low);
  }
  throw invalid_parameter(
      "correlation", correlation, "a correlation that random laws with this mu can have");
}

BigramChain restricted_chain(const BigramChain& chain, Index tokens) {
  require(tokens >= 2 && tokens <= chain.tokens(),
          "source_tokens",
          static_cast<double>(tokens),
          fmt::format("2 <= source_tokens <= tokens = {}", chain.tokens()));
  if (tokens == chain.tokens()) return chain;
  VectorXd law = chain.stationary.head(tokens);
  law /= law.sum();
  const MatrixXd joint =
      sinkhorn_joint(chain.transition.topLeftCorner(tokens, tokens) * law.asDiagonal(), law);
  constexpr double kRounding = 1e-9;
  if (!((joint.rowwise().sum() - law).cwiseAbs().maxCoeff() < kRounding)) {
    throw invalid_parameter("source_tokens",
                            static_cast<double>(tokens),
                            "tokens that follow one another: no law on them alone has their "
                            "frequencies");
  }
  return chain_of_joint(joint, law);
}

MatrixXd embedded_value(const BigramChain& source,
                        const MatrixXd& value,
                        const VectorXd& stationary) {
  MatrixXd all = stationary.replicate(1, stationary.size());
  all.topLeftCorner(source.tokens(), source.tokens()) += value.colwise() - source.stationary;
  return all;
}

double chain_correlation(const BigramChain& chain, const BigramChain& other) {
  return signal(chain, other) / signal(chain, chain);
}

std::vector<SparseColumn> random_attention(
    Index tokens, Index context, Index sparsity, AttentionWeights weights, RandomStream& stream) {
  check_sizes(tokens, context, sparsity);
  std::vector<SparseColumn> columns(static_cast<std::size_t>(tokens));
  for (SparseColumn& column : columns) {
    // Floyd's sampling without replacement: one draw a position.
    for (Index last = context - sparsity; last < context; ++last) {
      const auto t = static_cast<Index>(stream.below(static_cast<std::uint64_t>(last + 1)));
      const auto place = std::lower_bound(column.positions.begin(), column.positions.end(), t);
      if (place != column.positions.end() && *place == t) {
        column.positions.push_back(last);
      } else {
        column.positions.insert(place, t);
      }
    }
    column.weights = draw_weights(sparsity, weights, stream);
  }
  return columns;
}

std::vector<SparseColumn> strided_attention(
    Index tokens, Index context, Index sparsity, AttentionWeights weights, RandomStream& stream) {
  check_sizes(tokens, context, sparsity);
  const Index stride = context / (tokens * sparsity);
  require(stride >= 1,
          "context",
          static_cast<double>(context),
          fmt::format("T >= tokens * sparsity = {} for strided support", tokens * sparsity));
  std::vector<SparseColumn> columns(static_cast<std::size_t>(tokens));
  for (Index k = 0; k < tokens; ++k) {
    SparseColumn& column = columns[static_cast<std::size_t>(k)];
    for (Index j = 0; j < sparsity; ++j) column.positions.push_back((k * sparsity + j) * stride);
    column.weights = draw_weights(sparsity, weights, stream);
  }
  return columns;
}

BigramStart perturbed_start(const BigramModel& model, double share, RandomStream& stream) {
  const VectorXd& mu = model.stationary();
  const auto normal = [&] { return stream.normal(); };
  const auto scaled = [&](MatrixXd deviation, double norm2) -> MatrixXd {
    return deviation * std::sqrt(norm2 / (deviation.colwise().squaredNorm() * mu).value());
  };
  MatrixXd value = MatrixXd::NullaryExpr(model.tokens(), model.tokens(), normal);
  value.colwise() -= (value * mu).eval();
  value.rowwise() -= value.colwise().mean().eval();
  MatrixXd attention = MatrixXd::NullaryExpr(model.context(), model.tokens(), normal);
  attention.rowwise() -= attention.colwise().mean().eval();
  return {stationary_value(model) + scaled(std::move(value), share * model.k_p()),
          uniform_attention(model) + scaled(std::move(attention), share * model.k_q())};
}

BigramFile read_bigram_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw invalid_parameter("file", path.string(), "a readable instance file");
  std::vector<double> mu;
  std::vector<std::vector<double>> rows;
  std::map<Index, SparseColumn> columns;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line = line.substr(0, line.find('#'));
    std::istringstream words(line);
    std::string keyword;
    if (!(words >> keyword)) continue;
    const auto bad = [&](const char* expected) {
      return invalid_parameter(fmt::format("{}:{}", path.string(), number), line, expected);
    };
    if (keyword == "Q") {
      Index token = 0;
      if (!(words >> token)) throw bad("Q, a token, then position:weight pairs");
      SparseColumn column;
      Index position = 0;
      char colon = 0;
      double weight = 0;
      while (words >> position >> colon >> weight && colon == ':') {
        column.positions.push_back(position);
        column.weights.push_back(weight);
      }
      if (!words.eof() || !columns.emplace(token, std::move(column)).second) {
        throw bad("Q, a token not given before, then position:weight pairs");
      }
      continue;
    }
    std::vector<double> numbers;
    double number_read = 0;
    while (words >> number_read) numbers.push_back(number_read);
    if (!words.eof() || numbers.empty()) throw bad("numbers after the keyword");
    if (keyword == "mu" && mu.empty()) {
      mu = std::move(numbers);
    } else if (keyword == "P") {
      rows.push_back(std::move(numbers));
    } else {
      throw bad("a line starting with mu (once), P or Q");
    }
  }
  BigramFile instance;
  instance.chain.stationary = Eigen::Map<const VectorXd>(mu.data(), static_cast<Index>(mu.size()));
  instance.chain.transition.resize(static_cast<Index>(rows.size()), static_cast<Index>(mu.size()));
  for (std::size_t m = 0; m < rows.size(); ++m) {
    if (rows[m].size() != mu.size()) {
      throw invalid_parameter("P",
                              fmt::format("row {} with {} numbers", m, rows[m].size()),
                              fmt::format("as many as mu has: {}", mu.size()));
    }
    for (std::size_t n = 0; n < mu.size(); ++n) {
      instance.chain.transition(static_cast<Index>(m), static_cast<Index>(n)) = rows[m][n];
    }
  }
  validate(instance.chain);
  if (columns.empty()) return instance;
  for (Index k = 0; k < instance.chain.tokens(); ++k) {
    const auto column = columns.find(k);
    if (column == columns.end() || columns.size() != mu.size()) {
      throw invalid_parameter(
          "Q", fmt::format("{} columns", columns.size()), "one for every token 0..N-1, or none");
    }
    instance.attention.push_back(std::move(column->second));
  }
  return instance;
}

TextChain text_chain(std::string_view text, TextUnit unit, Index tokens) {
  require(tokens >= 2, "tokens", static_cast<double>(tokens), "N >= 2");
  PlainText plain = checked_text(text);
  const bool words = unit == TextUnit::word;
  const std::vector<std::string> sequence =
      words ? words_of(plain.text, 1) : characters_of(lower_case(plain.text, Spelling::letters));
  std::map<std::string, std::size_t> counts;
  for (const std::string& symbol : sequence) ++counts[symbol];
  std::vector<std::pair<std::string, std::size_t>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  if (ranked.size() < 2) {
    throw invalid_parameter(
        "model.file", fmt::format("text with {} different symbols", ranked.size()), "at least 2");
  }
  const std::size_t n = std::min(static_cast<std::size_t>(tokens), ranked.size());
  const bool has_rest = ranked.size() > n;
  TextChain result;
  result.warnings = std::move(plain.warnings);
  if (words) {
    for (std::string& warning : spaceless_warning(plain.text)) {
      result.warnings.push_back(std::move(warning));
    }
  }
  std::map<std::string, Index> token_of;
  for (std::size_t k = 0; k < ranked.size(); ++k) {
    const bool own = k + 1 < n || (k + 1 == n && !has_rest);
    token_of[ranked[k].first] = static_cast<Index>(std::min(k, n - 1));
    if (own) result.symbols.push_back(ranked[k].first);
  }
  if (has_rest) result.symbols.emplace_back("*");
  MatrixXd joint = MatrixXd::Zero(static_cast<Index>(n), static_cast<Index>(n));
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    joint(token_of[sequence[(i + 1) % sequence.size()]], token_of[sequence[i]]) += 1;
  }
  joint /= static_cast<double>(sequence.size());
  result.chain = chain_of_joint(joint, joint.colwise().sum().transpose());
  return result;
}

}  // namespace attica

#pragma once
/// @file
/// @brief Instances of sparse contextual bigrams: bigram laws, attention patterns, correlated
/// pairs, files and texts.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/bigrams/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// @brief P_ii = p, the rest (1-p)/(N-1); uniform μ.
/// @param diagonal 0 <= p <= 1
BigramChain circulant_chain(Eigen::Index tokens, double diagonal);

/// @brief Nothing about it is symmetric: μ_i proportional to 1 + (contrast-1) i/(N-1), and P from
/// the weights `share` of the next token in the cycle 0, 1, .., N-1, 0 and (1-share)/(N-1) of each
/// other, rows and columns scaled (Sinkhorn 1964) so that μ is stationary exactly. For contrast 1
/// P has these weights themselves.
/// @param share 0 < share < 1
/// @param contrast >= 1, most over least frequent token
/// @throws Error (input, `p_diagonal`) if a share close to 0 or 1 leaves the scaling unfinished
BigramChain cyclic_chain(Eigen::Index tokens, double share, double contrast);

/// @brief μ_i proportional to U[1, contrast]; P from a matrix exp(spread·normal) whose rows and
/// columns are scaled to the joint law with both marginals μ (Sinkhorn 1964), so that μ is
/// stationary exactly. Redrawn until K_P >= 0.2 (1 - |μ|²).
/// @throws Error (input, `spread`) after 100 vain draws: of many tokens few laws have that signal
BigramChain sinkhorn_chain(Eigen::Index tokens,
                           double spread,
                           double contrast,
                           RandomStream& stream);

/// @brief A second chain with the same μ and a given correlation with the first: the joint laws
/// mix, Ĵ = wJ + (1-w)J' with an independent J' of the same marginals, and w is chosen so that the
/// correlation is realised exactly.
/// @param correlation at most 1; J' is redrawn until it lies no closer than that
/// @throws Error (input) if no such J' turns up in 100 draws
BigramChain correlated_chain(const BigramChain& chain, double correlation, RandomStream& stream);

/// @brief The same with a source of another stationary law: J' has a marginal of its own, with
/// entries proportional to U[1, contrast], and P̂ that of the mixture. The correlation that w
/// realises is that of the centred columns, tr(P̂ᵀPΣ)/K_P.
/// @param contrast >= 1
BigramChain shifted_chain(const BigramChain& chain,
                          double correlation,
                          double contrast,
                          RandomStream& stream);

/// @brief The law on the first tokens alone: their part of the joint law, rows and columns scaled
/// (Sinkhorn 1964) so that their own frequencies are stationary.
/// @param tokens 2 <= tokens <= N
/// @throws Error (input, `source_tokens`) if zeros of the law leave the scaling unfinished
BigramChain restricted_chain(const BigramChain& chain, Eigen::Index tokens);

/// @brief V of a law on the first tokens, put among N: of their columns what lies beyond their
/// frequencies, which are `stationary` but for a factor, and μ in all other columns. Columns sum to
/// 1, and Vμ = μ where the frequencies are those of μ.
Eigen::MatrixXd embedded_value(const BigramChain& source,
                               const Eigen::MatrixXd& value,
                               const Eigen::VectorXd& stationary);

/// @brief tr(P̂ᵀPΣ)/K_P, for a common stationary law (⟨P̂, P⟩_μ - |μ|²)/K_P: the correlation that a
/// correlated pair realises.
double chain_correlation(const BigramChain& chain, const BigramChain& other);

/// How attention weights are drawn.
enum class AttentionWeights { uniform, random };

/// @brief Per column Q distinct positions at random; weights 1/Q, or U[1,2] normalised.
std::vector<SparseColumn> random_attention(Eigen::Index tokens,
                                           Eigen::Index context,
                                           Eigen::Index sparsity,
                                           AttentionWeights weights,
                                           RandomStream& stream);

/// @brief Column k, slot j at position (kQ + j) floor(T/(NQ)); weights as above. Needs T >= NQ.
std::vector<SparseColumn> strided_attention(Eigen::Index tokens,
                                            Eigen::Index context,
                                            Eigen::Index sparsity,
                                            AttentionWeights weights,
                                            RandomStream& stream);

/// A start of V and A.
struct BigramStart {
  Eigen::MatrixXd value;      ///< @shape{N x N}
  Eigen::MatrixXd attention;  ///< @shape{T x N}
};

/// @brief The standard start with normal deviations that keep Vμ = μ, 1ᵀV = 1ᵀ and 1ᵀA = 1ᵀ, of
/// squared norms share K_P and share K_Q (μ-weighted).
/// @param share > 0
BigramStart perturbed_start(const BigramModel& model, double share, RandomStream& stream);

/// @brief What an instance file holds.
struct BigramFile {
  BigramChain chain;
  std::vector<SparseColumn> attention;  ///< empty if the file gives none
};

/// @brief Reads a text file with lines `mu μ_0 ...`, `P P_m0 P_m1 ...` (N of them, row m = next
/// token) and `Q k position:weight ...`; # starts a comment.
/// @throws Error of kind input naming file and line
BigramFile read_bigram_file(const std::filesystem::path& path);

enum class TextUnit { character, word };

/// @brief A chain estimated from a text, with the symbols its tokens stand for.
struct TextChain {
  BigramChain chain;
  std::vector<std::string> symbols;  ///< the last one stands for all rarer symbols, "*"
  std::vector<std::string> warnings;
};

/// @brief Bigram frequencies of a text read as a ring (the last symbol is followed by the first),
/// which makes the symbol frequencies its exact stationary law. Letters are in lower case; words
/// are those of words_of, characters are all code points, spaces and ends of lines among them.
/// @param text bytes of a file, see checked_text
/// @param tokens N: the N-1 most frequent symbols, and one for the rest; fewer if there are fewer
/// @throws Error (input, `model.file`) as checked_text, and for fewer than 2 different symbols
TextChain text_chain(std::string_view text, TextUnit unit, Eigen::Index tokens);

}  // namespace attica

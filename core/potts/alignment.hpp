#pragma once
/// @file
/// @brief Sequence alignments: reading them, and the weights of sequences that resemble each other.

#include <Eigen/Core>
#include <cstdint>
#include <filesystem>
#include <string>

#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// The gap, then the twenty amino acids.
inline constexpr std::string_view kAminoAcids = "-ACDEFGHIKLMNPQRSTVWY";

/// @brief Sequences of equal length, letters as colours.
struct Alignment {
  Sequences sequences;       ///< M x L, colour = place in the alphabet
  std::string alphabet;      ///< its first letter stands for gaps and unknown letters
  std::int64_t unknown = 0;  ///< letters that are not in the alphabet, read as gaps
  /// Letters of insertions in A2M or A3M, which are no sites and were left out.
  std::int64_t inserted = 0;

  Eigen::Index colours() const { return static_cast<Eigen::Index>(alphabet.size()); }
};

/// @brief Reads FASTA, A2M or A3M (a line that begins with '>' starts a sequence, which may go on
/// over several lines) or plain text with one sequence a line. Which of the last two it is shows in
/// the first line.
///
/// In A2M and A3M capitals and '-' are sites, lower case and '.' insertions relative to them: these
/// are left out. A file is read so if its name ends with .a2m or .a3m, or if its columns say so:
/// there are both kinds, and no column has both. Everywhere else lower case is read as upper case
/// unless the alphabet has it, and '.' is a gap. Other letters and '*' that are not in the alphabet
/// count as unknown. CRLF ends of lines and blank lines are allowed.
/// @throws Error (input) naming file and line: a character that is no letter, sequences of unequal
/// length (with the first one's), an empty sequence; or the file, if it is missing or has fewer
/// than 2 sequences; or `alphabet`, unless it has 2 to 64 different printable characters
Alignment read_alignment(const std::filesystem::path& path,
                         std::string_view alphabet = kAminoAcids);

/// @brief Weights w_m = 1 / (number of sequences, itself included, that equal sequence m at a share
/// >= `identity` of the sites): relatives count as one. Their sum is the effective number of
/// sequences.
///
/// Source: M. Ekeberg, C. Lovkvist, Y. Lan, M. Weigt, E. Aurell 2013 (arXiv:1211.1281).
/// @param identity in (0, 1]; 1: only equal sequences share a weight
Eigen::VectorXd sequence_weights(const Sequences& sequences, double identity);

/// Sequences of an alignment with their weights, relatives counted as one.
struct AlignedSample {
  WeightedSequences data = {};  ///< weights adding up to 1
  double effective = 0;         ///< sum of the weights before that: effective number of sequences
};

/// Sequences to train on and others to predict.
struct AlignmentSplit {
  AlignedSample training;
  AlignedSample held_out;  ///< without sequences if none are held out
};

/// @brief Splits at random; each part has weights of its own.
/// @param held_out number of sequences that are not trained on, below their total
/// @param identity as of sequence_weights
/// @throws Error (input) naming `held_out` or `identity`
AlignmentSplit split_alignment(const Sequences& sequences,
                               Eigen::Index held_out,
                               double identity,
                               RandomStream& stream);

}  // namespace attica

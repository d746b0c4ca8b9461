#pragma once
/// @file
/// @brief Sequence alignments: reading them, and the weights of sequences that resemble each other.

#include <Eigen/Core>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attica/core/potts/enumeration.hpp"
#include "attica/core/potts/model.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// The gap, then the twenty amino acids.
inline constexpr std::string_view kAminoAcids = "-ACDEFGHIKLMNPQRSTVWY";

/// @brief Sequences of equal length, letters as colours.
struct Alignment {
  Sequences sequences;       ///< M x L, colour = place in the alphabet
  std::string alphabet;      ///< its first letter stands for gaps, if it has one
  std::string format;        ///< "FASTA", "A2M or A3M", "Stockholm", "Clustal" or "plain"
  std::int64_t unknown = 0;  ///< letters that are not in the alphabet, read as gaps
  /// Letters of insertions in A2M or A3M, which are no sites and were left out.
  std::int64_t inserted = 0;
  std::int64_t annotations = 0;  ///< records left out: secondary structure, consensus
  std::vector<std::string> warnings;

  Eigen::Index colours() const { return static_cast<Eigen::Index>(alphabet.size()); }
};

/// @brief Reads FASTA, A2M, A3M, Stockholm, Clustal, or plain text with one sequence a line; which
/// of them it is shows in the first line. The file may be compressed (`plain_text`). Lines may end
/// with LF, CRLF or CR; blank lines are allowed.
///
/// FASTA, A2M and A3M: a line that begins with '>' starts a sequence, which may go on over several
/// lines. Lines that begin with '#' before the first one are skipped. A zero byte at the start or
/// at the end of a line ends the alignment. Stockholm and Clustal: blocks of names and letters;
/// annotation lines, conservation and counts are skipped.
///
/// In A2M and A3M capitals and '-' are sites, lower case and '.' insertions relative to them: these
/// are left out, whatever letter stands for gaps. A file is read so if its name ends with .a2m or
/// .a3m in any case (before .gz and the like, too), if its first line is that of HH-suite or
/// ColabFold, or (Stockholm and Clustal, too) if its columns say so: there are both kinds, and
/// no column has both. Everywhere else lower case is read as upper case unless the alphabet has
/// both.
///
/// Records that are named as annotation are left out, and a warning names them: cons, consensus,
/// ..._consensus, RF, PP, MM, and a feature with its origin, in any case and with a number or
/// without (ss_pred, ss_conf, sa_dssp, SS_cons, PP_cons, SS_cons_2).
///
/// '-', '.' and '~' are gaps, which the first letter of the alphabet stands for: an alphabet that
/// begins with a letter or a digit has none, and a file with gaps or unknown letters is refused.
/// Other letters, '*' and '?' that are not in the alphabet count as unknown and are read as gaps.
/// @throws Error (input) naming file and line: a character that is no letter, a gap or unknown
/// letter where the alphabet has no gap, sequences of unequal length (with the first one's), an
/// empty sequence, a second alignment, other formats (by name); or the file, if it is missing or
/// has fewer than 2 sequences; or `alphabet`, unless it has 2 to 64 different printable characters
Alignment read_alignment(const std::filesystem::path& path,
                         std::string_view alphabet = kAminoAcids);

/// @brief The alignment of a file's bytes.
/// @param path of that file, for messages and its ending
Alignment parse_alignment(std::string_view bytes,
                          const std::filesystem::path& path,
                          std::string_view alphabet = kAminoAcids);

/// @brief Weights w_m = 1 / (number of sequences, itself included, that equal sequence m at a share
/// >= `identity` of the sites): relatives count as one. Their sum is the effective number of
/// sequences.
///
/// Source: M. Ekeberg, C. Lovkvist, Y. Lan, M. Weigt, E. Aurell 2013 (arXiv:1211.1281).
/// @param identity in (0, 1]; 1: only equal sequences share a weight
Eigen::VectorXd sequence_weights(const Sequences& sequences, double identity);

/// Sequences that are linked by relatives.
struct RelativeGroups {
  std::vector<std::size_t> of;      ///< the group of every sequence, 0 .. G-1
  std::vector<Eigen::Index> sizes;  ///< of the groups
};

/// @brief Groups of sequences that are connected by chains of relatives, each sequence equal to the
/// next at a share >= `identity` of the sites.
/// @param identity as of sequence_weights
RelativeGroups relative_groups(const Sequences& sequences, double identity);

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

/// @brief Splits at random; each part has weights of its own. Relatives are in one part: whole
/// groups are held out, as many as fit into `held_out`, or the smallest one if none does.
/// @param groups   of these sequences; not looked at if nothing is held out
/// @param held_out number of sequences that are not trained on, below their total
/// @param identity as of sequence_weights
/// @throws Error (input) naming `held_out` (also where there is but one group) or `identity`
AlignmentSplit split_alignment(const Sequences& sequences,
                               const RelativeGroups& groups,
                               Eigen::Index held_out,
                               double identity,
                               RandomStream& stream);

}  // namespace attica

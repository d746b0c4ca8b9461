// Any bytes are either an alignment of colours below the alphabet's size, which reads the same when
// it is written as plain text, or an Error of kind input. The first byte chooses the alphabet and
// the name of the file.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "attica/core/error.hpp"
#include "attica/core/potts/alignment.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  if (size == 0) return 0;
  constexpr std::string_view kAlphabets[] = {kAminoAcids, "-ACGU", "ACGU", ".acgt", "-Aa.#01"};
  constexpr const char* kNames[] = {"file", "file.a3m"};
  const std::size_t choice = data[0] % (std::size(kAlphabets) * std::size(kNames));
  const std::string_view alphabet = kAlphabets[choice % std::size(kAlphabets)];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const Alignment alignment =
        parse_alignment(bytes, kNames[choice / std::size(kAlphabets)], alphabet);
    require_sequences(alignment.sequences, alignment.sequences.cols(), alignment.colours());
    if (alignment.sequences.rows() < 2) std::abort();
    std::string plain;
    for (Eigen::Index m = 0; m < alignment.sequences.rows(); ++m) {
      for (Eigen::Index j = 0; j < alignment.sequences.cols(); ++j) {
        plain += alphabet[alignment.sequences(m, j)];
      }
      plain += '\n';
    }
    // What letters spell at the start of a file may name a format or be a comment.
    if (plain[0] == '#' || plain.starts_with("CLUSTAL")) return 0;
    const Alignment reread = parse_alignment(plain, "plain", alphabet);
    if (reread.sequences != alignment.sequences || reread.unknown != 0) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}

#include "attica/core/potts/alignment.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "attica/core/error.hpp"

using namespace attica;
using Catch::Contains;

namespace potts_alignment_test {

std::string file_with(const std::string& text) {
  const std::string path = std::string(ATTICA_BINARY_DIR) + "/alignment_test.txt";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Alignment read(const std::string& text, std::string_view alphabet = kAminoAcids) {
  return read_alignment(file_with(text), alphabet);
}

TEST_CASE("read_alignment: the same sequences in every format", "[core]") {
  Sequences expected(2, 4);
  expected << 1, 2, 0, 20, 3, 3, 0, 0;
  CHECK(read("AC-Y\nDD--\n").sequences == expected);
  CHECK(read(">one\nAC-Y\n>two\nDD--\n").sequences == expected);
  CHECK(read(">one\nAC\n-Y\n\n>two\nD\nD-\n-").sequences == expected);  // over several lines
  CHECK(read("\xEF\xBB\xBF>one\r\nac.y\r\n>two\r\ndd..\r\n").sequences == expected);  // A2M, CRLF
  CHECK(read("AC-Y  \n\nDD--").sequences == expected);
}

TEST_CASE("read_alignment: alphabets and unknown letters", "[core]") {
  const Alignment a = read("ABX*\nACCC\n");
  CHECK(a.unknown == 3);
  CHECK(a.sequences(0, 1) == 0);
  CHECK(a.colours() == 21);
  const Alignment rna = read("acgu\nAC-U\n", "-ACGU");
  CHECK(rna.sequences(0, 3) == 4);
  CHECK(rna.unknown == 0);
  // An alphabet with both cases tells them apart; digits are letters if it has them.
  CHECK(read("aA1\n1aA\n", "-aA1").sequences(0, 1) == 2);
  CHECK_THROWS_WITH(read("AC\nAC\n", "AA"), Contains("'alphabet'"));
  CHECK_THROWS_WITH(read("AC\nAC\n", "A"), Contains("'alphabet'"));
}

TEST_CASE("read_alignment: malformed files name the line", "[core]") {
  CHECK_THROWS_WITH(read("ACDE\nACD\n"), Contains(":2: a sequence of 3 letters, expected 4"));
  CHECK_THROWS_WITH(read(">a\nAC\nDE\n>b\nACD\n"), Contains(":4: a sequence of 3 letters"));
  CHECK_THROWS_WITH(read(">a\n>b\nAC\n"), Contains(":1: an empty sequence"));
  CHECK_THROWS_WITH(read("AC\nA1\n"), Contains(":2: '1' at column 2"));
  CHECK_THROWS_WITH(read(std::string("AC\nA\0C\n", 7)), Contains(":2: byte 0 at column 2"));
  CHECK_THROWS_WITH(read("AC\n>x\nAC\n"), Contains(":2: '>'"));
  CHECK_THROWS_WITH(read(""), Contains("0 sequences, expected at least 2"));
  CHECK_THROWS_WITH(read("ACDE\n"), Contains("1 sequence, expected at least 2"));
  CHECK_THROWS_WITH(read_alignment("/nonexistent.fa"), Contains("cannot be read"));
  CHECK_THROWS_WITH(read_alignment("/"), Contains("cannot be read"));
}

TEST_CASE("sequence_weights: relatives share", "[core]") {
  const Alignment a = read("AAAAAAAAAA\nAAAAAAAACC\nAAAAAAACCC\nDDDDDDDDDD\n");
  // Equal sites: 8 (first and second), 7 (first and third), 9 (second and third).
  const Eigen::VectorXd at80 = sequence_weights(a.sequences, 0.8);
  CHECK(at80[0] == Approx(1.0 / 2));
  CHECK(at80[1] == Approx(1.0 / 3));
  CHECK(at80[2] == Approx(1.0 / 2));
  CHECK(at80[3] == 1);
  CHECK(sequence_weights(a.sequences, 1).sum() == 4);
  CHECK(sequence_weights(a.sequences, 0.7).sum() == Approx(2));
  CHECK_THROWS_WITH(sequence_weights(a.sequences, 0), Contains("'identity'"));
}

TEST_CASE("split_alignment: every sequence is in one part, with weights of its part", "[core]") {
  const Alignment a = read("AAAA\nCCCC\nDDDD\nEEEE\nEEEE\n");
  RandomStream stream({.seed = 3});
  const AlignmentSplit split = split_alignment(a.sequences, 2, 1, stream);
  REQUIRE(split.training.data.sequences.rows() == 3);
  REQUIRE(split.held_out.data.sequences.rows() == 2);
  CHECK(split.training.data.weights.sum() == Approx(1));
  CHECK(split.training.data.sequences.cast<int>().sum() +
            split.held_out.data.sequences.cast<int>().sum() ==
        a.sequences.cast<int>().sum());
  // The two equal sequences count as one where they are in the same part.
  CHECK((split.training.effective + split.held_out.effective == 5 ||
         split.training.effective + split.held_out.effective == 4));
  CHECK(split_alignment(a.sequences, 0, 1, stream).held_out.data.sequences.rows() == 0);
  CHECK(split_alignment(a.sequences, 0, 1, stream).training.effective == Approx(4));
  CHECK_THROWS_WITH(split_alignment(a.sequences, 5, 1, stream), Contains("'held_out'"));
}

TEST_CASE("read_alignment: insertions of A2M and A3M are no sites", "[core]") {
  Sequences expected(2, 4);
  expected << 1, 2, 0, 20, 3, 3, 0, 0;
  // Two columns of insertions: all lower case or '.', the others all capitals or '-'.
  const Alignment a2m = read(">one\nAC.y-Y\n>two\nDDk.--\n");
  CHECK(a2m.sequences == expected);
  CHECK(a2m.inserted == 4);
  CHECK(a2m.unknown == 0);
  // A file that says so by its name: no columns are needed, insertions may be unaligned.
  const std::string path = std::string(ATTICA_BINARY_DIR) + "/alignment_test.a3m";
  std::ofstream(path, std::ios::binary) << ">one\nACyy-Y\n>two\nDD--\n";
  CHECK(read_alignment(path).sequences == expected);
  // FASTA with soft-masked letters or '.' for gaps: a column has both kinds, every letter is a
  // site.
  CHECK(read(">one\nacGT\n>two\nACGT\n").sequences.cols() == 4);
  CHECK(read(">one\nAC.Y\n>two\nDDA-\n").sequences.cols() == 4);
  CHECK(read(">one\nAC.Y\n>two\nDDA-\n").inserted == 0);
  // An alphabet with lower case has no insertions.
  CHECK(read(">one\naA\n>two\naA\n", "-aA").sequences.cols() == 2);
  CHECK_THROWS_WITH(read(">one\nAc-\n>two\nAcd-\n"),
                    Contains("a sequence of 4 letters, expected 3"));
}

}  // namespace potts_alignment_test

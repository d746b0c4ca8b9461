#include "attica/core/potts/alignment.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "attica/core/error.hpp"

using namespace attica;
using Catch::Contains;

namespace potts_alignment_test {

std::string file_with(const std::string& text, const std::string& ending = ".txt") {
  const std::string path = std::string(ATTICA_BINARY_DIR) + "/alignment_test" + ending;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// The split of a fresh stream.
AlignmentSplit split(const Sequences& sequences,
                     Eigen::Index held_out,
                     double identity,
                     std::uint64_t seed = 3) {
  RandomStream stream({.seed = seed});
  return split_alignment(
      sequences, relative_groups(sequences, identity), held_out, identity, stream);
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

TEST_CASE("read_alignment: T of DNA is U of RNA", "[core]") {
  const Alignment rna = read(">a\nACGT\n>b\nACt-\n", "-ACGU");
  CHECK(rna.unknown == 0);
  CHECK(rna.sequences(0, 3) == 4);
  CHECK(rna.sequences(1, 2) == 4);
  REQUIRE(rna.warnings.size() == 1);
  CHECK(rna.warnings[0] == "2 letters T were read as U");
  CHECK(read("ACGU\nACGT\n", "-ACGT").sequences(0, 3) == 4);
  CHECK(read("ACGT\nACGT\n", "-ACGT").warnings.empty());
  CHECK(read("ACGU\nACGT\n", "-ACGTU").sequences(0, 3) == 5);  // both: letters of their own
  CHECK(read("ACGU\nACGT\n").unknown == 1);                    // selenocysteine
}

TEST_CASE("read_alignment: what is near a format that is read says what to type", "[core]") {
  const std::string named = "A_1/1-4 AC-Y\nB_2/1-4 DD--\n";
  CHECK_THROWS_WITH(read(named),
                    Contains(":1: '_' at column 2") && Contains("echo 'CLUSTAL'; cat"));
  CHECK(read("CLUSTAL\n" + named).sequences(0, 3) == 20);  // what that writes
  CHECK_THROWS_WITH(read(named + "//\n"), Contains("(echo '# STOCKHOLM 1.0'; cat"));
  CHECK(read("# STOCKHOLM 1.0\n" + named + "//\n").sequences(0, 3) == 20);
  CHECK_THROWS_WITH(read(">a\n1 AC -Y 4\n>b\nDD--\n"), Contains("sed '/^>/!s/[0-9 ]//g'"));
  CHECK_THROWS_WITH(read(";note\n>a\nAC\n>b\nDD\n"), Contains("sed '/^;/d'"));
  CHECK_THROWS_WITH(read("HHsearch 1.5\nNAME d1a\n"), Contains("(.hhm)") && Contains("-oa3m"));
  CHECK_THROWS_WITH(read("##maf version=1\na score=1\n"), Contains("MAF"));
  CHECK_THROWS_WITH(read("#FormatVersion Mauve1\n> 1:1-4\nACGT\n"), Contains("XMFA"));
  CHECK_THROWS_WITH(read("LOCUS       SCU49845     5028 bp\n"), Contains("GenBank"));
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
  const Alignment a = read("AAAA\nCCCC\nDDDD\nEEEE\nFFFF\n");
  const AlignmentSplit two = split(a.sequences, 2, 1);
  REQUIRE(two.training.data.sequences.rows() == 3);
  REQUIRE(two.held_out.data.sequences.rows() == 2);
  CHECK(two.training.data.weights.sum() == Approx(1));
  CHECK(two.training.data.sequences.cast<int>().sum() +
            two.held_out.data.sequences.cast<int>().sum() ==
        a.sequences.cast<int>().sum());
  CHECK(two.training.effective == Approx(3));
  CHECK(split(a.sequences, 0, 1).held_out.data.sequences.rows() == 0);
  CHECK(split(a.sequences, 0, 1).training.effective == Approx(5));
  CHECK_THROWS_WITH(split(a.sequences, 5, 1), Contains("'held_out'"));
  CHECK_THROWS_WITH(split(a.sequences, 2, 2), Contains("'identity'"));
}

TEST_CASE("split_alignment: relatives are on one side", "[core]") {
  // Twenty sequences of random letters, three times each, with one letter changed.
  RandomStream letters({.seed = 1});
  Sequences sequences(60, 12);
  for (Eigen::Index m = 0; m < 20; ++m) {
    for (Eigen::Index j = 0; j < 12; ++j) {
      const auto letter = static_cast<std::uint8_t>(letters.below(21));
      for (const Eigen::Index copy : {m, m + 20, m + 40}) sequences(copy, j) = letter;
    }
    sequences(m + 20, 3) = static_cast<std::uint8_t>((sequences(m, 3) + 1) % 21);
  }
  CHECK(relative_groups(sequences, 0.8).sizes == std::vector<Eigen::Index>(20, 3));
  CHECK(relative_groups(sequences, 1).sizes.size() == 40);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const AlignmentSplit parts = split(sequences, 10, 0.8, seed);
    const Sequences& held_out = parts.held_out.data.sequences;
    const Sequences& training = parts.training.data.sequences;
    REQUIRE(held_out.rows() == 9);  // whole groups that fit into 10
    for (Eigen::Index m = 0; m < held_out.rows(); ++m) {
      for (Eigen::Index n = 0; n < training.rows(); ++n) {
        CHECK((held_out.row(m).array() == training.row(n).array()).count() < 10);
      }
    }
  }
  // None fits: the smallest group. Chains of relatives are a group.
  CHECK(split(sequences, 1, 0.8).held_out.data.sequences.rows() == 3);
  const Alignment chain = read("AAAAAAAAAA\nAAAAAAAACC\nAAAAAACCCC\nDDDDDDDDDD\n");
  CHECK(relative_groups(chain.sequences, 0.8).sizes == std::vector<Eigen::Index>{3, 1});
  CHECK_THROWS_WITH(split(read("AAAA\nAAAA\n").sequences, 1, 0.8), Contains("relatives"));
  CHECK(split(read("AAAA\nAAAA\n").sequences, 0, 0.8).training.effective == Approx(1));
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
  // Capitals or not, names that say so.
  std::filesystem::copy_file(path,
                             std::string(ATTICA_BINARY_DIR) + "/alignment_test.A3M",
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(read_alignment(std::string(ATTICA_BINARY_DIR) + "/alignment_test.A3M").sequences ==
        expected);
  // Whatever stands for gaps.
  const std::string rna = file_with(">a\nAC..U-\n>b\nACg.UA\n", ".a2m");
  for (const char* alphabet : {"-ACGU", ".ACGU", "~ACGU"}) {
    CHECK(read_alignment(rna, alphabet).sequences.cols() == 4);
    CHECK(read_alignment(file_with(">a\nACU-\n>b\nACgUA\n", ".a3m"), alphabet).inserted == 1);
  }
  CHECK_THROWS_WITH(read_alignment(rna, "-ACGUacgu"), Contains("'alphabet'") && Contains(".fa"));
  // An alphabet of lower case alone reads capitals, too.
  CHECK(read("AC\nca\n", "-ac").sequences == read("ac\nca\n", "-ac").sequences);
  CHECK(read("AC\nca\n", "-ac").unknown == 0);
  // An alphabet with lower case has no insertions.
  CHECK(read(">one\naA\n>two\naA\n", "-aA").sequences.cols() == 2);
  CHECK_THROWS_WITH(read(">one\nAc-\n>two\nAcd-\n"),
                    Contains("a sequence of 4 letters, expected 3"));
}

TEST_CASE("read_alignment: lines and zero bytes of A3M files", "[core]") {
  using namespace std::string_literals;
  const Sequences plain = read("ACD\nAC-\n").sequences;
  for (const std::string& head : {"#A3M#\n"s, "#3\t1\n"s, "#3,4\t1,1\n"s, "# a comment\n\n"s}) {
    for (const std::string& end : {""s, "\n"s, "\n\0"s, "\0"s, "\0\n"s, "\n\0\n\0\n"s}) {
      CHECK(read(head + ">q\nACD\n>h\nAC-" + end).sequences == plain);
    }
  }
  // Both heads say that lower case is an insertion.
  CHECK(read("#A3M#\n>q\nACD\n>h\nACkk-\n").sequences == plain);
  CHECK(read("#3\t1\n>q\nACD\n>h\nACkk-\n").sequences == plain);
  CHECK_THROWS_WITH(read("# text\n>q\nACD\n>h\nACkk-\n"),
                    Contains(":4: ") && Contains("name it .a3m"));
  CHECK_THROWS_WITH(read(">q\nACD\n>h\nAC-\n\0>q\nACD\n"s),
                    Contains(":5: a second alignment") && Contains("head -n 4"));
  CHECK_THROWS_WITH(read(">q\nACD\n>h\nAC-\n\0#3\t1\n>q\nACD\n"s), Contains("second alignment"));
  CHECK_THROWS_WITH(read(">q\nACD\n>h\nA\0C\n"s), Contains(":4: byte 0 at column 2"));
}

TEST_CASE("read_alignment: records of annotation are left out", "[core]") {
  const std::string sequences = ">q\nACDE\n>h ss_pred\nAC-E\n>my_consensus_binder\nACDC\n";
  const Alignment plain = read(sequences);
  CHECK(plain.sequences.rows() == 3);
  CHECK(plain.annotations == 0);
  for (const std::string ending : {".a3m", ".fa"}) {
    const Alignment a = read_alignment(
        file_with(">ss_pred PSIPRED\nCHHE\n>ss_conf PSIPRED\n9876\n>ss_dssp\n-TGS\n>sa_dssp\nABCD\n"
                  ">Consensus\nACDE\n>cons\nxxxx\n>UniRef_1_consensus length\nACDE\n" +
                      sequences,
                  ending));
    CHECK(a.sequences == plain.sequences);
    CHECK(a.annotations == 7);
  }
  // A feature and its origin, in any case, with a number behind or without; names that only begin
  // so are sequences.
  for (const std::string feature : {"ss", "SS", "sa", "aa", "PP", "TM", "RF", "li", "sAS", "pAS"}) {
    for (const std::string origin : {"cons", "pred", "CONF", "dssp", "stride"}) {
      for (const std::string end : {"", "_2", "2", "-10", ".1"}) {
        const std::string name = feature + "_" + origin + end;
        INFO(name);
        const Alignment fasta = read(">" + name + "\nCHHE\n" + sequences);
        CHECK(fasta.sequences == plain.sequences);
        REQUIRE(fasta.warnings.size() == 1);
        CHECK(fasta.warnings[0] == "1 record left out as annotation by its name: " + name);
        CHECK(read("CLUSTAL W\n\n" + name + " CCCCC\na ACDEF\nb AC--F\n").sequences ==
              read("ACDEF\nAC--F\n").sequences);
      }
    }
  }
  CHECK(read(">RF\nxxxx\n>#=GC SS_cons\nCHHE\n" + sequences).sequences == plain.sequences);
  for (const std::string name : {"SA_001", "SS_2", "AA_prediction_7", "TM_conserved", "RF00005"}) {
    INFO(name);
    CHECK(read(">" + name + "\nACDE\n" + sequences).sequences.rows() == 4);
  }
  CHECK_THROWS_WITH(read(">q\nAC\n>cons\nAC\n"), Contains("1 sequence and 1 records of annot"));
}

TEST_CASE("read_alignment: Stockholm and Clustal", "[core]") {
  const Sequences plain = read("ACDEF\nAC--F\n").sequences;
  CHECK(read("# STOCKHOLM 1.0\n#=GF ID x\n#=GS a/1-5 AC P1\na/1-5  ACDEF\n#=GR a/1-5 SS CCHHC\n"
             "b/1-3  AC..F\n#=GC SS_cons CCHHC\n//\n")
            .sequences == plain);
  const Alignment interleaved =
      read("# STOCKHOLM 1.0\r\n\r\na ACD\r\nb AC-\r\n#=GC RF xxx\r\n\r\na EF\r\nb -F\r\n//\r\n");
  CHECK(interleaved.sequences == plain);
  CHECK(interleaved.format == "Stockholm");
  CHECK(interleaved.warnings.empty());
  CHECK(read("# STOCKHOLM 1.0\n\na ACDEF\n\nb AC--F\n//\n").sequences == plain);
  CHECK(read("# STOCKHOLM 1.0\na ACDEF\nb AC--F\n").warnings.size() == 1);  // cut short?
  // As HMMER writes it: columns of insertions.
  const Alignment hmmer = read("# STOCKHOLM 1.0\na ACDkEF\nb AC-.-F\n#=GC RF xxx.xx\n//\n");
  CHECK(hmmer.sequences == plain);
  CHECK(hmmer.inserted == 2);
  CHECK_THROWS_WITH(read("# STOCKHOLM 1.0\na AC\nb AC\n//\n# STOCKHOLM 1.0\na AC\n//\n"),
                    Contains(":5: a second alignment"));
  CHECK_THROWS_WITH(read("# STOCKHOLM 1.0\na AC\nb AC\n\na DE\n//\n"),
                    Contains(":3: a sequence of 2 letters, expected 4"));
  CHECK_THROWS_WITH(read("# STOCKHOLM 1.0\na AC\na AC\n\nb AC\na DE\n//\n"),
                    Contains("is not where it was"));
  CHECK_THROWS_WITH(read("# STOCKHOLM 1.0\na AC DE\n//\n"), Contains(":2: 3 fields"));
  // Blocks without a blank line between them are no sequences of their own.
  for (const char* joined : {"# STOCKHOLM 1.0\na AC\nb AC\na DE\nb -F\n//\n",
                             "# STOCKHOLM 1.0\na AC\nb AC\n#=GC RF xx\na DE\nb -F\na FF\n//\n",
                             "CLUSTAL W\n\na AC\nb AC\n  *\na DE\nb -F\n"}) {
    INFO(joined);
    CHECK_THROWS_WITH(read(joined), Contains("'a' again, as the first of 2 sequences"));
  }
  CHECK(read("CLUSTAL W\n\na AC\nb AC\na DE\n").sequences.rows() == 3);  // names that were cut

  const Alignment clustal = read(
      "CLUSTAL O(1.2.4) multiple sequence alignment\n\n\n"
      "one     ACD 3\ntwo     AC- 2\n        **. \n\none     EF 5\ntwo     -F 3\n         *\n");
  CHECK(clustal.sequences == plain);
  CHECK(clustal.format == "Clustal");
  CHECK(read("MUSCLE (3.8) multiple sequence alignment\n\na ACDEF\na AC--F\n").sequences == plain);
  CHECK(read("T-COFFEE, Version_13.45 [http://x] SCORE=9\n\na ACDEF\nb AC--F\n").sequences ==
        plain);
  CHECK(read("CLUSTAL W\n\nss_pred CCCCC\na ACDEF\nb AC--F\n").sequences == plain);
  CHECK_THROWS_WITH(read("CLUSTAL W\n\na ACD1F\nb AC--F\n"), Contains(":3: '1' at column 6"));
  // A sequence may begin so.
  CHECK(read("CLASTAL\nCLASTA-\n").sequences.cols() == 7);
}

TEST_CASE("read_alignment: other formats are refused by name", "[core]") {
  using namespace std::string_literals;
  const auto refused = [](const std::string& text, const std::string& name) {
    CHECK_THROWS_WITH(read(text), Contains("a " + name + " file, expected FASTA"));
  };
  refused(" 2 5\none ACDEF\ntwo ACDEF\n", "PHYLIP");
  refused("#NEXUS\nbegin data;\n", "NEXUS");
  refused("!!AA_MULTIPLE_ALIGNMENT 1.0\n", "MSF");
  refused("PileUp\n\n MSF: 5 Type: P\n", "MSF");
  refused(">P1;CRAB_ANAPL\nALPHA CRYSTALLIN\nACDEF*\n", "PIR");
  refused("HMMER3/f [3.3]\n", "HMMER profile");
  refused("Query         sp|P1\n", "search-result (.hhr, BLAST)");
  CHECK_THROWS_WITH(read("\x1F\x8B\x08\x08"), Contains("gzip"));
  CHECK_THROWS_WITH(read("\xFF\xFE>\0a\0"s), Contains("UTF-16, expected FASTA"));
  CHECK_THROWS_WITH(read(">\0a\0\n\0A\0C\0"s), Contains("UTF-16"));
}

TEST_CASE("read_alignment: warns of letters that may mean something else", "[core]") {
  const auto warnings = [](const std::string& text, std::string_view alphabet) {
    return read(text, alphabet).warnings;
  };
  std::string dna;
  for (int k = 0; k < 10; ++k) dna += ">s\nACGTACGT-N\n";
  REQUIRE(warnings(dna, kAminoAcids).size() == 1);
  CHECK_THAT(warnings(dna, kAminoAcids)[0], Contains("nucleotides") && Contains("-ACGT"));
  CHECK(warnings(dna + ">p\nACGTWCGT-N\n", kAminoAcids).empty());
  // Dots that stand for the letter of the first sequence, as MEGA writes them.
  const std::string dots = ">a\nACDE-F\n>b\n..W.-.\n>c\nACD..W\n";
  REQUIRE(warnings(dots, kAminoAcids).size() == 1);
  CHECK_THAT(warnings(dots, kAminoAcids)[0], Contains("write the letters out"));
  CHECK(warnings(">a\nACDE.F\n>b\nAC.E-F\n", kAminoAcids).empty());
  CHECK(warnings(">a\nACDEF\n>b\nAC..F\n", kAminoAcids).empty());
}

TEST_CASE("read_alignment: the end marks of all sequences are no site", "[core]") {
  const Alignment ended = read(">a\nAC-Y*\n>b\nDD--*\n");
  CHECK(ended.sequences == read(">a\nAC-Y\n>b\nDD--\n").sequences);
  REQUIRE(ended.warnings.size() == 1);
  CHECK_THAT(ended.warnings[0], Contains("end of every sequence"));
  CHECK(read(">a\nAC-*\n>b\nDD--\n").sequences.cols() == 4);
  CHECK(read("AC*\nCA*\n", "-AC*").sequences.cols() == 3);
}

TEST_CASE("read_alignment: an alphabet without a gap reads none", "[core]") {
  const std::string gaps = ">a\nACGU\n>b\nA-GU\n";
  CHECK_THROWS_WITH(read(gaps, "ACGU"),
                    Contains(":3: '-' at site 2, but the alphabet \"ACGU\" has no gap: begin it "
                             "with '-'"));
  for (const char* letter : {".", "~", "N", "*", "?"}) {
    CHECK_THROWS_WITH(read(">a\nACGU\n>b\nA" + std::string(letter) + "GU\n", "ACGU"),
                      Contains("has no gap"));
  }
  CHECK(read(gaps, "-ACGU").sequences(1, 1) == 0);
  CHECK(read(">a\nACGU\n>b\nAUGU\n", "ACGU").sequences(1, 1) == 3);
  CHECK(read("0110\n1001\n", "01").sequences(1, 0) == 1);
  // The padding of A2M is no gap.
  CHECK(read(">a\nAC..G\n>b\nACggG\n", "ACG").sequences.cols() == 3);
  const Alignment unknown = read("ABX*\nACCC\n");
  REQUIRE(unknown.warnings.size() == 1);
  CHECK_THAT(unknown.warnings[0], Contains("3 letters") && Contains("*BX"));
}

}  // namespace potts_alignment_test

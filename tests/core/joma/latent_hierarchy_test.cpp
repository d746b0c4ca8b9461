/// Hierarchies of subsets and vocabularies: reference sequences, counts, refused input.

#include "attica/core/joma/latent_hierarchy.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "attica/core/error.hpp"
#include "attica/core/joma/latent_tree.hpp"
#include "attica/core/text/corpus.hpp"
#include "core/joma/reference.hpp"

using namespace attica;
using Catch::Matchers::Contains;

TEST_CASE("LatentHierarchy: reference sequences", "[core][tree]") {
  const auto row = testing::reference_values("joma")["transformer_metrics"]["hierarchy"];
  const LatentHierarchy hierarchy({.tokens = row["M"], .length = row["L"]},
                                  row["combos"].get<std::vector<std::vector<std::vector<int>>>>());
  for (const auto s : row["sequences"]) {
    const auto& mine = hierarchy.sequences()[s["label"].get<std::size_t>()];
    CHECK(mine.tokens == s["sequence"].get<std::vector<std::int32_t>>());
    CHECK(mine.active[0] == s["active_level0"].get<std::vector<int>>());
    CHECK(mine.active[1] == s["active_level1"].get<std::vector<int>>());
  }
}

TEST_CASE("LatentHierarchy: drawn subsets, and impossible ones refused", "[core][tree]") {
  RandomStream stream({.seed = 3, .id = StreamId::model});
  const LatentHierarchy hierarchy({}, stream);
  std::set<std::vector<std::int32_t>> distinct;
  for (const auto& s : hierarchy.sequences()) {
    CHECK(s.tokens.size() == 30);
    CHECK(s.active[1].size() == 2);
    CHECK(s.active[0].size() <= 4);
    distinct.insert(s.tokens);
  }
  CHECK(distinct.size() > 15);  // classes may share all their tokens, but few do
  const auto draw = [&](const HierarchySizes& sizes) { LatentHierarchy h(sizes, stream); };
  CHECK_THROWS_WITH(draw({.units = {3, 20}}), Contains("distinct subsets"));
  CHECK_THROWS_WITH(draw({.units = {10, 20}, .children = 11}), Contains("children"));
  CHECK_THROWS_WITH(draw({.length = 2}), Contains("length"));
}

TEST_CASE("LatentTree: heights of common ancestors", "[core][tree]") {
  const LatentTree tree = bit_tree(3, 4, 0.9, 0.1, 0.9);
  CHECK(tree.leaves() == 8);
  CHECK(tree.ancestor_height(2, 2) == 0);
  CHECK(tree.ancestor_height(2, 3) == 1);
  CHECK(tree.ancestor_height(0, 3) == 2);
  CHECK(tree.ancestor_height(3, 4) == 3);
  CHECK(tree.root_child(1, 2) == 0.9);
  CHECK(tree.root_child(0, 2) == 0.1);
}

TEST_CASE("read_words: frequent words by rank, the rest unknown", "[core][text]") {
  const VocabularyText text = read_words("The cat, the dog -- THE bird's 42 cat.", 4);
  CHECK(text.words == std::vector<std::string>{"<unk>", "the", "cat", "bird's"});
  CHECK(text.tokens == std::vector<std::int32_t>{1, 2, 1, 0, 1, 3, 2});
  CHECK(read_words("a b", 100).words.size() == 3);
  CHECK_THROWS_WITH(read_words("12 34", 10), Contains("model.file"));
  CHECK_THROWS_WITH(read_words("a b c", 1), Contains("model.tokens"));
  CHECK_THROWS_WITH(read_words("word word Word", 10), Contains("two different words"));
  CHECK_THROWS_WITH(read_words(std::string_view("a\0b\0", 4), 10), Contains("UTF-16"));
  // A byte order mark and line ends of Windows only separate.
  const VocabularyText mixed = read_words("\xEF\xBB\xBFone\r\ntwo one", 10);
  CHECK(mixed.words == std::vector<std::string>{"<unk>", "one", "two"});
  CHECK_THROWS_WITH(read_words("two \xFFone", 10), Contains("line 1, column 5 is not UTF-8"));
  CHECK(read_words("Λόγος λόγος και", 10).words[1] == "λόγος");
}

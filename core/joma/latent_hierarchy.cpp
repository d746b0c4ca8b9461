#include "attica/core/joma/latent_hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "attica/core/error.hpp"

namespace attica {
namespace {

/// `count` distinct subsets of `size` of the numbers 0..from-1, each ascending; `parameter` is that
/// of the count.
std::vector<std::vector<int>> draw_subsets(
    const char* parameter, int count, int size, int from, RandomStream& stream) {
  require(size >= 1 && size <= from,
          "model.children",
          size,
          "1 <= children <= the number of units below");
  double subsets = 1;
  for (int i = 0; i < size; ++i) subsets *= static_cast<double>(from - i) / (i + 1);
  require(count >= 1 && count <= std::round(subsets),
          parameter,
          count,
          "no more latents or classes than there are distinct subsets below");
  std::set<std::vector<int>> seen;
  std::vector<std::vector<int>> drawn;
  while (drawn.size() < static_cast<std::size_t>(count)) {
    std::set<int> subset;
    while (subset.size() < static_cast<std::size_t>(size)) {
      subset.insert(static_cast<int>(stream.below(static_cast<std::uint64_t>(from))));
    }
    std::vector<int> sorted(subset.begin(), subset.end());
    if (seen.insert(sorted).second) drawn.push_back(std::move(sorted));
  }
  return drawn;
}

std::vector<std::vector<std::vector<int>>> draw_all(const HierarchySizes& sizes,
                                                    RandomStream& stream) {
  std::vector<std::vector<std::vector<int>>> subsets;
  int below = sizes.tokens - 1;
  for (const int units : sizes.units) {
    subsets.push_back(draw_subsets("model.units", units, sizes.children, below, stream));
    below = units;
  }
  subsets.push_back(draw_subsets("model.classes", sizes.classes, sizes.children, below, stream));
  return subsets;
}

}  // namespace

LatentHierarchy::LatentHierarchy(HierarchySizes sizes,
                                 std::vector<std::vector<std::vector<int>>> subsets)
    : sizes_(std::move(sizes)) {
  for (const std::vector<int>& top : subsets.back()) {
    std::set<int> active(top.begin(), top.end());
    HierarchySequence sequence;
    for (std::size_t level = subsets.size() - 1; level-- > 0;) {
      sequence.active.insert(sequence.active.begin(), {active.begin(), active.end()});
      std::set<int> below;
      for (const int unit : active) {
        const std::vector<int>& children = subsets[level][static_cast<std::size_t>(unit)];
        below.insert(children.begin(), children.end());
      }
      active = std::move(below);
    }
    require(active.size() <= static_cast<std::size_t>(sizes_.length),
            "model.length",
            sizes_.length,
            "at least as long as the largest set of tokens of a class");
    sequence.tokens.assign(static_cast<std::size_t>(sizes_.length) - active.size(),
                           sizes_.tokens - 1);
    sequence.tokens.insert(sequence.tokens.end(), active.begin(), active.end());
    sequences_.push_back(std::move(sequence));
  }
}

LatentHierarchy::LatentHierarchy(const HierarchySizes& sizes, RandomStream& stream)
    : LatentHierarchy(sizes, draw_all(sizes, stream)) {}

}  // namespace attica

#include "attica/sim/networks/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"

namespace attica::networks {
namespace {

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern == "*" || name == pattern) return true;
  while (true) {
    const std::size_t dot = name.find('.');
    if (name.substr(0, dot) == pattern) return true;
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot + 1);
  }
}

std::string names(const std::vector<Block>& blocks) {
  std::string list;
  for (const Block& block : blocks) list += (list.empty() ? "" : ", ") + block.name;
  return list;
}

}  // namespace

template <class T>
Parameters<T>::Parameters(std::vector<Block> blocks) : blocks_(std::move(blocks)) {
  Index offset = 0;
  for (Block& block : blocks_) {
    block.offset = offset;
    offset += block.size();
  }
  values_ = Eigen::Array<T, Eigen::Dynamic, 1>::Zero(offset);
}

template <class T>
const Block& Parameters<T>::block(std::string_view name) const {
  const auto found = std::ranges::find(blocks_, name, &Block::name);
  if (found == blocks_.end()) {
    throw invalid_parameter("block", name, fmt::format("one of {}", names(blocks_)));
  }
  return *found;
}

template <class T>
std::vector<const Block*> Parameters<T>::matching(std::string_view pattern) const {
  std::vector<const Block*> found;
  for (const Block& block : blocks_) {
    if (matches(block.name, pattern)) found.push_back(&block);
  }
  if (found.empty()) {
    throw invalid_parameter(
        "block", pattern, fmt::format("'*' or a component of {}", names(blocks_)));
  }
  return found;
}

template <class T>
void Parameters<T>::configure(std::string_view pattern, const std::function<void(Block&)>& edit) {
  for (const Block* block : matching(pattern)) {
    edit(blocks_[static_cast<std::size_t>(block - blocks_.data())]);
  }
}

template <class T>
void Parameters<T>::initialise(std::string_view pattern,
                               const InitialValues& rule,
                               const StreamAddress& address) {
  using Law = InitialValues::Law;
  require(std::isfinite(rule.scale), "scale", rule.scale, "a finite initial scale");
  for (const Block* match : matching(pattern)) {
    const Block& block = *match;
    StreamAddress own = address;
    own.step = static_cast<std::uint64_t>(&block - blocks_.data());
    RandomStream stream(own);
    const double scale =
        rule.per_input ? rule.scale / std::sqrt(static_cast<double>(block.columns)) : rule.scale;
    T* out = values_.data() + block.offset;
    for (Index i = 0; i < block.size(); ++i) {
      double value = 0;
      switch (rule.law) {
        case Law::constant:
          value = scale;
          break;
        case Law::normal:
          value = scale * stream.normal();
          break;
        case Law::uniform:
          value = scale * (2 * stream.uniform() - 1);
          break;
        case Law::positive:
          value = scale * stream.uniform();
          break;
        case Law::identity:
          value = i / block.columns == i % block.columns ? scale : 0;
          break;
      }
      out[i] = static_cast<T>(value);
    }
  }
}

template class Parameters<float>;
template class Parameters<double>;

}  // namespace attica::networks

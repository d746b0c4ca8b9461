#pragma once
/// @file
/// @brief Trained numbers as one flat array with named blocks, so that optimisers, clipping and
/// checkpoints are loops over flat arrays while parts can be frozen, initialised and given learning
/// rates one by one.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/random.hpp"
#include "attica/sim/networks/matrix_view.hpp"

namespace attica::networks {

/// @brief A matrix (or, with one column, a vector) inside the flat array, stored by rows.
struct Block {
  std::string name;  ///< components separated by dots, e.g. "layer0.W_Q"
  Index rows = 0;
  Index columns = 1;
  Index offset = 0;     ///< of its first number
  bool frozen = false;  ///< not updated; its gradient need not be computed
  double learning_rate_factor = 1;
  double decay_factor = 1;  ///< multiplies the weight decay

  Index size() const { return rows * columns; }
};

/// @brief What a block's entries start from.
struct InitialValues {
  enum class Law {
    constant,  ///< scale
    normal,    ///< N(0, scale^2)
    uniform,   ///< uniform on (-scale, scale)
    positive,  ///< uniform on (0, scale)
    identity,  ///< scale on the diagonal, 0 elsewhere
  };
  Law law = Law::normal;
  double scale = 1;
  /// Divide the scale by the square root of the block's number of columns, the inputs of a matrix.
  bool per_input = false;
};

/// @brief The blocks and their values.
template <class T>
class Parameters {
 public:
  /// @param blocks in storage order; offsets are set here, blocks follow each other without gaps
  explicit Parameters(std::vector<Block> blocks);

  const std::vector<Block>& blocks() const { return blocks_; }
  std::span<T> values() { return {values_.data(), static_cast<std::size_t>(values_.size())}; }
  std::span<const T> values() const {
    return {values_.data(), static_cast<std::size_t>(values_.size())};
  }

  /// @throws Error (input) if there is no such block
  const Block& block(std::string_view name) const;
  /// @brief The block as a matrix.
  MatrixView<T> matrix(std::string_view name) { return view(block(name), values_.data()); }
  MatrixView<const T> matrix(std::string_view name) const {
    return view(block(name), values_.data());
  }

  /// @brief The blocks whose name is `pattern` or has `pattern` among its dot-separated components
  /// ("W_Q": of every layer; "layer0": the whole layer); "*": all.
  /// @throws Error (input) if no block matches
  std::vector<const Block*> matching(std::string_view pattern) const;
  /// @brief Applies `edit` to the blocks that match. Only the training options (frozen, factors)
  /// may be changed.
  void configure(std::string_view pattern, const std::function<void(Block&)>& edit);
  void freeze(std::string_view pattern, bool frozen = true) {
    configure(pattern, [=](Block& block) { block.frozen = frozen; });
  }

  /// @brief Sets the starting values of the blocks that match. Each block draws from its own stream
  /// (the address's `step` is replaced by the block's place), so that one block's rule does not
  /// shift another's numbers.
  void initialise(std::string_view pattern,
                  const InitialValues& rule,
                  const StreamAddress& address);

 private:
  template <class U>
  static MatrixView<U> view(const Block& block, U* values) {
    return {values + block.offset, block.rows, block.columns, block.columns};
  }

  std::vector<Block> blocks_;
  Eigen::Array<T, Eigen::Dynamic, 1> values_;
};

extern template class Parameters<float>;
extern template class Parameters<double>;

}  // namespace attica::networks

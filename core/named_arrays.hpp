#pragma once
/// @file
/// @brief Arrays by name from NumPy's .npz, from .safetensors, and the one of a .npy file.
///
/// An array is addressed as `FILE:NAME`, a part of it as `FILE:NAME[2]` or `FILE:NAME[2,0]`: the
/// first indices, from 0.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/npy.hpp"

namespace attica {

/// A file with what is asked of it.
struct ArrayAddress {
  std::string file;
  std::string arrays = {};  ///< what stands behind the colon; empty: nothing

  /// @brief The colon and what stands behind it, or nothing.
  std::string suffix() const { return arrays.empty() ? std::string() : ":" + arrays; }
};

/// @brief Splits `FILE.npz:NAME` and `FILE.safetensors:NAME`; any other text is a file's name.
ArrayAddress array_address(std::string_view text);

/// @brief Whether bytes are a file of arrays: .npz or .safetensors.
bool has_named_arrays(std::string_view bytes);

/// @brief The arrays of a file.
class NamedArrays {
 public:
  /// @param bytes those of a .npy, .npz or .safetensors file
  /// @param source its name, for messages
  /// @throws Error of kind input as `SOURCE: what is wrong`
  NamedArrays(std::string_view bytes, std::string source);

  /// @brief Their names as stored; a .npy file's array has the name "".
  std::vector<std::string> names() const;
  /// @brief Whether there is an array of exactly this name.
  bool has(std::string_view name) const;
  /// @brief An array, or a part of it: "W", "W[2]". In a .npy file every name is that of its array.
  /// @throws Error of kind input, for a name that is not there with those that are
  NumberArray at(std::string_view name) const;

 private:
  struct Stored {
    std::string name;
    std::string npy = {};   ///< bytes of its .npy file; empty: of .safetensors
    std::string type = {};  ///< of .safetensors: of its numbers
    std::vector<std::size_t> shape = {};
    std::size_t begin = 0;  ///< of its data in `data_`
    std::size_t end = 0;
  };
  void read_zip(std::string_view bytes);
  void read_tensors(std::string_view bytes);
  void require_covered_data() const;
  NumberArray whole(const Stored& stored) const;

  std::string source_;
  std::string data_;  ///< of .safetensors
  bool single_ = false;
  std::vector<Stored> arrays_;
};

}  // namespace attica

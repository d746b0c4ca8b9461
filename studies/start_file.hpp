#pragma once
/// @file
/// @brief The start of a training from a file, `model.init_file`: arrays by name from .npz or
/// .safetensors, or the one of a .npy file.
///
/// `start.npz` has the arrays under the study's names for them (v, U); `net.npz:U=layer0.W[2],
/// v=layer0.out` says which are meant, and `net.npz:layer0.W` is enough for a study of one array.

#include <Eigen/Core>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/named_arrays.hpp"
#include "attica/studies/configuration.hpp"

namespace attica {

inline constexpr const char* kInitFile = "model.init_file";

class StartFile {
 public:
  /// @brief The configured file; empty if none is.
  /// @param arrays the names that the study asks for, which are all that may be assigned
  /// @param replaced parameters of the start that a file stands in place of
  /// @throws Error (input) naming model.init_file, or one of `replaced` that was given besides
  static std::optional<StartFile> of(const Configuration& configuration,
                                     const std::vector<std::string>& arrays,
                                     const std::vector<std::string>& replaced = {});

  /// A length that an array must have, and what it counts; 0: any.
  using Length = std::pair<Eigen::Index, const char*>;

  /// @brief The array with that name, row by row.
  /// @throws Error (input) naming file, array, and its shape beside the one that is needed
  NumberArray array(const std::string& name, std::initializer_list<Length> shape) const;
  /// @brief The same of two dimensions, or of one (a column).
  Eigen::MatrixXd matrix(const std::string& name, Length rows, Length columns) const;
  /// @brief Whether the file has it.
  bool has(const std::string& name) const;

 private:
  std::string meant(const std::string& name) const;

  std::string file_;
  std::shared_ptr<const NamedArrays> arrays_;
  std::vector<std::pair<std::string, std::string>> assigned_;  ///< the study's name, the file's
  bool single_ = false;
};

}  // namespace attica

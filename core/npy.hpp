#pragma once
/// @file
/// @brief Matrices in NumPy's .npy format.

#include <Eigen/Core>
#include <string>
#include <string_view>

namespace attica {

struct NpyMatrix {
  Eigen::MatrixXd values;
  double rounding = 0;  ///< relative spacing of the file's numbers: 2^-10 for float16; 0: integers
};

/// @brief Whether bytes begin as a .npy file does.
bool is_npy(std::string_view bytes);

/// @brief Reads .npy: one or two dimensions (a vector is one column), f2, f4, f8, signed and
/// unsigned integers or bool, either byte order, C or Fortran order.
/// @param source name of the file, for messages
/// @throws Error of kind input as `SOURCE: what is wrong`, also for entries that are not finite
NpyMatrix read_npy(std::string_view bytes, const std::string& source);

}  // namespace attica

#pragma once
/// @file
/// @brief Matrices in NumPy's .npy format.

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attica {

struct NpyMatrix {
  Eigen::MatrixXd values;
  double rounding = 0;  ///< relative spacing of the file's numbers: 2^-10 for float16; 0: integers
};

/// An array of any number of dimensions.
struct NumberArray {
  std::vector<std::size_t> shape;  ///< empty: a single number
  std::vector<double> values;      ///< row by row: the last index runs fastest
  double rounding = 0;             ///< as of NpyMatrix

  /// @brief The entries of a shape.
  static double entries(const std::vector<std::size_t>& shape);
};

/// @brief "8 x 4 x 4".
std::string shape_text(const std::vector<std::size_t>& shape);

/// @brief The types of numbers in files: f2, f4, f8, bf2 (bfloat16), signed and unsigned integers,
/// bool (b1).
/// @return bytes of one number; 0 for another type
std::size_t stored_number_size(std::string_view type);
/// @brief Such numbers, lowest byte first unless `swapped`.
/// @param bytes  exactly as many as the shape needs
/// @throws Error (input) for entries that are not finite
NumberArray stored_numbers(std::string_view type,
                           bool swapped,
                           std::string_view bytes,
                           std::vector<std::size_t> shape,
                           const std::string& source);

/// @brief Reads .npy of any number of dimensions. @throws as read_npy
NumberArray read_npy_array(std::string_view bytes, const std::string& source);

/// @brief The matrix of an array of one (a column) or two dimensions. @throws as read_npy
NpyMatrix matrix_of(const NumberArray& array, const std::string& source);

/// @brief Whether bytes begin as a .npy file does.
bool is_npy(std::string_view bytes);

/// @brief Reads .npy: one or two dimensions (a vector is one column), f2, f4, f8, signed and
/// unsigned integers or bool, either byte order, C or Fortran order.
/// @param source name of the file, for messages
/// @throws Error of kind input as `SOURCE: what is wrong`, also for entries that are not finite
NpyMatrix read_npy(std::string_view bytes, const std::string& source);

}  // namespace attica

#pragma once
/// @file
/// @brief Matrices from files: NumPy's .npy and CSV.

#include <Eigen/Core>
#include <filesystem>

namespace attica::networks {

/// @brief Reads a matrix; a file that starts with NumPy's magic string is read as .npy, any other
/// as CSV.
///
/// .npy: one or two dimensions (a vector is one column), little-endian f2, f4, f8, i4 or i8, C or
/// Fortran order. CSV: as read_numeric_csv, a header is optional.
/// @throws Error (input) `FILE:LINE: what is wrong` (.npy: `FILE: ...`), also for entries that are
/// not finite
Eigen::MatrixXd read_matrix(const std::filesystem::path& file);

}  // namespace attica::networks

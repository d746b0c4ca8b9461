#pragma once
/// @file
/// @brief The parts of Eigen that many files use, instantiated once.
///
/// A decomposition of a MatrixXd, or a product of two, costs seconds in every file that writes it.
/// The precompiled header reads this file, so that they are compiled in eigen_products.cpp and
/// eigen_decompositions.cpp only. Nothing depends on it: without the precompiled header every file
/// makes its own, as usual.

#include <Eigen/Dense>

// clang-format off
#define ATTICA_DECOMPOSITIONS(EXTERN)                                                              \
  EXTERN template class LLT<MatrixXd>;                                                             \
  EXTERN template class PartialPivLU<MatrixXd>;                                                    \
  EXTERN template class SelfAdjointEigenSolver<MatrixXd>;                                          \
  EXTERN template class ColPivHouseholderQR<MatrixXd>;                                             \
  EXTERN template class CompleteOrthogonalDecomposition<MatrixXd>;                                 \
  EXTERN template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);               \
  EXTERN template SelfAdjointEigenSolver<MatrixXd>&                                                \
      SelfAdjointEigenSolver<MatrixXd>::compute(const EigenBase<MatrixXd>&, int);                  \
  EXTERN template void LLT<MatrixXd>::_solve_impl(const VectorXd&, VectorXd&) const;               \
  EXTERN template void LLT<MatrixXd>::_solve_impl(const MatrixXd&, MatrixXd&) const;               \
  EXTERN template void ColPivHouseholderQR<MatrixXd>::_solve_impl(                                 \
      const VectorXd&, VectorXd&) const;                                                           \
  EXTERN template void CompleteOrthogonalDecomposition<MatrixXd>::_solve_impl(                     \
      const VectorXd&, VectorXd&) const;                                                           \
  EXTERN template void CompleteOrthogonalDecomposition<MatrixXd>::_solve_impl(                     \
      const MatrixXd&, MatrixXd&) const;                                                           \
  EXTERN template void internal::tridiagonalization_inplace(MatrixXd&, VectorXd&);                 \
  EXTERN template ComputationInfo internal::computeFromTridiagonal_impl(                           \
      VectorXd&, VectorXd&, Index, bool, MatrixXd&);

#define ATTICA_PRODUCTS(EXTERN)                                                                    \
  EXTERN template struct gebp_kernel<double, double, Index, AtticaWritten, AtticaTraits::mr,       \
                                     AtticaTraits::nr>;                                            \
  EXTERN template struct gemm_pack_lhs<double, Index, AtticaRead<ColMajor>, AtticaTraits::mr,      \
      AtticaTraits::LhsProgress, AtticaTraits::LhsPacket4Packing, ColMajor>;                       \
  EXTERN template struct gemm_pack_lhs<double, Index, AtticaRead<RowMajor>, AtticaTraits::mr,      \
      AtticaTraits::LhsProgress, AtticaTraits::LhsPacket4Packing, RowMajor>;                       \
  EXTERN template struct gemm_pack_rhs<double, Index, AtticaRead<ColMajor>, AtticaTraits::nr,      \
                                         ColMajor>;                                                \
  EXTERN template struct gemm_pack_rhs<double, Index, AtticaRead<RowMajor>, AtticaTraits::nr,      \
                                         RowMajor>;                                                \
  EXTERN template struct general_matrix_matrix_product<Index, double, ColMajor, false, double,     \
      ColMajor, false, ColMajor, 1>;                                                               \
  EXTERN template struct general_matrix_matrix_product<Index, double, ColMajor, false, double,     \
      RowMajor, false, ColMajor, 1>;                                                               \
  EXTERN template struct general_matrix_matrix_product<Index, double, RowMajor, false, double,     \
      ColMajor, false, ColMajor, 1>;                                                               \
  EXTERN template struct general_matrix_matrix_product<Index, double, RowMajor, false, double,     \
      RowMajor, false, ColMajor, 1>;                                                               \
  EXTERN template struct general_matrix_vector_product<Index, double, AtticaRead<RowMajor>,        \
      RowMajor, false, double, AtticaRead<ColMajor>, false, 0>;                                    \
  EXTERN template struct general_matrix_vector_product<Index, double, AtticaRead<RowMajor>,        \
      RowMajor, false, double, AtticaRead<RowMajor>, false, 1>;                                    \
  EXTERN template struct general_matrix_vector_product<Index, double, AtticaRead<ColMajor>,        \
      ColMajor, false, double, AtticaRead<RowMajor>, false, 0>;                                    \
  EXTERN template struct general_matrix_vector_product<Index, double, AtticaRead<ColMajor>,        \
      ColMajor, false, double, AtticaRead<ColMajor>, false, 0>;                                    \
  EXTERN template struct triangular_solve_matrix<double, Index, OnTheRight, Upper, false,          \
      RowMajor, ColMajor, 1>;                                                                      \
  EXTERN template struct triangular_solve_matrix<double, Index, OnTheLeft, Lower, false,           \
      ColMajor, ColMajor, 1>;                                                                      \
  EXTERN template struct generic_product_impl<MatrixXd, MatrixXd,                                  \
      DenseShape, DenseShape, GemmProduct>;                                                        \
  EXTERN template struct generic_product_impl<Transpose<MatrixXd>, MatrixXd,                       \
      DenseShape, DenseShape, GemmProduct>;                                                        \
  EXTERN template struct generic_product_impl<Transpose<const MatrixXd>, MatrixXd,                 \
      DenseShape, DenseShape, GemmProduct>;                                                        \
  EXTERN template struct generic_product_impl<MatrixXd, Transpose<MatrixXd>,                       \
      DenseShape, DenseShape, GemmProduct>;                                                        \
  EXTERN template struct generic_product_impl<MatrixXd, Transpose<const MatrixXd>,                 \
      DenseShape, DenseShape, GemmProduct>;
// clang-format on

namespace Eigen {
ATTICA_DECOMPOSITIONS(extern)
namespace internal {
// How Eigen's blocked products name what they read and write.
template <int Order>
using AtticaRead = const_blas_data_mapper<double, Index, Order>;
using AtticaWritten = blas_data_mapper<double, Index, ColMajor>;
using AtticaTraits = gebp_traits<double, double>;
ATTICA_PRODUCTS(extern)
}  // namespace internal
}  // namespace Eigen

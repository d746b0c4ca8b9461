// Ceres as an archive asks for SuiteSparse, CXSparse and LAPACK, for least squares of many thousand
// unknowns. attica fits few unknowns by Eigen and many by L-BFGS, and calls none of them. Defined
// here, these names load 21 libraries less with the program: more than half of the time that it
// takes to start.
#include <cstdio>
#include <cstdlib>

namespace {
[[noreturn]] void absent(const char* name) {
  std::fprintf(stderr, "attica: Ceres calls %s, which this program is built without\n", name);
  std::abort();
}
}  // namespace

#define ATTICA_ABSENT(name, symbol)                                                             \
  extern "C" __attribute__((visibility("hidden"))) void attica_absent_##name() __asm__(symbol); \
  void attica_absent_##name() { absent(#name); }
#define ATTICA_ABSENT_C(name) ATTICA_ABSENT(name, #name)

ATTICA_ABSENT(SuiteSparseQR,
              "_Z13SuiteSparseQRIdElidlP21cholmod_sparse_structPS1_PPlP21cholmod_common_struct")
ATTICA_ABSENT_C(cholmod_amd)
ATTICA_ABSENT_C(cholmod_analyze)
ATTICA_ABSENT_C(cholmod_analyze_p)
ATTICA_ABSENT_C(cholmod_camd)
ATTICA_ABSENT_C(cholmod_factorize)
ATTICA_ABSENT_C(cholmod_finish)
ATTICA_ABSENT_C(cholmod_free_dense)
ATTICA_ABSENT_C(cholmod_free_factor)
ATTICA_ABSENT_C(cholmod_free_sparse)
ATTICA_ABSENT_C(cholmod_l_finish)
ATTICA_ABSENT_C(cholmod_l_free_sparse)
ATTICA_ABSENT_C(cholmod_l_start)
ATTICA_ABSENT_C(cholmod_print_common)
ATTICA_ABSENT_C(cholmod_solve)
ATTICA_ABSENT_C(cholmod_start)
ATTICA_ABSENT_C(cholmod_triplet_to_sparse)
ATTICA_ABSENT_C(cholmod_zeros)
ATTICA_ABSENT_C(cs_di_amd)
ATTICA_ABSENT_C(cs_di_calloc)
ATTICA_ABSENT_C(cs_di_chol)
ATTICA_ABSENT_C(cs_di_cholsol)
ATTICA_ABSENT_C(cs_di_compress)
ATTICA_ABSENT_C(cs_di_counts)
ATTICA_ABSENT_C(cs_di_cumsum)
ATTICA_ABSENT_C(cs_di_etree)
ATTICA_ABSENT_C(cs_di_free)
ATTICA_ABSENT_C(cs_di_ipvec)
ATTICA_ABSENT_C(cs_di_lsolve)
ATTICA_ABSENT_C(cs_di_ltsolve)
ATTICA_ABSENT_C(cs_di_malloc)
ATTICA_ABSENT_C(cs_di_multiply)
ATTICA_ABSENT_C(cs_di_nfree)
ATTICA_ABSENT_C(cs_di_pinv)
ATTICA_ABSENT_C(cs_di_post)
ATTICA_ABSENT_C(cs_di_pvec)
ATTICA_ABSENT_C(cs_di_schol)
ATTICA_ABSENT_C(cs_di_sfree)
ATTICA_ABSENT_C(cs_di_spfree)
ATTICA_ABSENT_C(cs_di_symperm)
ATTICA_ABSENT_C(cs_di_transpose)
ATTICA_ABSENT_C(dgeqrf_)
ATTICA_ABSENT_C(dormqr_)
ATTICA_ABSENT_C(dpotrf_)
ATTICA_ABSENT_C(dpotrs_)
ATTICA_ABSENT_C(dtrtrs_)

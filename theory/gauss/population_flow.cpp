#include "attica/theory/gauss/population_flow.hpp"

#include "attica/core/parallel.hpp"
#include "attica/theory/gauss/site_regression.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

MatrixXd population_errors(const GaussianMlm& problem, std::span<const ResidualFilter> filters) {
  MatrixXd errors(problem.sites(), static_cast<Index>(filters.size()));
  in_parallel(static_cast<std::size_t>(problem.sites()), [&](std::size_t number) {
    const auto i = static_cast<Index>(number);
    const SiteRegression site = site_regression(problem, i);
    for (Index k = 0; k < errors.cols(); ++k) {
      const ResidualFilter& filter = filters[static_cast<std::size_t>(k)];
      const Eigen::ArrayXd left =
          site.s.unaryExpr([&](double z) { return filter(z); }) * site.teacher.array();
      errors(i, k) = site.bayes_error + (site.s * left.square()).sum();
    }
  });
  return errors;
}

}  // namespace attica

#include "attica/core/gauss/observations.hpp"

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

Observations centred_observations(const NumericTable& table, bool standardise) {
  const Eigen::MatrixXd& values = table.values;
  if (values.rows() < 2) throw Error(ErrorKind::input, "expected at least two rows of data");
  Observations data;
  std::vector<Index> kept;
  for (Index j = 0; j < values.cols(); ++j) {
    const bool constant = (values.col(j).array() == values(0, j)).all();
    if (!constant) kept.push_back(j);
    (constant ? data.constants : data.columns)
        .push_back(table.columns[static_cast<std::size_t>(j)]);
  }
  if (kept.size() < 2) throw Error(ErrorKind::input, "expected at least two columns that vary");
  data.rows = values(Eigen::all, kept);
  data.rows.rowwise() -= data.rows.colwise().mean().eval();
  if (standardise) {
    const Eigen::VectorXd deviation =
        (data.rows.colwise().squaredNorm() / static_cast<double>(values.rows())).cwiseSqrt();
    data.rows *= deviation.cwiseInverse().asDiagonal();
  }
  return data;
}

Eigen::MatrixXd Observations::covariance() const {
  return rows.transpose() * rows / static_cast<double>(rows.rows());
}

Eigen::VectorXd Observations::excess_kurtosis() const {
  constexpr double kGaussian = 3;
  const auto n = static_cast<double>(rows.rows());
  const Eigen::RowVectorXd deviation = (rows.colwise().squaredNorm() / n).cwiseSqrt();
  return (rows.array().rowwise() / deviation.array()).square().square().colwise().mean() -
         kGaussian;
}

}  // namespace attica

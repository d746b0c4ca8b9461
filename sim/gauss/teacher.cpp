#include "attica/sim/gauss/teacher.hpp"

#include <cmath>

#include "attica/core/normal_matrix.hpp"
#include "attica/sim/gauss/labels.hpp"
#include "attica/sim/gauss/ridge.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

std::vector<TeacherErrors> teacher_errors(const TeacherTask& task,
                                          const std::function<MatrixXd()>& draw,
                                          RandomStream& labels) {
  const Index teachers = task.teachers;
  const auto normals = [&](Index rows) { return normal_matrix(rows, teachers, labels); };
  const Index n = task.problem.sites() - 1;
  const MatrixXd factor = task.factor.topLeftCorner(n, n);
  const double trace = task.problem.covariance().diagonal().head(n).sum();
  std::vector<TeacherErrors> errors(
      task.lambdas.size(), {.masked = 0, .taught = std::vector<double>(task.noises.size())});
  for (std::int64_t set = 0; set < task.data_sets; ++set) {
    const MatrixXd data = draw();
    const RidgeFits masked(data, task.factor);
    const MatrixXd inputs = data.leftCols(n);
    const MatrixXd weights = normals(n) / std::sqrt(trace);
    MatrixXd both(data.rows(), 2 * teachers);
    both << inputs * weights, normals(data.rows());
    const LabelFits taught(inputs, both);
    for (std::size_t l = 0; l < task.lambdas.size(); ++l) {
      const double share = 1 / static_cast<double>(task.data_sets);
      errors[l].masked += share * masked.fit(task.lambdas[l]).test.mean();
      const MatrixXd fitted = taught.weights(task.lambdas[l]);
      const MatrixXd of_signal = factor.transpose() * (fitted.leftCols(teachers) - weights);
      const MatrixXd of_noise = factor.transpose() * fitted.rightCols(teachers);
      for (std::size_t k = 0; k < task.noises.size(); ++k) {
        const double missed =
            (std::sqrt(1 - task.noises[k]) * of_signal + std::sqrt(task.noises[k]) * of_noise)
                .squaredNorm();
        errors[l].taught[k] += share * (task.noises[k] + missed / static_cast<double>(teachers));
      }
    }
  }
  return errors;
}

}  // namespace attica

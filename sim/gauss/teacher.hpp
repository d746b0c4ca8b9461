#pragma once
/// @file
/// @brief Ridge regression of masked sites beside that of a linear teacher's labels, on the same
/// Gaussian inputs.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "attica/core/gauss/mlm.hpp"
#include "attica/core/random.hpp"

namespace attica {

/// What is fitted to a number of data sets. The inputs of teachers are all sites but the last.
struct TeacherTask {
  const GaussianMlm& problem;
  const Eigen::MatrixXd& factor;  ///< F with F F^T = covariance
  std::vector<double> lambdas;
  std::vector<double> noises;  ///< variances of the noise in labels of variance 1
  std::int64_t data_sets = 1;
  Eigen::Index teachers = 1;  ///< on each data set
};

/// Test errors at one penalty, means over the data sets.
struct TeacherErrors {
  double masked = 0;           ///< mean over the masked sites
  std::vector<double> taught;  ///< one a noise, means over the teachers
};

/// @brief Masked modelling and teachers, an entry a penalty. Fitting is linear in the labels: a
/// teacher's signal and its noise are fitted apart and put together for every noise.
/// @param draw a data set, one sample a row; called once a data set
/// @param labels stream of teachers and noise
std::vector<TeacherErrors> teacher_errors(const TeacherTask& task,
                                          const std::function<Eigen::MatrixXd()>& draw,
                                          RandomStream& labels);

}  // namespace attica

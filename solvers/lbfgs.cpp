#include "attica/solvers/lbfgs.hpp"

#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>
#include <glog/logging.h>

#include <cmath>
#include <exception>
#include <mutex>

#include "attica/core/error.hpp"

namespace attica {
namespace {

/// Exceptions may not cross Ceres: they are kept and thrown again afterwards.
class Function final : public ceres::FirstOrderFunction {
 public:
  Function(const GradientFunction& function, int size, std::exception_ptr& failure)
      : function_(function), size_(size), failure_(failure) {}

  bool Evaluate(const double* x, double* cost, double* gradient) const override {
    try {
      *cost = function_(x, gradient);
      return std::isfinite(*cost);
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }
  int NumParameters() const override { return size_; }

 private:
  const GradientFunction& function_;
  int size_;
  std::exception_ptr& failure_;
};

/// Those that fail are a result, not news. The level is a global of the log: set once.
void silence_line_searches() {
  static std::once_flag once;
  std::call_once(once, [] { FLAGS_minloglevel = google::GLOG_FATAL; });
}

}  // namespace

LbfgsResult minimise_lbfgs(const GradientFunction& function,
                           const Eigen::VectorXd& start,
                           const LbfgsOptions& options) {
  require(start.size() >= 1 && start.allFinite(),
          "start",
          static_cast<double>(start.size()),
          "at least one number, all finite");
  require(options.gradient_tolerance > 0,
          "gradient_tolerance",
          options.gradient_tolerance,
          "a positive number");
  require(options.max_iterations >= 0, "max_iterations", options.max_iterations, "at least 0");
  require(options.history >= 1, "history", options.history, "at least 1");

  silence_line_searches();
  std::exception_ptr failure;
  const auto size = static_cast<int>(start.size());
  const ceres::GradientProblem problem(new Function(function, size, failure));  // takes ownership
  ceres::GradientProblemSolver::Options settings;
  settings.line_search_direction_type = ceres::LBFGS;
  settings.max_lbfgs_rank = options.history;
  settings.max_num_iterations = options.max_iterations;
  settings.gradient_tolerance = options.gradient_tolerance;
  settings.function_tolerance = 0;  // small steps are not the end
  settings.parameter_tolerance = 0;
  settings.logging_type = ceres::SILENT;
  ceres::GradientProblemSolver::Summary summary;
  LbfgsResult result{.x = start};
  ceres::Solve(settings, problem, result.x.data(), &summary);
  if (failure) std::rethrow_exception(failure);
  Eigen::VectorXd gradient(size);
  result.value = function(result.x.data(), gradient.data());
  result.largest_gradient = gradient.cwiseAbs().maxCoeff();
  result.iterations = static_cast<int>(summary.iterations.size());
  result.converged =
      std::isfinite(result.value) && result.largest_gradient <= options.gradient_tolerance;
  return result;
}

LbfgsResult minimise_lbfgs(const GradientFunction& function,
                           const Eigen::VectorXd& start,
                           const LbfgsOptions& options,
                           const std::function<bool(const Eigen::VectorXd& x,
                                                    const Eigen::VectorXd& gradient)>& is_settled) {
  constexpr int kTenths = 4;
  constexpr double kTenth = 0.1;
  LbfgsResult result = minimise_lbfgs(function, start, options);
  LbfgsOptions finer = options;
  Eigen::VectorXd gradient(start.size());
  for (int k = 0; k < kTenths && result.converged; ++k) {
    function(result.x.data(), gradient.data());
    if (is_settled(result.x, gradient)) break;
    finer.gradient_tolerance *= kTenth;
    const int before = result.iterations;
    result = minimise_lbfgs(function, result.x, finer);
    result.iterations += before;
    // What rounding keeps from the finer tolerance has met the one that was asked for.
    const bool finest = !result.converged;
    result.converged =
        std::isfinite(result.value) && result.largest_gradient <= options.gradient_tolerance;
    if (finest) break;
  }
  return result;
}

}  // namespace attica

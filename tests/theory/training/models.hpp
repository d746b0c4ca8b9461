#pragma once
/// @file
/// @brief The models of tests/reference/training.json, sample by sample.

#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "attica/core/population_model.hpp"
#include "reference_values.hpp"

namespace attica::testing {

/// A model given by the loss and the gradient of one sample.
class SampledModel : public PopulationModel {
 public:
  using Sample = std::function<double(
      const Eigen::VectorXd& theta, Eigen::Index sample, Eigen::VectorXd& gradient)>;

  SampledModel(Eigen::Index parameters, Eigen::VectorXd p, Sample sample)
      : parameters_(parameters), p_(std::move(p)), sample_(std::move(sample)) {
    p_ /= p_.sum();
  }

  Eigen::Index parameters() const override { return parameters_; }
  const Eigen::VectorXd& weights() const override { return p_; }
  void pass(const Eigen::VectorXd& theta,
            Eigen::VectorXd& losses,
            const Eigen::VectorXd* weights,
            Eigen::VectorXd* gradient) const override {
    losses.resize(p_.size());
    Eigen::VectorXd one(parameters_);
    if (gradient != nullptr) gradient->setZero(parameters_);
    for (Eigen::Index s = 0; s < p_.size(); ++s) {
      losses[s] = sample_(theta, s, one);
      if (weights != nullptr) *gradient += (*weights)[s] * one;
    }
  }

 private:
  Eigen::Index parameters_;
  Eigen::VectorXd p_;
  Sample sample_;
};

/// -ln softmax(h)[label]; h becomes its derivative.
inline double cross_entropy(Eigen::VectorXd& h, Eigen::Index label) {
  h.array() -= h.maxCoeff();
  const double loss = std::log(h.array().exp().sum()) - h[label];
  h = h.array().exp();
  h /= h.sum();
  h[label] -= 1;
  return loss;
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
inline Eigen::Map<const RowMajor> rows_of(const Eigen::VectorXd& theta,
                                          Eigen::Index at,
                                          Eigen::Index rows,
                                          Eigen::Index columns) {
  return {theta.data() + at, rows, columns};
}
inline Eigen::Map<RowMajor> rows_of(Eigen::VectorXd& theta,
                                    Eigen::Index at,
                                    Eigen::Index rows,
                                    Eigen::Index columns) {
  return {theta.data() + at, rows, columns};
}

/// tiny, linear, softmax, potts, mlp, icl
inline SampledModel reference_model(const std::string& name) {
  using Eigen::Index;
  using Eigen::MatrixXd;
  using Eigen::VectorXd;
  const Reference r = reference_values("training")["models"][name];
  if (name == "potts") {
    const VectorXd states = vector(r["state_probabilities"]);
    VectorXd p(states.size() * 3);
    for (Index s = 0; s < p.size(); ++s) p[s] = states[s / 3] / 3;
    return {18, p, [](const VectorXd& theta, Index sample, VectorXd& gradient) {
              const Index state = sample / 3;
              const Index site = sample % 3;
              const Index colours[] = {state / 9, state / 3 % 3, state % 3};
              const auto a = rows_of(theta, 0, 3, 3);
              const auto v = rows_of(theta, 9, 3, 3);
              VectorXd h = VectorXd::Zero(3);
              for (Index j = 0; j < 3; ++j) {
                if (j != site) h += a(site, j) * v.col(colours[j]);
              }
              const double loss = cross_entropy(h, colours[site]);
              gradient.setZero();
              auto da = rows_of(gradient, 0, 3, 3);
              auto dv = rows_of(gradient, 9, 3, 3);
              for (Index j = 0; j < 3; ++j) {
                if (j == site) continue;
                da(site, j) += h.dot(v.col(colours[j]));
                dv.col(colours[j]) += a(site, j) * h;
              }
              return loss;
            }};
  }
  const VectorXd p = vector(r["p"]);
  MatrixXd x = matrix(r["x"]);
  if (name == "softmax") {
    const VectorXd labels = vector(r["label"]);
    return {9, p, [x, labels](const VectorXd& theta, Index s, VectorXd& gradient) {
              VectorXd h = rows_of(theta, 0, 3, 3) * x.row(s).transpose();
              const double loss = cross_entropy(h, static_cast<Index>(labels[s]));
              rows_of(gradient, 0, 3, 3) = h * x.row(s);
              return loss;
            }};
  }
  const VectorXd y = vector(r["y"]);
  if (name == "tiny") {
    return {2, p, [x, y](const VectorXd& theta, Index s, VectorXd& gradient) {
              const double t = std::tanh(theta[0] * x(s, 0));
              const double residual = theta[1] * t - y[s];
              gradient << residual * theta[1] * (1 - t * t) * x(s, 0), residual * t;
              return residual * residual / 2;
            }};
  }
  if (name == "linear") {
    return {3, p, [x, y](const VectorXd& theta, Index s, VectorXd& gradient) {
              const double residual = x.row(s).dot(theta) - y[s];
              gradient = residual * x.row(s).transpose();
              return residual * residual / 2;
            }};
  }
  if (name == "mlp") {
    return {9, p, [x, y](const VectorXd& theta, Index s, VectorXd& gradient) {
              const auto w = rows_of(theta, 0, 2, 2);
              const VectorXd t = (w * x.row(s).transpose() + theta.segment(4, 2)).array().tanh();
              const double residual = theta.segment(6, 2).dot(t) + theta[8] - y[s];
              const VectorXd inner =
                  residual * theta.segment(6, 2).array() * (1 - t.array().square());
              rows_of(gradient, 0, 2, 2) = inner * x.row(s);
              gradient.segment(4, 2) = inner;
              gradient.segment(6, 2) = residual * t;
              gradient[8] = residual;
              return residual * residual / 2;
            }};
  }
  const MatrixXd z = matrix(r["z"]);
  return {12, p, [x, y, z](const VectorXd& theta, Index s, VectorXd& gradient) {
            const VectorXd kx = rows_of(theta, 0, 2, 3) * x.row(s).transpose();
            const VectorXd qz = rows_of(theta, 6, 2, 3) * z.row(s).transpose();
            const double residual = kx.dot(qz) - y[s];
            rows_of(gradient, 0, 2, 3) = residual * qz * x.row(s);
            rows_of(gradient, 6, 2, 3) = residual * kx * z.row(s);
            return residual * residual / 2;
          }};
}

inline Eigen::VectorXd reference_start(const std::string& name) {
  return vector(reference_values("training")["starts"][name]);
}

}  // namespace attica::testing

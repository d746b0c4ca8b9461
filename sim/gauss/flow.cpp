#include "attica/sim/gauss/flow.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

void check_data(const MatrixXd& data) {
  if (data.rows() < 1 || data.cols() < 2 || !data.allFinite()) {
    throw invalid_parameter("data",
                            fmt::format("{} x {} matrix", data.rows(), data.cols()),
                            "finite samples in rows, at least 1 x 2");
  }
}

/// e^{-y} on y >= 0 as a sum of simple poles, 2 Re sum_j a_j/(-y - p_j), to 3e-14: the best
/// rational approximation of degree 14 (Carpenter, Ruttan, Varga 1984; digits of Pusa 2010).
struct Pole {
  std::complex<double> at;
  std::complex<double> residue;
};
constexpr std::array<Pole, 7> kPoles{{
    {{-8.8977731864688888199, 16.630982619902085304},
     {-7.1542880635890672853e-5, 1.4361043349541300111e-4}},
    {{-3.7032750494234480603, 13.656371871483268171},
     {9.4390253107361688779e-3, -1.7184791958483017511e-2}},
    {{-0.2087586382501301251, 10.991260561901260913},
     {-3.7636003878226968717e-1, 3.3518347029450104214e-1}},
    {{3.9933697105785685194, 6.0048316422350373178},
     {-2.3498232091082701191e1, -5.8083591297142074004}},
    {{5.0893450605806245066, 3.5888240290270065102},
     {4.6933274488831293047e1, 4.5643649768827760791e1}},
    {{5.6231425727459771248, 1.1940690463439669766},
     {-2.7875161940145646468e1, -1.0214733999056451434e2}},
    {{2.2697838292311127097, 8.4617379730402214019},
     {4.8071120988325088907, -1.3209793837428723881}},
}};

/// The flow of all sites of one data set, from one eigendecomposition S = Z^T Z/M = V s V^T. With
/// w_j = -a_j/p_j the poles give
///   phi_t(x) = 2 Re sum_j w_j/(x + z_j),   z_j = p_j/t,   2 Re sum_j w_j = 1 to 4e-14:
/// the flow is a sum of ridge regressions with complex penalties z_j, and these have the residuals
/// e_i - a_i = G e_i/G_ii of all sites from one matrix, G = (S + z)^{-1}. So, by components along V
/// and with d_kj = 1/(t s_k + p_j),
///   [V^T (e_i - a_i(t))]_k = 2 Re sum_j w_j V_ik d_kj / sum_l V_il^2 d_lj.
class SiteFlows {
 public:
  explicit SiteFlows(const MatrixXd& data) {
    const MatrixXd covariance = data.transpose() * data / static_cast<double>(data.rows());
    const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(covariance);
    vectors_ = spectrum.eigenvectors();
    s_ = spectrum.eigenvalues().array();
    // What rounding leaves of a zero would grow at late times.
    const double least =
        s_.maxCoeff() * static_cast<double>(s_.size()) * std::numeric_limits<double>::epsilon();
    s_ = (s_ < least).select(0, s_);
    if (data.rows() < data.cols()) s_.head(data.cols() - data.rows()).setZero();
    squares_ = vectors_.cwiseAbs2();
  }

  /// V^T (1 - A(t))^T: a column for every site.
  MatrixXd components(double time) const {
    constexpr auto kCount = static_cast<Index>(kPoles.size());
    MatrixXd shares(s_.size(), 2 * kCount);  // Re d, Im d
    for (Index j = 0; j < kCount; ++j) {
      const std::complex<double> pole = kPoles[static_cast<std::size_t>(j)].at;
      const ArrayXd real = time * s_ + pole.real();
      const ArrayXd norm = real.square() + pole.imag() * pole.imag();
      shares.col(j) = real / norm;
      shares.col(kCount + j) = -pole.imag() / norm;
    }
    const MatrixXd diagonal = squares_ * shares;
    MatrixXd weights(2 * kCount, s_.size());  // of Re d and Im d, for every site
    for (Index j = 0; j < kCount; ++j) {
      const Pole& pole = kPoles[static_cast<std::size_t>(j)];
      for (Index i = 0; i < s_.size(); ++i) {
        const std::complex<double> weight =
            -2.0 * pole.residue /
            (pole.at * std::complex<double>(diagonal(i, j), diagonal(i, kCount + j)));
        weights(j, i) = weight.real();
        weights(kCount + j, i) = -weight.imag();
      }
    }
    return vectors_.transpose().cwiseProduct(shares * weights);
  }

  /// What is left at that time of a start: V^T e^{-S_i t} x_i, column i for the column V^T x_i of
  /// `start`, where x_i has no component i and S_i is S without row and column i. With K_j = (t S +
  /// p_j)^{-1}, (t S_i + p_j)^{-1} x = K x - K e_i (K x)_i/K_ii.
  MatrixXd remains(double time, const MatrixXd& start) const {
    MatrixXd sum = MatrixXd::Zero(start.rows(), start.cols());
    for (const Pole& pole : kPoles) {
      const Eigen::ArrayXcd d = 1.0 / (time * s_.cast<std::complex<double>>() + pole.at);
      const Eigen::MatrixXcd kx = d.matrix().asDiagonal() * start;
      const Eigen::MatrixXcd ke = d.matrix().asDiagonal() * vectors_.transpose();
      const Eigen::ArrayXcd at_site =
          vectors_.transpose().cwiseProduct(kx).colwise().sum().transpose();
      const Eigen::ArrayXcd own = vectors_.transpose().cwiseProduct(ke).colwise().sum().transpose();
      const Eigen::ArrayXcd share = at_site / own;
      sum -= 2 * (pole.residue * (kx - ke * share.matrix().asDiagonal())).real();
    }
    return sum;
  }

  const MatrixXd& vectors() const { return vectors_; }
  const ArrayXd& eigenvalues() const { return s_; }

 private:
  MatrixXd vectors_;
  MatrixXd squares_;
  ArrayXd s_;
};

}  // namespace

TrainingErrors gradient_flow(const GaussianMlm& problem,
                             const MatrixXd& data,
                             std::span<const double> times,
                             const MatrixXd& start) {
  check_data(data);
  require(data.cols() == problem.sites(),
          "data",
          static_cast<double>(data.cols()),
          "one column for each site");
  for (const double time : times) {
    require(std::isfinite(time) && time >= 0, "times", time, "0 <= time < infinity");
  }
  const Index sites = problem.sites();
  TrainingErrors errors{.test = MatrixXd(sites, static_cast<Index>(times.size())), .train = {}};
  errors.train.resizeLike(errors.test);
  const SiteFlows flows(data);
  const MatrixXd covariance = flows.vectors().transpose() * problem.covariance() * flows.vectors();
  MatrixXd from;  // V^T x_i, a column for every site
  if (start.size() > 0) {
    from = start;
    from.diagonal().setZero();
    from = (from * flows.vectors()).transpose().eval();
  }
  for (Index k = 0; k < errors.test.cols(); ++k) {
    const double time = times[static_cast<std::size_t>(k)];
    MatrixXd residuals = flows.components(time);
    if (from.size() > 0) residuals -= flows.remains(time, from);
    errors.test.col(k) = (covariance * residuals).cwiseProduct(residuals).colwise().sum();
    errors.train.col(k) =
        (residuals.array().square().colwise() * flows.eigenvalues()).colwise().sum().transpose();
  }
  return errors;
}

}  // namespace attica

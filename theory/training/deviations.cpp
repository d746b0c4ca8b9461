#include "attica/theory/training/deviations.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>

#include "attica/core/parallel.hpp"
#include "attica/core/random.hpp"
#include "attica/theory/training/update.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Orthonormal columns that span what of `columns` is orthogonal to `basis` (orthonormal), but for
/// a relative 1e-9 of their norm.
MatrixXd orthonormal_beside(const MatrixXd& basis, MatrixXd columns) {
  constexpr double kNothing = 1e-9;
  const double scale = columns.size() > 0 ? columns.colwise().norm().maxCoeff() : 0;
  if (!(scale > 0) || basis.cols() == basis.rows()) return MatrixXd(basis.rows(), 0);
  const auto project = [&] { columns -= (basis * (basis.transpose() * columns)).eval(); };
  project();
  project();
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  const VectorXd pivots = qr.matrixQR().diagonal().cwiseAbs();
  const Index rank =
      std::min<Index>((pivots.array() > kNothing * scale).count(), basis.rows() - basis.cols());
  columns = qr.householderQ() * MatrixXd::Identity(columns.rows(), rank);
  project();  // small pivots magnify what rounding has left of the basis
  MatrixXd square = MatrixXd::Zero(rank, rank);  // 1 but for what was taken away
  square.selfadjointView<Eigen::Lower>().rankUpdate(columns.transpose());
  const Eigen::LLT<MatrixXd> cholesky(square);
  cholesky.matrixU().solveInPlace<Eigen::OnTheRight>(columns);
  return columns;
}

MatrixXd side_by_side(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd both(a.rows(), a.cols() + b.cols());
  both.leftCols(a.cols()) = a;
  both.rightCols(b.cols()) = b;
  return both;
}

/// A symmetric matrix that is known along axes and taken as 0 between directions beside them.
VectorXd applied(const MatrixXd& axes, const MatrixXd& image, const VectorXd& x) {
  const VectorXd along = axes.transpose() * x;
  return image * along + axes * (image.transpose() * x - (image.transpose() * axes) * along);
}

/// tr(H C H C) for a diagonal C.
double squared_curvature(const MatrixXd& h, const VectorXd& widths) {
  return widths.dot(h.cwiseProduct(h.transpose()) * widths);
}

/// Every block of rows, r to a block, moved into blocks of `size` rows.
MatrixXd padded_rows(const MatrixXd& m, Index blocks, Index size) {
  MatrixXd out = MatrixXd::Zero(blocks * size, m.cols());
  const Index r = m.rows() / blocks;
  for (Index b = 0; b < blocks; ++b) out.middleRows(b * size, r) = m.middleRows(b * r, r);
  return out;
}

MatrixXd padded(const MatrixXd& m, Index blocks, Index size) {
  return padded_rows(padded_rows(m, blocks, size).transpose(), blocks, size).transpose();
}

}  // namespace

PopulationPoint::PopulationPoint(const PopulationModel& model, VectorXd at)
    : theta(std::move(at)), gradient(theta.size()) {
  model.pass(theta, losses, &model.weights(), &gradient);
}

Deviations::Deviations(const PopulationModel& model,
                       const TrainingPlan& plan,
                       const TheoryMethod& method)
    : model_(model),
      plan_(plan),
      method_(method),
      p_(model.weights()),
      samples_(plan.samples > 0),
      blocks_(plan.update == Update::heavy_ball ? 2 : 1),
      complete_(method.kind == TheoryMethod::Kind::dense || method.rank >= model.parameters()) {
  const Index size = model.parameters();
  axes_ = complete_ ? MatrixXd(MatrixXd::Identity(size, size)) : MatrixXd(size, 0);
  const Index r = blocks_ * rank();
  if (samples_) data_ = MatrixXd::Zero(r, p_.size());
  if (steps_per_epoch(plan) > 0) epoch_ = data_;
  batch_ = MatrixXd::Zero(r, r);
  mean_ = VectorXd::Zero(blocks_ * size);
}

void Deviations::Differences::append(const Differences& more) {
  axes = side_by_side(axes, more.axes);
  slopes = side_by_side(slopes, more.slopes);
  hessian = side_by_side(hessian, more.hessian);
  third = side_by_side(third, more.third);
}

Deviations::Differences Deviations::along(const PopulationPoint& point,
                                          const MatrixXd& axes,
                                          const MatrixXd& weights) const {
  const double step = method_.step;
  Differences d{.axes = axes,
                .slopes = MatrixXd(p_.size(), axes.cols()),
                .hessian = MatrixXd(axes.rows(), axes.cols()),
                .third = MatrixXd(axes.rows(), axes.cols()),
                .own = MatrixXd(axes.rows(), weights.cols())};
  in_parallel(static_cast<std::size_t>(axes.cols()), [&](std::size_t axis) {
    const auto j = static_cast<Index>(axis);
    VectorXd losses[2], gradients[2], own[2];
    for (const int side : {0, 1}) {
      const VectorXd at = point.theta + (side == 0 ? step : -step) * axes.col(j);
      gradients[side].resize(at.size());
      model_.pass(at, losses[side], &p_, &gradients[side]);
      if (j < weights.cols()) {
        const VectorXd w = weights.col(j);
        VectorXd same;
        own[side].resize(at.size());
        model_.pass(at, same, &w, &own[side]);
      }
    }
    d.slopes.col(j) = (losses[0] - losses[1]) / (2 * step);
    d.hessian.col(j) = (gradients[0] - gradients[1]) / (2 * step);
    d.third.col(j) = (gradients[0] + gradients[1] - 2 * point.gradient) / (step * step);
    if (j < weights.cols()) d.own.col(j) = (own[0] - own[1]) / (2 * step);
  });
  return d;
}

MatrixXd Deviations::slopes(const PopulationModel& model,
                            const PopulationPoint& point,
                            const MatrixXd& axes) const {
  MatrixXd found(model.weights().size(), axes.cols());
  in_parallel(static_cast<std::size_t>(axes.cols()), [&](std::size_t axis) {
    const auto j = static_cast<Index>(axis);
    VectorXd up, down;
    model.pass(point.theta + method_.step * axes.col(j), up);
    model.pass(point.theta - method_.step * axes.col(j), down);
    found.col(j) = (up - down) / (2 * method_.step);
  });
  return found;
}

Deviations::Noise Deviations::noise_beside(const PopulationPoint& point,
                                           const MatrixXd& axes,
                                           std::uint64_t step) const {
  const Index room = axes.rows() - axes.cols();
  const VectorXd& p = taken().weights();
  MatrixXd combined(axes.rows(), std::min({method_.rank, room, p.size()}));
  in_parallel(static_cast<std::size_t>(combined.cols()), [&](std::size_t k) {
    RandomStream stream(
        {.seed = method_.seed, .id = StreamId::theory, .replicate = k, .step = step});
    VectorXd w = p.cwiseSqrt();
    for (double& x : w) x *= stream.normal();
    w -= w.sum() * p;
    VectorXd losses, gradient(axes.rows());
    taken().pass(point.theta, losses, &w, &gradient);
    combined.col(static_cast<Index>(k)) = gradient;
  });
  const double square = (combined - axes * (axes.transpose() * combined)).squaredNorm() /
                        static_cast<double>(std::max<Index>(1, combined.cols()));
  return {orthonormal_beside(axes, std::move(combined)), square};
}

MatrixXd Deviations::own_weights(const MatrixXd& coordinates) const {
  return p_.asDiagonal() * coordinates.transpose();
}

MatrixXd Deviations::weighted_square(const MatrixXd& coordinates) const {
  const Index r = coordinates.rows();
  MatrixXd square = MatrixXd::Zero(r, r);
  square.selfadjointView<Eigen::Lower>().rankUpdate(coordinates * p_.cwiseSqrt().asDiagonal());
  return square.selfadjointView<Eigen::Lower>();
}

MatrixXd Deviations::coordinates_of_covariance() const {
  MatrixXd k = batch_;
  if (samples_) k += per_sample() * weighted_square(data_);
  if (epoch_.size() > 0) k -= per_sample() * weighted_square(epoch_);
  return k;
}

/// Axes V E, with the coordinates that belong to them. @param rotation E, orthonormal columns
void Deviations::rotate(const MatrixXd& rotation) {
  MatrixXd all = MatrixXd::Zero(blocks_ * rotation.rows(), blocks_ * rotation.cols());
  for (Index b = 0; b < blocks_; ++b) {
    all.block(b * rotation.rows(), b * rotation.cols(), rotation.rows(), rotation.cols()) =
        rotation;
  }
  axes_ = axes_ * rotation;
  batch_ = all.transpose() * batch_ * all;
  if (samples_) data_ = all.transpose() * data_;
  if (epoch_.size() > 0) epoch_ = all.transpose() * epoch_;
}

/// Keeps the axes that hold most of all parts of the covariance; velocities count as what they move
/// the parameters by.
void Deviations::truncate(double rate) {
  if (complete_ || rank() == 0) return;
  constexpr double kNothing = 1e-20;
  MatrixXd held = batch_;
  if (samples_) held += per_sample() * weighted_square(data_);
  const Index r = rank();
  MatrixXd all = held.topLeftCorner(r, r);
  if (blocks_ == 2) all += rate * rate * held.bottomRightCorner(r, r);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(all);
  const VectorXd& shares = parts.eigenvalues();
  Index kept = 0;
  while (kept < std::min(r, method_.rank) && shares[r - 1 - kept] > kNothing * shares[r - 1]) {
    ++kept;
  }
  rotate(parts.eigenvectors().rightCols(kept).rowwise().reverse());
  turned_ = blocks_ == 1 && epoch_.size() == 0;  // what is held is C
  if (turned_) widths_ = shares.tail(kept).reverse();
}

void Deviations::look(const PopulationPoint& point) {
  const Index r = rank();
  if (!turned_) widths_.resize(r);
  if (!turned_ && r > 0) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(
        coordinates_of_covariance().topLeftCorner(r, r));
    rotate(parts.eigenvectors().rowwise().reverse());
    widths_ = parts.eigenvalues().reverse();
  }
  turned_ = false;
  point_ = &point;
  MatrixXd axes = axes_;
  if (method_.hold == 1) {  // H d as well
    axes = side_by_side(axes, orthonormal_beside(axes_, mean_.head(axes_.rows())));
  }
  MatrixXd weights(p_.size(), 0);
  if (samples_ && method_.hold == 1) {
    MatrixXd own = data_.topRows(r);
    if (epoch_.size() > 0) own -= epoch_.topRows(r);
    weights = own_weights(own);
  }
  seen_ = along(point, axes, weights);
}

void Deviations::advance(const PopulationPoint& point, std::uint64_t first, std::uint64_t count) {
  const Index size = axes_.rows();
  const Index old = rank();
  const bool held = method_.hold > 1;
  const NoiseLevel noise = noise_level(plan_);
  if (noise.total == 0) return;  // C and d stay 0

  // Directions: those along which H is known, then the others that noise has.
  Differences known;
  MatrixXd directions;
  MatrixXd slope;
  const MatrixXd spanned = held ? axes_ : seen_.axes;
  const Noise beside = noise_beside(point, spanned, first);
  directions = side_by_side(spanned, beside.axes);
  if (held) {
    directions =
        side_by_side(directions, orthonormal_beside(directions, mean_.reshaped(size, blocks_)));
    known = along(point, directions, MatrixXd(p_.size(), 0));
    // A step leaves these for H of them. H is taken there as well: steps with a matrix that is 0
    // between such directions would grow without bound.
    known.append(
        along(point, orthonormal_beside(directions, known.hessian), MatrixXd(p_.size(), 0)));
    directions = known.axes;
    slope = known.slopes;
  } else {
    known = seen_;
    slope = side_by_side(known.slopes, slopes(model_, point, beside.axes));
    directions = side_by_side(directions, orthonormal_beside(directions, known.hessian));
  }
  const Index s = directions.cols();

  // In coordinates of these: H, g_s - g, and the state.
  MatrixXd h = MatrixXd::Zero(s, s);
  const Index seen = known.axes.cols();
  const MatrixXd image = directions.transpose() * known.hessian;
  const MatrixXd corner = image.topRows(seen);
  h.leftCols(seen) = image;
  h.topRows(seen) = image.transpose();
  h.topLeftCorner(seen, seen) = (corner + corner.transpose()) / 2;
  if (!plan_.decoupled) h.diagonal().array() += plan_.decay;
  MatrixXd g = MatrixXd::Zero(s, p_.size());
  g.topRows(slope.cols()) = slope.transpose();
  g.colwise() -= (g * p_).eval();
  const MatrixXd sigma = weighted_square(g);
  MatrixXd of_batch = noise.batch * sigma;
  if (plan_.parts != nullptr) {  // what differs within a sample as well
    const MatrixXd part_slope = slopes(*plan_.parts, point, directions.leftCols(slope.cols()));
    const VectorXd& p = plan_.parts->weights();
    MatrixXd within = part_slope.transpose() * p.asDiagonal() * part_slope;
    const VectorXd mean = part_slope.transpose() * p;
    within -= mean * mean.transpose() + sigma.topLeftCorner(slope.cols(), slope.cols());
    of_batch.topLeftCorner(slope.cols(), slope.cols()) += within / parts_of_a_batch();
  }
  gradient_noise_ = noise.total * beside.square +
                    (of_batch + per_sample() * sigma).diagonal().head(spanned.cols()).sum();
  axes_ = directions;
  const MatrixXd covariance_before = padded(coordinates_of_covariance(), blocks_, s);
  batch_ = padded(batch_, blocks_, s);
  if (samples_) data_ = padded_rows(data_, blocks_, s);
  if (epoch_.size() > 0) epoch_ = padded_rows(epoch_, blocks_, s);
  MatrixXd own_before;
  if (samples_) own_before = data_.topRows(s);
  if (epoch_.size() > 0) own_before -= epoch_.topRows(s);

  // Over steps of one rate: deviations x become jump x, and more by data and batches.
  struct Hop {
    MatrixXd jump, data, batch;
  };
  const auto step_of = [&](double rate) {
    const double shrink = plan_.decoupled ? 1 - rate * plan_.decay : 1;
    const MatrixXd identity = MatrixXd::Identity(s, s);
    Hop hop{.jump = MatrixXd(blocks_ * s, blocks_ * s),
            .data = MatrixXd(samples_ ? blocks_ * s : 0, p_.size()),
            .batch = MatrixXd(blocks_ * s, blocks_ * s)};
    if (blocks_ == 1) {
      hop.jump = shrink * identity - rate * h;
    } else {
      hop.jump << shrink * identity - rate * h, -rate * plan_.momentum * identity, h,
          plan_.momentum * identity;
    }
    // A gradient enters the parameters by -rate, a velocity by 1.
    const double enters[] = {-rate, 1};
    for (Index a = 0; a < blocks_; ++a) {
      if (samples_) hop.data.middleRows(a * s, s) = enters[a] * g;
      for (Index b = 0; b < blocks_; ++b) {
        hop.batch.block(a * s, b * s, s, s) = enters[a] * enters[b] * of_batch;
      }
    }
    return hop;
  };
  const auto apply = [&](const Hop& hop, MatrixXd& data, MatrixXd& batch) {
    batch = hop.jump * batch * hop.jump.transpose() + hop.batch;
    if (data.size() > 0) data = hop.jump * data + hop.data;
  };
  double rate = 0;
  for (std::uint64_t step = first; step < first + count;) {
    rate = plan_.rate(step);
    std::uint64_t left = 0;
    for (; step < first + count && plan_.rate(step) == rate; ++step) ++left;
    for (Hop hop = step_of(rate);; apply(hop, hop.data, hop.batch), hop.jump *= hop.jump) {
      if (left % 2 == 1) {
        apply(hop, data_, batch_);
        if (epoch_.size() > 0) epoch_ = hop.jump * epoch_ + hop.data;
      }
      left /= 2;
      if (left == 0) break;
    }
  }

  // What T:C and H_s R_s drive the mean with, halfway.
  VectorXd drive = VectorXd::Zero(size);
  if (!held) {
    drive = seen_.third.leftCols(old) * widths_.head(old) / 2;
    if (samples_) drive += per_sample() * seen_.own.rowwise().sum();
  } else {
    const auto m = static_cast<double>(count);
    const double part = (m - 1) / (2 * m);
    MatrixXd middle = covariance_before;
    middle += part * (coordinates_of_covariance() - covariance_before);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(middle.topLeftCorner(s, s));
    const Index used = complete_ ? s : std::min(s, method_.rank);
    const MatrixXd turn = parts.eigenvectors().rightCols(used);
    MatrixXd weights(p_.size(), 0);
    if (samples_) {
      MatrixXd own = data_.topRows(s);
      if (epoch_.size() > 0) own -= epoch_.topRows(s);
      weights = own_weights(turn.transpose() * (own_before + part * (own - own_before)));
    }
    const Differences there = along(point, directions * turn, weights);
    drive = there.third * parts.eigenvalues().tail(used) / 2;
    if (samples_) drive += per_sample() * there.own.rowwise().sum();
    const MatrixXd driven = orthonormal_beside(known.axes, drive);
    if (driven.cols() > 0 && count > 1) {  // H along it as well
      known.append(along(point, driven, MatrixXd(p_.size(), 0)));
    }
  }
  MatrixXd held_image;
  if (held) held_image = known.axes * (known.axes.transpose() * known.hessian);
  const double penalty = plan_.decoupled ? 0 : plan_.decay;
  for (std::uint64_t step = first; step < first + count; ++step) {
    rate = plan_.rate(step);
    const double shrink = plan_.decoupled ? 1 - rate * plan_.decay : 1;
    const VectorXd theta = mean_.head(size);
    const VectorXd along_known = held ? held_image * (known.axes.transpose() * theta)
                                      : applied(known.axes, known.hessian, theta);
    const VectorXd force = along_known + penalty * theta + drive;
    if (blocks_ == 1) {
      mean_ = shrink * theta - rate * force;
    } else {
      mean_.tail(size) = plan_.momentum * mean_.tail(size) + force;
      mean_.head(size) = shrink * theta - rate * mean_.tail(size);
    }
  }
  if (epoch_.size() > 0 && (first + count) % steps_per_epoch(plan_) == 0) {
    batch_ -= per_sample() * weighted_square(epoch_);
    epoch_.setZero();
  }
  truncate(rate);
}

LossMoments Deviations::losses() const {
  const Index r = rank();
  const Index size = axes_.rows();
  const VectorXd& gradient = point_->gradient;
  const VectorXd mean = mean_.head(size);
  const VectorXd along_axes = axes_.transpose() * gradient;
  const MatrixXd h = axes_.transpose() * seen_.hessian.leftCols(r);
  LossMoments out;
  const double moved = gradient.dot(mean);
  const double curved = widths_.dot(h.diagonal()) / 2;
  out.test.order_0 = point_->loss(model_);
  out.test.shift = moved + curved;
  out.test.size = std::abs(moved) + std::abs(curved);
  out.test.curvature_variance = squared_curvature(h, widths_) / 2;
  out.test.variance = widths_.dot(along_axes.cwiseAbs2()) + out.test.curvature_variance;
  out.train = out.test;
  out.batch = out.test;

  const VectorXd excess = point_->losses.array() - out.test.order_0;
  const double of_losses = p_.dot(excess.cwiseAbs2());
  const double gradient_variance = widths_.dot(along_axes.cwiseAbs2());
  const NoiseLevel noise = noise_level(plan_);
  double with_losses = 0;  // covariance of the batch's loss and that of the parameters
  if (samples_) {
    MatrixXd deviating = seen_.slopes.leftCols(r);  // (g_s - g).v
    deviating.rowwise() -= along_axes.transpose();
    const MatrixXd data = data_.topRows(r);
    const VectorXd data_slope = data.transpose() * along_axes;  // g.R_s
    const auto product = [&](const MatrixXd& coordinates) {     // sum_s p_s (g_s - g).R_s / M
      return per_sample() * p_.dot(deviating.cwiseProduct(coordinates.transpose()).rowwise().sum());
    };
    const double on_data = product(data);
    out.train.shift += on_data;
    out.train.size += std::abs(on_data);
    MatrixXd batch = batch_.topLeftCorner(r, r);
    if (epoch_.size() > 0) {
      batch -= per_sample() * weighted_square(epoch_.topRows(r));
    }
    const MatrixXd d = deviating.transpose() + h * data;  // V^T (g_s - g + H R_s)
    const MatrixXd bent = h * batch;
    out.train.curvature_variance = bent.cwiseProduct(bent.transpose()).sum() / 2;
    out.train.variance = per_sample() * p_.dot((excess + data_slope).cwiseAbs2()) +
                         along_axes.dot(batch * along_axes) + out.train.curvature_variance +
                         per_sample() * p_.dot((d.cwiseProduct(batch * d)).colwise().sum());
    out.batch = out.train;
    with_losses = per_sample() * p_.dot(excess.cwiseProduct(data_slope));
    if (epoch_.size() > 0) {
      const double in_epoch = product(epoch_.topRows(r));
      out.batch.shift -= in_epoch;
      out.batch.size += std::abs(in_epoch);
      const VectorXd epoch_slope = epoch_.topRows(r).transpose() * along_axes;
      with_losses -= per_sample() * p_.dot(excess.cwiseProduct(epoch_slope));
    }
  }
  if (plan_.batch > 0) {
    double of_batch = noise.total * of_losses;
    if (plan_.parts != nullptr) {
      VectorXd losses;
      plan_.parts->pass(point_->theta, losses);
      losses.array() -= out.test.order_0;
      of_batch += (plan_.parts->weights().dot(losses.cwiseAbs2()) - of_losses) / parts_of_a_batch();
    }
    out.batch.curvature_variance = out.test.curvature_variance;
    out.batch.variance =
        of_batch + 2 * with_losses + gradient_variance + out.test.curvature_variance;
  }
  return out;
}

Moment Deviations::observe(const Observable& f) const {
  constexpr Index kMixed = 16;      // axes between which second derivatives are taken
  constexpr double kNarrow = 1e-3;  // of the widest: not among them
  const double step = method_.step;
  const VectorXd& theta = point_->theta;
  const Index r = (widths_.array() != 0).any() ? rank() : 0;
  Moment out;
  out.order_0 = f(theta);
  VectorXd up(r), down(r);
  in_parallel(static_cast<std::size_t>(r), [&](std::size_t axis) {
    const auto j = static_cast<Index>(axis);
    if (widths_[j] == 0) {
      up[j] = down[j] = out.order_0;
      return;
    }
    up[j] = f(theta + step * axes_.col(j));
    down[j] = f(theta - step * axes_.col(j));
  });
  const VectorXd slope = (up - down) / (2 * step);
  const VectorXd curve = (up + down).array() - 2 * out.order_0;
  const VectorXd mean = mean_.head(theta.size());
  const double length = mean.norm();
  double moved = 0;
  if (length > 0) {
    const VectorXd toward = mean * (step / length);
    moved = (f(theta + toward) - f(theta - toward)) / (2 * step) * length;
  }
  const double curved = widths_.head(r).dot(curve) / (2 * step * step);
  out.shift = moved + curved;
  out.size = std::abs(moved) + std::abs(curved);

  Index mixed = 0;
  while (mixed < std::min(r, kMixed) && widths_[mixed] > kNarrow * widths_[0]) ++mixed;
  MatrixXd second = MatrixXd::Zero(r, r);
  second.diagonal() = curve;
  in_parallel(static_cast<std::size_t>(mixed * mixed), [&](std::size_t k) {
    const Index i = static_cast<Index>(k) / mixed;
    const Index j = static_cast<Index>(k) % mixed;
    if (i >= j) return;
    const VectorXd both = step * (axes_.col(i) + axes_.col(j));
    second(i, j) = (f(theta + both) + f(theta - both) - 2 * out.order_0 - curve[i] - curve[j]) / 2;
  });
  second /= step * step;
  for (Index i = 0; i < r; ++i) {
    for (Index j = i; j < r; ++j) {
      const double term = second(i, j) * second(i, j) * widths_[i] * widths_[j];
      out.curvature_variance += i == j ? term / 2 : term;
    }
  }
  out.variance = widths_.head(r).dot(slope.cwiseAbs2()) + out.curvature_variance;
  return out;
}

VectorXd Deviations::ritz_values() const {
  const Index r = rank();
  if (r == 0) return VectorXd();
  MatrixXd h = axes_.transpose() * seen_.hessian.leftCols(r);
  h = (h + h.transpose()).eval() / 2;
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(h, Eigen::EigenvaluesOnly).eigenvalues();
}

CurvatureRange curvature_range(const PopulationModel& model,
                               const VectorXd& theta,
                               double step,
                               std::uint64_t seed) {
  constexpr Index kSteps = 16;
  const Index size = theta.size();
  const Index steps = std::min(size, kSteps);
  MatrixXd basis(size, steps);
  MatrixXd h = MatrixXd::Zero(steps, steps);
  RandomStream stream({.seed = seed, .id = StreamId::theory, .point = 1});
  VectorXd v(size);
  for (double& x : v) x = stream.normal();
  v.normalize();
  Index done = 0;
  for (; done < steps; ++done) {
    basis.col(done) = v;
    VectorXd up(size), down(size), losses;
    model.pass(theta + step * v, losses, &model.weights(), &up);
    model.pass(theta - step * v, losses, &model.weights(), &down);
    v = (up - down) / (2 * step);
    const auto so_far = basis.leftCols(done + 1);
    const double scale = v.norm();
    h.col(done).head(done + 1) = so_far.transpose() * v;
    v -= so_far * h.col(done).head(done + 1);
    v -= so_far * (so_far.transpose() * v).eval();
    const double left = v.norm();
    if (!(left > 1e-8 * scale)) {
      ++done;
      break;
    }
    v /= left;
  }
  const MatrixXd found = h.topLeftCorner(done, done).selfadjointView<Eigen::Upper>();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> parts(found, Eigen::EigenvaluesOnly);
  return {parts.eigenvalues().maxCoeff(), parts.eigenvalues().minCoeff()};
}

}  // namespace attica

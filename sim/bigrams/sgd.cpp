#include "attica/sim/bigrams/sgd.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "attica/core/error.hpp"
#include "attica/core/register.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kRegister{kRegisterBytes};

/// A register of Reals and of whole numbers of the same size (GCC and Clang vector extensions).
template <class Real>
struct Lanes {
  static constexpr Index kCount = kRegister / static_cast<Index>(sizeof(Real));
  using Whole = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  typedef Real Reals __attribute__((vector_size(kRegister)));
  typedef Whole Wholes __attribute__((vector_size(kRegister)));
  typedef Token Tokens __attribute__((vector_size(kCount * sizeof(Token))));

  static void load(const Token* from, Wholes& to) {
    Tokens narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    to = __builtin_convertvector(narrow, Wholes);
  }
};

/// Tokens whose sums fit the registers, beside the operands: for these comparing is quicker.
constexpr Index kMostSums = kRegister >= 32 ? 12 : 2;
/// Tokens that have a sum for every lane. With AVX-512 more than are compared: indexing takes no
/// longer the more tokens there are.
constexpr Index kMostScattered = kRegister == 64 ? 48 : kMostSums;
constexpr Index kParts = 8;  // sums of which no two wait for each other
#ifdef __AVX2__
constexpr Index kTables = 2;  // registers of w that gather permutes
#else
constexpr Index kTables = 0;
#endif
constexpr Index kMostCompared = 8;  // tokens for which comparing beats indexing in gather

/// u[n] += Σ_t a[t] 1{x[t] = n} for n = first .. first + Count - 1, whole lanes of t only.
template <class Real, int Count>
void scatter_tokens(const Real* a, const Token* x, Index length, Index first, Real* u) {
  using L = Lanes<Real>;
  typename L::Reals partial[Count] = {};
  for (Index t = 0; t + L::kCount <= length; t += L::kCount) {
    typename L::Wholes x0;
    typename L::Reals a0;
    L::load(x + t, x0);
    std::memcpy(&a0, a + t, sizeof(a0));
    x0 -= static_cast<typename L::Whole>(first);
    for (int n = 0; n < Count; ++n) partial[n] = x0 == n ? partial[n] + a0 : partial[n];
  }
  for (int n = 0; n < Count; ++n) {
    for (Index lane = 0; lane < L::kCount; ++lane) u[n] += partial[n][lane];
  }
}

/// The sums of all tokens, at most Count, which stay in registers.
template <class Real, int Count = kMostSums>
void scatter_compared(const Real* a, const Token* x, Index length, Eigen::Matrix<Real, -1, 1>& u) {
  if (u.size() == Count) {
    scatter_tokens<Real, Count>(a, x, length, 0, u.data());
  } else if constexpr (Count > 1) {
    scatter_compared<Real, Count - 1>(a, x, length, u);
  }
}

/// sums[(t mod Parts) stride + x[t]] += a[t], whole Parts of t only. Equal tokens follow each
/// other: with one sum each, one that is read before it is written would have to wait.
template <Index Parts, class Real>
void add_parts(const Real* a, const Token* x, Index length, Index stride, Real* sums) {
  constexpr Index kWord = sizeof(std::uint64_t) / sizeof(Token);
  static_assert(Parts % kWord == 0);
  for (Index t = 0; t + Parts <= length; t += Parts) {
#pragma GCC unroll 16
    for (Index k = 0; k < Parts; k += kWord) {
      // Loads are what limits the loop: four tokens at a time.
      std::uint64_t word;  // NOLINT(*-init-variables): filled just below
      std::memcpy(&word, x + t + k, sizeof(word));
#pragma GCC unroll 4
      for (Index i = 0; i < kWord; ++i) {
        constexpr int kBits = 8 * sizeof(Token);
        const auto place = std::endian::native == std::endian::little ? i : kWord - 1 - i;
        const auto token = static_cast<Token>(word >> (kBits * place));
        sums[(k + i) * stride + token] += a[t + k + i];
      }
    }
  }
}

/// The sums of scatter_tokens in tables, one a lane.
template <class Real>
void scatter_indexed(const Real* a, const Token* x, Index length, Eigen::Matrix<Real, -1, 1>& u) {
  constexpr Index kLanes = Lanes<Real>::kCount;
  alignas(kRegister) std::array<Real, kLanes * kMostScattered> sums{};
  add_parts<kLanes>(a, x, length, kMostScattered, sums.data());
  for (Index lane = 0; lane < kLanes; ++lane) {
    u += Eigen::Map<const Eigen::Matrix<Real, -1, 1>>(
        &sums[static_cast<std::size_t>(lane * kMostScattered)], u.size());
  }
}

/// u[n] = Σ_t a[t] 1{x[t] = n}.
/// @param parts  tokens x kParts, overwritten
template <class Real>
void scatter(const Real* a,
             std::span<const Token> x,
             Eigen::Matrix<Real, -1, -1>& parts,
             Eigen::Matrix<Real, -1, 1>& u) {
  const auto length = static_cast<Index>(x.size());
  Index t = 0;
  if (u.size() <= kMostScattered) {
    u.setZero();
    if constexpr (kMostScattered > kMostSums) {
      if (u.size() > kMostSums) {
        scatter_indexed<Real>(a, x.data(), length, u);
      } else {
        scatter_compared<Real>(a, x.data(), length, u);
      }
    } else {
      scatter_compared<Real>(a, x.data(), length, u);
    }
    t = length - length % Lanes<Real>::kCount;
  } else if (u.size() * kParts <= length) {
    parts.setZero();
    add_parts<kParts>(a, x.data(), length, u.size(), parts.data());
    t = length - length % kParts;
    u = parts.rowwise().sum();
  } else {
    u.setZero();
  }
  for (; t < length; ++t) u[x[static_cast<std::size_t>(t)]] += a[t];
}

/// Two sequences with the same a by their pairs of tokens: one addition where two would be.
constexpr Index kMostPaired = 24;  // whose tables stay in first-level cache
constexpr Index kPairParts = 4;
constexpr Index kPairs = kMostPaired * kMostPaired;
bool pairs_pay(Index tokens, Index length) {
  return tokens > kMostSums && tokens <= kMostPaired && 2 * tokens * tokens <= length;
}

/// What scatter gives for x and for y.
/// @param joint  as long as they, overwritten
template <class Real>
void scatter_pair(const Real* a,
                  std::span<const Token> x,
                  std::span<const Token> y,
                  std::span<Token> joint,
                  Eigen::Matrix<Real, -1, 1>& u,
                  Eigen::Matrix<Real, -1, 1>& v) {
  const Index tokens = u.size();
  for (std::size_t t = 0; t < x.size(); ++t) {
    joint[t] = static_cast<Token>(x[t] * static_cast<Token>(tokens) + y[t]);
  }
  const auto length = static_cast<Index>(x.size());
  alignas(kRegister) std::array<Real, static_cast<std::size_t>(kPairParts * kPairs)> sums;
  for (Index part = 0; part < kPairParts; ++part) {
    std::fill_n(sums.data() + part * kPairs, tokens * tokens, Real(0));
  }
  add_parts<kPairParts>(a, joint.data(), length, kPairs, sums.data());
  for (Index t = length - length % kPairParts; t < length; ++t) {
    sums[joint[static_cast<std::size_t>(t)]] += a[t];
  }
  using Table = Eigen::Map<Eigen::Matrix<Real, -1, -1>>;
  Table total(sums.data(), tokens, tokens);  // row y, column x
  for (Index part = 1; part < kPairParts; ++part) {
    total += Table(sums.data() + part * kPairs, tokens, tokens);
  }
  u = total.colwise().sum().transpose();
  v = total.rowwise().sum();
}

/// g[t] += w[x[t]].
template <class Real>
void gather(const Eigen::Matrix<Real, -1, 1>& w, std::span<const Token> x, Real* g) {
  using L = Lanes<Real>;
  const auto tokens = static_cast<typename L::Whole>(w.size());
  const auto length = static_cast<Index>(x.size());
  const auto add = [&](const auto& look_up) {
    Index t = 0;
    for (; t + L::kCount <= length; t += L::kCount) {
      typename L::Wholes x0;
      typename L::Reals sum;
      L::load(x.data() + t, x0);
      std::memcpy(&sum, g + t, sizeof(sum));
      sum += look_up(x0);
      std::memcpy(g + t, &sum, sizeof(sum));
    }
    return t;
  };
  Index t = 0;
  const typename L::Reals zero = {};
#ifndef __clang__  // which has no permutation by a variable index
  if (w.size() <= kTables * L::kCount) {
    typename L::Reals table[2] = {};
    std::memcpy(table, w.data(), static_cast<std::size_t>(w.size()) * sizeof(Real));
    t = add(
        [&](const typename L::Wholes& x0) { return __builtin_shuffle(table[0], table[1], x0); });
  } else
#endif
      if (w.size() <= kMostCompared) {
    t = add([&](const typename L::Wholes& x0) {
      typename L::Reals value = zero;
      for (typename L::Whole n = 0; n < tokens; ++n) value = x0 == n ? zero + w[n] : value;
      return value;
    });
  }
  for (; t < length; ++t) g[t] += w[x[static_cast<std::size_t>(t)]];
}

}  // namespace

template <class Real>
BigramSgd<Real>::BigramSgd(const BigramModel& model,
                           BigramAlgorithm algorithm,
                           const BigramRates& rates,
                           double batch,
                           const MatrixXd& value,
                           const StreamAddress& address)
    : BigramTrainer(model, rates, batch),
      algorithm_(algorithm),
      sampler_(model),
      address_(address),
      v_(value.cast<Real>()),
      mu_(model.stationary().cast<Real>()),
      inverse_mu_(mu_.cwiseInverse()) {
  require(rates.eta_v > 0, "eta_V", rates.eta_v, "eta_V > 0");
  require(rates.eta_a > 0, "eta_A", rates.eta_a, "eta_A > 0");
  require(batch >= 1 && batch == std::floor(batch), "batch", batch, "a whole number >= 1");
  a_ = Matrix::Constant(
      model.context(), model.tokens(), Real(1) / static_cast<Real>(model.context()));
  if (algorithm == BigramAlgorithm::softmax) w_ = Matrix::Zero(model.context(), model.tokens());
}

template <class Real>
void BigramSgd<Real>::set_attention(const MatrixXd& attention) {
  if (algorithm_ != BigramAlgorithm::softmax) {
    a_ = attention.cast<Real>();
    return;
  }
  w_ = attention.cast<Real>();
  for (Index k = 0; k < w_.cols(); ++k) {
    a_.col(k) = (w_.col(k).array() - w_.col(k).maxCoeff()).exp();
    a_.col(k) /= a_.col(k).sum();
  }
}

template <class Real>
void BigramSgd<Real>::step() {
  StreamAddress address = address_;
  address.step = static_cast<std::uint64_t>(steps_);
  RandomStream stream(address);
  const auto batch = static_cast<std::int64_t>(batch_);
  step({[&](std::span<std::int64_t> counts) { sampler_.draw_counts(batch, counts, stream); },
        [&](Index last, std::span<Token> tokens) { return sampler_.draw(last, tokens, stream); }});
}

template <class Real>
void BigramSgd<Real>::step(const BigramSource& source) {
  const Index n = v_.rows();
  const auto length = static_cast<std::size_t>(a_.rows());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n));
  const bool pairs = pairs_pay(n, a_.rows());
  // Of one sample, or of two.
  std::array<std::vector<Token>, 2> tokens = {std::vector<Token>(length),
                                              std::vector<Token>(pairs ? length : 0)};
  std::array<Vector, 2> sums = {Vector(n), Vector(n)};
  std::array<Token, 2> next{};
  std::vector<Token> joint(pairs ? length : 0);
  Matrix parts(n, kParts);
  Vector r(n);
  Vector w(n);
  Vector column_gradient(a_.rows());
  Matrix value_gradient = Matrix::Zero(n, n);
  const bool hat_value =
      algorithm_ != BigramAlgorithm::sgd_raw && algorithm_ != BigramAlgorithm::sgd_projected;
  source.counts(counts);
  batch_loss_ = 0;
  for (Index k = 0; k < n; ++k) {
    const std::int64_t count = counts[static_cast<std::size_t>(k)];
    if (count > 0) {
      const Real sum = a_.col(k).sum();
      column_gradient.setZero();
      for (std::int64_t b = 0; b < count;) {
        const std::size_t now = pairs && b + 1 < count ? 2 : 1;
        for (std::size_t i = 0; i < now; ++i) next[i] = source.sample(k, tokens[i]);
        if (now == 2) {
          scatter_pair<Real>(a_.col(k).data(), tokens[0], tokens[1], joint, sums[0], sums[1]);
        } else {
          scatter<Real>(a_.col(k).data(), tokens[0], parts, sums[0]);
        }
        for (std::size_t i = 0; i < now; ++i) {
          Vector& u = sums[i];
          r.noalias() = v_ * u;
          r[next[i]] -= 1;
          w.noalias() = v_.transpose() * r;
          if (hat_value) u = u.cwiseProduct(inverse_mu_).array() - sum;
          value_gradient.noalias() += r * u.transpose();
          gather<Real>(w, tokens[i], column_gradient.data());
          batch_loss_ += 0.5 * static_cast<double>(r.squaredNorm());
        }
        b += static_cast<std::int64_t>(now);
      }
      update_column(k, column_gradient / static_cast<Real>(batch_));
    }
    shrink_column(k);
  }
  batch_loss_ /= batch_;
  if (!value_frozen_) update_value(value_gradient / static_cast<Real>(batch_));
  ++steps_;
}

template <class Real>
void BigramSgd<Real>::update_column(Index k, const Vector& gradient) {
  auto a = a_.col(k);
  const auto eta = static_cast<Real>(rates_.eta_a);
  switch (algorithm_) {
    case BigramAlgorithm::sgd_raw:
      a -= eta * gradient;
      return;
    case BigramAlgorithm::sgd_projected:
      a.array() -= eta * (gradient.array() - gradient.mean());
      return;
    case BigramAlgorithm::sgd_hat:
    case BigramAlgorithm::l1:
    case BigramAlgorithm::l1_sum1:
      a.array() -= eta * inverse_mu_[k] * (gradient.array() - gradient.mean());
      return;
    case BigramAlgorithm::softmax: {
      // J(a) z = a∘z - a (a·z); the largest logit is taken off before the exponential.
      auto logits = w_.col(k);
      logits -= eta * inverse_mu_[k] * (a.array() * (gradient.array() - a.dot(gradient))).matrix();
      a = (logits.array() - logits.maxCoeff()).exp();
      a /= a.sum();
      return;
    }
  }
}

template <class Real>
void BigramSgd<Real>::shrink_column(Index k) {
  if (lambda_ == 0) return;
  const double shrink = rates_.eta_a * lambda_;
  auto a = a_.col(k);
  if (algorithm_ == BigramAlgorithm::l1) {
    const auto h = static_cast<Real>(shrink);
    a = (a.array() - a.array().max(-h).min(h)).matrix();
  } else if (algorithm_ == BigramAlgorithm::l1_sum1) {
    a = soft_threshold_sum1(a.template cast<double>(), shrink).template cast<Real>();
  }
}

template <class Real>
void BigramSgd<Real>::update_value(const Matrix& gradient) {
  const auto eta = static_cast<Real>(rates_.eta_v);
  if (algorithm_ == BigramAlgorithm::sgd_raw) {
    v_ -= eta * gradient;
    return;
  }
  Matrix step = gradient;
  if (algorithm_ == BigramAlgorithm::sgd_projected) {
    step -= (gradient * mu_) * mu_.transpose() / mu_.squaredNorm();
  }
  step.rowwise() -= step.colwise().mean().eval();
  v_ -= eta * step;
}

template <class Real>
AttentionSums BigramSgd<Real>::sums() const {
  return attention_sums(*model_, a_);
}

template <class Real>
void BigramSgd<Real>::threshold(double tau) {
  a_ = (a_.array().abs() < static_cast<Real>(tau)).select(Real(0), a_);
}

template <class Real>
std::vector<SparseColumn> BigramSgd<Real>::large_entries(double fraction) const {
  std::vector<SparseColumn> columns(static_cast<std::size_t>(a_.cols()));
  for (Index k = 0; k < a_.cols(); ++k) {
    const Real least = static_cast<Real>(fraction) * a_.col(k).maxCoeff();
    if (!(least > 0)) continue;
    for (Index t = 0; t < a_.rows(); ++t) {
      if (a_(t, k) < least) continue;
      columns[static_cast<std::size_t>(k)].positions.push_back(t);
      columns[static_cast<std::size_t>(k)].weights.push_back(static_cast<double>(a_(t, k)));
    }
  }
  return columns;
}

template <class Real>
double BigramSgd<Real>::zero_fraction() const {
  Index zeros = (a_.array() == Real(0)).count();
  Index support = 0;
  for (Index k = 0; k < a_.cols(); ++k) {
    for (const Index t : model_->attention()[static_cast<std::size_t>(k)].positions) {
      ++support;
      zeros -= a_(t, k) == Real(0) ? 1 : 0;
    }
  }
  return static_cast<double>(zeros) / static_cast<double>(a_.size() - support);
}

template class BigramSgd<float>;
template class BigramSgd<double>;

}  // namespace attica

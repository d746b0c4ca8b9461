#include "attica/sim/bigrams/sgd.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

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
#if defined(__AVX512F__)
    // One instruction, for which the compiler takes five.
    if constexpr (sizeof(Real) == 4) {
      to = reinterpret_cast<Wholes>(
          _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
    } else {
      to = reinterpret_cast<Wholes>(
          _mm512_cvtepu16_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
    }
#else
    Tokens narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    to = __builtin_convertvector(narrow, Wholes);
#endif
  }

  static Real sum(const Reals& x) {
    Eigen::Array<Real, kCount, 1> numbers;
    std::memcpy(numbers.data(), &x, sizeof(x));
    return numbers.sum();
  }
};

/// Tokens whose sums fit the registers, beside the operands: for these comparing is quicker.
constexpr Index kMostSums = kRegister >= 32 ? 12 : 2;
/// Tokens that have a sum for every lane. With AVX-512 more than are compared: indexing takes no
/// longer the more tokens there are.
constexpr Index kMostScattered = kRegister == 64 ? 48 : kMostSums;
constexpr Index kParts = 8;  // sums of which no two wait for each other
#ifdef __AVX2__
[[maybe_unused]] constexpr Index kTables = 2;  // registers of w that gather permutes
#else
[[maybe_unused]] constexpr Index kTables = 0;
#endif
constexpr Index kMostCompared = 8;  // tokens for which comparing beats indexing in gather

/// Positions come in multiples of it: whole registers, and whole Parts of what follows. What is
/// added to a context has a weight of 0.
template <class Real>
constexpr Index kWhole = std::max(Lanes<Real>::kCount, kParts);

/// u[n] = Σ_t a[t] 1{x[t] = n} for Sequences of them, of so many tokens, one after the other.
/// @param length in units; `context` of them belong to a sequence
/// @param total of a: the sum of what u adds up to, which saves one of the sums
template <class Real, int Tokens, int Sequences>
void scatter_compared(const Real* a,
                      Real total,
                      const Token* x,
                      Index length,
                      Index context,
                      Eigen::Ref<Eigen::Matrix<Real, -1, -1>> u) {
  using L = Lanes<Real>;
  typename L::Reals partial[Sequences][Tokens] = {};
  for (Index t = 0; t < length; t += L::kCount) {
    typename L::Reals a0;
    std::memcpy(&a0, a + t, sizeof(a0));
    // Sums stay in registers where no index is left.
#pragma GCC unroll 2
    for (int i = 0; i < Sequences; ++i) {
      typename L::Wholes x0;
      L::load(x + i * context + t, x0);
#pragma GCC unroll 16
      for (int n = 1; n < Tokens; ++n) {
        partial[i][n] = x0 == n ? partial[i][n] + a0 : partial[i][n];
      }
    }
  }
  for (int i = 0; i < Sequences; ++i) {
    Real rest = total;
    for (int n = 1; n < Tokens; ++n) {
      u(i, n) = L::sum(partial[i][n]);
      rest -= u(i, n);
    }
    u(i, 0) = rest;
  }
}

/// The sums of all tokens, at most Count, which stay in registers.
template <class Real, int Count = kMostSums>
void scatter_few(const Real* a,
                 Real total,
                 const Token* x,
                 Index length,
                 Index context,
                 Eigen::Ref<Eigen::Matrix<Real, -1, -1>> u) {
  if (u.cols() < Count) {
    if constexpr (Count > 2) scatter_few<Real, Count - 1>(a, total, x, length, context, u);
    return;
  }
  // Additions of one sequence wait for each other, where they are few.
  constexpr int kSequences = Count <= 4 ? 2 : 1;
  Index i = 0;
  for (; i + kSequences <= u.rows(); i += kSequences) {
    scatter_compared<Real, Count, kSequences>(
        a, total, x + i * context, length, context, u.middleRows(i, kSequences));
  }
  for (; i < u.rows(); ++i) {
    scatter_compared<Real, Count, 1>(
        a, total, x + i * context, length, context, u.middleRows(i, 1));
  }
}

/// sums[(t mod Parts) stride + x[t]] += a[t], whole Parts of t only. Equal tokens follow each
/// other: with one sum each, one that is read before it is written would have to wait.
template <Index Parts, class Real>
void add_parts(const Real* a, const Token* x, Index length, Index stride, Real* sums) {
  // Loads are what limits the loop: four tokens at a time, two where a register has two numbers.
  using Word = std::conditional_t<Parts % 4 == 0, std::uint64_t, std::uint32_t>;
  constexpr Index kWord = sizeof(Word) / sizeof(Token);
  static_assert(Parts % kWord == 0);
  for (Index t = 0; t + Parts <= length; t += Parts) {
#pragma GCC unroll 16
    for (Index k = 0; k < Parts; k += kWord) {
      Word word;  // NOLINT(*-init-variables): filled just below
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

/// u[n] = Σ_t a[t] 1{x[t] = n} of one sequence.
/// @param length in units
/// @param parts tokens x kParts, overwritten
template <class Real>
void scatter(const Real* a,
             const Token* x,
             Index length,
             Eigen::Matrix<Real, -1, -1>& parts,
             Eigen::Ref<Eigen::Matrix<Real, -1, 1>> u) {
  u.setZero();
  if (u.size() <= kMostScattered) {
    constexpr Index kLanes = Lanes<Real>::kCount;
    alignas(kRegister) std::array<Real, kLanes * kMostScattered> sums{};
    add_parts<kLanes>(a, x, length, kMostScattered, sums.data());
    for (Index lane = 0; lane < kLanes; ++lane) {
      u += Eigen::Map<const Eigen::Matrix<Real, -1, 1>>(
          &sums[static_cast<std::size_t>(lane * kMostScattered)], u.size());
    }
  } else if (u.size() * kParts <= length) {
    parts.setZero();
    add_parts<kParts>(a, x, length, u.size(), parts.data());
    u = parts.rowwise().sum();
  } else {
    for (Index t = 0; t < length; ++t) u[x[t]] += a[t];
  }
}

/// Two sequences with the same a by their pairs of tokens: one addition where two would be.
constexpr Index kMostPaired = 24;  // whose tables stay in first-level cache
constexpr Index kPairParts = 4;
constexpr Index kPairs = kMostPaired * kMostPaired;
bool pairs_pay(Index tokens, Index length) {
  return tokens > kMostSums && tokens <= kMostPaired && 2 * tokens * tokens <= length;
}

/// What scatter gives for x and for y.
/// @param joint as long as they, overwritten
template <class Real>
void scatter_pair(const Real* a,
                  const Token* x,
                  const Token* y,
                  std::span<Token> joint,
                  Eigen::Ref<Eigen::Matrix<Real, -1, 1>> u,
                  Eigen::Ref<Eigen::Matrix<Real, -1, 1>> v) {
  const Index tokens = u.size();
  const auto length = std::ssize(joint);
  for (Index t = 0; t < length; ++t) {
    joint[static_cast<std::size_t>(t)] =
        static_cast<Token>(x[t] * static_cast<Token>(tokens) + y[t]);
  }
  alignas(kRegister) std::array<Real, static_cast<std::size_t>(kPairParts * kPairs)> sums;
  for (Index part = 0; part < kPairParts; ++part) {
    std::fill_n(sums.data() + part * kPairs, tokens * tokens, Real(0));
  }
  add_parts<kPairParts>(a, joint.data(), length, kPairs, sums.data());
  using Table = Eigen::Map<Eigen::Matrix<Real, -1, -1>>;
  Table total(sums.data(), tokens, tokens);  // row y, column x
  for (Index part = 1; part < kPairParts; ++part) {
    total += Table(sums.data() + part * kPairs, tokens, tokens);
  }
  u = total.colwise().sum().transpose();
  v = total.rowwise().sum();
}

/// Rows of u for so many sequences, one after the other.
template <class Real>
void scatter_all(const Eigen::Ref<const Eigen::Matrix<Real, -1, 1>>& a,
                 Real total,
                 const Token* x,
                 Index context,
                 Index sequences,
                 std::span<Token> joint,
                 Eigen::Matrix<Real, -1, -1>& parts,
                 Eigen::Matrix<Real, -1, -1>& u) {
  if (u.cols() <= kMostSums) {
    scatter_few<Real>(a.data(), total, x, a.size(), context, u.topRows(sequences));
    return;
  }
  Eigen::Matrix<Real, -1, -1> sums(u.cols(), 2);
  for (Index i = 0; i < sequences;) {
    if (!joint.empty() && i + 1 < sequences) {
      scatter_pair<Real>(
          a.data(), x + i * context, x + (i + 1) * context, joint, sums.col(0), sums.col(1));
      u.row(i++) = sums.col(0).transpose();
      u.row(i++) = sums.col(1).transpose();
    } else {
      scatter<Real>(a.data(), x + i * context, a.size(), parts, sums.col(0));
      u.row(i++) = sums.col(0).transpose();
    }
  }
}

/// g[t] += w_i[x_i[t]] for Sequences i, one after the other, with what `look_up` makes of i and a
/// register of tokens.
template <class Real, int Sequences, class LookUp>
void gather_registers(const LookUp& look_up, const Token* x, Index length, Index context, Real* g) {
  using L = Lanes<Real>;
  for (Index t = 0; t < length; t += L::kCount) {
    typename L::Reals sum;
    std::memcpy(&sum, g + t, sizeof(sum));
    for (int i = 0; i < Sequences; ++i) {
      typename L::Wholes x0;
      L::load(x + i * context + t, x0);
      sum += look_up(i, x0);
    }
    std::memcpy(g + t, &sum, sizeof(sum));
  }
}

/// The same for columns of w, whole registers of t at a time.
template <class Real, int Sequences>
void gather_some(const Eigen::Ref<const Eigen::Matrix<Real, -1, -1>>& w,
                 const Token* x,
                 Index length,
                 Index context,
                 Real* g) {
  using L = Lanes<Real>;
  const Index tokens = w.rows();
#ifndef __clang__  // which has no permutation by a variable index
  if (tokens <= kTables * L::kCount) {
    typename L::Reals table[Sequences][2] = {};
    for (int i = 0; i < Sequences; ++i) {
      std::memcpy(table[i], w.col(i).data(), static_cast<std::size_t>(tokens) * sizeof(Real));
    }
    gather_registers<Real, Sequences>(
        [&](int i, const typename L::Wholes& x0) {
          return __builtin_shuffle(table[i][0], table[i][1], x0);
        },
        x,
        length,
        context,
        g);
    return;
  }
#endif
  if (tokens <= kMostCompared) {
    const typename L::Reals zero = {};
    gather_registers<Real, Sequences>(
        [&](int i, const typename L::Wholes& x0) {
          typename L::Reals value = zero;
          for (Index n = 0; n < tokens; ++n) {
            value = x0 == static_cast<typename L::Whole>(n) ? zero + w(n, i) : value;
          }
          return value;
        },
        x,
        length,
        context,
        g);
    return;
  }
  for (int i = 0; i < Sequences; ++i) {
    const Real* own = w.col(i).data();
    for (Index t = 0; t < length; ++t) g[t] += own[x[i * context + t]];
  }
}

/// g[t] += w_i[x_i[t]] for all columns of w.
template <class Real>
void gather(
    const Eigen::Matrix<Real, -1, -1>& w, const Token* x, Index length, Index context, Real* g) {
  constexpr int kTogether = 4;
  Index i = 0;
  for (; i + kTogether <= w.cols(); i += kTogether) {
    gather_some<Real, kTogether>(w.middleCols(i, kTogether), x + i * context, length, context, g);
  }
  for (; i < w.cols(); ++i) {
    gather_some<Real, 1>(w.middleCols(i, 1), x + i * context, length, context, g);
  }
}

/// The next multiple of kWhole.
template <class Real>
Index whole(Index size) {
  return (size + kWhole<Real> - 1) / kWhole<Real> * kWhole<Real>;
}

/// Few tokens: Eigen's products of large matrices take longer to begin than these to end.
constexpr Index kNarrow = 8;

/// to = a b, or to += a b.
template <class To, class A, class B>
void set_product(To& to, const A& a, const B& b, bool narrow) {
  if (narrow) {
    to.noalias() = a.lazyProduct(b);
  } else {
    to.noalias() = a * b;
  }
}
template <class To, class A, class B>
void add_product(To& to, const A& a, const B& b, bool narrow) {
  if (narrow) {
    to.noalias() += a.lazyProduct(b);
  } else if (a.cols() == 1) {
    to.noalias() += a.col(0) * b.row(0);
  } else {
    to.noalias() += a * b;
  }
}

}  // namespace

template <class Real>
struct BigramSgd<Real>::Work {
  Work(Index context, Index tokens, Index samples)
      : length(whole<Real>(context)),
        block(std::min(std::max(kTokens / context, kFewest), samples)),
        counts(static_cast<std::size_t>(tokens)),
        // Where the last sample ends whole units are read.
        x(Eigen::Array<Token, -1, 1>::Zero(block * context + kWhole<Real>)),
        next(static_cast<std::size_t>(block)),
        joint(static_cast<std::size_t>(pairs_pay(tokens, context) ? length : 0)),
        gradient(length),
        parts(tokens, kParts),
        value_gradient(tokens, tokens) {}

  static constexpr Index kTokens = 8192;  // of a block, in first-level cache beside a
  static constexpr Index kFewest = 4;     // samples that are looked up together

  Index length;  ///< of contexts in whole units
  Index block;   ///< samples at a time
  std::vector<std::int64_t> counts;
  Eigen::Array<Token, -1, 1> x;  ///< of a block, one sample after the other
  std::vector<Token> next;
  std::vector<Token> joint;  ///< pairs of two samples' tokens, where these pay
  Vector gradient;           ///< of a column
  Matrix parts;
  Matrix value_gradient;
  // Of a block; a row for each sample.
  Matrix u;
  Matrix r;
  Matrix w;
  Matrix look_up;  ///< w, a column for each sample
};

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
  work_ = std::make_unique<Work>(model.context(), model.tokens(), static_cast<Index>(batch));
  a_ = Matrix::Zero(whole<Real>(model.context()), model.tokens());
  a_.topRows(model.context()).setConstant(Real(1) / static_cast<Real>(model.context()));
  if (algorithm == BigramAlgorithm::softmax) w_ = Matrix::Zero(model.context(), model.tokens());
}

template <class Real>
void BigramSgd<Real>::set_attention(const MatrixXd& attention) {
  if (algorithm_ != BigramAlgorithm::softmax) {
    a_.topRows(attention.rows()) = attention.cast<Real>();
    return;
  }
  w_ = attention.cast<Real>();
  for (Index k = 0; k < w_.cols(); ++k) {
    column(k) = (w_.col(k).array() - w_.col(k).maxCoeff()).exp();
    column(k) /= column(k).sum();
  }
}

template <class Real>
BigramSgd<Real>::~BigramSgd() = default;

template <class Real>
void BigramSgd<Real>::step() {
  StreamAddress address = address_;
  address.step = static_cast<std::uint64_t>(steps_);
  RandomStream stream(address);
  const auto batch = static_cast<std::int64_t>(batch_);
  step({[&](std::span<std::int64_t> counts) { sampler_.draw_counts(batch, counts, stream); },
        [&](Index last, std::span<Token> tokens, std::span<Token> next) {
          sampler_.draw(last, tokens, next, stream);
        }});
}

template <class Real>
void BigramSgd<Real>::step(const BigramSource& source) {
  const Index n = v_.rows();
  Work& work = *work_;
  source.counts(work.counts);
  batch_loss_ = 0;
  work.value_gradient.setZero();
  for (Index k = 0; k < n; ++k) {
    const std::int64_t count = work.counts[static_cast<std::size_t>(k)];
    if (count > 0) {
      work.gradient.setZero();
      for (std::int64_t b = 0; b < count; b += work.block) {
        add_samples(k, std::min(work.block, count - b), source);
      }
      work.gradient *= static_cast<Real>(1 / batch_);
      update_column(k, work.gradient.head(model_->context()));
    }
    shrink_column(k);
  }
  batch_loss_ /= batch_;
  if (!value_frozen_) update_value(work.value_gradient / static_cast<Real>(batch_));
  ++steps_;
}

template <class Real>
void BigramSgd<Real>::add_samples(Index k, Index samples, const BigramSource& source) {
  Work& work = *work_;
  const Index n = v_.rows();
  const Index context = model_->context();
  const std::span<Token> next(work.next.data(), static_cast<std::size_t>(samples));
  source.samples(k, std::span(work.x.data(), static_cast<std::size_t>(samples * context)), next);
  const bool narrow = n <= kNarrow;
  // Rows of narrow matrices come in whole registers: those behind the samples are 0, and so is r.
  work.u.setZero(narrow ? whole<Real>(samples) : samples, n);
  const Real sum = a_.col(k).sum();
  scatter_all<Real>(
      a_.col(k), sum, work.x.data(), context, samples, work.joint, work.parts, work.u);
  set_product(work.r, work.u, v_.transpose(), narrow);
  for (Index i = 0; i < samples; ++i) work.r(i, next[static_cast<std::size_t>(i)]) -= 1;
  set_product(work.w, work.r, v_, narrow);
  const bool hat_value =
      algorithm_ != BigramAlgorithm::sgd_raw && algorithm_ != BigramAlgorithm::sgd_projected;
  if (hat_value) work.u = (work.u * inverse_mu_.asDiagonal()).array() - sum;
  add_product(work.value_gradient, work.r.transpose(), work.u, narrow);
  work.look_up = work.w.topRows(samples).transpose();
  gather<Real>(work.look_up, work.x.data(), a_.rows(), context, work.gradient.data());
  batch_loss_ += 0.5 * static_cast<double>(work.r.squaredNorm());
}

template <class Real>
void BigramSgd<Real>::update_column(Index k, const Eigen::Ref<const Vector>& gradient) {
  auto a = column(k);
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
  auto a = column(k);
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
    for (Index t = 0; t < model_->context(); ++t) {
      if (a_(t, k) < least) continue;
      columns[static_cast<std::size_t>(k)].positions.push_back(t);
      columns[static_cast<std::size_t>(k)].weights.push_back(static_cast<double>(a_(t, k)));
    }
  }
  return columns;
}

template <class Real>
double BigramSgd<Real>::zero_fraction() const {
  const auto entries = a_.topRows(model_->context());
  Index zeros = (entries.array() == Real(0)).count();
  Index support = 0;
  for (Index k = 0; k < a_.cols(); ++k) {
    for (const Index t : model_->attention()[static_cast<std::size_t>(k)].positions) {
      ++support;
      zeros -= a_(t, k) == Real(0) ? 1 : 0;
    }
  }
  return static_cast<double>(zeros) / static_cast<double>(entries.size() - support);
}

template class BigramSgd<float>;
template class BigramSgd<double>;

}  // namespace attica

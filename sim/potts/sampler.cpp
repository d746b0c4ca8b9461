#include "attica/sim/potts/sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr std::int64_t kSweepsPerRebuild = 1000;

/// Uniform on (0, 1) in steps of 2^-24, two per random word, the lower half first.
template <class Lanes>
Lanes uniform_lanes(const std::uint64_t* words) {
  constexpr std::uint32_t kDropped = 8;
  constexpr float kUnit = 0x1.0p-24F;
  alignas(64) std::array<std::int32_t, kChainsPerBlock> steps;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const auto half = static_cast<std::uint32_t>(words[k / 2] >> (k % 2 * 32));
    steps[k] = static_cast<std::int32_t>(half >> kDropped);
  }
  Lanes u;
  for (Index k = 0; k < kChainsPerBlock; ++k) {
    u[k] = (static_cast<float>(steps[static_cast<std::size_t>(k)]) + 0.5F) * kUnit;
  }
  return u;
}

/// Adds what a site's change of colours does to the fields of its neighbours. With the number of
/// colours known everything stays in registers, and choosing takes the place of looking up.
/// @param colour_couplings U by rows
template <int kColours, class Neighbours>
void add_to_neighbours(const Neighbours& neighbours,
                       const float* colour_couplings,
                       const std::int32_t* before,
                       const std::int32_t* after,
                       float* fields) {
  constexpr int kWidth = kChainsPerBlock;
  constexpr Index kParts = kChainsPerBlock / kWidth;
  using Floats =
      float __attribute__((vector_size(kWidth * sizeof(float)), may_alias, aligned(sizeof(float))));
  using Colours = std::int32_t
      __attribute__((vector_size(kWidth * sizeof(float)), may_alias, aligned(sizeof(float))));
  const auto* was = reinterpret_cast<const Colours*>(before);
  const auto* is = reinterpret_cast<const Colours*>(after);
  Floats change[kColours * kParts];
  for (Index part = 0; part < kParts; ++part) {
    for (int a = 0; a < kColours; ++a) {
      const float* row = colour_couplings + static_cast<Index>(a) * kColours;
      Floats seen = Floats{} + row[0];
      Floats seen_before = seen;
      for (int c = 1; c < kColours; ++c) {
        const Floats other = Floats{} + row[c];
        seen = is[part] == c ? other : seen;
        seen_before = was[part] == c ? other : seen_before;
      }
      change[a * kParts + part] = seen - seen_before;
    }
  }
  for (const auto& n : neighbours) {
    auto* touched = reinterpret_cast<Floats*>(fields + n.site * kColours * kChainsPerBlock);
    for (Index k = 0; k < kColours * kParts; ++k) touched[k] += n.coupling * change[k];
  }
}

}  // namespace

PottsSampler::PottsSampler(const PottsModel& model,
                           const SamplerOptions& options,
                           const StreamAddress& address)
    : sites_(model.sites()),
      colours_(model.colours()),
      beta_(model.beta()),
      neighbours_(static_cast<std::size_t>(model.sites())),
      ladder_(options.ladder),
      chains_(options.chains) {
  require(chains_ >= 1, "chains", static_cast<double>(chains_), "at least 1");
  const auto rungs = static_cast<Index>(ladder_.size());
  if (rungs < 1 || kChainsPerBlock % rungs != 0) {
    throw invalid_parameter("ladder", static_cast<double>(rungs), "1, 2, 4, 8 or 16 factors");
  }
  require(ladder_.front() == 1, "ladder", ladder_.front(), "1 as the first factor");
  for (const double factor : ladder_) {
    require(std::isfinite(factor), "ladder", factor, "finite factors");
  }
  for (Index i = 0; i < sites_; ++i) {
    for (Index j = 0; j < sites_; ++j) {
      const double coupling = model.couplings()(i, j);
      if (coupling != 0) {
        neighbours_[static_cast<std::size_t>(i)].push_back({j, static_cast<float>(coupling)});
      }
    }
  }
  for (Index a = 0; a < colours_; ++a) {
    for (Index c = 0; c < colours_; ++c) {
      colour_couplings_.push_back(static_cast<float>(model.colour_couplings()(a, c)));
    }
  }
  const Index samples_per_block = kChainsPerBlock / rungs;
  const Index blocks = (chains_ + samples_per_block - 1) / samples_per_block;
  for (Index b = 0; b < blocks; ++b) append_block(static_cast<std::uint64_t>(b), address);
}

void PottsSampler::append_block(std::uint64_t number, const StreamAddress& address) {
  StreamAddress own = address;
  own.step = number;
  ChainBlock block{.stream = RandomStream(own),
                   .colours = {},
                   .fields = std::vector<Lanes>(static_cast<std::size_t>(sites_ * colours_)),
                   .beta = {},
                   .lane_of = {}};
  for (Index n = 0; n < sites_ * kChainsPerBlock; ++n) {
    block.colours.push_back(
        static_cast<std::int32_t>(block.stream.below(static_cast<std::uint64_t>(colours_))));
  }
  const auto rungs = static_cast<Index>(ladder_.size());
  for (Index k = 0; k < kChainsPerBlock; ++k) {
    block.beta[k] = static_cast<float>(beta_ * ladder_[static_cast<std::size_t>(k % rungs)]);
    block.lane_of.push_back(k);
  }
  rebuild_fields(block);
  blocks_.push_back(std::move(block));
}

void PottsSampler::rebuild_fields(ChainBlock& block) const {
  for (Index i = 0; i < sites_; ++i) {
    for (Index a = 0; a < colours_; ++a) {
      Lanes& field = block.fields[static_cast<std::size_t>(i * colours_ + a)];
      field.setZero();
      const float* row = colour_couplings_.data() + a * colours_;
      for (const Neighbour& n : neighbours_[static_cast<std::size_t>(i)]) {
        const std::int32_t* seen = block.colours.data() + n.site * kChainsPerBlock;
        for (Index k = 0; k < kChainsPerBlock; ++k) field[k] += n.coupling * row[seen[k]];
      }
    }
  }
}

void PottsSampler::sweep_once(ChainBlock& block, Scratch& scratch) const {
  Lanes* cumulative = scratch.cumulative.data();
  Lanes* change = scratch.change.data();
  block.stream.fill_bits(scratch.words);
  for (Index i = 0; i < sites_; ++i) {
    // Draw from softmax(beta f_i): the first colour whose cumulative weight exceeds u times the
    // sum.
    const Lanes* field = block.fields.data() + i * colours_;
    Lanes largest = block.beta * field[0];
    for (Index a = 1; a < colours_; ++a) largest = largest.max(block.beta * field[a]);
    Lanes sum = Lanes::Zero();
    for (Index a = 0; a < colours_; ++a) {
      sum += (block.beta * field[a] - largest).exp();
      cumulative[a] = sum;
    }
    const Lanes threshold = uniform_lanes<Lanes>(&scratch.words[site_words(i)]) * sum;
    Lanes drawn = Lanes::Zero();
    for (Index a = 0; a + 1 < colours_; ++a) {
      drawn += (cumulative[a] < threshold).select(Lanes::Ones(), Lanes::Zero());
    }
    std::int32_t* colour = block.colours.data() + i * kChainsPerBlock;
    alignas(64) std::int32_t before[kChainsPerBlock];
    bool any = false;
    for (Index k = 0; k < kChainsPerBlock; ++k) {
      before[k] = colour[k];
      colour[k] = static_cast<std::int32_t>(drawn[k]);
      any |= before[k] != colour[k];
    }
    if (!any) continue;
    const std::vector<Neighbour>& neighbours = neighbours_[static_cast<std::size_t>(i)];
    const float* couplings = colour_couplings_.data();
    float* fields = block.fields.data()->data();
    constexpr Index kTwo = 2;
    constexpr Index kThree = 3;
    constexpr Index kFour = 4;
    if (colours_ == kTwo) {
      add_to_neighbours<kTwo>(neighbours, couplings, before, colour, fields);
    } else if (colours_ == kThree) {
      add_to_neighbours<kThree>(neighbours, couplings, before, colour, fields);
    } else if (colours_ == kFour) {
      add_to_neighbours<kFour>(neighbours, couplings, before, colour, fields);
    } else {
      for (Index a = 0; a < colours_; ++a) {
        const float* row = couplings + a * colours_;
        for (Index k = 0; k < kChainsPerBlock; ++k) change[a][k] = row[colour[k]] - row[before[k]];
      }
      for (const Neighbour& n : neighbours) {
        Lanes* touched = block.fields.data() + n.site * colours_;
        for (Index a = 0; a < colours_; ++a) touched[a] += n.coupling * change[a];
      }
    }
  }
}

PottsSampler::Lanes PottsSampler::energies(const ChainBlock& block) const {
  Lanes sum = Lanes::Zero();
  for (Index i = 0; i < sites_; ++i) {
    for (Index k = 0; k < kChainsPerBlock; ++k) {
      const std::int32_t colour = block.colours[static_cast<std::size_t>(i * kChainsPerBlock + k)];
      sum[k] += block.fields[static_cast<std::size_t>(i * colours_ + colour)][k];
    }
  }
  return -0.5F * sum;
}

void PottsSampler::exchange(ChainBlock& block, bool odd) const {
  const auto rungs = static_cast<Index>(ladder_.size());
  const Lanes energy = energies(block);
  for (Index first = 0; first < kChainsPerBlock; first += rungs) {
    for (Index r = odd ? 1 : 0; r + 1 < rungs; r += 2) {
      Index& colder = block.lane_of[static_cast<std::size_t>(first + r)];
      Index& hotter = block.lane_of[static_cast<std::size_t>(first + r + 1)];
      const float log_ratio =
          (block.beta[colder] - block.beta[hotter]) * (energy[colder] - energy[hotter]);
      if (std::log(block.stream.uniform()) < static_cast<double>(log_ratio)) {
        std::swap(block.beta[colder], block.beta[hotter]);
        std::swap(colder, hotter);
      }
    }
  }
}

void PottsSampler::sweep(std::int64_t count) {
  in_parallel(blocks_.size(), [&](std::size_t number) {
    ChainBlock& block = blocks_[number];
    Scratch scratch{.cumulative = std::vector<Lanes>(static_cast<std::size_t>(colours_)),
                    .change = std::vector<Lanes>(static_cast<std::size_t>(colours_)),
                    .words = std::vector<std::uint64_t>(site_words(sites_))};
    for (std::int64_t n = sweeps_; n < sweeps_ + count; ++n) {
      if (n > 0 && n % kSweepsPerRebuild == 0) rebuild_fields(block);
      sweep_once(block, scratch);
      if (ladder_.size() > 1) exchange(block, n % 2 != 0);
    }
  });
  sweeps_ += count;
}

Sequences PottsSampler::states() const {
  const auto rungs = static_cast<Index>(ladder_.size());
  const Index per_block = kChainsPerBlock / rungs;
  Sequences all(chains_, sites_);
  for (Index c = 0; c < chains_; ++c) {
    const ChainBlock& block = blocks_[static_cast<std::size_t>(c / per_block)];
    const Index lane = block.lane_of[static_cast<std::size_t>(c % per_block * rungs)];
    for (Index i = 0; i < sites_; ++i) {
      all(c, i) = static_cast<std::uint8_t>(
          block.colours[static_cast<std::size_t>(i * kChainsPerBlock + lane)]);
    }
  }
  return all;
}

Eigen::VectorXd PottsSampler::reduced_energies() const {
  const auto rungs = static_cast<Index>(ladder_.size());
  const Index per_block = kChainsPerBlock / rungs;
  Eigen::VectorXd all(chains_);
  Lanes energy;
  for (Index c = 0; c < chains_; ++c) {
    const ChainBlock& block = blocks_[static_cast<std::size_t>(c / per_block)];
    if (c % per_block == 0) energy = energies(block);
    all[c] = beta_ * static_cast<double>(
                         energy[block.lane_of[static_cast<std::size_t>(c % per_block * rungs)]]);
  }
  return all;
}

PopulationSampler::PopulationSampler(const WeightedSequences& population)
    : population_(population) {
  double sum = 0;
  for (const double weight : population.weights) cumulative_.push_back(sum += weight);
  // first_[k]: the first state whose cumulative probability exceeds k / n of the total. With many k
  // to a state it is nearly always the one that is drawn.
  constexpr std::size_t kPerState = 16;
  constexpr std::size_t kCached = 16384;  // numbers that stay near the processor
  const std::size_t states = cumulative_.size();
  const std::size_t n = std::max(states, std::min(kPerState * states, kCached));
  std::uint32_t state = 0;
  for (std::size_t k = 0; k < n; ++k) {
    while (cumulative_[state] <= sum * static_cast<double>(k) / static_cast<double>(n)) ++state;
    first_.push_back(state);
  }
}

std::size_t PopulationSampler::draw_one(RandomStream& stream) const {
  const double u = stream.uniform();
  std::size_t state = first_[static_cast<std::size_t>(u * static_cast<double>(first_.size()))];
  while (state + 1 < cumulative_.size() && cumulative_[state] <= u * cumulative_.back()) ++state;
  return state;
}

Sequences PopulationSampler::draw(Index count, RandomStream& stream) const {
  Sequences out(count, population_.sequences.cols());
  for (Index row = 0; row < count; ++row) {
    out.row(row) = population_.sequences.row(static_cast<Index>(draw_one(stream)));
  }
  return out;
}

WeightedSequences PopulationSampler::draw_states(Index count, RandomStream& stream) const {
  std::vector<Index> times(cumulative_.size());
  for (Index k = 0; k < count; ++k) ++times[draw_one(stream)];
  std::vector<Index> drawn;
  for (std::size_t state = 0; state < times.size(); ++state) {
    if (times[state] > 0) drawn.push_back(static_cast<Index>(state));
  }
  WeightedSequences out{.sequences = population_.sequences(drawn, Eigen::all),
                        .weights = Eigen::VectorXd(static_cast<Index>(drawn.size()))};
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    out.weights[static_cast<Index>(k)] =
        static_cast<double>(times[static_cast<std::size_t>(drawn[k])]) / static_cast<double>(count);
  }
  return out;
}

}  // namespace attica

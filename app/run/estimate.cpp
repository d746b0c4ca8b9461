#include "attica/app/run/estimate.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "attica/app/run/progress.hpp"
#include "attica/app/run/results.hpp"
#include "attica/app/run/run.hpp"
#include "attica/core/platform.hpp"

namespace attica::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What the measuring process tells of a point.
struct Sample {
  double first_seconds = 0;   ///< of the first replicate, with what is set up for it
  double second_seconds = 0;  ///< of the next
  double bytes = 0;           ///< of a replicate on disk
  double memory = 0;          ///< largest resident set so far
  double before = 0;          ///< the same before anything was simulated
  bool out_of_memory = false;
  bool preliminary = false;  ///< of the first replicate alone: the second is under way
};
// Written whole, or not at all.
static_assert(sizeof(Sample) <= 512);

/// A point of the run.
struct SampledPlace {
  std::size_t problem = 0;
  std::size_t point = 0;
};

std::vector<SampledPlace> all_places(const Work& work) {
  std::vector<SampledPlace> all;
  for (std::size_t k = 0; k < work.problems.size(); ++k) {
    for (std::size_t point = 0; point < work.problems[k].experiment->points(); ++point)
      all.push_back({k, point});
  }
  return all;
}

/// Up to five points, evenly spread over all of them, the first and the last included: the costs of
/// a sweep grow along it. The one in the middle comes first, as there may be time for one only.
std::vector<SampledPlace> sampled_places(const std::vector<SampledPlace>& all) {
  constexpr std::array<std::size_t, 5> kOrder = {2, 4, 0, 3, 1};
  std::vector<SampledPlace> chosen;
  if (all.size() <= kOrder.size()) {
    chosen = all;
    if (!all.empty()) std::swap(chosen.front(), chosen[all.size() / 2]);
    return chosen;
  }
  for (const std::size_t k : kOrder)
    chosen.push_back(all[k * (all.size() - 1) / (kOrder.size() - 1)]);
  return chosen;
}

PartRecord simulate(const Work& work, const SampledPlace& place, std::uint64_t replicate) {
  const Problem& problem = work.problems[place.problem];
  return {
      .first_replicate = replicate,
      .outcomes = problem.experiment->simulate({.point = place.point,
                                                .stream_point = problem.first_point + place.point,
                                                .first_replicate = replicate,
                                                .replicates = 1,
                                                .seed = work.seed()})};
}

/// All points together take so many times as long as these. Where the experiments do not know, a
/// point between them takes as long as they do on average.
double weight_of_all(const Work& work,
                     const std::vector<SampledPlace>& all,
                     std::span<const SampledPlace> some) {
  double known = 0;
  double total = 0;
  const auto cost = [&](const SampledPlace& place) {
    return work.problems[place.problem].experiment->relative_work(place.point);
  };
  for (const SampledPlace& place : all) {
    const double share = cost(place);
    if (share <= 0) return static_cast<double>(all.size()) / static_cast<double>(some.size());
    total += share;
  }
  for (const SampledPlace& place : some) known += cost(place);
  return total / known;
}

/// The measuring process: a preliminary sample and then the sample of every point into the pipe.
void measure(const Work& work, std::span<const SampledPlace> places, int pipe) {
  const double before = platform::peak_memory();
  const auto tell = [pipe](Sample& sample) {
    sample.memory = platform::peak_memory();
    return ::write(pipe, &sample, sizeof sample) == static_cast<ssize_t>(sizeof sample);
  };
  for (const SampledPlace& place : places) {
    Sample sample{.before = before};
    try {
      auto start = Clock::now();
      const PartRecord part = simulate(work, place, 0);
      sample.first_seconds = seconds_since(start);
      sample.second_seconds = sample.first_seconds;
      Replicates replicates;
      replicates.add(part, work.problems[place.problem].coordinates);
      replicates.finish();
      sample.bytes = static_cast<double>(
          encode(part).size() + replicates_csv(work.configuration.study->name, replicates).size());
      sample.preliminary = true;
      if (!tell(sample)) return;
      sample.preliminary = false;
      start = Clock::now();
      simulate(work, place, 1);
      sample.second_seconds = seconds_since(start);
    } catch (const std::bad_alloc&) {
      sample.out_of_memory = true;
    } catch (const std::exception&) {  // a failing replicate takes its time, too
      sample.second_seconds = sample.first_seconds;
    }
    if (!tell(sample)) return;
  }
}

/// The samples that come within the time, of the last point perhaps a preliminary one; the process
/// is ended then.
std::vector<Sample> collect(pid_t process, int pipe, std::size_t expected, double limit) {
  const auto start = Clock::now();
  std::vector<Sample> samples;
  constexpr double kMilli = 1000;
  while (samples.size() < expected || samples.back().preliminary) {
    const double left = limit - seconds_since(start);
    struct pollfd waiting = {.fd = pipe, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(std::ceil(kMilli * left))) <= 0) break;
    Sample sample;
    if (::read(pipe, &sample, sizeof sample) != static_cast<ssize_t>(sizeof sample)) break;
    if (!samples.empty() && samples.back().preliminary) samples.pop_back();
    samples.push_back(sample);
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  return samples;
}

std::string size_text(double bytes) {
  constexpr double kMega = 1e6;
  constexpr double kGiga = 1e9;
  return bytes < kGiga ? fmt::format("{:.1f} MB", bytes / kMega)
                       : fmt::format("{:.1f} GB", bytes / kGiga);
}

}  // namespace

double CostEstimate::seconds(double replicates, int threads) const {
  return setup_seconds + replicate_seconds * replicates / threads;
}

double CostEstimate::memory(double replicates, int threads) const {
  // At the end all replicates and the text of their table are in memory: about three times the
  // table, which is half of what is on disk.
  constexpr double kTables = 1.5;
  return program_bytes + thread_bytes * threads + kTables * disk(replicates);
}

namespace {

/// Empty if no process can be made.
std::optional<std::vector<Sample>> sampled(const Work& work,
                                           std::span<const SampledPlace> places,
                                           double limit) {
  std::array<int, 2> ends{};
  if (places.empty() || ::pipe(ends.data()) != 0) return std::nullopt;
  const pid_t process = ::fork();
  if (process < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return std::nullopt;
  }
  if (process == 0) {
    ::close(ends[0]);
    for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) ::signal(number, SIG_DFL);
    measure(work, places, ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<Sample> samples = collect(process, ends[0], places.size(), limit);
  ::close(ends[0]);
  return samples;
}

/// Of the whole work, from samples of these places.
CostEstimate cost_of(const Work& work,
                     const std::vector<SampledPlace>& all,
                     std::span<const SampledPlace> places,
                     std::span<const Sample> samples) {
  CostEstimate cost;
  double setup = 0;
  double seconds = 0;
  double bytes = 0;
  for (const Sample& s : samples) {
    setup += std::max(0.0, s.first_seconds - s.second_seconds);
    seconds += s.second_seconds;
    bytes += s.bytes;
    cost.program_bytes = s.before;
    cost.thread_bytes = std::max(cost.thread_bytes, s.memory - s.before);
    cost.out_of_memory = cost.out_of_memory || s.out_of_memory;
  }
  const auto count = static_cast<double>(samples.size());
  cost.replicate_seconds = seconds * weight_of_all(work, all, places.first(samples.size()));
  cost.replicate_bytes = bytes * static_cast<double>(all.size()) / count;
  cost.setup_seconds =
      work.problems.size() == 1 ? setup : setup / count * static_cast<double>(work.problems.size());
  return cost;
}

/// What a replicate takes on disk at least, without any run: it has a value at each element of the
/// longest list of [sweep], in every problem.
double fewest_bytes(const Work& work) {
  constexpr double kBytesOfValue = 60;  // a line of replicates.csv, and the part
  std::size_t longest = 1;
  for (const auto& [key, value] : work.configuration.values.entries()) {
    const List* const list = std::get_if<List>(&value);
    if (key.starts_with("sweep.") && list != nullptr) longest = std::max(longest, list->size());
  }
  return kBytesOfValue * static_cast<double>(longest * work.problems.size());
}

/// From replicates of the whole length.
std::optional<CostEstimate> measured_cost(const Work& work, double limit) {
  const std::vector<SampledPlace> all = all_places(work);
  const std::vector<SampledPlace> places = sampled_places(all);
  const auto samples = sampled(work, places, limit);
  if (!samples) return std::nullopt;
  if (samples->empty()) {
    // Not one replicate within the time.
    return CostEstimate{.replicate_seconds = limit,
                        .replicate_bytes = fewest_bytes(work),
                        .program_bytes = platform::peak_memory(),
                        .complete = false};
  }
  CostEstimate cost = cost_of(work, all, places, *samples);
  cost.complete = samples->size() == places.size() && !samples->back().preliminary;
  return cost;
}

/// The same work with trainings of a share of their length and as many records, and what is set up
/// for them by steps or sweeps.
struct Shortened {
  Work work;
  double share = 1;  ///< of the whole length: steps are whole numbers
};

/// What a parameter of one or several numbers holds.
std::vector<double> numbers(const Value& value) {
  if (const auto* list = std::get_if<List>(&value)) {
    std::vector<double> all;
    for (const Value& each : *list) all.push_back(numbers(each).front());
    return all;
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return {static_cast<double>(*integer)};
  return {std::get<double>(value)};
}

/// How long something runs: a training or what is made before it.
bool is_length(const Parameter& parameter) {
  const std::string name = parameter.name();
  const bool number =
      parameter.type == ParameterType::integer || parameter.type == ParameterType::real;
  return parameter.section() == "sim" && number && parameter.choices.empty() && !parameter.rows &&
         (name == "times" || name == "burn_in" || name.ends_with("steps") ||
          name.ends_with("length"));
}

/// Empty where no parameter says how long trainings are, or where the study refuses so short ones;
/// and where whole numbers of steps, no less than may be, would shorten one thing by much more than
/// another.
std::optional<Shortened> shortened(const Work& work, double share) {
  CheckedConfiguration c = work.configuration;
  double least_share = 1;
  double largest_share = 0;
  const auto scale = [&](const Parameter& parameter) {
    if (!c.values.has(parameter.key) || c.is_swept(parameter.key)) return;
    const Value whole = c.values.at(parameter.key);
    if (std::holds_alternative<List>(whole) && std::get<List>(whole).empty()) return;
    List list;
    double last = -1;
    for (const double x : numbers(whole)) {
      if (parameter.type == ParameterType::integer) {
        const double least = std::max(last + 1, std::ceil(parameter.range.low));
        last = x == 0 ? 0 : std::max(std::round(share * x), least);
        list.emplace_back(static_cast<std::int64_t>(last));
      } else {
        last = share * x;
        list.emplace_back(last);
      }
    }
    if (last > 0) {
      const double reached = last / numbers(whole).back();
      least_share = std::min(least_share, reached);
      largest_share = std::max(largest_share, reached);
    }
    c.values.set(
        parameter.key, std::holds_alternative<List>(whole) ? Value(list) : list.front(), false);
  };
  try {
    for (const Parameter& parameter : work.configuration.study->parameters) {
      if (is_length(parameter)) scale(parameter);
    }
    constexpr double kApart = 1.25;
    if (largest_share == 0 || least_share == 1 || largest_share > kApart * least_share) {
      return std::nullopt;
    }
    // So few sweeps do not converge.
    constexpr const char* kUnconverged = "sim.allow_unconverged";
    if (c.values.declares(kUnconverged)) c.values.set(kUnconverged, true, false);
    return Shortened{.work = prepare(std::move(c)), .share = largest_share};
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// From runs of two lengths that fit into the time, at as many places as there is time for: cost is
/// a constant and so much a step.
std::optional<CostEstimate> extrapolated_cost(const Work& work, double limit) {
  constexpr double kShortest = 1.0 / (1 << 20);
  constexpr double kLeast = 4;
  constexpr double kMost = 16;
  constexpr double kTold = 0.5;  // of the time is steps: what a step costs is known
  // Where what does not depend on steps takes long there is time for one more.
  constexpr double kLong = 1.0 / 12;
  constexpr double kLast = 1.0 / 64;
  const auto start = Clock::now();
  const std::vector<SampledPlace> whole_places = all_places(work);
  std::vector<SampledPlace> places = sampled_places(whole_places);
  std::vector<Sample> shorter;
  std::optional<CostEstimate> cost;
  double share = 0;
  double took = 0;
  double factor = kMost;
  for (double next = kShortest; next < 1; next *= factor) {
    const std::optional<Shortened> part = shortened(work, next);
    if (!part || part->share <= share) {
      factor = kLeast;
      continue;
    }
    const std::vector<SampledPlace> all = all_places(part->work);
    if (all.size() != whole_places.size()) break;  // its points are other ones
    const double before = seconds_since(start);
    const double left = limit - before;
    auto samples = sampled(part->work, places, shorter.empty() ? left / 2 : left);
    if (!samples || samples->empty()) break;
    places.resize(samples->size());
    if (!shorter.empty()) {
      shorter.resize(samples->size());
      // Like with like: what is set up counts in both, or in none.
      if (shorter.back().preliminary)
        samples->back().second_seconds = samples->back().first_seconds;
      if (samples->back().preliminary) shorter.back().second_seconds = shorter.back().first_seconds;
      const CostEstimate of_shorter = cost_of(part->work, all, places, shorter);
      const CostEstimate longer = cost_of(part->work, all, places, *samples);
      const auto whole = [&](double CostEstimate::*seconds) {
        const double slope = (longer.*seconds - of_shorter.*seconds) / (part->share - share);
        return longer.*seconds + std::max(slope, 0.0) * (1 - part->share);
      };
      cost = longer;
      cost->setup_seconds = whole(&CostEstimate::setup_seconds);
      cost->replicate_seconds = whole(&CostEstimate::replicate_seconds);
    }
    const double now = seconds_since(start);
    const double takes = now - before;
    if (cost && takes > 1 && takes - took > kTold * takes) break;
    factor = takes > kLong * limit ? std::max(kLast / next, kLeast)
                                   : std::clamp((limit - now) / (2 * takes), kLeast, kMost);
    shorter = *samples;
    share = part->share;
    took = takes;
  }
  return cost;
}

}  // namespace

std::optional<CostEstimate> estimate_cost(const Work& work, double limit, bool quiet) {
  std::optional<CostEstimate> whole = measured_cost(work, limit);
  if (!whole || whole->complete) return whole;
  constexpr double kMorePatience = 20;
  remark(quiet, "measuring what a step takes: a minute at most ...");
  const auto start = Clock::now();
  if (auto of_shorter = extrapolated_cost(work, kMorePatience * limit)) return of_shorter;
  // Nothing says how to shorten it: the rest of the time is for replicates as they are.
  const double left = kMorePatience * limit - seconds_since(start);
  if (left <= limit) return whole;
  const auto longer = measured_cost(work, left);
  return longer ? longer : whole;
}

std::string cost_text(const CostEstimate& cost, double replicates, int threads) {
  const char* const about = cost.complete ? "about" : "more than";
  const double memory = cost.memory(replicates, threads);
  const std::optional<double> available = platform::available_memory();
  const bool too_much = cost.out_of_memory || (available && memory > *available);
  return fmt::format(
      "time        {0} {1} on {2} thread{3}\nmemory      {0} {4}{5}\ndisk        {0} {6}\n",
      about,
      duration_text(cost.seconds(replicates, threads)),
      threads,
      threads == 1 ? "" : "s",
      size_text(memory),
      too_much ? fmt::format(": MORE THAN THERE IS ({})", size_text(available.value_or(0))) : "",
      size_text(cost.disk(replicates)));
}

Json cost_json(const CostEstimate& cost, double replicates, int threads) {
  return {{"seconds", cost.seconds(replicates, threads)},
          {"threads", threads},
          {"memory_bytes", cost.memory(replicates, threads)},
          {"disk_bytes", cost.disk(replicates)},
          {"complete", cost.complete},
          {"out_of_memory", cost.out_of_memory}};
}

}  // namespace attica::app

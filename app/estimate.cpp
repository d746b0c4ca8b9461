#include "attica/app/estimate.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <limits>
#include <new>
#include <vector>

#include "attica/app/progress.hpp"
#include "attica/app/results.hpp"

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
};
// Written whole, or not at all.
static_assert(sizeof(Sample) <= 512);

/// A point of the run.
struct SampledPlace {
  std::size_t problem = 0;
  std::size_t point = 0;
};

/// Up to five points, evenly spread over all of them, the first and the last included. The costs of
/// a sweep grow along it.
std::vector<SampledPlace> sampled_places(const Work& work) {
  std::vector<SampledPlace> all;
  for (std::size_t k = 0; k < work.problems.size(); ++k) {
    for (std::size_t point = 0; point < work.problems[k].experiment->points(); ++point)
      all.push_back({k, point});
  }
  constexpr std::size_t kMost = 5;
  if (all.size() <= kMost) return all;
  std::vector<SampledPlace> chosen;
  for (std::size_t k = 0; k < kMost; ++k) chosen.push_back(all[k * (all.size() - 1) / (kMost - 1)]);
  return chosen;
}

double largest_resident_set() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  constexpr double kKilo = 1024;
  return kKilo * static_cast<double>(usage.ru_maxrss);
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

/// The measuring process: a sample a point into the pipe.
void measure(const Work& work, const std::vector<SampledPlace>& places, int pipe) {
  const double before = largest_resident_set();
  for (const SampledPlace& place : places) {
    Sample sample{.before = before};
    try {
      auto start = Clock::now();
      const PartRecord part = simulate(work, place, 0);
      sample.first_seconds = seconds_since(start);
      start = Clock::now();
      simulate(work, place, 1);
      sample.second_seconds = seconds_since(start);
      Replicates replicates;
      replicates.add(part, work.problems[place.problem].coordinates);
      replicates.finish();
      sample.bytes = static_cast<double>(
          encode(part).size() + replicates_csv(work.configuration.study->name, replicates).size());
    } catch (const std::bad_alloc&) {
      sample.out_of_memory = true;
    } catch (const std::exception&) {  // a failing replicate takes its time, too
      sample.second_seconds = sample.first_seconds;
    }
    sample.memory = largest_resident_set();
    if (::write(pipe, &sample, sizeof sample) != static_cast<ssize_t>(sizeof sample)) return;
  }
}

/// The samples that come within the time; the process is ended then.
std::vector<Sample> collect(pid_t process, int pipe, std::size_t expected, double limit) {
  const auto start = Clock::now();
  std::vector<Sample> samples;
  constexpr double kMilli = 1000;
  while (samples.size() < expected) {
    const double left = limit - seconds_since(start);
    struct pollfd waiting = {.fd = pipe, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(std::ceil(kMilli * left))) <= 0) break;
    Sample sample;
    if (::read(pipe, &sample, sizeof sample) != static_cast<ssize_t>(sizeof sample)) break;
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

/// From replicates of the whole length.
std::optional<CostEstimate> measured_cost(const Work& work, double limit) {
  const std::vector<SampledPlace> places = sampled_places(work);
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
  const std::vector<Sample> samples = collect(process, ends[0], places.size(), limit);
  ::close(ends[0]);

  std::size_t points = 0;
  for (const Problem& problem : work.problems) points += problem.experiment->points();
  CostEstimate cost{.complete = samples.size() == places.size()};
  if (samples.empty()) {
    // Not one replicate within the time.
    cost.replicate_seconds = limit;
    cost.program_bytes = largest_resident_set();
    return cost;
  }
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
  // Points between the sampled ones cost what those cost on average.
  const auto each = static_cast<double>(points) / static_cast<double>(samples.size());
  cost.replicate_seconds = seconds * each;
  cost.replicate_bytes = bytes * each;
  cost.setup_seconds = work.problems.size() == 1 ? setup
                                                 : setup / static_cast<double>(samples.size()) *
                                                       static_cast<double>(work.problems.size());
  return cost;
}

/// The same work with trainings of a share of their length and as many records.
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

/// Empty where no parameter says how long trainings are, or where the study refuses so short ones.
std::optional<Shortened> shortened(const Work& work, double share) {
  CheckedConfiguration c = work.configuration;
  std::optional<double> reached;
  const auto scale = [&](const char* key, bool whole_numbers) {
    if (!c.values.declares(key) || !c.values.has(key) || c.is_swept(key)) return;
    const Value whole = c.values.at(key);
    List list;
    double last = -1;
    for (const double x : numbers(whole)) {
      if (whole_numbers) {
        last = x == 0 ? 0 : std::max(std::round(share * x), last + 1);
        list.emplace_back(static_cast<std::int64_t>(last));
      } else {
        last = share * x;
        list.emplace_back(last);
      }
    }
    if (last > 0) reached = last / numbers(whole).back();
    c.values.set(key, std::holds_alternative<List>(whole) ? Value(list) : list.front(), false);
  };
  try {
    scale("sim.times", false);
    scale("sim.steps", true);
    scale("sim.length", true);
    if (!reached || *reached >= 1) return std::nullopt;
    return Shortened{.work = prepare(std::move(c)), .share = *reached};
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// From trainings of two lengths that fit into the time: cost is a constant and so much a step.
std::optional<CostEstimate> extrapolated_cost(const Work& work, double limit) {
  constexpr double kShortest = 1.0 / (1 << 20);
  constexpr double kLeast = 4;
  constexpr double kMost = 16;
  const auto start = Clock::now();
  std::optional<CostEstimate> cost;
  double seconds = 0;
  double share = 0;
  double factor = kMost;
  for (double next = kShortest; next < 1; next *= factor) {
    const std::optional<Shortened> part = shortened(work, next);
    if (!part || part->share <= share) continue;
    const double before = seconds_since(start);
    const auto longer = measured_cost(part->work, limit - before);
    const double now = seconds_since(start);
    factor = std::clamp((limit - now) / (2 * (now - before)), kLeast, kMost);
    if (!longer || !longer->complete) break;
    const double slope = (longer->replicate_seconds - seconds) / (part->share - share);
    seconds = longer->replicate_seconds;
    if (share > 0) {
      cost = longer;
      cost->replicate_seconds = seconds + std::max(slope, 0.0) * (1 - part->share);
    }
    share = part->share;
  }
  return cost;
}

}  // namespace

std::optional<CostEstimate> estimate_cost(const Work& work, double limit) {
  std::optional<CostEstimate> whole = measured_cost(work, limit);
  if (!whole || whole->complete) return whole;
  constexpr double kMorePatience = 2;
  const auto of_shorter = extrapolated_cost(work, kMorePatience * limit);
  return of_shorter ? of_shorter : whole;
}

std::optional<double> available_memory() {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream table("/proc/meminfo");
  for (std::string word; table >> word;) {
    if (word != "MemAvailable:") continue;
    double kilobytes = 0;
    constexpr double kKilo = 1024;
    if (table >> kilobytes) least = kKilo * kilobytes;
  }
  double limit = 0;
  double used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used) {
    least = std::min(least, limit - used);
  }
  struct rlimit own = {};
  if (::getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
    least = std::min(least, static_cast<double>(own.rlim_cur));
  if (!std::isfinite(least)) return std::nullopt;
  return least;
}

std::string cost_text(const CostEstimate& cost, double replicates, int threads) {
  const char* const about = cost.complete ? "about" : "more than";
  const double memory = cost.memory(replicates, threads);
  const std::optional<double> available = available_memory();
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

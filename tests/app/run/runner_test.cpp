#include "attica/app/run/runner.hpp"

#include <catch2/catch.hpp>
#include <csignal>

#include "app/toy_study.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;

namespace runner_test {

struct ToyRun {
  std::vector<Study> registry = toy::registry();
  Work work;
  std::vector<PieceOfRun> all;
  std::mutex mutex;
  std::map<std::string, std::string> stored;  ///< part file -> content without its time

  explicit ToyRun(std::uint64_t replicates) {
    toy::log().done.clear();
    toy::log().throw_at = -1;
    toy::log().milliseconds = 0;
    toy::log().told = false;
    toy::log().prepared = 0;
    toy::log().points.clear();
    work = prepare(read_configuration(
        {.target = "toy-line", .preset = {}, .overrides = {{"", "sweep.a=[1,2]"}}}, registry));
    all = pieces(work, replicates);
  }
  RunnerEnd go(int threads, std::optional<double> max_seconds = {}) {
    return run_pieces(work,
                      all,
                      [&](const PieceOfRun& piece, PartRecord part) {
                        part.seconds = 0;
                        const std::lock_guard guard(mutex);
                        CHECK(stored.emplace(piece.file_name(), encode(part)).second);
                      },
                      {.threads = threads, .max_seconds = max_seconds, .quiet = true});
  }
};

TEST_CASE(
    "pieces: every replicate of every point once, in blocks that do not depend on their number",
    "[app][runner]") {
  ToyRun run(8);
  CHECK(run.all.size() == 2 * 3 * 3);  // problems, points, blocks of 3, 3 and 2
  CHECK(run.all[2].file_name() == "p00000-r000006-000007.part");
  CHECK(run.all.back().piece.stream_point == 5);
  const auto more = pieces(run.work, 100);
  for (const PieceOfRun& p : run.all) {
    if (p.piece.replicates < 3) continue;  // the last block is the one that may grow
    CHECK(std::any_of(more.begin(), more.end(), [&](const PieceOfRun& q) {
      return q.file_name() == p.file_name();
    }));
  }
}

TEST_CASE("run_pieces: every piece exactly once and the same for 1, 2 and 7 threads",
          "[app][runner]") {
  std::map<std::string, std::string> first;
  for (const int threads : {1, 2, 7}) {
    ToyRun run(50);
    CHECK(run.go(threads) == RunnerEnd::finished);
    CHECK(run.stored.size() == run.all.size());
    CHECK(toy::log().done.size() == 2 * 3 * 50);
    for (const auto& [key, count] : toy::log().done) CHECK(count == 1);
    if (first.empty()) first = run.stored;
    CHECK(run.stored == first);
  }
}

TEST_CASE(
    "run_pieces: what pieces share is made first, and the longest come first where it is known",
    "[app][runner]") {
  for (const bool told : {false, true}) {
    ToyRun run(50);
    toy::log().told = told;
    CHECK(run.go(1) == RunnerEnd::finished);
    CHECK(toy::log().prepared == 2);  // problems
    std::vector<std::size_t> expected;
    for (const PieceOfRun& one : run.all) expected.push_back(one.piece.point);
    if (told) {
      // The last block of a point is of two replicates, the others of three.
      const std::vector<std::size_t>& points = toy::log().points;
      CHECK(std::count(points.begin(), points.begin() + 2 * 16, 2) == 2 * 16);
      CHECK(points.back() == 0);
      std::ranges::sort(expected);
      std::vector<std::size_t> all = points;
      std::ranges::sort(all);
      CHECK(all == expected);
    } else {
      CHECK(toy::log().points == expected);
    }
  }
  ToyRun second(3);
  std::erase_if(second.all, [](const PieceOfRun& one) { return one.problem == 0; });
  CHECK(second.go(2) == RunnerEnd::finished);
  CHECK(toy::log().prepared == 1);
}

TEST_CASE("run_pieces: nothing to do is finished", "[app][runner]") {
  ToyRun run(1);
  run.all.clear();
  CHECK(run.go(2) == RunnerEnd::finished);
}

TEST_CASE("run_pieces: the first exception stops the rest and is thrown again", "[app][runner]") {
  for (const int threads : {1, 2, 7}) {
    ToyRun run(3000);
    toy::log().throw_at = 3;
    CHECK_THAT(message_of([&] { run.go(threads); }), Catch::StartsWith("toy breaks down (at a="));
    CHECK(run.stored.size() < run.all.size());
    // An exception of the receiver, such as a full disk, is no different.
    toy::log().throw_at = -1;
    CHECK(message_of([&] {
            run_pieces(run.work,
                       run.all,
                       [](const PieceOfRun&, const PartRecord&) {
                         throw Error(ErrorKind::storage, "disk full");
                       },
                       {.threads = threads, .max_seconds = {}, .quiet = true});
          }) == "disk full");
  }
}

TEST_CASE("run_pieces: who computes does not outrun a slow disk, and every part is stored",
          "[app][runner]") {
  constexpr std::size_t kMostWaiting = 16;
  for (const int threads : {1, 4}) {
    ToyRun run(300);
    std::size_t stored = 0;
    std::size_t furthest = 0;
    const auto slowly = [&](const PieceOfRun&, const PartRecord&) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      const std::lock_guard guard(toy::log().mutex);
      const std::size_t computed = toy::log().done.size() / 3;  // three replicates a piece
      ++stored;
      furthest = std::max(furthest, computed - std::min(computed, stored));
    };
    CHECK(run_pieces(
              run.work, run.all, slowly, {.threads = threads, .max_seconds = {}, .quiet = true}) ==
          RunnerEnd::finished);
    CHECK(stored == run.all.size());
    // What waits, what every worker holds, and what the thread that stores holds.
    CHECK(furthest <= kMostWaiting + static_cast<std::size_t>(threads) + 1);
  }
}

TEST_CASE("run_pieces: stops when its time is over, with whole pieces only", "[app][runner]") {
  ToyRun run(3000);
  toy::log().milliseconds = 5;
  CHECK(run.go(2, 0.1) == RunnerEnd::out_of_time);
  CHECK(run.stored.size() < run.all.size());
  CHECK_FALSE(run.stored.empty());
}

TEST_CASE("run_pieces: stops on a signal and gives the handler back", "[app][runner]") {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    ToyRun run(3000);
    toy::log().milliseconds = 2;
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    std::jthread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ::kill(::getpid(), signal);
    });
    CHECK(run.go(2) == RunnerEnd::interrupted);
    CHECK(run.stored.size() < run.all.size());
    struct sigaction after = {};
    ::sigaction(signal, nullptr, &after);
    CHECK(after.sa_handler == before.sa_handler);
  }
}

}  // namespace runner_test

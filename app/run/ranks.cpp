#include "attica/app/run/ranks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>

#include "attica/app/run/failure.hpp"

#ifdef ATTICA_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <csignal>
#include <future>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>
#endif

namespace attica::app {

PartRecord carry_out(const Work& work,
                     const PieceOfRun& item,
                     const std::stop_token& stop,
                     const std::filesystem::path& states) {
  using Clock = std::chrono::steady_clock;
  Piece piece = item.piece;
  piece.stop = stop;
  if (!states.empty()) piece.state = states / item.stem();
  const auto begin = Clock::now();
  const Problem& problem = work.problems[item.problem];
  PartRecord part{.first_replicate = piece.first_replicate, .outcomes = {}, .seconds = 0};
  try {
    part.outcomes = problem.experiment->simulate(piece);
  } catch (...) {
    rethrow_explained(std::current_exception(),
                      work.configuration,
                      work.configuration.values,
                      problem.coordinates,
                      fmt::format("point {} of {}", piece.point + 1, problem.experiment->points()));
  }
  part.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!stop.stop_requested()) require_finite(part, work.configuration, problem.coordinates);
  return part;
}

namespace {

/// Number of processes that a launcher says it started; 0 without one.
int launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

}  // namespace

#ifndef ATTICA_MPI

Ranks::Ranks() {
  if (const int processes = launched(); processes > 1) {
    throw Error(ErrorKind::input,
                fmt::format("started as {} processes, but this attica was built without MPI: "
                            "configure it with -DATTICA_MPI=ON",
                            processes));
  }
}
Ranks::~Ranks() = default;

PartRecord Ranks::remote(std::size_t, const PieceOfRun&, const std::stop_token&) const {
  throw Error(ErrorKind::input, "built without MPI");
}
void Ranks::serve(const std::function<Work()>&) {}

#else

namespace {

// What messages mean. To a worker: carry out a piece, drop it, leave. Back: its part, or the error.
enum Tag : int { kPiece, kDrop, kLeave, kPart, kError };

struct Message {
  Tag tag = kPiece;
  std::string text;
};

void send(std::size_t rank, Tag tag, const std::string& text = {}) {
  MPI_Send(text.data(),
           static_cast<int>(text.size()),
           MPI_BYTE,
           static_cast<int>(rank),
           tag,
           MPI_COMM_WORLD);
}

/// The next message of a rank, if one has come.
std::optional<Message> receive(std::size_t rank) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(static_cast<int>(rank), MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  Message message{.tag = static_cast<Tag>(status.MPI_TAG),
                  .text = std::string(static_cast<std::size_t>(bytes), '\0')};
  MPI_Recv(message.text.data(),
           bytes,
           MPI_BYTE,
           static_cast<int>(rank),
           status.MPI_TAG,
           MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return message;
}

// A waiting rank leaves the processor to those that compute.
void pause() {
  constexpr std::chrono::microseconds kPause(500);
  std::this_thread::sleep_for(kPause);
}

std::string packed(const PieceOfRun& p) {
  return fmt::format("{} {} {} {} {} {}",
                     p.problem,
                     p.piece.point,
                     p.piece.stream_point,
                     p.piece.first_replicate,
                     p.piece.replicates,
                     p.piece.seed);
}

PieceOfRun unpacked_piece(const std::string& text) {
  PieceOfRun item;
  std::istringstream(text) >> item.problem >> item.piece.point >> item.piece.stream_point >>
      item.piece.first_replicate >> item.piece.replicates >> item.piece.seed;
  return item;
}

// Kind, parameter, message, a line each.
std::string packed(const Error& error) {
  return fmt::format("{}\n{}\n{}", static_cast<int>(error.kind()), error.parameter(), error.what());
}

Error unpacked_error(const std::string& text) {
  const std::size_t first = text.find('\n');
  const std::size_t second = text.find('\n', first + 1);
  return {static_cast<ErrorKind>(std::stoi(text.substr(0, first))),
          text.substr(second + 1),
          text.substr(first + 1, second - first - 1)};
}

/// What a worker answers to a piece.
Message answer(const Work& work, const PieceOfRun& piece, const std::stop_token& stop) {
  try {
    const PartRecord part = carry_out(work, piece, stop);
    return {.tag = kPart, .text = stop.stop_requested() ? std::string() : encode(part)};
  } catch (const Error& error) {
    return {.tag = kError, .text = packed(error)};
  } catch (const std::exception& error) {
    return {.tag = kError,
            .text = packed(
                Error(ErrorKind::numerical, fmt::format("internal error: {}", error.what())))};
  }
}

}  // namespace

Ranks::Ranks() {
  if (launched() < 2 && std::getenv("PMIX_RANK") == nullptr) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  int count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  rank_ = static_cast<std::size_t>(rank);
  count_ = static_cast<std::size_t>(count);
  if (provided < MPI_THREAD_SERIALIZED && count > 1) {
    MPI_Finalize();
    throw Error(ErrorKind::input, "this MPI library does not support MPI_THREAD_SERIALIZED");
  }
}

Ranks::~Ranks() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) return;
  if (leads()) {
    for (std::size_t rank = 1; rank < count_; ++rank) send(rank, kLeave);
  }
  MPI_Finalize();
}

PartRecord Ranks::remote(std::size_t rank,
                         const PieceOfRun& piece,
                         const std::stop_token& stop) const {
  {
    const std::scoped_lock lock(mutex_);
    send(rank, kPiece, packed(piece));
  }
  bool dropped = false;
  for (;; pause()) {
    const std::scoped_lock lock(mutex_);
    if (const std::optional<Message> message = receive(rank)) {
      if (message->tag == kError) throw unpacked_error(message->text);
      return message->text.empty() ? PartRecord{} : decode(message->text);
    }
    if (stop.stop_requested() && !dropped) {
      send(rank, kDrop);
      dropped = true;
    }
  }
}

void Ranks::serve(const std::function<Work()>& prepare) {
  // Rank 0 hears of signals and ends the run in good order.
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) std::signal(number, SIG_IGN);
  Work work;
  std::optional<Error> failure;
  try {
    work = prepare();
  } catch (const Error& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure = Error(ErrorKind::numerical, error.what());
  }
  std::stop_source stop;
  std::future<Message> current;
  for (;; pause()) {
    if (const std::optional<Message> message = receive(0)) {
      if (message->tag == kLeave) {
        stop.request_stop();
        return;
      }
      if (message->tag == kDrop) stop.request_stop();
      if (message->tag == kPiece && failure) {
        send(0, kError, packed(*failure));
      } else if (message->tag == kPiece) {
        stop = std::stop_source();
        current = std::async(std::launch::async,
                             answer,
                             std::cref(work),
                             unpacked_piece(message->text),
                             stop.get_token());
      }
    }
    if (current.valid() && current.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      const Message result = current.get();
      send(0, result.tag, result.text);
    }
  }
}

#endif

}  // namespace attica::app

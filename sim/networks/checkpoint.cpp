#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "attica/core/error.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/sim/networks/training.hpp"

namespace attica::networks {
namespace {

// Layout: magic, version, then the fields in the order of save_checkpoint, then the FNV-1a checksum
// of all of it.
constexpr std::string_view kMagic = "ATTICANN";
constexpr std::uint64_t kVersion = 1;

std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325U;
  constexpr std::uint64_t kPrime = 0x100000001b3U;
  std::uint64_t hash = kBasis;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

template <class T>
void put(std::string& out, std::span<const T> values) {
  const std::uint64_t count = values.size();
  out.append(reinterpret_cast<const char*>(&count), sizeof(count));
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}
void put(std::string& out, std::string_view text) { put(out, std::span<const char>(text)); }
void put(std::string& out, std::uint64_t number) {
  put(out, std::span<const std::uint64_t>(&number, 1));
}

/// What a checkpoint must agree on with the network it is loaded into.
template <class T>
std::string description(const Parameters<T>& parameters,
                        const OptimiserOptions& options,
                        const StreamAddress& run) {
  std::string text = fmt::format("{}-byte numbers, optimiser {}, seed {}, point {}, replicate {}",
                                 sizeof(T),
                                 static_cast<int>(options.kind),
                                 run.seed,
                                 run.point,
                                 run.replicate);
  for (const Block& b : parameters.blocks())
    text += fmt::format(", {} {}x{}", b.name, b.rows, b.columns);
  return text;
}

/// Takes fields off the front; every length is checked against what is left.
class Reader {
 public:
  Reader(std::string_view bytes, const std::filesystem::path& file) : bytes_(bytes), file_(file) {}

  template <class T>
  std::vector<T> values() {
    std::uint64_t count = 0;
    take(&count, sizeof(count));
    if (count > bytes_.size() / sizeof(T)) damaged();
    std::vector<T> out(count);
    take(out.data(), count * sizeof(T));
    return out;
  }
  std::uint64_t number() {
    const auto one = values<std::uint64_t>();
    if (one.size() != 1) damaged();
    return one.front();
  }
  [[noreturn]] void damaged() const {
    throw Error(ErrorKind::storage, fmt::format("{}: damaged checkpoint", file_.string()));
  }

 private:
  void take(void* to, std::size_t size) {
    if (size > bytes_.size()) damaged();
    if (size > 0) std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }

  std::string_view bytes_;
  const std::filesystem::path& file_;
};

}  // namespace

template <class T>
void save_checkpoint(const std::filesystem::path& file,
                     const Parameters<T>& parameters,
                     Optimiser<T>& optimiser,
                     const TrainingState& state,
                     const StreamAddress& run) {
  std::string bytes(kMagic);
  put(bytes, kVersion);
  put(bytes, description(parameters, optimiser.options(), run));
  put(bytes, state.step);
  put(bytes, std::span<const double>(&state.loss_sum, 1));
  put(bytes, state.loss_count);
  put(bytes, std::span<const double>(state.observed));
  put(bytes, optimiser.updates());
  put(bytes, parameters.values());
  put(bytes, std::span<const T>(optimiser.first_moments()));
  put(bytes, std::span<const T>(optimiser.second_moments()));
  const std::uint64_t sum = checksum(bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof(sum));

  std::filesystem::path temporary = file;
  temporary += ".tmp";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code failure;
  if (out) std::filesystem::rename(temporary, file, failure);
  if (!out || failure) {
    throw Error(ErrorKind::storage,
                fmt::format("{}: cannot write the checkpoint{}",
                            file.string(),
                            failure ? ": " + failure.message() : ""));
  }
}

template <class T>
TrainingState load_checkpoint(const std::filesystem::path& file,
                              Parameters<T>& parameters,
                              Optimiser<T>& optimiser,
                              const StreamAddress& run) {
  const std::optional<std::string> bytes = read_bytes(file);
  if (!bytes)
    throw Error(ErrorKind::storage, fmt::format("{}: cannot read the checkpoint", file.string()));
  std::string_view body = *bytes;
  std::uint64_t sum = 0;
  if (!body.starts_with(kMagic) || body.size() < kMagic.size() + sizeof(sum))
    Reader(body, file).damaged();
  body.remove_suffix(sizeof(sum));
  std::memcpy(&sum, body.data() + body.size(), sizeof(sum));
  if (checksum(body) != sum) Reader(body, file).damaged();
  body.remove_prefix(kMagic.size());

  Reader reader(body, file);
  if (const std::uint64_t version = reader.number(); version != kVersion) {
    throw Error(
        ErrorKind::storage,
        fmt::format("{}: checkpoint of format {}, expected {}", file.string(), version, kVersion));
  }
  const std::vector<char> text = reader.values<char>();
  const std::string stored(text.begin(), text.end());
  const std::string expected = description(parameters, optimiser.options(), run);
  if (stored != expected) {
    throw Error(
        ErrorKind::storage,
        fmt::format(
            "{}: checkpoint of another run ({}), expected ({})", file.string(), stored, expected));
  }
  TrainingState state;
  state.step = reader.number();
  const auto loss_sum = reader.values<double>();
  state.loss_count = reader.number();
  state.observed = reader.values<double>();
  const std::uint64_t updates = reader.number();
  const auto values = reader.values<T>();
  const auto first = reader.values<T>();
  const auto second = reader.values<T>();
  if (loss_sum.size() != 1 || values.size() != parameters.values().size() ||
      first.size() != optimiser.first_moments().size() ||
      second.size() != optimiser.second_moments().size()) {
    reader.damaged();
  }
  state.loss_sum = loss_sum.front();
  optimiser.restore_updates(updates);
  std::ranges::copy(values, parameters.values().begin());
  std::ranges::copy(first, optimiser.first_moments().begin());
  std::ranges::copy(second, optimiser.second_moments().begin());
  return state;
}

#define ATTICA_CHECKPOINT(T)                                  \
  template void save_checkpoint(const std::filesystem::path&, \
                                const Parameters<T>&,         \
                                Optimiser<T>&,                \
                                const TrainingState&,         \
                                const StreamAddress&);        \
  template TrainingState load_checkpoint(                     \
      const std::filesystem::path&, Parameters<T>&, Optimiser<T>&, const StreamAddress&);

ATTICA_CHECKPOINT(float)
ATTICA_CHECKPOINT(double)
#undef ATTICA_CHECKPOINT

}  // namespace attica::networks

/// @file
/// @brief `attica measure`: norms, ranks and angles of matrices, contrasts between topics, layers
/// at step 0 against the curves of a study, and the entropy of attention along checkpoints.

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <memory>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/verbs/layer_curves.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/core/matrix_file.hpp"
#include "attica/core/named_arrays.hpp"
#include "attica/core/plain_text.hpp"
#include "attica/core/read_bytes.hpp"
#include "attica/core/read_number.hpp"
#include "attica/sim/networks/bounce.hpp"
#include "attica/sim/networks/matrix_measures.hpp"
#include "attica/sim/networks/topic_pairs.hpp"

namespace attica::app {
namespace {

/// A matrix with the name that it is shown under.
struct NamedMatrix {
  std::string name;
  Eigen::MatrixXd values;
  double rounding = 0;
};

/// The arrays of an argument; empty if it is a table or a matrix in .npy.
std::unique_ptr<NamedArrays> arrays_of(const ArrayAddress& address) {
  const std::optional<std::string> bytes = read_bytes(address.file);
  const bool named = !address.arrays.empty();
  if (!bytes && named)
    throw Error(ErrorKind::input, address.file + ": cannot be read, expected a file of arrays");
  if (!bytes || (!named && !has_named_arrays(*bytes))) return nullptr;
  return std::make_unique<NamedArrays>(*bytes, address.file);
}

/// Matrices of an array: itself, or one for every value of its first indices.
void add_matrices(const NumberArray& array,
                  const std::string& name,
                  std::vector<NamedMatrix>& matrices) {
  constexpr std::size_t kMost = 10000;
  if (array.shape.size() <= 2) {
    const NpyMatrix m = matrix_of(array, name);
    matrices.push_back({name, m.values, m.rounding});
    return;
  }
  const std::vector<std::size_t> last(array.shape.end() - 2, array.shape.end());
  const std::size_t size = last[0] * last[1];
  const std::size_t count = array.values.size() / size;
  if (count > kMost) {
    throw Error(ErrorKind::input,
                fmt::format("{}: {} matrices, expected at most {}; {}[0] is the first part",
                            name,
                            count,
                            kMost,
                            name));
  }
  for (std::size_t k = 0; k < count; ++k) {
    std::string index;
    std::size_t left = k;
    for (std::size_t d = array.shape.size() - 2; d-- > 0; left /= array.shape[d])
      index = fmt::format("{}{}{}", left % array.shape[d], index.empty() ? "" : ",", index);
    const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(k * size);
    const NpyMatrix m = matrix_of({.shape = last,
                                   .values = {begin, begin + static_cast<std::ptrdiff_t>(size)},
                                   .rounding = array.rounding},
                                  name);
    matrices.push_back({fmt::format("{}[{}]", name, index), m.values, m.rounding});
  }
}

/// All matrices of an argument.
std::vector<NamedMatrix> matrices_of(const std::string& file, bool quiet) {
  std::vector<NamedMatrix> matrices;
  const ArrayAddress address = array_address(file);
  const std::unique_ptr<NamedArrays> arrays = arrays_of(address);
  if (!arrays) {
    MatrixFile read = read_matrix_file(file, CsvHeader::optional);
    warn(quiet, read.remarks);
    matrices.push_back({file, std::move(read.table.values), read.rounding});
    return matrices;
  }
  if (!address.arrays.empty()) {
    add_matrices(arrays->at(address.arrays), file, matrices);
    return matrices;
  }
  for (const std::string& name : arrays->names()) {
    const std::string shown = fmt::format("{}:{}", file, name);
    try {
      const NumberArray array = arrays->at(name);
      if (array.shape.size() >= 2) {
        add_matrices(array, shown, matrices);
      } else {
        warn(quiet, {fmt::format("{}: left out, it is no matrix", shown)});
      }
    } catch (const Error& error) {
      warn(quiet, {fmt::format("left out: {}", error.what())});
    }
  }
  if (matrices.empty()) throw Error(ErrorKind::input, file + ": no matrix among its arrays");
  return matrices;
}

/// A topic as it is compared: numbers by their value (1 and 1.0), quotes taken off; empty for a
/// dash or a word for a missing value.
std::string topic_of(std::string_view field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = field.substr(1, field.size() - 2);
  constexpr std::string_view kEnDash = "\xE2\x80\x93";
  constexpr std::string_view kEmDash = "\xE2\x80\x94";
  if (field == "-" || field == kEnDash || field == kEmDash || is_missing(field)) return {};
  const std::optional<double> number = read_number(field);
  return number ? fmt::format("{}", *number) : std::string(field);
}

/// Topics of tokens: the last field of every line; empty for a token without one.
std::vector<std::string> read_topics(const std::string& file) {
  const std::optional<std::string> bytes = read_bytes(file);
  if (!bytes) throw invalid_parameter("--topics", file, "a readable file");
  std::vector<std::string> topics;
  const std::string text = plain_text(*bytes, file);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + (rest.substr(end).starts_with("\r\n") ? 2 : 1), rest.size()));
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    const std::size_t field = line.find_last_of(",;\t");
    if (field != line.npos) line.remove_prefix(field + 1);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    topics.push_back(topic_of(line));
  }
  return topics;
}

/// @param tokens a column for each
void add_topics(const Eigen::MatrixXd& tokens,
                const networks::MatrixMeasures& m,
                const std::vector<std::string>& topics,
                const std::string& name,
                Json& entry) {
  constexpr Eigen::Index kMostTokens = 3000;
  constexpr std::int64_t kPermutations = 999;
  if (static_cast<std::size_t>(tokens.cols()) != topics.size()) {
    throw Error(ErrorKind::input,
                fmt::format("{}: {} tokens and {} lines of topics, expected one a token{}",
                            name,
                            tokens.cols(),
                            topics.size(),
                            static_cast<std::size_t>(tokens.rows()) == topics.size()
                                ? "; is a token a row? --tokens rows"
                                : ""));
  }
  std::vector<Eigen::Index> chosen;
  std::vector<std::int32_t> numbers;
  std::map<std::string, std::int32_t> known;
  for (std::size_t k = 0; k < topics.size(); ++k) {
    if (topics[k].empty()) continue;
    chosen.push_back(static_cast<Eigen::Index>(k));
    numbers.push_back(
        known.try_emplace(topics[k], static_cast<std::int32_t>(known.size())).first->second);
  }
  const auto count = static_cast<Eigen::Index>(chosen.size());
  if (known.size() < 2 || known.size() == chosen.size() || count > kMostTokens) {
    throw Error(ErrorKind::input,
                fmt::format("{}: {} tokens of {} topics, expected at least two topics, one of them "
                            "with two tokens, and at most {} tokens; '-' leaves one out",
                            name,
                            count,
                            known.size(),
                            kMostTokens));
  }
  const auto put = [&](const std::string& what, Eigen::MatrixXd values) {
    RandomStream stream({.seed = 1, .id = StreamId::bootstrap});
    const TopicContrast contrast = topic_contrast(
        {std::move(values), Eigen::MatrixXd::Ones(count, count)}, numbers, kPermutations, stream);
    entry[what + "_same_topic"] = contrast.same;
    entry[what + "_other_topic"] = contrast.other;
    entry[what + "_p"] = contrast.p;
  };
  Eigen::MatrixXd unit(tokens.rows(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto column = tokens.col(chosen[static_cast<std::size_t>(k)]);
    const double norm = column.stableNorm();
    unit.col(k) = norm > 0 ? Eigen::VectorXd(column / norm) : Eigen::VectorXd(column);
  }
  entry["topics"] = known.size();
  put("cosine", unit.transpose() * unit);
  if (m.attention_entropy && tokens.rows() == tokens.cols())
    put("attention", tokens(chosen, chosen));
}

/// Layers of a network so far, each kind after a block of its own.
struct Layers {
  std::optional<LayerCurves> curves;
  int tokens = 0;
  int attention = 0;
};

/// Enters what theory says of a layer next to it.
void add_theory(const networks::MatrixMeasures& m, Layers& layers, Json& entry) {
  if (!layers.curves) return;
  const int block = m.overlaps ? ++layers.attention : ++layers.tokens;
  entry["block"] = block;
  if (m.overlaps) entry.erase("distance");  // that of the tokens is meant
  for (const char* name : {"distance", "participation", "shared"}) {
    if (entry.contains(name)) layers.curves->compare(entry, name, block);
  }
}

/// Norms and the rest of one matrix.
Json measures_of(const NamedMatrix& matrix,
                 const Options& options,
                 const std::vector<std::string>& topics,
                 Layers& layers) {
  const networks::MatrixMeasures m = networks::measure(matrix.values, matrix.rounding);
  const bool rows = options.tokens == "rows";
  constexpr double kNear = 0.05;  // rows that nearly are distributions
  if (!m.attention_entropy && matrix.values.minCoeff() >= 0 && m.row_sums_off < kNear) {
    warn(options.quiet,
         {fmt::format("{}: rows sum to 1 within {:.2g} only, expected {:.2g}: not taken for "
                      "distributions, no attention_entropy",
                      matrix.name,
                      m.row_sums_off,
                      m.tolerance)});
  }
  Json entry{{"file", matrix.name},
             {"rows", m.rows},
             {"columns", m.columns},
             {"frobenius_norm", m.frobenius_norm},
             {"spectral_norm", m.spectral_norm}};
  // What a matrix does not have is left out: the entropy of rows that are no distributions, for
  // one.
  if (m.stable_rank) entry["stable_rank"] = *m.stable_rank;
  const std::optional<double> cosine =
      rows ? networks::mean_abs_cosine(matrix.values.transpose()) : m.mean_abs_cosine;
  if (cosine) entry["mean_abs_cosine"] = *cosine;
  if (m.attention_entropy) entry["attention_entropy"] = *m.attention_entropy;
  if (m.overlaps) {
    entry["participation"] = m.overlaps->participation;
    if (m.overlaps->shared) entry["shared"] = *m.overlaps->shared;
  }
  if (m.row_distance) entry["distance"] = *m.row_distance;
  add_theory(m, layers, entry);
  if (!topics.empty()) {
    add_topics(rows ? Eigen::MatrixXd(matrix.values.transpose()) : matrix.values,
               m,
               topics,
               matrix.name,
               entry);
  }
  return entry;
}

/// The entropy of attention along checkpoints, a file each: its fall and return.
Json entropies_along(const Options& options) {
  Eigen::MatrixXd entropies;  // a row for each row of attention
  Json files = Json::array();
  for (std::size_t k = 0; k < options.files.size(); ++k) {
    std::vector<double> rows;
    for (const NamedMatrix& matrix : matrices_of(options.files[k], options.quiet)) {
      const networks::MatrixMeasures m = networks::measure(matrix.values, matrix.rounding);
      if (!m.attention_entropy) {
        throw Error(ErrorKind::input,
                    fmt::format("{}: rows that are no distributions (they sum to 1 within {:.2g}), "
                                "expected attention weights; FILE.npz:NAME chooses an array",
                                matrix.name,
                                m.row_sums_off));
      }
      for (Eigen::Index i = 0; i < matrix.values.rows(); ++i) {
        const Eigen::RowVectorXd row = matrix.values.row(i);
        rows.push_back(networks::row_entropies({row.data(), 1, row.size(), row.size()}));
      }
    }
    if (k == 0)
      entropies.resize(static_cast<Eigen::Index>(rows.size()),
                       static_cast<Eigen::Index>(options.files.size()));
    if (static_cast<Eigen::Index>(rows.size()) != entropies.rows()) {
      throw Error(ErrorKind::input,
                  fmt::format("{}: {} rows of attention, expected {} as in {}",
                              options.files[k],
                              rows.size(),
                              entropies.rows(),
                              options.files.front()));
    }
    entropies.col(static_cast<Eigen::Index>(k)) =
        Eigen::Map<const Eigen::VectorXd>(rows.data(), static_cast<Eigen::Index>(rows.size()));
    files.push_back(options.files[k]);
  }
  const BounceOfRows bounce = bounce_of_rows(entropies, 1);
  Json entry{{"files", std::move(files)}, {"rows", entropies.rows()}};
  const Eigen::VectorXd mean = entropies.colwise().mean();
  entry["attention_entropy"] = std::vector<double>(mean.begin(), mean.end());
  entry["fall"] = bounce.fall;
  entry["bounce"] = bounce.bounce;
  if (bounce.low) {
    entry["bounce_low"] = *bounce.low;
    entry["bounce_high"] = *bounce.high;
  }
  return entry;
}

}  // namespace

int measure_verb(const Options& options, const Registry& registry) {
  Json list = Json::array();
  if (options.as_series) {
    constexpr std::size_t kFewest = 3;
    if (options.files.size() < kFewest) {
      throw Error(ErrorKind::input,
                  "--series: expected at least three checkpoints, in their order");
    }
    if (!options.second_target.empty()) {
      throw Error(
          ErrorKind::input,
          "--series and --against: expected one of them; checkpoints are no layers at step 0");
    }
    list.push_back(entropies_along(options));
  } else {
    const std::vector<std::string> topics =
        options.topics.empty() ? std::vector<std::string>() : read_topics(options.topics);
    Layers layers;
    if (!options.second_target.empty()) layers.curves.emplace(options, registry);
    for (const std::string& file : options.files) {
      const Notice notice(options.quiet,
                          fmt::format("measuring '{}'; angles between columns take the square of "
                                      "their number ...",
                                      file));
      for (const NamedMatrix& matrix : matrices_of(file, options.quiet))
        list.push_back(measures_of(matrix, options, topics, layers));
    }
  }
  if (options.json) {
    print("measure", list);
    return kExitDone;
  }
  for (const Json& entry : list) {
    for (const auto& [key, value] : entry.items()) {
      put("{:<18} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (&entry != &list.back()) put("\n");
  }
  return kExitDone;
}

}  // namespace attica::app

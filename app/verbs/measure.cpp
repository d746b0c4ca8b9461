/// @file
/// @brief `attica measure`: norms, ranks and angles of matrices, and layers at step 0 against the
/// curves of a study.

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/run/work.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/core/error.hpp"
#include "attica/core/matrix_file.hpp"
#include "attica/sim/networks/matrix_measures.hpp"

namespace attica::app {

namespace {

/// What a theory says of the layers of a network, by series and block.
class LayerCurves {
 public:
  LayerCurves(const Options& options, const Registry& registry) {
    Options asked = options;
    asked.target = options.second_target;
    const Work work = requested_work(asked, registry);
    const TheoryRecord theory = compute_theory(work, TheoryGrid::requested);
    for (const Prediction& p : theory.predictions) {
      const Series& s = p.series;
      if (s.x_name != "block") continue;
      const bool fresh = curves_.emplace(s.name, all_.size()).second;
      if (!fresh) {
        throw Error(ErrorKind::input,
                    fmt::format("--against {}: series {} has several curves; choose one, as with "
                                "--set 'sweep.beta=[1.5]'",
                                options.second_target,
                                s.name));
      }
      all_.push_back(p);
    }
    if (all_.empty()) {
      throw Error(ErrorKind::input,
                  fmt::format("--against {}: no series of it runs over blocks; expected a study "
                              "such as init-propagation",
                              options.second_target));
    }
  }

  /// The value of a series after a block; none where the theory has none.
  std::optional<double> at(const std::string& name, int block) const {
    const auto found = curves_.find(name);
    if (found == curves_.end()) return std::nullopt;
    const Series& s = all_[found->second].series;
    for (std::size_t k = 0; k < s.x.size(); ++k) {
      if (s.x[k] == block) return s.y[k];
    }
    return std::nullopt;
  }
  /// Whether the theory stands for what it says there.
  bool compared(const std::string& name, int block) const {
    const Prediction& p = all_[curves_.at(name)];
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      if (p.series.x[k] == block) return p.compared.empty() || p.compared[k];
    }
    return false;
  }

 private:
  std::vector<Prediction> all_;
  std::map<std::string, std::size_t> curves_;
};

/// Enters what the theory says of a measured series next to it: value, relative difference, and of
/// the distance the same in standard deviations between networks.
void compare_layer(Json& entry, const LayerCurves& curves, const std::string& name, int block) {
  const std::optional<double> theory = curves.at(name, block);
  if (!theory) return;
  const auto value = entry[name].get<double>();
  entry["theory_" + name] = *theory;
  if (*theory != 0) entry["off_" + name] = value / *theory - 1;
  const std::optional<double> spread = curves.at("network_spread", block);
  if (name == "distance" && spread && *spread > 0)
    entry["deviations_distance"] = (value - *theory) / *spread;
  if (!curves.compared(name, block)) entry["described_" + name] = false;
}

}  // namespace

int measure_verb(const Options& options, const Registry& registry) {
  std::optional<LayerCurves> curves;
  if (!options.second_target.empty()) curves.emplace(options, registry);
  int tokens = 0;     // files of tokens so far, each after a block
  int attention = 0;  // files of attention so far
  Json list = Json::array();
  for (const std::string& file : options.files) {
    const Notice notice(options.quiet,
                        fmt::format("measuring '{}'; angles between columns take the square of "
                                    "their number ...",
                                    file));
    const MatrixFile read = read_matrix_file(file, CsvHeader::optional);
    const Eigen::MatrixXd& matrix = read.table.values;
    for (const std::string& text : read.remarks) remark(options.quiet, text);
    const networks::MatrixMeasures m = networks::measure(matrix, read.rounding);
    // Rows that nearly are distributions.
    constexpr double kNear = 0.05;
    if (!m.attention_entropy && matrix.minCoeff() >= 0 && m.row_sums_off < kNear) {
      remark(options.quiet,
             fmt::format("{}: rows sum to 1 within {:.2g} only, expected {:.2g}: not taken for "
                         "distributions, no attention_entropy",
                         file,
                         m.row_sums_off,
                         m.tolerance));
    }
    Json entry{{"file", file},
               {"rows", m.rows},
               {"columns", m.columns},
               {"frobenius_norm", m.frobenius_norm},
               {"spectral_norm", m.spectral_norm}};
    // What a matrix does not have is left out: the entropy of rows that are no distributions, for
    // one.
    if (m.stable_rank) entry["stable_rank"] = *m.stable_rank;
    if (m.mean_abs_cosine) entry["mean_abs_cosine"] = *m.mean_abs_cosine;
    if (m.attention_entropy) entry["attention_entropy"] = *m.attention_entropy;
    if (m.overlaps) {
      entry["participation"] = m.overlaps->participation;
      if (m.overlaps->shared) entry["shared"] = *m.overlaps->shared;
    }
    if (m.row_distance) entry["distance"] = *m.row_distance;
    if (curves) {
      const int block = m.overlaps ? ++attention : ++tokens;
      entry["block"] = block;
      if (m.overlaps) entry.erase("distance");  // that of the tokens is meant
      for (const char* name : {"distance", "participation", "shared"}) {
        if (entry.contains(name)) compare_layer(entry, *curves, name, block);
      }
    }
    list.push_back(std::move(entry));
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

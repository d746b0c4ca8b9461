/// @file
/// @brief `attica measure`: norms, ranks and angles of matrices.

#include <fmt/format.h>
#include <unistd.h>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/app/verbs/verbs.hpp"
#include "attica/core/matrix_file.hpp"
#include "attica/sim/networks/matrix_measures.hpp"

namespace attica::app {

int measure_verb(const Options& options, const Registry&) {
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

#pragma once
/// @file
/// @brief The values of tests/reference/*.json, computed by independent programs, and how tests
/// read them; the models they belong to.

#include <Eigen/Core>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace attica::testing {

/// @brief The values of tests/reference/<name>.json, read once.
inline const nlohmann::json& reference_values(const std::string& name) {
  static std::map<std::string, nlohmann::json> files;
  const auto known = files.find(name);
  if (known != files.end()) return known->second;
  std::ifstream in(std::string(ATTICA_SOURCE_DIR) + "/tests/reference/" + name + ".json");
  return files.emplace(name, nlohmann::json::parse(in)).first->second;
}

/// @brief A number; one of more than 16 digits is stored as a string.
inline double number(const nlohmann::json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

inline std::vector<double> numbers(const nlohmann::json& list) {
  std::vector<double> values;
  for (const auto& v : list) values.push_back(number(v));
  return values;
}

inline Eigen::VectorXd vector(const nlohmann::json& list) {
  const std::vector<double> values = numbers(list);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// @brief A list of rows; a list of numbers is one column.
inline Eigen::MatrixXd matrix(const nlohmann::json& rows) {
  if (!rows[0].is_array()) return vector(rows);
  Eigen::MatrixXd m(static_cast<Eigen::Index>(rows.size()),
                    static_cast<Eigen::Index>(rows[0].size()));
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    m.row(i) = vector(rows[static_cast<std::size_t>(i)]).transpose();
  return m;
}

}  // namespace attica::testing

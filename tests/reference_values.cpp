#include "reference_values.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace attica::testing {

namespace {

const nlohmann::json& json(const void* node) { return *static_cast<const nlohmann::json*>(node); }

}  // namespace

Reference Reference::operator[](const char* key) const { return Reference(&json(node_).at(key)); }

Reference Reference::operator[](const std::string& key) const { return (*this)[key.c_str()]; }

Reference Reference::element(std::size_t position) const {
  return Reference(&json(node_).at(position));
}

Reference Reference::back() const {
  return element(size() - 1);  // of an empty list: out of range
}

double Reference::value(const char* key, double fallback) const {
  return contains(key) ? (*this)[key].real() : fallback;
}

std::string Reference::value(const char* key, const char* fallback) const {
  return contains(key) ? (*this)[key].text() : fallback;
}

std::size_t Reference::size() const { return json(node_).size(); }

bool Reference::contains(const char* key) const { return json(node_).contains(key); }

bool Reference::is_array() const { return json(node_).is_array(); }

bool Reference::is_null() const { return json(node_).is_null(); }

bool Reference::is_number() const { return json(node_).is_number(); }

bool Reference::is_string() const { return json(node_).is_string(); }

double Reference::real() const { return json(node_).get<double>(); }

std::int64_t Reference::integer() const { return json(node_).get<std::int64_t>(); }

std::string Reference::text() const { return json(node_).get<std::string>(); }

Reference::Iterator Reference::begin() const { return {*this, 0}; }

Reference::Iterator Reference::end() const { return {*this, size()}; }

std::vector<std::pair<std::string, Reference>> Reference::items() const {
  std::vector<std::pair<std::string, Reference>> all;
  for (const auto& [key, value] : json(node_).items()) all.emplace_back(key, Reference(&value));
  return all;
}

std::string Reference::dump() const { return json(node_).dump(); }

bool operator==(Reference a, Reference b) { return json(a.node_) == json(b.node_); }

bool operator==(Reference a, std::string_view text) {
  return a.is_string() && json(a.node_).get_ref<const std::string&>() == text;
}

bool operator==(Reference a, int number) { return json(a.node_) == number; }

std::ostream& operator<<(std::ostream& out, Reference value) { return out << value.dump(); }

Reference reference_values(const std::string& name) {
  static std::map<std::string, nlohmann::json> files;
  auto known = files.find(name);
  if (known == files.end()) {
    const std::string path = std::string(ATTICA_SOURCE_DIR) + "/tests/reference/" + name + ".json";
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path);
    known = files.emplace(name, nlohmann::json::parse(in)).first;
  }
  return Reference(&known->second);
}

double number(Reference value) {
  return value.is_string() ? std::stod(value.text()) : value.real();
}

std::vector<double> numbers(Reference list) {
  std::vector<double> values;
  for (const Reference v : list) values.push_back(number(v));
  return values;
}

Eigen::VectorXd vector(Reference list) {
  const std::vector<double> values = numbers(list);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Eigen::MatrixXd matrix(Reference rows) {
  if (!rows[0].is_array()) return vector(rows);
  Eigen::MatrixXd m(static_cast<Eigen::Index>(rows.size()),
                    static_cast<Eigen::Index>(rows[0].size()));
  for (Eigen::Index i = 0; i < m.rows(); ++i) m.row(i) = vector(rows[i]).transpose();
  return m;
}

}  // namespace attica::testing

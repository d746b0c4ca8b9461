#include "attica/core/value.hpp"

template class std::vector<attica::Value>;
template class std::vector<std::pair<std::string, attica::Value>>;

namespace attica {

Value::Value() noexcept = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

}  // namespace attica

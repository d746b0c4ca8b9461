#pragma once
/// @file
/// @brief The one exception type of attica, and helpers that phrase bad input the same way
/// everywhere.

#include <stdexcept>
#include <string>
#include <string_view>

namespace attica {

/// What went wrong, as the program's exit code tells it.
enum class ErrorKind {
  input = 2,      ///< a parameter, configuration or input file the user can mend
  numerical = 4,  ///< divergence, no convergence, a non-finite number
  storage = 5,    ///< output and run folders: full disk, unwritable, damaged or locked
};

/// Thrown for everything attica refuses to do. The message is one line that names the parameter,
/// its value and what was expected.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  /// @param parameter name of the offending parameter, as the user spells it; empty if there is
  /// none
  Error(ErrorKind kind, const std::string& message, std::string parameter)
      : std::runtime_error(message), kind_(kind), parameter_(std::move(parameter)) {}

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& parameter() const noexcept { return parameter_; }

 private:
  ErrorKind kind_;
  std::string parameter_;
};

/// @brief `parameter 'rho' = 1.5: expected -1 < rho < 1`, as an Error of kind input.
[[nodiscard]] Error invalid_parameter(std::string_view parameter,
                                      std::string_view value,
                                      std::string_view expected);
[[nodiscard]] Error invalid_parameter(std::string_view parameter,
                                      double value,
                                      std::string_view expected);

/// @brief Throws invalid_parameter unless `condition` holds.
void require(bool condition, std::string_view parameter, double value, std::string_view expected);

}  // namespace attica

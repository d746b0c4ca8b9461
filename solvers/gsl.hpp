#pragma once
/// @file
/// @brief Calling GSL from C++: return codes instead of aborts, callables instead of function
/// pointers. For the .cpp files of this folder; GSL is not visible above it.

#include <fmt/format.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>

#include <exception>
#include <string_view>
#include <utility>

#include "attica/core/error.hpp"

namespace attica {

/// @brief Switches GSL's process-wide error handler off, once. The default one aborts the process.
inline void disable_gsl_handler() {
  static const auto previous_handler = gsl_set_error_handler_off();
  static_cast<void>(previous_handler);
}

/// @brief Throws an Error of kind numerical for any code but GSL_SUCCESS: `what: reason`.
inline void check_gsl(int code, std::string_view what) {
  if (code == GSL_SUCCESS) return;
  throw Error(ErrorKind::numerical, fmt::format("{}: {}", what, gsl_strerror(code)));
}

/// @brief A callable as a gsl_function. Exceptions must not cross GSL's C frames: the first is
/// kept, GSL sees NaN, and rethrow() raises it afterwards.
template <class F>
class GslFunction : public gsl_function {
 public:
  explicit GslFunction(F callable) : callable_(std::move(callable)) {
    params = this;
    function = [](double x, void* self) { return static_cast<GslFunction*>(self)->call(x); };
  }
  GslFunction(const GslFunction&) = delete;
  GslFunction& operator=(const GslFunction&) = delete;
  ~GslFunction() = default;

  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  double call(double x) noexcept {
    if (exception_) return GSL_NAN;
    try {
      return callable_(x);
    } catch (...) {
      exception_ = std::current_exception();
      return GSL_NAN;
    }
  }

  F callable_;
  std::exception_ptr exception_;
};

}  // namespace attica

// The one exception type of the library.
//
// Bad input throws Error; expected absence is std::optional; a broken invariant of ours is
// Error with code `bug`. The library never prints and never aborts.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace hifi {

// The values are the exit codes of the command line.
enum class ErrorCode {
  check_failed = 1,  // a theorem check of `verify`
  usage = 2,         // the command line is wrong in itself
  input = 3,         // a file, column or model does not fit
  model = 4,         // the model failed or is non-deterministic
  interrupted = 5,   // stopped by the user; a run file is resumable
  precision = 6,     // stopped at its budget before the requested precision; all outputs are written
  bug = 70,          // our fault
};

// `what()` is one line that names the offender (file, row, column or field); `hint()` says what
// to do about it and may be empty.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message, std::string hint = "")
      : std::runtime_error(std::move(message)), code_(code), hint_(std::move(hint)) {}

  ErrorCode code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorCode code_;
  std::string hint_;
};

inline Error input_error(std::string message, std::string hint = "") {
  return Error(ErrorCode::input, std::move(message), std::move(hint));
}

inline Error model_error(std::string message, std::string hint = "") {
  return Error(ErrorCode::model, std::move(message), std::move(hint));
}

}  // namespace hifi

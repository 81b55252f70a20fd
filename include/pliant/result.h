// What a call that can fail returns.
//
// pliant answers four kinds of failure in four ways (docs/errors.md). This is the one for bad data and for misuse of
// the API: a value or an `Error` that says where, what and how to mend it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace pliant {

/// What went wrong, for a person to read and for a program to switch on.
struct Error {
  enum class Code {
    InvalidArgument,  ///< a value outside what is allowed
    StaleId,          ///< an id whose body or joint is gone (or never was)
    NotFound,         ///< a file or a name that does not exist
    CannotRead,       ///< a file that exists but is not what it should be
    CannotWrite,      ///< a file or folder that cannot be written
    Unsupported,      ///< valid, but not something pliant can do
    CapacityExceeded  ///< more than a stated limit
  };

  Code code = Code::InvalidArgument;
  std::string message{};  ///< what is wrong and what would be right, one sentence
  std::string file{};     ///< the file it is about, if any
  std::string field{};    ///< the field, such as `bodies[3].shape.radius`, or the mesh element, if any
  int line = 0;           ///< the line in `file`, 1 for the first; 0 if it has no meaning

  /// "file:line: field: message", leaving out what is not known.
  std::string to_string() const;
};

/// Thrown by `Result::value` and its kin when there is no value. pliant itself throws nothing else.
class BadResult : public std::runtime_error {
 public:
  explicit BadResult(const Error& error) : std::runtime_error(error.to_string()), error_(error) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// A `T` or the reason there is none. Test it like a bool; `*r` and `r->` throw `BadResult` when there is no value.
template <typename T>
class Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return require(), std::get<0>(content_); }
  const T& value() const& { return require(), std::get<0>(content_); }
  T value() && { return require(), std::get<0>(std::move(content_)); }
  T value_or(T fallback) const { return ok() ? std::get<0>(content_) : std::move(fallback); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Only where `!ok()`.
  const Error& error() const { return std::get<1>(content_); }

 private:
  void require() const {
    if (!ok()) throw BadResult(error());
  }
  std::variant<T, Error> content_;
};

/// Success, or the reason for failure.
class Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }
  /// Throws `BadResult` on failure; nothing otherwise.
  void require() const {
    if (!ok_) throw BadResult(error_);
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace pliant

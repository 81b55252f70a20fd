// Objects that are lent to threads which work side by side, and kept for their memory.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pliant {

template <typename T>
class Spares {
 public:
  /// Goes back by itself.
  class Loan {
   public:
    Loan(Spares& owner, std::unique_ptr<T> lent) : owner_(owner), lent_(std::move(lent)) {}
    ~Loan() { owner_.take_back(std::move(lent_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    T& operator*() const { return *lent_; }

   private:
    Spares& owner_;
    std::unique_ptr<T> lent_;
  };

  /// One that nobody else has now, as its last user left it.
  Loan lend() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {*this, std::make_unique<T>()};
    std::unique_ptr<T> lent = std::move(spare_.back());
    spare_.pop_back();
    return {*this, std::move(lent)};
  }

 private:
  void take_back(std::unique_ptr<T> lent) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(lent));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> spare_;
};

}  // namespace pliant

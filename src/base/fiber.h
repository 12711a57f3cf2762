// A second stack for a job with pauses: a long script lets the loop turn in between.
//
//   Run(job) --------> job ... Suspend() --+        Run and Resume return true when the job has ended, and false
//        false <---------------------------+        when it has called Suspend
//   Resume() --------> ... goes on ... end
//        true <----------------------------
//
// An exception thrown by the job leaves Run or Resume. The Fiber keeps the stack for the next job. A job must not switch
// while handling an exception. Loop thread only. Units: bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <exception>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

namespace mayfly {

class Fiber {
 public:
  // The kernel provides a page of the stack when a job first touches the page. The page beyond the end is protected. Under
  // sanitizers and without optimisation a call takes several times as much stack.
#if defined(MAYFLY_SANITIZE) || !defined(__OPTIMIZE__)
  static constexpr size_t kStackBytes = size_t{64} << 20;
#else
  static constexpr size_t kStackBytes = size_t{8} << 20;
#endif

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  // REQUIRES: no job is suspended.
  ~Fiber();

  // Throws std::bad_alloc if there is no memory for the stack.
  // REQUIRES: no job is suspended, and none runs.
  bool Run(void (*job)(void*), void* argument);
  // REQUIRES: suspended().
  bool Resume();
  bool suspended() const noexcept { return state_ == State::kSuspended; }

  // Called by the running job.
  void Suspend();

 private:
  enum class State : unsigned char { kIdle, kRunning, kSuspended, kEnding };

  void Start();
  bool Switch();
  // Runs on the fiber's stack.
  boost::context::fiber Work(boost::context::fiber&& caller);
  void Leave();

  boost::context::fiber inside_;   // continues on the job's stack; empty before the first job
  boost::context::fiber outside_;  // continues on the caller's stack
  void (*job_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::exception_ptr thrown_;
  State state_ = State::kIdle;
  // For the address sanitizer, to be told of each change of stacks.
  const void* stack_bottom_ = nullptr;
  size_t stack_size_ = 0;
  const void* caller_bottom_ = nullptr;
  size_t caller_size_ = 0;
  void* fake_stack_ = nullptr;
};

}  // namespace mayfly

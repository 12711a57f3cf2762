// A second stack for a job with pauses: a long script lets the loop turn in between.
//
//   Run(job) --------> job ... Suspend() --+        Run and Resume return true when the job has ended, and false
//        false <---------------------------+        when it has called Suspend
//   Resume() --------> ... goes on ... end
//        true <----------------------------
//
// What the job throws leaves Run or Resume. The stack is kept for the next job. A job must not switch while it
// handles an exception. Loop thread only. Units: bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <exception>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

namespace mayfly {

class Fiber {
 public:
  // Its pages are used only as far as a job needs them. The page beyond its end is protected. Under sanitizers and without
  // optimisation a call takes several times as much.
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

  // Called by the job. REQUIRES: it runs.
  void Suspend();

 private:
  enum class State : unsigned char { kIdle, kRunning, kSuspended, kEnding };

  void Start();
  bool Switch();
  // What happens on the fiber.
  boost::context::fiber Work(boost::context::fiber&& caller);
  void Leave();

  boost::context::fiber inside_;   // to go on there; empty before the first job
  boost::context::fiber outside_;  // to go on with the caller
  void (*job_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::exception_ptr thrown_;
  State state_ = State::kIdle;
  // For the address sanitizer, which has to know on which stack we are.
  const void* stack_bottom_ = nullptr;
  size_t stack_size_ = 0;
  const void* caller_bottom_ = nullptr;
  size_t caller_size_ = 0;
  void* fake_stack_ = nullptr;
};

}  // namespace mayfly

#include "base/fiber.h"

#include <memory>
#include <utility>

#include <boost/context/preallocated.hpp>

#if defined(MAYFLY_SANITIZE)
#include <sanitizer/common_interface_defs.h>
#endif

namespace mayfly {
namespace {

void TellSwitch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                [[maybe_unused]] size_t size) {
#if defined(MAYFLY_SANITIZE)
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
}

void TellArrival([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom,
                 [[maybe_unused]] size_t* size) {
#if defined(MAYFLY_SANITIZE)
  __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
#endif
}

}  // namespace

Fiber::~Fiber() {
  assert(state_ == State::kIdle);
  if (!inside_) return;
  state_ = State::kEnding;
  Switch();
}

bool Fiber::Run(void (*job)(void*), void* argument) {
  assert(state_ == State::kIdle);
  if (!inside_) Start();
  job_ = job;
  argument_ = argument;
  state_ = State::kRunning;
  return Switch();
}

bool Fiber::Resume() {
  assert(suspended());
  state_ = State::kRunning;
  return Switch();
}

void Fiber::Suspend() {
  assert(state_ == State::kRunning);
  state_ = State::kSuspended;
  Leave();
}

void Fiber::Start() {
  namespace context = boost::context;
  context::protected_fixedsize_stack stacks(kStackBytes);
  const context::stack_context stack = stacks.allocate();
  stack_size_ = stack.size;
  stack_bottom_ = static_cast<const char*>(stack.sp) - stack_size_;
  inside_ = context::fiber(std::allocator_arg, context::preallocated(stack.sp, stack.size, stack), stacks,
                           [this](context::fiber&& caller) { return Work(std::move(caller)); });
}

bool Fiber::Switch() {
  void* fake_stack = nullptr;
  TellSwitch(&fake_stack, stack_bottom_, stack_size_);
  inside_ = std::move(inside_).resume();
  TellArrival(fake_stack, nullptr, nullptr);
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return state_ != State::kSuspended;
}

void Fiber::Leave() {
  TellSwitch(state_ == State::kEnding ? nullptr : &fake_stack_, caller_bottom_, caller_size_);
  outside_ = std::move(outside_).resume();
  TellArrival(fake_stack_, &caller_bottom_, &caller_size_);
}

boost::context::fiber Fiber::Work(boost::context::fiber&& caller) {
  outside_ = std::move(caller);
  TellArrival(nullptr, &caller_bottom_, &caller_size_);
  while (state_ != State::kEnding) {
    try {
      job_(argument_);
    } catch (...) {
      thrown_ = std::current_exception();
    }
    state_ = State::kIdle;
    Leave();
  }
  TellSwitch(nullptr, caller_bottom_, caller_size_);
  return std::move(outside_);
}

}  // namespace mayfly

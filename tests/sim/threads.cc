#include "sim/threads.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace mayfly::sim {
namespace {

struct Worker {
  explicit Worker(std::function<void()> its_work) : work(std::move(its_work)) {}

  // From the loop's thread: the worker runs until it waits.
  void RunForAWhile() {
    go.release();
    rests.acquire();
  }
  // From the worker.
  void Rest() {
    rests.release();
    go.acquire();
  }

  std::function<void()> work;
  pthread_t id{};
  std::binary_semaphore go{0};
  std::binary_semaphore rests{0};
  bool done = false;
};

std::vector<std::unique_ptr<Worker>> workers;
thread_local Worker* self = nullptr;  // null: the loop's thread

void* Work(void* argument) {
  self = static_cast<Worker*>(argument);
  self->go.acquire();
  self->work();
  self->work = nullptr;
  self->done = true;
  self->rests.release();
  return nullptr;
}

}  // namespace

void RunThreads() {
  for (size_t i = 0; i < workers.size(); ++i) {
    if (!workers[i]->done) workers[i]->RunForAWhile();
  }
}

}  // namespace mayfly::sim

using mayfly::sim::RunThreads;
using mayfly::sim::self;
using mayfly::sim::Worker;
using mayfly::sim::workers;

void std::thread::_M_start_thread(_State_ptr state, void (*)()) {
  // Only members of std::thread may name the type of `state`.
  const std::shared_ptr<_State> shared(std::move(state));
  workers.push_back(std::make_unique<Worker>([shared] { shared->_M_run(); }));
  Worker& worker = *workers.back();
  if (const int error = pthread_create(&worker.id, nullptr, mayfly::sim::Work, &worker); error != 0) {
    workers.pop_back();
    throw std::system_error(error, std::generic_category());
  }
  _M_id._M_thread = worker.id;
}

void std::thread::join() {
  const auto found = std::ranges::find_if(
      workers, [&](const auto& worker) { return pthread_equal(worker->id, _M_id._M_thread) != 0; });
  if (found == workers.end()) throw std::system_error(EINVAL, std::generic_category());
  while (!(*found)->done) (*found)->RunForAWhile();
  pthread_join(_M_id._M_thread, nullptr);
  workers.erase(found);
  _M_id = id();
}

void std::condition_variable::wait(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  self != nullptr ? self->Rest() : RunThreads();
  lock.lock();
}

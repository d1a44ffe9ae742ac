#include "runtime/base/large_stack.h"

#include <pthread.h>

#include <exception>

#include "runtime/base/error.h"

namespace hopline {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStackBytes = size_t{512} << 20;  // checked frames are several times larger
#else
constexpr size_t kStackBytes = size_t{64} << 20;
#endif

thread_local bool on_large = false;

struct Task {
  void (*function)(void*);
  void* argument;
  std::exception_ptr error;
};

void* run_task(void* data) {
  Task& task = *static_cast<Task*>(data);
  on_large = true;
  try {
    task.function(task.argument);
  } catch (...) {
    task.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void on_large_stack(void (*function)(void*), void* argument) {
  if (on_large) return function(argument);
  Task task{function, argument, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int status = pthread_create(&thread, &attributes, run_task, &task);
  pthread_attr_destroy(&attributes);
  if (status != 0) fail(ErrorKind::resource, {}, "cannot start a thread with a stack of {} MB", kStackBytes >> 20);
  pthread_join(thread, nullptr);
  if (task.error) std::rethrow_exception(task.error);
}

}  // namespace hopline

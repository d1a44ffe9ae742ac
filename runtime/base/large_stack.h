// Deeply nested scripts are walked by recursion that has a limit; these threads have room for that limit.
#pragma once
#include <memory>
#include <type_traits>

namespace hopline {

// Calls function(argument) on a new thread with a stack of 64 MB and waits for it; an exception comes back to the
// caller. On such a thread already: calls it directly.
void on_large_stack(void (*function)(void*), void* argument);

template <class F>
void on_large_stack(F&& body) {
  using Body = std::remove_reference_t<F>;
  on_large_stack([](void* argument) { (*static_cast<Body*>(argument))(); },
                 const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace hopline

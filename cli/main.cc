#include "cli/interrupt.h"
#include "cli/run.h"

int main(int count, char** words) {
  hopline::catch_signals();
  hopline::Output output;
  return hopline::command({words + 1, static_cast<size_t>(count > 0 ? count - 1 : 0)}, output);
}

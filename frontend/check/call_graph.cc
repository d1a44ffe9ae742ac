// What calls what: reachable functions, recursion; and how large a function is.
#include <algorithm>

#include "frontend/check/checker.h"

namespace hopline {

std::vector<FunctionInfo*> reachable(FunctionInfo& from) {
  std::unordered_set<FunctionInfo*> seen{&from};
  std::vector<FunctionInfo*> out{&from};
  for (size_t i = 0; i < out.size(); ++i)
    for (FunctionInfo* callee : out[i]->calls)
      if (seen.insert(callee).second) out.push_back(callee);
  return out;
}

// Tarjan's strongly connected components, with a stack of its own.
void mark_recursive(FunctionInfo& from) {
  struct Frame {
    FunctionInfo* info;
    size_t next = 0;  // of its calls
  };
  if (from.order >= 0) return;
  int32_t order = 0;
  std::vector<FunctionInfo*> component;  // Tarjan's stack
  std::unordered_set<FunctionInfo*> open;
  std::vector<Frame> frames;
  const auto enter = [&](FunctionInfo* info) {
    info->order = info->low = order++;
    component.push_back(info);
    open.insert(info);
    frames.push_back({info});
  };
  enter(&from);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    FunctionInfo* const info = frame.info;
    if (frame.next < info->calls.size()) {
      FunctionInfo* const callee = info->calls[frame.next++];
      if (callee == info) info->function->recursive = true;
      if (callee->order < 0)
        enter(callee);
      else if (open.count(callee) != 0)
        info->low = std::min(info->low, callee->order);
      continue;
    }
    frames.pop_back();
    if (!frames.empty()) frames.back().info->low = std::min(frames.back().info->low, info->low);
    if (info->low != info->order) continue;
    const bool alone = component.back() == info;
    for (FunctionInfo* member = nullptr; member != info;) {
      member = component.back();
      component.pop_back();
      open.erase(member);
      if (!alone) member->function->recursive = true;
    }
  }
}

namespace {

void count(const Body& body, Function& f) {
  for (const Stmt* s : body) {
    ++f.num_statements;
    if (const auto* branch = std::get_if<If>(&s->node)) {
      count(branch->before, f);
      count(branch->then, f);
      count(branch->otherwise, f);
    } else if (const auto* loop = std::get_if<While>(&s->node)) {
      f.has_loop = true;
      count(loop->before, f);
      count(loop->body, f);
    } else if (const auto* range = std::get_if<For>(&s->node)) {
      f.has_loop = true;
      count(range->before, f);
      count(range->body, f);
    }
  }
}

}  // namespace

void measure(Function& function) { count(function.body, function); }

std::vector<Diagnostic> in_order(std::vector<Diagnostic> errors) {
  const auto place = [](const Diagnostic& d) { return std::pair(d.span.file, d.span.begin); };
  std::stable_sort(errors.begin(), errors.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
  const auto same = [&](const Diagnostic& a, const Diagnostic& b) {
    return place(a) == place(b) && a.message == b.message;
  };
  errors.erase(std::unique(errors.begin(), errors.end(), same), errors.end());
  if (errors.size() > kMostErrors) errors.resize(kMostErrors);
  return errors;
}

}  // namespace hopline

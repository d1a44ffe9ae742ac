// One small value per slot, followed through the branches of a program; a branch costs what it changes.
#pragma once
#include <cstdint>
#include <vector>

namespace hopline {

class FlowState {
 public:
  struct Change {
    int32_t slot;
    uint16_t value;
  };
  using Changes = std::vector<Change>;

  void resize(size_t slots, uint16_t value) {
    values_.resize(slots, value);
    stamps_.resize(slots, 0);
    other_stamps_.resize(slots, 0);
  }
  uint16_t operator[](int32_t slot) const { return values_[static_cast<size_t>(slot)]; }
  void set(int32_t slot, uint16_t value) {
    uint16_t& now = values_[static_cast<size_t>(slot)];
    if (now == value) return;
    if (open_ > 0) log_.push_back({slot, now});
    now = value;
  }

  // Opens a region; its mark is what the functions below take.
  size_t open() {
    ++open_;
    return log_.size();
  }
  // Undoes what the open region did, and returns it.
  Changes roll_back(size_t mark) {
    Changes changes = distinct(mark);
    for (Change& c : changes) std::swap(c.value, values_[static_cast<size_t>(c.slot)]);
    return changes;
  }
  // Closes the region. Each slot becomes combine(its value now, its value on the other path), where the other path left
  // the region's begin and made the changes `other`.
  template <class Combine>
  void join(size_t mark, const Changes& other, Combine combine) {
    Changes firsts = distinct(mark);
    const uint32_t epoch = epoch_;
    const size_t changed_here = firsts.size();
    for (const Change& c : other) {
      const auto s = static_cast<size_t>(c.slot);
      if (stamps_[s] != epoch) firsts.push_back({c.slot, values_[s]});
      other_stamps_[s] = epoch;
      values_[s] = combine(values_[s], c.value);
    }
    for (size_t i = 0; i < changed_here; ++i) {
      const auto s = static_cast<size_t>(firsts[i].slot);
      if (other_stamps_[s] != epoch) values_[s] = combine(values_[s], firsts[i].value);
    }
    close(firsts);
  }
  // Closes the region and keeps what it did.
  void keep(size_t mark) { close(distinct(mark)); }
  // Slots that the open region changed, with their values at its begin.
  Changes changed(size_t mark) {
    Changes changes = distinct(mark);
    log_.insert(log_.end(), changes.begin(), changes.end());
    return changes;
  }

 private:
  // Takes the region's entries from the log: one per slot, with the value at the region's begin.
  Changes distinct(size_t mark) {
    ++epoch_;
    Changes out;
    for (size_t i = mark; i < log_.size(); ++i) {
      uint32_t& stamp = stamps_[static_cast<size_t>(log_[i].slot)];
      if (stamp == epoch_) continue;
      stamp = epoch_;
      out.push_back(log_[i]);
    }
    log_.resize(mark);
    return out;
  }
  void close(const Changes& firsts) {
    if (--open_ == 0) return;
    for (const Change& c : firsts)
      if (values_[static_cast<size_t>(c.slot)] != c.value) log_.push_back(c);
  }

  std::vector<uint16_t> values_;
  std::vector<uint32_t> stamps_, other_stamps_;
  Changes log_;
  uint32_t epoch_ = 0;
  int open_ = 0;
};

}  // namespace hopline

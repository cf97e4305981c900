// SnapshotMap: a std::map that can be walked through as it was, in pieces, while it changes. For a
// store that encodes its snapshots in pieces (StateMachine::StartSnapshot). Given, not submitted,
// and optional.
//
// A change keeps the old value of its key first, if the walk has not come to that key. So a walk
// costs memory only for keys that change before it comes to them.
//
// A key is found by its hash: the way down a tree of 10,000 keys misses the processor's caches at
// each step. The index keeps the hashes in one array (open addressing), so it misses them once.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace depfast::kv {

// Requires: std::hash<Key>, and keys have an order.
template <typename Key, typename Value>
class SnapshotMap {
 public:
  SnapshotMap() = default;
  SnapshotMap(const SnapshotMap&) = delete;  // a copy's index would point into the original
  SnapshotMap& operator=(const SnapshotMap&) = delete;

  using Map = std::map<Key, Value>;
  using iterator = typename Map::iterator;
  using const_iterator = typename Map::const_iterator;

  class Walk {
   public:
    explicit Walk(const Map& map) : map_(map), size_(map.size()) {}

    // The size of the map when the walk began.
    std::size_t size() const { return size_; }

    // Calls visit(key, value) for the pairs that follow, in order of the keys, while it returns
    // true. False if there are no more. Requires: the map is still there.
    template <typename Visit>
    bool Continue(const Visit& visit) {
      if (is_over_) return false;
      auto now = last_ ? map_.upper_bound(*last_) : map_.begin();
      while (now != map_.end() || !old_.empty()) {
        const bool is_changed =
            !old_.empty() && (now == map_.end() || !(now->first < old_.begin()->first));
        bool goes_on = true;
        if (is_changed) {
          const auto old = old_.extract(old_.begin());
          if (now != map_.end() && !(old.key() < now->first)) ++now;
          if (old.mapped()) goes_on = visit(old.key(), *old.mapped());
          last_ = old.key();
        } else {
          goes_on = visit(now->first, now->second);
          if (!goes_on) last_ = now->first;
          ++now;
        }
        if (!goes_on) return true;
      }
      is_over_ = true;
      return false;
    }

   private:
    friend class SnapshotMap;

    // `now`: where `key` is, or the end.
    void BeforeChange(const Key& key, const_iterator now) {
      if (is_over_ || (last_ && !(*last_ < key))) return;
      const auto [old, is_first] = old_.try_emplace(key);
      if (is_first && now != map_.end()) old->second = now->second;
    }

    const Map& map_;
    const std::size_t size_;
    std::optional<Key> last_;                  // the pairs up to this key are visited
    std::map<Key, std::optional<Value>> old_;  // of changed keys behind it; none: it was absent
    bool is_over_ = false;
  };

  // The walk ends when the caller drops it. Requires: no other walk is going on.
  std::shared_ptr<Walk> StartWalk() {
    const auto walk = std::make_shared<Walk>(map_);
    walk_ = walk;
    return walk;
  }

  // ---- as std::map ----

  std::size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }
  std::size_t count(const Key& key) const { return index_.count(&key); }
  const_iterator begin() const { return map_.begin(); }
  const_iterator end() const { return map_.end(); }
  iterator end() { return map_.end(); }
  const_iterator find(const Key& key) const {
    const auto now = Lookup(key);
    return now ? const_iterator(*now) : map_.end();
  }

  // These may change the value of `key`. A reference or an iterator changes it in the same Apply.
  iterator find(const Key& key) {
    const iterator now = Lookup(key).value_or(map_.end());
    if (const auto walk = walk_.lock()) walk->BeforeChange(key, now);
    return now;
  }
  template <typename... Arguments>
  std::pair<iterator, bool> try_emplace(const Key& key, Arguments&&... arguments) {
    iterator now = find(key);
    if (now != map_.end()) return {now, false};
    now = map_.try_emplace(key, std::forward<Arguments>(arguments)...).first;
    index_.emplace(&now->first, now);
    return {now, true};
  }
  template <typename... Arguments>
  std::pair<iterator, bool> emplace(const Key& key, Arguments&&... arguments) {
    return try_emplace(key, std::forward<Arguments>(arguments)...);
  }
  Value& operator[](const Key& key) { return try_emplace(key).first->second; }
  std::size_t erase(const Key& key) {
    const iterator now = find(key);
    if (now == map_.end()) return 0;
    index_.erase(&now->first);
    map_.erase(now);
    return 1;
  }
  // Replaces all pairs. Requires: no walk is going on.
  SnapshotMap& operator=(Map map) {
    map_ = std::move(map);
    index_.clear();
    for (auto now = map_.begin(); now != map_.end(); ++now) index_.emplace(&now->first, now);
    return *this;
  }

  template <typename Packer>
  void msgpack_pack(Packer& packer) const {
    packer.pack(map_);
  }

 private:
  std::optional<iterator> Lookup(const Key& key) const {
    const auto found = index_.find(&key);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

  struct HashOfKey {
    std::size_t operator()(const Key* key) const { return std::hash<Key>()(*key); }
  };
  struct SameKey {
    bool operator()(const Key* a, const Key* b) const { return *a == *b; }
  };

  Map map_;
  // The index of the keys in map_.
  tsl::robin_map<const Key*, iterator, HashOfKey, SameKey,
                 std::allocator<std::pair<const Key*, iterator>>, /*StoreHash=*/true>
      index_;
  std::weak_ptr<Walk> walk_;
};

}  // namespace depfast::kv

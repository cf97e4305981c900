// FrameBatch: several frames in one buffer. A batch that is used again allocates nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace depfast::real {

class FrameBatch {
 public:
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  // A view that is valid until the batch changes. Requires: number < size().
  std::string_view operator[](std::size_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(bytes_).substr(begin, ends_[number] - begin);
  }

  // Adds a frame: what `append` appends to the string that it gets.
  template <typename Append>
  void Add(const Append& append) {
    append(bytes_);
    ends_.push_back(bytes_.size());
  }

  // Keeps the memory, unless large frames have made it large.
  void Clear() {
    if (bytes_.capacity() > kKeptBytesMax) bytes_ = {};
    bytes_.clear();
    ends_.clear();
  }

 private:
  static constexpr std::size_t kKeptBytesMax = 16 * 1024;

  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace depfast::real

#include "depfast/note.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

#include "core/scheduler.h"
#include "depfast/runtime.h"

namespace depfast {

void Note(const char* format, ...) {
  Runtime& runtime = Runtime::Current();
  const NoteSink& sink = runtime.scheduler().note_sink();
  if (!sink) return;
  std::array<char, kNoteBytesMax + 1> words;  // and a final zero
  std::va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(words.data(), words.size(), format, arguments);
  va_end(arguments);
  const auto size = std::min(static_cast<std::size_t>(std::max(wanted, 0)), kNoteBytesMax);
  std::replace(words.data(), words.data() + size, '\n', ' ');
  sink(runtime, {words.data(), size});
}

}  // namespace depfast

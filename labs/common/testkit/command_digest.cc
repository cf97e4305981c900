#include "command_digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <random>

namespace depfast {
namespace {

using Key = std::array<std::uint32_t, 48>;
static_assert(sizeof(Key) >= XXH3_SECRET_SIZE_MIN);

const Key& TheKey() {
  static const Key key = [] {
    Key drawn;
    std::random_device entropy;
    for (std::uint32_t& word : drawn) word = entropy();
    return drawn;
  }();
  return key;
}

}  // namespace

CommandDigest DigestOf(std::string_view command) {
  const Key& key = TheKey();
  const XXH128_hash_t keyed =
      XXH3_128bits_withSecret(command.data(), command.size(), key.data(), sizeof key);
  return {CommandHash(command), command.size(), keyed.low64, keyed.high64};
}

}  // namespace depfast

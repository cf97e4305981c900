// The main function of the key-value lab's replica program: that of every lab, with a port for
// Redis clients.
#include <memory>

#include "real/main.h"
#include "redis_conversation.h"

int main(int argc, char** argv) {
  const depfast::real::ClientProtocol redis{
      "redis", [](const depfast::real::ClientContext& context) {
        return std::make_shared<depfast::kv::RedisConversation>(context);
      }};
  return depfast::real::RealMain(argc, argv, &redis);
}

// The templates that encode and decode bodies, and those of rpc.h.
//
// They are half of the time that a file takes to compile, so the headers of messages do not include
// them. One source instantiates them for the messages of a header: DEPFAST_REQUEST, DEPFAST_REPLY.
// A source that declares message types of its own may include this header instead.
#pragma once

#include <cstdint>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "depfast/fields.h"
#include "depfast/host/frame.h"
#include "depfast/host/rpc_templates.h"
#include "depfast/host/unpacked.h"

namespace msgpack {
MSGPACK_API_VERSION_NAMESPACE(MSGPACK_DEFAULT_API_NS) {
  namespace adaptor {

  template <depfast::HasFields T>
  struct pack<T> {
    template <typename Stream>
    packer<Stream>& operator()(packer<Stream>& to, const T& value) const {
      std::apply(
          [&](const auto&... field) {
            to.pack_array(sizeof...(field));
            (to.pack(field), ...);
          },
          value.fields());
      return to;
    }
  };

  // Fields that are missing keep their values.
  template <depfast::HasFields T>
  struct convert<T> {
    const msgpack::object& operator()(const msgpack::object& from, T& to) const {
      if (from.type != msgpack::type::ARRAY) throw msgpack::type_error();
      [[maybe_unused]] const msgpack::object* next = from.via.array.ptr;
      const msgpack::object* const end = next + from.via.array.size;
      std::apply(
          [&](auto&... field) { ((next == end ? void() : void((next++)->convert(field))), ...); },
          to.fields());
      return from;
    }
  };

  template <typename T>
    requires std::is_enum_v<T>
  struct pack<T> {
    template <typename Stream>
    packer<Stream>& operator()(packer<Stream>& to, const T& value) const {
      return to.pack(static_cast<std::underlying_type_t<T>>(value));
    }
  };

  template <typename T>
    requires std::is_enum_v<T>
  struct convert<T> {
    const msgpack::object& operator()(const msgpack::object& from, T& to) const {
      to = static_cast<T>(from.as<std::underlying_type_t<T>>());
      return from;
    }
  };

  }  // namespace adaptor
}
}  // namespace msgpack

namespace depfast {

template <typename Body>
void AppendBody(const Body& body, std::string& out) {
  frame_internal::StringSink sink(out);
  msgpack::pack(sink, body);
}

// MessagePack's own decoder leaves missing fields as they are, which would turn a truncated request
// into a valid one.
template <typename Body>
std::optional<Body> DecodeBody(std::string_view bytes, std::string& error) {
  const frame_internal::Unpacked unpacked(bytes, error);
  if (!unpacked) return std::nullopt;
  if constexpr (HasFields<Body>) {
    constexpr auto kFields = std::tuple_size_v<decltype(std::declval<Body&>().fields())>;
    const msgpack::object& object = unpacked.get();
    if (object.type != msgpack::type::ARRAY || object.via.array.size != kFields) {
      error = "the body has the wrong number of fields";
      return std::nullopt;
    }
  }
  try {
    return unpacked.get().as<Body>();
  } catch (const msgpack::type_error&) {
    error = "a field of the body has the wrong type";
    return std::nullopt;
  }
}

}  // namespace depfast

// The code of a type of body, of a reply, and of a request. Each once in a program's given sources,
// outside of all namespaces, with the type's full name.
#define DEPFAST_BODY(Body)                                      \
  template void depfast::AppendBody(const Body&, std::string&); \
  template std::optional<Body> depfast::DecodeBody(std::string_view, std::string&);

#define DEPFAST_REPLY(Body) \
  DEPFAST_BODY(Body)        \
  template void depfast::Responder<Body>::Send(const Body&) const;

#define DEPFAST_REQUEST(Request)                                                                  \
  DEPFAST_BODY(Request)                                                                           \
  template std::shared_ptr<depfast::RpcEvent<Request::Reply>> depfast::Rpc::Call(                 \
      depfast::PeerId, const Request&, depfast::Duration);                                        \
  template std::vector<std::shared_ptr<depfast::RpcEvent<Request::Reply>>> depfast::Rpc::CallAll( \
      const std::vector<depfast::PeerId>&, const Request&, depfast::Duration);                    \
  template void depfast::Rpc::Handle<Request>(                                                    \
      std::function<Request::Reply(depfast::PeerId, Request&&)>);                                 \
  template void depfast::Rpc::HandleInline<Request>(                                              \
      std::function<void(Request&&, depfast::Responder<Request::Reply>)>);

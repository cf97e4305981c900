#include "sealed/protocol.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "depfast/host/codec.h"

namespace depfast::sealed {
namespace {

using Sink = frame_internal::StringSink;
using Packer = msgpack::packer<Sink>;

// A message being written: leaves room for the length and fills it in at the end.
class Writer {
 public:
  Writer() : bytes_(kLengthBytes, '\0'), sink_(bytes_), packer_(sink_) {}

  template <typename... Fields>
  void Array(const Fields&... fields) {
    BeginArray(sizeof...(Fields));
    (Add(fields), ...);
  }
  void BeginArray(std::size_t size) { packer_.pack_array(static_cast<std::uint32_t>(size)); }
  template <typename T>
  void Add(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      packer_.pack(static_cast<std::uint8_t>(value));
    } else {
      packer_.pack(value);
    }
  }
  void Add(const Bytes& bytes) {
    if (bytes == nullptr) {
      packer_.pack_nil();
    } else {
      packer_.pack_bin(static_cast<std::uint32_t>(bytes->size()));
      packer_.pack_bin_body(bytes->data(), static_cast<std::uint32_t>(bytes->size()));
    }
  }
  void Add(Duration duration) { packer_.pack(duration.count()); }

  std::string Finish() {
    const std::size_t length = bytes_.size() - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
      bytes_[i] = static_cast<char>(length >> (8 * i) & 0xff);
    }
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  Sink sink_;
  Packer packer_;
};

// Reads an array's elements one after another.
class Reader {
 public:
  explicit Reader(const msgpack::object& object) {
    if (object.type != msgpack::type::ARRAY) throw ProtocolError("an array was expected");
    elements_ = object.via.array;
  }

  std::size_t left() const { return elements_.size - at_; }

  const msgpack::object& Next() {
    if (at_ >= elements_.size) throw ProtocolError("an array is too short");
    return elements_.ptr[at_++];
  }
  template <typename T>
  T Next() {
    try {
      return Next().as<T>();
    } catch (const msgpack::type_error&) {
      throw ProtocolError("a field has the wrong type");
    }
  }

  // Reads one element for each of `fields`.
  template <typename... Fields>
  void Read(Fields&... fields) {
    (ReadOne(fields), ...);
  }
  Reader NextArray() { return Reader(Next()); }

 private:
  template <typename T>
  void ReadOne(T& field) {
    field = Next<T>();
  }
  void ReadOne(Duration& field) { field = Duration(Next<std::int64_t>()); }
  void ReadOne(Bytes& field) {
    const msgpack::object& object = Next();
    if (object.type == msgpack::type::NIL) return;
    if (object.type != msgpack::type::BIN) throw ProtocolError("bytes were expected");
    field = MakeBytes(std::string(object.via.bin.ptr, object.via.bin.size));
  }

  msgpack::object_array elements_{};
  std::uint32_t at_ = 0;
};

// Counts values without memory for them, and stops when there are too many.
class ValueCounter final : public msgpack::null_visitor {
 public:
  bool too_many() const { return values_ > kValuesMax; }

  bool start_array_item() { return Count(); }
  bool start_map_key() { return Count(); }
  bool start_map_value() { return Count(); }

 private:
  bool Count() {
    ++values_;
    return !too_many();
  }

  std::size_t values_ = 0;
};

bool HasTooManyValues(std::string_view message) {
  if (message.size() <= kValuesMax) return false;  // a value has a byte at least
  ValueCounter counter;
  std::size_t offset = 0;
  msgpack::parse(message.data(), message.size(), offset, counter);
  return counter.too_many();
}

class Message {
 public:
  explicit Message(std::string_view bytes) : value_(Checked(bytes), error_) {
    if (!value_) throw ProtocolError(error_);
  }

  const msgpack::object& get() const { return value_.get(); }

 private:
  static std::string_view Checked(std::string_view bytes) {
    if (HasTooManyValues(bytes)) throw ProtocolError("a message of absurdly many values");
    return bytes;
  }

  std::string error_;
  frame_internal::Unpacked value_;
};

enum class OutputTag : std::uint8_t { kSend = 0, kRelease, kSubmit, kWake, kObserve };

struct OutputWriter {
  Writer& writer;

  void operator()(const sim::SendFrame& send) const {
    writer.Array(OutputTag::kSend, send.id, send.to, send.bytes);
  }
  void operator()(const sim::ReleaseFrame& release) const {
    writer.Array(OutputTag::kRelease, release.id, release.to);
  }
  void operator()(const IoRequest& io) const {
    writer.Array(OutputTag::kSubmit, io.id, io.kind, io.sync, io.file, io.to, io.offset, io.length,
                 io.data);
  }
  void operator()(const sim::SetWake& wake) const { writer.Array(OutputTag::kWake, wake.when); }
  void operator()(const Observation& seen) const {
    const auto& [a, b, c, d] = seen.values;
    writer.Array(OutputTag::kObserve, seen.kind, a, b, c, d);
  }
};

// The limit of a file's name holds on every host: the simulator does not count the bytes of names.
void RefuseStrangeName(const std::string& name) {
  if (name.size() > kNameBytesMax || name.find('/') != std::string::npos) {
    throw ProtocolError("no plain name of a file");
  }
}

sim::Output ReadOutput(Reader in) {
  switch (static_cast<OutputTag>(in.Next<std::uint8_t>())) {
    case OutputTag::kSend: {
      sim::SendFrame send;
      in.Read(send.id, send.to, send.bytes);
      if (send.to < 0 || send.bytes == nullptr) throw ProtocolError("a frame to nobody");
      if (send.bytes->size() > kMaxFrameBytes) throw ProtocolError("a frame over the size limit");
      return send;
    }
    case OutputTag::kRelease: {
      sim::ReleaseFrame release;
      in.Read(release.id, release.to);
      if (release.to < 0) throw ProtocolError("a frame to nobody");
      return release;
    }
    case OutputTag::kSubmit: {
      IoRequest io;
      std::uint8_t kind = 0;
      in.Read(io.id, kind, io.sync, io.file, io.to, io.offset, io.length, io.data);
      if (kind > static_cast<std::uint8_t>(IoRequest::Kind::kRemove)) {
        throw ProtocolError("an unknown disk operation");
      }
      io.kind = static_cast<IoRequest::Kind>(kind);
      RefuseStrangeName(io.file);
      RefuseStrangeName(io.to);
      if (io.kind == IoRequest::Kind::kAppend && io.data == nullptr) {
        throw ProtocolError("an append of nothing");
      }
      return io;
    }
    case OutputTag::kWake: {
      sim::SetWake wake;
      in.Read(wake.when);
      return wake;
    }
    case OutputTag::kObserve: {
      Observation seen;
      in.Read(seen.kind);
      for (std::uint64_t& value : seen.values) in.Read(value);
      return seen;
    }
  }
  throw ProtocolError("an unknown kind of output");
}

}  // namespace

std::string EncodeBoot(const sim::ReplicaConfig& config) {
  Writer writer;
  writer.Array(Request::kBoot, config.self, config.replicas, config.groups, config.random_seed,
               config.probes);
  return writer.Finish();
}

std::string EncodeStep(const sim::StepInput& input) {
  Writer writer;
  writer.BeginArray(7);
  writer.Add(Request::kStep);
  writer.Add(input.now);
  writer.Add(input.last_cost);
  writer.Add(input.last_took);
  writer.BeginArray(input.frames.size() * 2);
  for (const sim::FrameArrival& frame : input.frames) {
    writer.Add(frame.from);
    writer.Add(frame.bytes);
  }
  writer.BeginArray(input.completions.size() * 3);
  for (const IoCompletion& done : input.completions) {
    writer.Add(done.id);
    writer.Add(done.error);
    writer.Add(done.data);
  }
  writer.BeginArray(input.held_bytes.size());
  for (const std::size_t held : input.held_bytes) writer.Add(held);
  return writer.Finish();
}

std::string EncodePlain(Request request) {
  Writer writer;
  writer.Array(request);
  return writer.Finish();
}

std::string EncodeOutput(const sim::StepOutput& output) {
  Writer writer;
  writer.BeginArray(4);
  writer.Add(output.random_draws);
  writer.Add(output.heap_bytes);
  writer.Add(output.death);
  writer.BeginArray(output.outputs.size());
  for (const sim::Output& one : output.outputs) std::visit(OutputWriter{writer}, one);
  return writer.Finish();
}

std::string EncodeText(const std::string& text) {
  Writer writer;
  writer.Array(text);
  return writer.Finish();
}

std::string EncodeReportRequest(const std::string& probe) {
  Writer writer;
  writer.Array(Request::kReport, probe);
  return writer.Finish();
}

Request DecodeRequest(std::string_view message) {
  const Message unpacked(message);
  const auto request = Reader(unpacked.get()).Next<std::uint8_t>();
  if (request > static_cast<std::uint8_t>(Request::kReport)) throw ProtocolError("unknown request");
  return static_cast<Request>(request);
}

sim::ReplicaConfig DecodeBoot(std::string_view message) {
  const Message unpacked(message);
  Reader in(unpacked.get());
  in.Next<std::uint8_t>();
  sim::ReplicaConfig config;
  in.Read(config.self, config.replicas, config.groups, config.random_seed, config.probes);
  return config;
}

sim::StepInput DecodeStep(std::string_view message) {
  const Message unpacked(message);
  Reader in(unpacked.get());
  in.Next<std::uint8_t>();
  sim::StepInput input;
  in.Read(input.now, input.last_cost, input.last_took);
  for (Reader frames = in.NextArray(); frames.left() > 0;) {
    sim::FrameArrival& frame = input.frames.emplace_back();
    frames.Read(frame.from, frame.bytes);
  }
  for (Reader completions = in.NextArray(); completions.left() > 0;) {
    IoCompletion& done = input.completions.emplace_back();
    completions.Read(done.id, done.error, done.data);
  }
  for (Reader held = in.NextArray(); held.left() > 0;) held.Read(input.held_bytes.emplace_back());
  return input;
}

sim::StepOutput DecodeOutput(std::string_view message) {
  const Message unpacked(message);
  Reader in(unpacked.get());
  sim::StepOutput output;
  in.Read(output.random_draws, output.heap_bytes, output.death);
  if (output.heap_bytes > sim::kHeapBytesMax) throw ProtocolError("a heap of absurd size");
  if (output.death.size() > kDeathBytesMax) {  // it ends in reports, and may be 32 MiB
    output.death.resize(kDeathBytesMax);
    output.death += " ... (cut)";
  }
  Reader outputs = in.NextArray();
  if (outputs.left() > kOutputsMax) throw ProtocolError("absurdly many outputs in a step");
  while (outputs.left() > 0) {
    output.outputs.push_back(ReadOutput(outputs.NextArray()));
  }
  return output;
}

std::string DecodeText(std::string_view message) {
  const Message unpacked(message);
  return Reader(unpacked.get()).Next<std::string>();
}

std::string DecodeReportRequest(std::string_view message) {
  const Message unpacked(message);
  Reader in(unpacked.get());
  in.Next<std::uint8_t>();
  return in.Next<std::string>();
}

std::size_t DecodeLength(const char* bytes) {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i > 0; --i) {
    length = length << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
  }
  return length;
}

std::size_t DecodeAnswerLength(const char* bytes) {
  const std::size_t length = DecodeLength(bytes);
  if (length > kMessageBytesMax) throw ProtocolError("a message of absurd length");
  return length;
}

}  // namespace depfast::sealed

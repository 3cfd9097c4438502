// An operator of a trace, done again: python/kernevo_judge/replay.py has checked where its tensors
// lie and says it all in words between blanks.
#pragma once

#include "captured.h"

#include <charconv>
#include <set>
#include <string>
#include <string_view>

namespace kernevo {

// What the GPU's operators are replaced by, by name and overload.
inline std::set<std::string>& replayable() {
  static std::set<std::string> all;
  return all;
}

class OperatorReader {
public:
  explicit OperatorReader(std::string_view text) : text_(text) {}

  std::string_view word() {
    text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size()));
    const std::string_view next = text_.substr(0, text_.find(' '));
    TORCH_CHECK(!next.empty(), "the text ends too early");
    text_.remove_prefix(next.size());
    return next;
  }

  template <class T> T number() {
    const std::string_view digits = word();
    T value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    TORCH_CHECK(end.ec == std::errc() && end.ptr == digits.data() + digits.size(), "'", digits,
                "' is no number");
    return value;
  }
  double real() { return std::bit_cast<double>(number<uint64_t>()); }

  // What results may be, too.
  void know(const Values& arguments) {
    each_tensor(arguments, [this](const at::Tensor& one) { given_.push_back(one); });
  }

  c10::IValue value() {
    const std::string_view kind = word();
    if (kind == "none")
      return {};
    if (kind == "int")
      return number<int64_t>();
    if (kind == "float")
      return real();
    if (kind == "bool")
      return number<int>() != 0;
    if (kind == "complex") {
      const double first = real();
      return c10::complex<double>(first, real());
    }
    if (kind == "string")
      return bytes();
    if (kind == "device")
      return word() == "cuda" ? current_gpu() : c10::Device(c10::kCPU);
    if (kind == "ints")
      return numbers<int64_t>([this] { return number<int64_t>(); });
    if (kind == "floats")
      return numbers<double>([this] { return real(); });
    if (kind == "bools")
      return numbers<bool>([this] { return number<int>() != 0; });
    if (kind == "scalars")
      return numbers<at::Scalar>([this] { return value().toScalar(); });
    if (kind == "tensors")
      return numbers<at::Tensor>([this] { return tensor(word()); });
    if (kind == "optional-tensors")
      return numbers<std::optional<at::Tensor>>([this]() -> std::optional<at::Tensor> {
        const std::string_view one = word();
        return one == "none" ? std::nullopt : std::optional<at::Tensor>(tensor(one));
      });
    return tensor(kind);
  }

private:
  template <class T, class F> c10::IValue numbers(F next) {
    c10::List<T> list;
    const auto count = number<size_t>();
    for (size_t i = 0; i < count; ++i)
      list.push_back(next());
    return list;
  }

  at::ScalarType type() {
    const std::string_view name = word();
    for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions); ++i)
      if (name == c10::toString(static_cast<at::ScalarType>(i)))
        return static_cast<at::ScalarType>(i);
    TORCH_CHECK(false, "there is no type '", name, "'");
  }

  std::vector<int64_t> sizes(size_t count) {
    std::vector<int64_t> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back(number<int64_t>());
    return all;
  }

  std::string bytes() {
    const std::string_view digits = word().substr(1); // behind a mark: it may be empty
    std::string text;
    for (size_t i = 0; i + 2 <= digits.size(); i += 2) {
      unsigned one = 0;
      std::from_chars(digits.data() + i, digits.data() + i + 2, one, 16);
      text += static_cast<char>(one);
    }
    return text;
  }

  // Memory of the GPU that somebody else holds.
  at::Tensor on_device() {
    const at::ScalarType scalar = type();
    const auto address = number<uint64_t>();
    const auto storage_bytes = number<size_t>();
    const auto dimensions = number<size_t>();
    const auto shape = sizes(dimensions);
    const auto strides = sizes(dimensions);
    const auto flags = number<int>();
    c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), storage_bytes,
        c10::DataPtr(reinterpret_cast<void*>(address), current_gpu()), nullptr, false));
    auto impl = c10::make_intrusive<c10::TensorImpl>(std::move(storage),
                                                     c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                                     c10::scalarTypeToTypeMeta(scalar));
    impl->set_sizes_and_strides(shape, strides);
    impl->_set_conj((flags & 1) != 0);
    impl->_set_neg((flags & 2) != 0);
    return at::Tensor(std::move(impl));
  }

  at::Tensor on_host() {
    const at::ScalarType scalar = type();
    const auto shape = sizes(number<size_t>());
    const std::string content = bytes();
    const bool wrapped = number<int>() != 0;
    at::Tensor made = at::empty(shape, at::TensorOptions(scalar).device(c10::kCPU));
    TORCH_CHECK(made.nbytes() == content.size(), "a tensor of the host has other bytes");
    std::memcpy(made.mutable_data_ptr(), content.data(), content.size());
    if (wrapped)
      made.unsafeGetTensorImpl()->set_wrapped_number(true);
    return made;
  }

  at::Tensor tensor(std::string_view kind) {
    if (kind == "tensor")
      return on_device();
    if (kind == "host")
      return on_host();
    if (kind == "given") {
      const auto which = number<size_t>();
      TORCH_CHECK(which < given_.size(), "there is no such argument");
      return given_[which];
    }
    TORCH_CHECK(kind == "undefined", "there is no kind '", kind, "'");
    return {};
  }

  std::string_view text_;
  std::vector<at::Tensor> given_;
};

// A stream, a name, a seed or -, arguments and results: those that are no new tensors of the GPU
// are undefined.
inline void replay_operator(std::string_view text) {
  OperatorReader reader(text);
  auto* const stream = reinterpret_cast<cudaStream_t>(reader.number<uint64_t>());
  const std::string name(reader.word());
  TORCH_CHECK(replayable().contains(name), "there is no operator '", name, "'");
  const size_t dot = name.find('.');
  const auto op = c10::Dispatcher::singleton().findSchema(
      {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
  TORCH_CHECK(op.has_value(), "there is no operator '", name, "'");
  const std::string_view drawn = reader.word();
  const auto& schema = op->schema();
  Values arguments;
  const auto given = reader.number<size_t>();
  TORCH_CHECK(given == schema.arguments().size(), name, " takes other arguments");
  for (size_t i = 0; i < given; ++i) {
    arguments.push_back(reader.value());
    const c10::IValue& one = arguments.back();
    // An undefined tensor has no type of its own.
    const auto type = one.isTensor() ? c10::TypePtr(c10::TensorType::get()) : one.type();
    TORCH_CHECK(type->isSubtypeOf(*schema.arguments()[i].type()), name,
                ": an argument of another type");
  }
  reader.know(arguments);
  Values results;
  const auto made = reader.number<size_t>();
  for (size_t i = 0; i < made; ++i)
    results.push_back(reader.value());
  const Traits traits = traits_of(*op);
  const Turn turn = begin_operator(stream);
  TORCH_CHECK(turn != Turn::captured, "the stream is being captured");
  if (recording_state().computes) {
    HostCall call(*op, traits);
    if (drawn != "-") {
      uint64_t seed = 0;
      std::from_chars(drawn.data(), drawn.data() + drawn.size(), seed);
      call.draw_with(seed);
    }
    fill_results(call, results, call.run(arguments, false));
  }
  if (turn == Turn::priced)
    end_operator(stream, work_of(traits, arguments, results));
}

} // namespace kernevo

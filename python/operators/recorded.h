// An operator as a trace has it: its name, its arguments and where its results lie, as JSON that
// python/kernevo_judge/trace.py reads. What cannot be said exactly is refused.
#pragma once

#include "recording.h"
#include "sizes.h"

#include <c10/util/Half.h>

#include <bit>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace kernevo {

// Tensors of the host go along up to so many bytes: indices and numbers.
constexpr std::size_t kMostOfHost = std::size_t{1} << 20U;

class OperatorText {
public:
  OperatorText(const Traits& traits, std::optional<uint64_t> seed) {
    out_ << R"("name":")" << traits.name << R"(","seed":)";
    if (seed)
      out_ << *seed;
    else
      out_ << "null";
  }

  void arguments(const Values& values) {
    out_ << R"(,"arguments":[)";
    each(values, [this](const c10::IValue& value) { write(value); });
    out_ << ']';
  }

  // `given`: tensors among the arguments.
  void results(const Values& values, const Values& given) {
    out_ << R"(,"results":[)";
    each(values, [&](const c10::IValue& value) {
      if (value.isTensor()) {
        result(value.toTensor(), given);
      } else if (value.isTensorList()) {
        out_ << R"(["tensors")";
        for (const at::Tensor& one : value.toTensorVector()) {
          out_ << ',';
          result(one, given);
        }
        out_ << ']';
      } else {
        out_ << R"(["value"])";
        note_read_back(1);
      }
    });
    out_ << ']';
  }

  std::string text() const { return out_.str(); }
  // What it has that no trace can say; empty: all is said.
  const std::string& refused() const { return refused_; }

private:
  template <class All, class F> void each(const All& all, F write_one) {
    bool first = true;
    for (const auto& one : all) {
      if (!first)
        out_ << ',';
      first = false;
      write_one(one);
    }
  }
  template <class All> void numbers(const char* kind, const All& all) {
    out_ << "[\"" << kind << '"';
    for (const auto& one : all)
      out_ << ',' << one;
    out_ << ']';
  }
  void list(c10::IntArrayRef all) {
    out_ << '[';
    each(all, [this](int64_t one) { out_ << one; });
    out_ << ']';
  }
  static uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

  void tensor(const at::Tensor& tensor) {
    out_ << R"(["tensor",")" << c10::toString(tensor.scalar_type()) << "\","
         << (tensor.numel() == 0 ? 0 : reinterpret_cast<uint64_t>(tensor.const_data_ptr())) << ',';
    list(tensor.sizes());
    out_ << ',';
    list(tensor.strides());
    out_ << ',' << (tensor.is_conj() ? 1 : 0) + (tensor.is_neg() ? 2 : 0) << ']';
  }

  void of_host(const at::Tensor& tensor) {
    if (tensor.nbytes() > kMostOfHost || tensor.layout() != c10::kStrided) {
      refuse("a large tensor of the host");
      return;
    }
    const at::Tensor plain = tensor.contiguous().resolve_conj().resolve_neg();
    out_ << R"(["host",")" << c10::toString(plain.scalar_type()) << "\",";
    list(plain.sizes());
    out_ << ",\"" << hexadecimal({static_cast<const char*>(plain.const_data_ptr()), plain.nbytes()})
         << "\"," << (tensor.unsafeGetTensorImpl()->is_wrapped_number() ? 1 : 0) << ']';
  }

  void write(const at::Tensor& one) {
    if (!one.defined())
      out_ << R"(["undefined"])";
    else if (one.is_cuda() && one.layout() == c10::kStrided)
      tensor(one);
    else if (one.device().is_cpu())
      of_host(one);
    else
      refuse("a tensor of another kind");
  }

  void write(const c10::IValue& value) {
    if (value.isNone() || value.isGenerator()) {
      if (value.isGenerator() && value.toGenerator().device().is_cpu())
        refused_ = "a generator of the host";
      out_ << R"(["none"])";
    } else if (value.isTensor()) {
      write(value.toTensor());
    } else if (value.isInt()) {
      out_ << "[\"int\"," << value.toInt() << ']';
    } else if (value.isDouble()) {
      out_ << "[\"float\"," << bits(value.toDouble()) << ']';
    } else if (value.isBool()) {
      out_ << "[\"bool\"," << (value.toBool() ? 1 : 0) << ']';
    } else if (value.isComplexDouble()) {
      const auto number = value.toComplexDouble();
      out_ << "[\"complex\"," << bits(number.real()) << ',' << bits(number.imag()) << ']';
    } else if (value.isString()) {
      out_ << "[\"string\",\"" << hexadecimal(value.toStringRef()) << "\"]";
    } else if (value.isDevice()) {
      out_ << "[\"device\",\"" << (value.toDevice().is_cuda() ? "cuda" : "cpu") << "\"]";
    } else if (value.isIntList()) {
      numbers("ints", value.toIntVector());
    } else if (value.isDoubleList()) {
      std::vector<uint64_t> all;
      for (const double one : value.toDoubleVector())
        all.push_back(bits(one));
      numbers("floats", all);
    } else if (value.isBoolList()) {
      std::vector<int> all;
      for (const bool one : value.toBoolList())
        all.push_back(one ? 1 : 0);
      numbers("bools", all);
    } else if (value.isTensorList()) {
      out_ << R"(["tensors")";
      for (const at::Tensor& one : value.toTensorVector()) {
        out_ << ',';
        write(one);
      }
      out_ << ']';
    } else if (value.isOptionalTensorList()) {
      out_ << R"(["optional tensors")";
      for (const std::optional<at::Tensor>& one : value.toOptionalTensorVector()) {
        out_ << ',';
        if (one)
          write(*one);
        else
          out_ << R"(["none"])";
      }
      out_ << ']';
    } else if (value.isList() && is_scalars(value)) {
      out_ << R"(["scalars")";
      for (const c10::IValue& one : value.toListRef()) {
        out_ << ',';
        write(one);
      }
      out_ << ']';
    } else {
      refuse(value.tagKind());
    }
  }

  static bool is_scalars(const c10::IValue& value) {
    for (const c10::IValue& one : value.toListRef())
      if (!one.isInt() && !one.isDouble() && !one.isBool() && !one.isComplexDouble())
        return false;
    return true;
  }

  void result(const at::Tensor& one, const Values& given) {
    std::optional<size_t> which;
    size_t count = 0;
    each_tensor(given, [&](const at::Tensor& tensor) {
      if (tensor.defined() && tensor.is_same(one))
        which = count;
      ++count;
    });
    if (!one.defined()) {
      out_ << R"(["undefined"])";
    } else if (which) {
      out_ << R"(["given",)" << *which << ']'; // of the tensors among the arguments
    } else if (one.is_cuda()) {
      tensor(one);
    } else {
      out_ << R"(["value"])";
      note_read_back(one.nbytes());
    }
  }

  void refuse(const std::string& what) {
    refused_ = what;
    out_ << R"(["none"])";
  }

  static std::string hexadecimal(std::string_view bytes) {
    static const char* const digits = "0123456789abcdef";
    std::string text;
    for (const char one : bytes) {
      const auto byte = static_cast<unsigned char>(one);
      text += digits[byte >> 4U];
      text += digits[byte & 15U];
    }
    return text;
  }

  std::ostringstream out_;
  std::string refused_;
};

inline void write_down(cudaStream_t stream, const Traits& traits, const OperatorText& text) {
  if (text.refused().empty())
    write_operator(stream, text.text());
  else
    refuse_recording(traits.name + " with " + text.refused());
}

inline std::optional<at::Generator> generator_of(const Values& arguments) {
  for (const c10::IValue& value : arguments)
    if (value.isGenerator())
      return value.toGenerator();
  return std::nullopt;
}

// A number for an operator that draws.
inline std::optional<uint64_t> seed_for(const Traits& traits, const Values& arguments) {
  const auto generator = generator_of(arguments);
  if (!traits.random || (generator && generator->device().is_cpu()))
    return std::nullopt;
  return next_seed(generator);
}

// Instead of HostCall::run where a recording is under way or nothing is to be computed: what
// memory the operator asks for is the same in every case.
inline Values run_recorded(const c10::OperatorHandle& op, const Traits& traits,
                           const Values& arguments, cudaStream_t stream, RecordingState state) {
  const auto seed = seed_for(traits, arguments);
  std::optional<Values> results = MetaCall(op, traits).run(arguments);
  OperatorText text(traits, seed);
  text.arguments(arguments);
  HostCall call(op, traits);
  if (seed)
    call.draw_with(*seed);
  if (!results)
    results = call.run_in_host_memory(arguments);
  else if (state.computes)
    fill_results(call, *results, call.run(arguments, false));
  text.results(*results, arguments);
  if (state.written)
    write_down(stream, traits, text);
  return *results;
}

} // namespace kernevo

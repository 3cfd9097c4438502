// Operators that only the GPU has, made of those that are there.
#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <set>
#include <string>

namespace kernevo {

using MaybeTensor = std::optional<at::Tensor>;

inline at::Tensor with_bias(const at::Tensor& gates, const MaybeTensor& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

// Gates are input, forget, cell, output; the workspace is what the gradient needs of them.
inline std::tuple<at::Tensor, at::Tensor, at::Tensor>
lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cell,
          const MaybeTensor& input_bias, const MaybeTensor& hidden_bias) {
  const auto gates =
      (with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias)).chunk(4, 1);
  const at::Tensor in = gates[0].sigmoid();
  const at::Tensor forget = gates[1].sigmoid();
  const at::Tensor now = gates[2].tanh();
  const at::Tensor out = gates[3].sigmoid();
  const at::Tensor next = forget * cell + in * now;
  return {out * next.tanh(), next, at::cat({in, forget, now, out}, 1)};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor>
lstm_cell_backward(const MaybeTensor& of_hidden, const MaybeTensor& of_cell, const at::Tensor& cell,
                   const at::Tensor& next, const at::Tensor& workspace, bool has_bias) {
  const auto gates = workspace.chunk(4, 1);
  const at::Tensor out = next.tanh();
  const at::Tensor hidden = of_hidden && of_hidden->defined() ? *of_hidden : at::zeros_like(next);
  at::Tensor grad = hidden * gates[3] * (1 - out * out);
  if (of_cell && of_cell->defined())
    grad = grad + *of_cell;
  const auto through_sigmoid = [](const at::Tensor& value) { return value * (1 - value); };
  const at::Tensor of_gates = at::cat(
      {grad * gates[2] * through_sigmoid(gates[0]), grad * cell * through_sigmoid(gates[1]),
       grad * gates[0] * (1 - gates[2] * gates[2]), hidden * out * through_sigmoid(gates[3])},
      1);
  return {of_gates, grad * gates[1], has_bias ? of_gates.sum(0) : at::Tensor()};
}

// Gates are reset, update, new.
inline std::tuple<at::Tensor, at::Tensor>
gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& hidden,
         const MaybeTensor& input_bias, const MaybeTensor& hidden_bias) {
  const auto in = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto of_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = (in[0] + of_hidden[0]).sigmoid();
  const at::Tensor update = (in[1] + of_hidden[1]).sigmoid();
  const at::Tensor now = (in[2] + reset * of_hidden[2]).tanh();
  return {(hidden - now) * update + now, at::cat({reset, update, now, hidden, of_hidden[2]}, 1)};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
gru_cell_backward(const at::Tensor& of_next, const at::Tensor& workspace, bool has_bias) {
  const auto part = workspace.chunk(5, 1); // reset, update, new, hidden, the hidden part of new
  const at::Tensor of_now = of_next * (1 - part[1]) * (1 - part[2] * part[2]);
  const at::Tensor of_update = of_next * (part[3] - part[2]) * part[1] * (1 - part[1]);
  const at::Tensor of_reset = of_now * part[4] * part[0] * (1 - part[0]);
  const at::Tensor of_input = at::cat({of_reset, of_update, of_now}, 1);
  const at::Tensor of_hidden = at::cat({of_reset, of_update, of_now * part[0]}, 1);
  return {of_input, of_hidden, of_next * part[1], has_bias ? of_input.sum(0) : at::Tensor(),
          has_bias ? of_hidden.sum(0) : at::Tensor()};
}

inline double epsilon_for(const at::Tensor& input, std::optional<double> epsilon) {
  return epsilon ? *epsilon
                 : (input.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                                       : std::numeric_limits<float>::epsilon());
}

inline at::DimVector last_dimensions(const at::Tensor& input, c10::IntArrayRef shape) {
  at::DimVector dimensions;
  for (int64_t i = input.dim() - static_cast<int64_t>(shape.size()); i < input.dim(); ++i)
    dimensions.push_back(i);
  return dimensions;
}

inline at::Tensor in_float(const at::Tensor& tensor) {
  return c10::isReducedFloatingType(tensor.scalar_type()) ? tensor.to(at::kFloat) : tensor;
}

inline std::tuple<at::Tensor, at::Tensor> rms_norm(const at::Tensor& input, c10::IntArrayRef shape,
                                                   const MaybeTensor& weight,
                                                   std::optional<double> epsilon) {
  const at::Tensor wide = in_float(input);
  const at::Tensor scale =
      (wide.square().mean(last_dimensions(input, shape), true) + epsilon_for(input, epsilon))
          .rsqrt();
  at::Tensor result = wide * scale;
  if (weight && weight->defined())
    result = result * in_float(*weight);
  return {result.to(input.scalar_type()), scale};
}

inline std::tuple<at::Tensor, at::Tensor>
rms_norm_backward(const at::Tensor& of_result, const at::Tensor& input, c10::IntArrayRef shape,
                  const at::Tensor& scale, const MaybeTensor& weight, std::array<bool, 2> wanted) {
  const at::DimVector inner = last_dimensions(input, shape);
  const at::Tensor normal = in_float(input) * scale;
  const at::Tensor grad = in_float(of_result);
  const at::Tensor weighted = weight && weight->defined() ? grad * in_float(*weight) : grad;
  at::Tensor of_input;
  at::Tensor of_weight;
  if (wanted[0])
    of_input = ((weighted - normal * (weighted * normal).mean(inner, true)) * scale)
                   .to(input.scalar_type());
  if (wanted[1] && weight && weight->defined()) {
    at::DimVector outer;
    for (int64_t i = 0; i < input.dim() - static_cast<int64_t>(shape.size()); ++i)
      outer.push_back(i);
    of_weight = grad * normal;
    if (!outer.empty())
      of_weight = of_weight.sum(outer);
    of_weight = of_weight.to(weight->scalar_type());
  }
  return {of_input, of_weight};
}

// Puts them; their names.
inline std::set<std::string> put_missing(torch::Library& library) {
  library.impl("aten::_thnn_fused_lstm_cell", &lstm_cell);
  library.impl("aten::_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  library.impl("aten::_thnn_fused_gru_cell", &gru_cell);
  library.impl("aten::_thnn_fused_gru_cell_backward", &gru_cell_backward);
  library.impl("aten::_fused_rms_norm", &rms_norm);
  library.impl("aten::_fused_rms_norm_backward", &rms_norm_backward);
  return {"aten::_thnn_fused_lstm_cell", "aten::_thnn_fused_lstm_cell_backward_impl",
          "aten::_thnn_fused_gru_cell",  "aten::_thnn_fused_gru_cell_backward",
          "aten::_fused_rms_norm",       "aten::_fused_rms_norm_backward"};
}

} // namespace kernevo

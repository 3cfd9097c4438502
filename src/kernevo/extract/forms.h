// The forms an extracted candidate can take.
#pragma once

#include "kernevo/extract/extraction.h"
#include "kernevo/extract/receipt.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernevo::extract {

enum class Form {
  kernel, // the kernel file with its parameters as defaults
  cu,     // a CUDA program that launches and times it
  torch,  // a Python module with a ModelNew
  json,   // everything known about it
};
std::string_view name_of(Form form);
std::optional<Form> parse_form(std::string_view name);

// The whole text, with the receipt at its head (in JSON: in it).
Result<std::string> render(const Extraction& extraction, Form form, const ReceiptOptions& options);

Result<std::string> render_kernel(const Extraction& extraction, const ReceiptOptions& options);
Result<std::string> render_cu(const Extraction& extraction, const ReceiptOptions& options);
Result<std::string> render_torch(const Extraction& extraction, const ReceiptOptions& options);
Result<std::string> render_json(const Extraction& extraction, const ReceiptOptions& options);

} // namespace kernevo::extract

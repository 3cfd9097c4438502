// The part of a prompt that is new with every request: kernels and their figures, one bottleneck,
// what was tried, what is asked for.
#pragma once

#include "kernevo/base/text_template.h"
#include "kernevo/model/bottleneck.h"
#include "kernevo/propose/proposer.h"

#include <map>
#include <string>
#include <string_view>

namespace kernevo::propose {

using DirectionTexts = std::map<std::string, std::string>; // a sentence for each name

// For the prompt "request".
TemplateContext request_context(const ProposalRequest& request, const DirectionTexts& directions);

// What the directive asks for, one or two sentences.
std::string direction_text(const ProposalRequest& request, const DirectionTexts& directions);

// Its message, its reason and its figures.
std::string finding_text(const BottleneckFinding& finding);

// "12.3 us, 2.1 times as fast as the reference, 40 % of the roofline".
std::string standing_text(std::optional<Nanoseconds> time, std::optional<double> roofline,
                          std::optional<Nanoseconds> baseline);
std::string parameters_text(const std::map<std::string, std::int64_t>& parameters);

// In a fence that nothing in the text can close.
std::string fenced(std::string_view text, std::string_view language);

// "softmax, online, [vector loads]": for a sentence on one line.
std::string title_line(std::string_view title);

} // namespace kernevo::propose

#include "kernevo/llm/transport.h"

#include <array>

namespace kernevo::llm {
namespace {

struct Named {
  TransportError error;
  std::string_view name;
};

constexpr std::array<Named, 10> kNames{{{TransportError::none, "none"},
                                        {TransportError::cannot_resolve, "cannot_resolve"},
                                        {TransportError::cannot_connect, "cannot_connect"},
                                        {TransportError::tls, "tls"},
                                        {TransportError::timeout, "timeout"},
                                        {TransportError::stalled, "stalled"},
                                        {TransportError::cut, "cut"},
                                        {TransportError::cancelled, "cancelled"},
                                        {TransportError::not_recorded, "not_recorded"},
                                        {TransportError::other, "other"}}};

} // namespace

std::string_view name_of(TransportError error) {
  for (const Named& one : kNames)
    if (one.error == error)
      return one.name;
  return "other";
}

std::optional<TransportError> transport_error_named(std::string_view name) {
  for (const Named& one : kNames)
    if (one.name == name)
      return one.error;
  return std::nullopt;
}

} // namespace kernevo::llm

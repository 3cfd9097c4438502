#include "kernevo/price/price_worker.h"

#include "kernevo/base/worker_process.h"
#include "kernevo/price/pricer.h"

#include <optional>
#include <utility>

namespace kernevo {
namespace {

class Service {
public:
  PriceAnswer answer(std::string_view text) {
    auto request = price_request_from_json(text);
    if (!request)
      return refused(request.error());
    if (request->kind == PriceRequest::Kind::gpu)
      return open(request->gpu);
    if (!pricer_)
      return refused({ErrorCode::input, "the GPU must come first", std::nullopt, ""});
    if (request->kind == PriceRequest::Kind::module) {
      pricer_->add_module(request->module, std::move(request->texts));
      return {};
    }
    if (request->kind == PriceRequest::Kind::kernel) {
      const auto kernel = pricer_->kernel(request->module, request->kernel);
      return kernel ? PriceAnswer{std::nullopt, *kernel, std::nullopt} : refused(kernel.error());
    }
    auto price = pricer_->price(request->module, request->kernel, request->counts);
    if (price && !request->metrics)
      price->metrics.clear();
    return price ? PriceAnswer{std::move(*price), std::nullopt, std::nullopt}
                 : refused(price.error());
  }

private:
  static PriceAnswer refused(Error error) { return {std::nullopt, std::nullopt, std::move(error)}; }

  PriceAnswer open(const std::string& gpu) {
    auto pricer = Pricer::make(gpu);
    if (!pricer)
      return refused(pricer.error());
    pricer_ = std::move(*pricer);
    return {};
  }

  std::optional<Pricer> pricer_;
};

} // namespace

int serve_prices() {
  WorkerChannel channel;
  Service service;
  while (const std::optional<Message> request = channel.receive())
    if (!channel.send(to_json(service.answer(request->text))))
      return 0;
  return 0;
}

} // namespace kernevo

#include "kernevo/search/gzip_file.h"

#include "kernevo/base/files.h"

#include <array>
#include <fmt/format.h>
#include <zlib.h>

namespace kernevo::search {

namespace {

constexpr int kGzipWindow = 15 + 16; // zlib: the largest window, in the gzip wrapper
constexpr std::string_view kMagic = "\x1f\x8b";

class Inflater {
public:
  Inflater() { ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK; }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Nothing when the data is damaged or ends early.
  std::optional<std::string> run(std::string& packed, std::size_t limit) {
    std::string text;
    std::array<char, 1U << 16U> chunk{};
    stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    while (ready_) {
      stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream_.avail_out = static_cast<uInt>(chunk.size());
      const int status = inflate(&stream_, Z_NO_FLUSH);
      text.append(chunk.data(), chunk.size() - stream_.avail_out);
      if (status == Z_STREAM_END && stream_.avail_in == 0)
        return text;
      if (status == Z_STREAM_END) // several members in one file are one text
        ready_ = inflateReset(&stream_) == Z_OK;
      else if (status != Z_OK || text.size() > limit)
        return std::nullopt;
    }
    return std::nullopt;
  }

private:
  z_stream stream_{};
  bool ready_ = false;
};

} // namespace

Result<std::string> read_maybe_gzip(const std::filesystem::path& path, std::size_t limit) {
  KERNEVO_TRY(bytes, read_text_file(path, limit));
  if (!bytes.starts_with(kMagic))
    return std::move(bytes);
  std::optional<std::string> text = Inflater().run(bytes, limit);
  if (!text)
    return fail(ErrorCode::input, "is not a whole gzip file", Place{path.string()});
  return std::move(*text);
}

} // namespace kernevo::search

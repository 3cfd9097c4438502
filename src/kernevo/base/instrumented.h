// Whether this build watches itself: g++ and clang say so in different ways.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KERNEVO_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define KERNEVO_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(KERNEVO_ADDRESS_SANITIZER)
#define KERNEVO_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__) && !defined(KERNEVO_THREAD_SANITIZER)
#define KERNEVO_THREAD_SANITIZER
#endif

namespace kernevo {

#if defined(KERNEVO_ADDRESS_SANITIZER) || defined(KERNEVO_THREAD_SANITIZER)
inline constexpr bool kInstrumented = true;
#else
inline constexpr bool kInstrumented = false;
#endif

} // namespace kernevo

#pragma once
// Begins each source behind the precompiled headers: clang, reading CUDA, loses its own
// declarations of these.
void* operator new(std::size_t);
void* operator new[](std::size_t);
void operator delete(void*) noexcept;
void operator delete[](void*) noexcept;
void operator delete(void*, std::size_t) noexcept;
void operator delete[](void*, std::size_t) noexcept;
void* operator new(std::size_t, std::align_val_t);
void* operator new[](std::size_t, std::align_val_t);
void operator delete(void*, std::align_val_t) noexcept;
void operator delete[](void*, std::align_val_t) noexcept;
void operator delete(void*, std::size_t, std::align_val_t) noexcept;
void operator delete[](void*, std::size_t, std::align_val_t) noexcept;
// Their kernels are elsewhere; a host may say where they are all the same.
namespace cooperative_groups {}
namespace nvcuda {
namespace wmma {}
} // namespace nvcuda
namespace cub {}
namespace thrust {}

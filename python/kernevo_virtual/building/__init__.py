"""Fast builds of CUDA extensions: the host's part by clang with torch's headers precompiled, the device's
part by nvcc without them, and torch's own way where a program does not come apart."""

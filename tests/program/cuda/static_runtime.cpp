// Looks like what nvcc makes unless told otherwise: device code, and no library of CUDA.
namespace {
[[gnu::section(".nv_fatbin"), gnu::used]] const char device_code[] = "device code";
} // namespace

int main() {
  return 0;
}

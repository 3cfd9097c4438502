// A driver of long ago: it starts, and has hardly a function of today.
extern "C" {
int cuInit(unsigned /*flags*/) {
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 9010;
  return 0;
}
}

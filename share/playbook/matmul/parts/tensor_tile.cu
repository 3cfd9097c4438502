constexpr int kVector = {{vector}};                 // elements of a unit of 16 bytes
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kStepUnits = 2, kStep = kStepUnits * kVector; // an mma takes 32 bytes of the inner dimension
{{if transposed_a}}
constexpr bool kAAlongK = false; // which dimension is the contiguous one
{{else}}
constexpr bool kAAlongK = true; // which dimension is the contiguous one
{{end}}
{{if transposed_b}}
constexpr bool kBAlongK = true;
{{else}}
constexpr bool kBAlongK = false;
{{end}}

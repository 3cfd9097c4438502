{{if conv2d}}
constexpr int kR = {{dim.R}}, kS = {{dim.S}};
constexpr int kStrideH = {{dim.stride}}, kPadH = {{dim.padding}};
{{else}}
constexpr int kR = 1, kS = {{dim.R}}; // a row of pixels
constexpr int kStrideH = 1, kPadH = 0;
{{end}}
constexpr int kStride = {{dim.stride}}, kPad = {{dim.padding}}, kGroups = {{dim.groups}};
constexpr int kFilter = kR * kS;

// The largest of the elements seen so far and where along the axis it was.
struct Part {
  Acc value;
  int index;
};
constexpr int kNowhere = 0x7fffffff;

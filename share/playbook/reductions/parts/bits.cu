template <int BYTES> struct Bits;
template <> struct Bits<1> { using Type = unsigned char; };
template <> struct Bits<2> { using Type = unsigned short; };
template <> struct Bits<4> { using Type = unsigned; };
template <> struct Bits<8> { using Type = uint2; };
template <> struct Bits<16> { using Type = uint4; };
using Access = Bits<WIDTH * sizeof(Element)>::Type; // WIDTH columns at once

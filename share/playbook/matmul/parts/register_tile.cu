constexpr int kVector = {{vector}};          // elements of a 16-byte global access
constexpr int kChunk = 16 / sizeof(Acc);     // values of a 16-byte shared access
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kWarpRows = 4, kWarpColumns = 8; // threads of a warp: their reads of a row of either tile fit one pass over the banks
constexpr int kPad = kChunk;                 // fewer bank conflicts where a tile is transposed on its way in
using Vector = Pack<Element, kVector>;
using Chunk = Pack<Acc, kChunk>;

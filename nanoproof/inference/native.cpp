// The network on a CPU: prefill, decoding and sampling, called from native_backend.py through ctypes.
//
// A network of a million parameters spends its time between the operators of a tensor library, not in them: a step of
// twelve rows is a hundred calls of a few microseconds of arithmetic each. Here a step is one call. What is computed is
// defined by model/gpt.py and inference/sampling.py, which this follows in order and names.
//
// Everything is one thread of the caller's, and no state is hidden: Python owns the arrays that answers are written to,
// decides who is admitted, and keeps prompts. Compiled by native_build.py for the processor it runs on.
//
// Shapes: N rows (tokens that are computed in one call), W width, H query heads, J key/value heads, G = H / J, D head
// size, C columns (tokens whose keys and values are kept), V tokens that a tactic may consist of, K samples of a
// request, T tokens of a sample.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

// -- Vectors ----------------------------------------------------------------------------------------------------------
// The vector extensions of GCC and Clang, which become AVX-512, AVX2 or NEON. MOST_ROWS rows by two vectors is what the
// accumulators of a product may take of the registers: 24 of 32, or 12 of 16.

#if defined(__AVX512F__)
constexpr int LANES = 16, MOST_ROWS = 12;
#elif defined(__AVX2__) && defined(__FMA__)
constexpr int LANES = 8, MOST_ROWS = 6;
#elif defined(__aarch64__)
constexpr int LANES = 4, MOST_ROWS = 12;
#else
#error "needs AVX2 with FMA, AVX-512, or 64-bit ARM"
#endif

constexpr int PANEL = 2 * LANES;  // columns of a matrix that lie together, see `product`
constexpr int BLOCK = 4 * MOST_ROWS;  // rows that go through a layer together, so that what lies between stays in L1/L2
constexpr float ROUNDING = 1.1920929e-07f;  // torch's default epsilon of rms_norm: that of the dtype
constexpr float SOFTCAP = 15.0f;  // gpt.py: LOGIT_SOFTCAP
constexpr float OUTSIDE = -1e3f;  // sampling.py: added to logits outside of the nucleus

typedef float Vector __attribute__((vector_size(LANES * 4)));
typedef int32_t Integers __attribute__((vector_size(LANES * 4)));
// The same, read and written where it lies: rows begin at any multiple of four bytes.
typedef float Unaligned __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef uint16_t Halves __attribute__((vector_size(LANES * 2), aligned(2), may_alias));
typedef uint32_t Wide __attribute__((vector_size(LANES * 4)));

static inline Vector load(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
static inline void store(float* to, Vector x) { *reinterpret_cast<Unaligned*>(to) = x; }
static inline Vector filled(float x) { return x - Vector{}; }

// bfloat16 is the upper half of a float.
static inline Vector load(const uint16_t* from) {
  return Vector(__builtin_convertvector(*reinterpret_cast<const Halves*>(from), Wide) << 16);
}

static inline uint16_t to_half(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return uint16_t(bits >> 16 | 0x40);  // NaN stays NaN
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // to the nearest, ties to even, as torch rounds
}

static inline float sum_of(Vector x) {
  float total = 0;
  for (int lane = 0; lane < LANES; ++lane) total += x[lane];
  return total;
}

// e^x to the last bit or two: 2^n times a polynomial of what is left, |r| <= ln(2) / 2 (coefficients of Cephes' expf).
// NaN stays NaN; what is below e^-87 becomes that, 1e-38.
static inline Vector exponential(Vector x) {
  x = x < -87.0f ? filled(-87.0f) : x;
  x = x > 88.0f ? filled(88.0f) : x;
  const Vector magic = filled(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  Vector n = (x * 1.44269504f + magic) - magic;
  Vector r = x - n * 0.693359375f - n * -2.12194440e-4f;
  Vector p = filled(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Integers power = (__builtin_convertvector(n, Integers) + 127) << 23;
  return p * Vector(power);  // a cast of vectors keeps their bits
}

// Write e to the numbers of `from` less the largest to `to`, which may be the same; returns the largest, and their sum.
// What is masked becomes 1e-38, and is not read.
static std::pair<float, float> exponentials(const float* from, float* to, int count) {
  Vector most = filled(-INFINITY), sums = {};
  for (int at = 0; at < count; at += LANES) {
    Vector here = load(from + at);
    most = here > most ? here : most;
  }
  float highest = most[0];
  for (int lane = 1; lane < LANES; ++lane) highest = std::max(highest, most[lane]);
  for (int at = 0; at < count; at += LANES) {
    Vector weight = exponential(load(from + at) - highest);
    sums += weight;
    store(to + at, weight);
  }
  return {highest, sum_of(sums)};
}

static inline int rounded_up(int number, int multiple) { return (number + multiple - 1) / multiple * multiple; }

// Memory at cache lines, freed with its owner. Its content is not set.
struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using Array = std::unique_ptr<T[], Free>;

template <class T>
static Array<T> allocated(size_t count) {
  size_t bytes = (std::max<size_t>(count, 1) * sizeof(T) + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, bytes);
  if (!memory) throw std::bad_alloc();
  return Array<T>(static_cast<T*>(memory));
}

// -- Products ---------------------------------------------------------------------------------------------------------
// One product does all: out(M, N) = left(M, K) right(K, N). `right` lies in panels of PANEL columns, each (K, PANEL): a
// panel is read once, in order, for MOST_ROWS rows at a time, whose results stay in registers. Weights are packed so
// when they are read (N their outputs), keys (N columns of the cache, K features) and values (N features, K columns)
// are kept so.

enum Then { STORE, ADD, SQUARE_RELU };

template <int ROWS, class Weight, Then THEN>
static inline void tile(int inner, const float* left, int left_stride, const Weight* panel, float* out, int stride) {
  Vector sums[ROWS][2] = {};
  for (int k = 0; k < inner; ++k, panel += PANEL) {
    Vector first = load(panel), second = load(panel + LANES);
#pragma GCC unroll 16
    for (int row = 0; row < ROWS; ++row) {
      float x = left[size_t(row) * left_stride + k];
      sums[row][0] += x * first;
      sums[row][1] += x * second;
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < ROWS; ++row) {
    for (int half = 0; half < 2; ++half) {
      float* to = out + size_t(row) * stride + half * LANES;
      Vector sum = sums[row][half];
      if (THEN == ADD) sum += load(to);
      if (THEN == SQUARE_RELU) sum = (sum < 0.0f ? Vector{} : sum) * sum;  // NaN stays NaN
      store(to, sum);
    }
  }
}

template <int ROWS, class Weight, Then THEN>
static inline void tile_of(int rows, int inner, const float* left, int left_stride, const Weight* panel, float* out,
                           int stride) {
  if (rows == ROWS) return tile<ROWS, Weight, THEN>(inner, left, left_stride, panel, out, stride);
  if constexpr (ROWS > 1) tile_of<ROWS - 1, Weight, THEN>(rows, inner, left, left_stride, panel, out, stride);
}

template <Then THEN, class Weight>
static void product(int rows, int inner, int panels, const float* left, int left_stride, const Weight* right,
                    size_t panel_stride, float* out, int stride) {
  for (int p = 0; p < panels; ++p) {
    const Weight* panel = right + p * panel_stride;
    for (int row = 0; row < rows; row += MOST_ROWS) {
      tile_of<MOST_ROWS, Weight, THEN>(std::min(MOST_ROWS, rows - row), inner, left + size_t(row) * left_stride,
                                       left_stride, panel, out + size_t(row) * stride + p * PANEL, stride);
    }
  }
}

// A weight (outputs, inputs) of the network, packed in panels of its outputs; those behind the last are zero.
struct Matrix {
  int outputs = 0, inputs = 0;
  Array<float> whole;
  Array<uint16_t> halves;

  void pack(const float* weight, int rows, int columns, bool half) {
    outputs = rows, inputs = columns;
    size_t count = size_t(rounded_up(rows, PANEL)) * columns;
    if (half && !halves) halves = allocated<uint16_t>(count);
    if (!half && !whole) whole = allocated<float>(count);
    size_t at = 0;
    for (int first = 0; first < rows; first += PANEL) {
      for (int k = 0; k < columns; ++k) {
        for (int row = first; row < first + PANEL; ++row, ++at) {
          float x = row < rows ? weight[size_t(row) * columns + k] : 0.0f;
          if (half) halves[at] = to_half(x);
          else whole[at] = x;
        }
      }
    }
  }

  int stride() const { return rounded_up(outputs, PANEL); }  // of a row of outputs

  template <Then THEN>
  void times(int rows, const float* left, int left_stride, float* out, int out_stride) const {
    int panels = stride() / PANEL;
    size_t panel_stride = size_t(PANEL) * inputs;
    if (halves) product<THEN>(rows, inputs, panels, left, left_stride, halves.get(), panel_stride, out, out_stride);
    else product<THEN>(rows, inputs, panels, left, left_stride, whole.get(), panel_stride, out, out_stride);
  }
};

// gpt.py: norm
static inline void normalized(const float* x, float* out, int size) {
  float squares = 0;
  int at = 0;
  if (size >= LANES) {
    Vector sums = {};
    for (; at + LANES <= size; at += LANES) sums += load(x + at) * load(x + at);
    squares = sum_of(sums);
  }
  for (; at < size; ++at) squares += x[at] * x[at];
  float scale = 1.0f / std::sqrt(squares / size + ROUNDING);
  for (int k = 0; k < size; ++k) out[k] = x[k] * scale;
}

// -- The network ------------------------------------------------------------------------------------------------------

// As native_backend.py fills it, in this order.
struct Shape {
  int32_t depth, width, heads, kv_heads, head_dim, vocabulary, positions, tokens, first_bin, bins, prefix_lm, half,
      value_embedding;
};

struct Layer {
  Matrix qkv, out, up, down;
  float residual, embedding, value;
  int window;
};

struct Network {
  Shape shape;
  std::vector<Layer> layers;
  Matrix text_head, bin_head;
  // Normalised when the weights are read: they depend on the token alone.
  Array<float> embeddings, value_embeddings;
  Array<float> rope;  // (positions, head_dim / 2, 2): cosine and sine

  int group() const { return shape.heads / shape.kv_heads; }
  int query_width() const { return shape.heads * shape.head_dim; }
  int value_width() const { return shape.kv_heads * shape.head_dim; }
};

// Keys and values of consecutive tokens, in all layers: of a prompt, or of a sample behind it.
struct Columns {
  const Network& network;
  int capacity, filled = 0;
  Array<float> keys, values;

  Columns(const Network& network, int wanted) : network(network), capacity(rounded_up(wanted, PANEL)) {
    size_t layers = size_t(network.shape.depth) * network.shape.kv_heads;
    keys = allocated<float>(layers * key_size());
    values = allocated<float>(layers * value_size());
  }
  static size_t bytes(const Shape& shape, int wanted) {
    int features = shape.head_dim + rounded_up(shape.head_dim, PANEL);
    return size_t(shape.depth) * shape.kv_heads * rounded_up(wanted, PANEL) * features * sizeof(float);
  }
  // Of one head: keys in panels of columns, (capacity / PANEL, D, PANEL); values in panels of features.
  size_t key_size() const { return size_t(capacity) * network.shape.head_dim; }
  size_t value_size() const { return size_t(capacity) * rounded_up(network.shape.head_dim, PANEL); }
  float* keys_of(int layer, int head) const {
    return keys.get() + (size_t(layer) * network.shape.kv_heads + head) * key_size();
  }
  float* values_of(int layer, int head) const {
    return values.get() + (size_t(layer) * network.shape.kv_heads + head) * value_size();
  }

  void put(int layer, int head, int column, const float* key, const float* value) {
    int size = network.shape.head_dim;
    float* to = keys_of(layer, head) + size_t(column / PANEL) * PANEL * size + column % PANEL;
    for (int feature = 0; feature < size; ++feature) to[size_t(feature) * PANEL] = key[feature];
    float* panel = values_of(layer, head);
    for (int first = 0; first < size; first += PANEL, panel += size_t(capacity) * PANEL) {
      int features = std::min(PANEL, size - first);
      float* row = panel + size_t(column) * PANEL;
      std::copy_n(value + first, features, row);
      std::fill(row + features, row + PANEL, 0.0f);
    }
  }

  // Copy the first columns of another.
  void copy(const Columns& other, int count) {
    int size = network.shape.head_dim, panels = rounded_up(size, PANEL) / PANEL;
    for (int layer = 0; layer < network.shape.depth; ++layer) {
      for (int head = 0; head < network.shape.kv_heads; ++head) {
        std::copy_n(other.keys_of(layer, head), size_t(rounded_up(count, PANEL)) * size, keys_of(layer, head));
        for (int p = 0; p < panels; ++p) {
          std::copy_n(other.values_of(layer, head) + size_t(p) * other.capacity * PANEL, size_t(count) * PANEL,
                      values_of(layer, head) + size_t(p) * capacity * PANEL);
        }
      }
    }
    filled = count;
  }
};

// A token that is computed, and where its keys and values go.
struct Row {
  int token, position;
  Columns* into;
  int column;
};

// Rows whose keys and values are those of one prompt and, when decoding, of `own` columns behind it, each row its own.
struct Segment {
  int first, count;
  const Columns* prompt;
  int own;
};

struct Engine {
  Network network;
  // What a call computes, kept between calls: (N, W) residual stream, its start, queries, outputs of attention.
  std::vector<float> stream, queries, attended, block, scores, mixed;

  // gpt.py: GPT.stream and Block.forward. Leaves the normalised end of the stream in `stream`; in the last layer of
  // prefill only keys and values are made, as nothing reads what it puts out for a prompt (samples begin at markers).
  void trunk(const std::vector<Row>& rows, const std::vector<Segment>& segments, bool prefill) {
    const Shape& shape = network.shape;
    int width = shape.width, count = int(rows.size());
    int query_width = network.query_width();
    stream.resize(size_t(count) * rounded_up(width, PANEL));
    queries.resize(size_t(count) * query_width);
    attended.resize(size_t(count) * query_width);
    int stride = rounded_up(width, PANEL);
    for (int row = 0; row < count; ++row) {
      std::copy_n(embedding_of(rows[row].token), width, &stream[size_t(row) * stride]);
    }
    for (int number = 0; number < shape.depth; ++number) {
      const Layer& layer = network.layers[number];
      bool keys_only = prefill && number + 1 == shape.depth;
      for (int first = 0; first < count; first += BLOCK) {
        project(layer, number, rows, first, std::min(BLOCK, count - first), stride, keys_only);
      }
      if (keys_only) return;
      for (const Segment& segment : segments) {
        for (int head = 0; head < shape.kv_heads; ++head) attend(layer, number, head, rows, segment, prefill);
      }
      for (int first = 0; first < count; first += BLOCK) {
        int taken = std::min(BLOCK, count - first);
        float* x = &stream[size_t(first) * stride];
        layer.out.times<ADD>(taken, &attended[size_t(first) * query_width], query_width, x, stride);
        int wide = layer.up.stride();
        block.resize(size_t(BLOCK) * (wide + width));
        float *raised = block.data(), *normed = raised + size_t(BLOCK) * wide;
        for (int row = 0; row < taken; ++row) normalized(x + size_t(row) * stride, normed + size_t(row) * width, width);
        layer.up.times<SQUARE_RELU>(taken, normed, width, raised, wide);
        layer.down.times<ADD>(taken, raised, wide, x, stride);
      }
    }
    for (int row = 0; row < count; ++row) {
      float* x = &stream[size_t(row) * stride];
      normalized(x, x, width);
    }
  }

  const float* embedding_of(int token) const { return &network.embeddings[size_t(token) * network.shape.width]; }

  // gpt.py: the first lines of Block.forward, and Block.project. Writes queries, and keys and values to where they go.
  void project(const Layer& layer, int number, const std::vector<Row>& rows, int first, int taken, int stride,
               bool keys_only) {
    const Shape& shape = network.shape;
    int width = shape.width, size = shape.head_dim, query_width = network.query_width();
    int out_stride = layer.qkv.stride();
    block.resize(size_t(BLOCK) * (out_stride + width));
    float *made = block.data(), *normed = made + size_t(BLOCK) * out_stride;
    for (int index = 0; index < taken; ++index) {
      float* x = &stream[size_t(first + index) * stride];
      const float* start = embedding_of(rows[first + index].token);
      for (int k = 0; k < width; ++k) x[k] = layer.residual * x[k] + layer.embedding * start[k];
      normalized(x, normed + size_t(index) * width, width);
    }
    layer.qkv.times<STORE>(taken, normed, width, made, out_stride);
    float scale = 1.0f / std::sqrt(float(size));
    for (int index = 0; index < taken; ++index) {
      const Row& row = rows[first + index];
      float* heads = made + size_t(index) * out_stride;
      const float* angles = &network.rope[size_t(row.position) * size];
      for (int head = keys_only ? shape.heads : 0; head < shape.heads + shape.kv_heads; ++head) {
        float* x = heads + size_t(head) * size;
        normalized(x, x, size);
        for (int k = 0; k < size; k += 2) {  // gpt.py: rotate
          float a = x[k], b = x[k + 1], cosine = angles[k], sine = angles[k + 1];
          x[k] = a * cosine - b * sine;
          x[k + 1] = a * sine + b * cosine;
        }
      }
      float* query = &queries[size_t(first + index) * query_width];
      for (int k = 0; k < query_width && !keys_only; ++k) query[k] = heads[k] * scale;
      float *keys = heads + query_width, *values = keys + network.value_width();
      if (shape.value_embedding) {
        const float* more = &network.value_embeddings[size_t(row.token) * network.value_width()];
        for (int k = 0; k < network.value_width(); ++k) values[k] += layer.value * more[k];
      }
      for (int head = 0; head < shape.kv_heads; ++head) {
        row.into->put(number, head, row.column, keys + size_t(head) * size, values + size_t(head) * size);
      }
    }
  }

  // Attention of the rows of a segment to its prompt, and to their own columns behind it. The queries of a key/value
  // head are the rows of the product, some rows at a time; scores stand in one buffer, prompt first.
  void attend(const Layer& layer, int number, int head, const std::vector<Row>& rows, const Segment& segment,
              bool prefill) {
    const Shape& shape = network.shape;
    int size = shape.head_dim, group = network.group(), query_width = network.query_width();
    int out_stride = rounded_up(size, PANEL);
    int at_once = std::max(1, 2 * BLOCK / group);
    const float* keys = segment.prompt->keys_of(number, head);
    const float* values = segment.prompt->values_of(number, head);
    size_t value_panel = size_t(segment.prompt->capacity) * PANEL;
    for (int begin = 0; begin < segment.count; begin += at_once) {
      int taken = std::min(at_once, segment.count - begin), queries_here = taken * group;
      const Row* block_rows = &rows[segment.first + begin];
      // The columns of the prompt that some row sees: all have one position where samples are decoded.
      int length = segment.prompt->filled, seen_from = length, seen_to = 0;
      for (int index = 0; index < taken; ++index) {
        auto [from, to] = visible(layer, block_rows[index].position, length, prefill);
        seen_from = std::min(seen_from, from), seen_to = std::max(seen_to, to);
      }
      seen_from = std::min(seen_from, seen_to);
      int first_panel = seen_from / PANEL, shift = first_panel * PANEL;
      int prompt_width = rounded_up(seen_to - shift, PANEL);
      int own_width = rounded_up(segment.own, PANEL), score_stride = prompt_width + own_width;
      scores.resize(size_t(queries_here) * (score_stride + size + 1));
      mixed.resize(size_t(queries_here) * out_stride);
      float *score = scores.data(), *gathered = score + size_t(queries_here) * score_stride;
      float* totals = gathered + size_t(queries_here) * size;
      for (int index = 0; index < taken; ++index) {
        const float* from = &queries[size_t(segment.first + begin + index) * query_width + size_t(head) * group * size];
        std::copy_n(from, size_t(group) * size, gathered + size_t(index) * group * size);
      }
      product<STORE>(queries_here, size, prompt_width / PANEL, gathered, size,
                     keys + size_t(first_panel) * PANEL * size, size_t(PANEL) * size, score, score_stride);
      for (int index = 0; index < taken; ++index) {
        const Row& row = block_rows[index];
        auto [from, to] = visible(layer, row.position, length, prefill);
        float* of_row = score + size_t(index) * group * score_stride;
        // Own columns follow the prompt without a gap, the row's own last.
        int own_from = std::max(0, segment.own - layer.window);
        if (segment.own) {
          product<STORE>(group, size, own_width / PANEL, gathered + size_t(index) * group * size, size,
                         row.into->keys_of(number, head), size_t(PANEL) * size, of_row + prompt_width, score_stride);
        }
        for (int query = 0; query < group; ++query) {
          float* x = of_row + size_t(query) * score_stride;
          mask(x, 0, std::max(0, from - shift));
          mask(x, std::max(0, to - shift), prompt_width);
          mask(x, prompt_width, prompt_width + own_from);
          mask(x, prompt_width + segment.own, score_stride);
          totals[index * group + query] = exponentials(x, x, score_stride).second;
          // Others of the block see these columns: here they add exactly nothing, whoever shares the block.
          std::fill(x + (seen_from - shift), x + (from - shift), 0.0f);
          std::fill(x + (to - shift), x + (seen_to - shift), 0.0f);
        }
      }
      product<STORE>(queries_here, seen_to - seen_from, out_stride / PANEL, score + (seen_from - shift), score_stride,
                     values + size_t(seen_from) * PANEL, value_panel, mixed.data(), out_stride);
      for (int index = 0; index < taken; ++index) {
        const Row& row = block_rows[index];
        float* y = &mixed[size_t(index) * group * out_stride];
        if (segment.own) {
          int own_from = std::max(0, segment.own - layer.window);
          product<ADD>(group, segment.own - own_from, out_stride / PANEL,
                       score + size_t(index) * group * score_stride + prompt_width + own_from, score_stride,
                       row.into->values_of(number, head) + size_t(own_from) * PANEL,
                       size_t(row.into->capacity) * PANEL, y, out_stride);
        }
        float* to = &attended[size_t(segment.first + begin + index) * query_width + size_t(head) * group * size];
        for (int query = 0; query < group; ++query) {
          float share = 1.0f / totals[index * group + query];
          for (int k = 0; k < size; ++k) to[query * size + k] = y[size_t(query) * out_stride + k] * share;
        }
      }
    }
  }

  // Which columns of a prompt a row at a position sees: [from, to). Positions of a prompt are its columns.
  std::pair<int, int> visible(const Layer& layer, int position, int length, bool prefill) const {
    int from = std::max(0, position - layer.window + 1), to = length;
    if (prefill && !network.shape.prefix_lm) to = position + 1;
    if (prefill && network.shape.prefix_lm) to = int(std::min<int64_t>(length, int64_t(position) + layer.window));
    return {std::min(from, to), to};
  }

  static void mask(float* x, int from, int to) {
    for (int column = from; column < to; ++column) x[column] = -INFINITY;
  }
};

// -- Requests ---------------------------------------------------------------------------------------------------------

// The numbers of SamplingOptions.shaping, in its order.
enum Shaping { TEMPERATURE, TOP_P, SHAPINGS };

// Of a request, as native_backend.py fills it. Arrays are Python's, which keeps them until the request has ended.
struct Wanted {
  int32_t start, value_marker, eos, samples, most_tokens, copies;
  float shaping[SHAPINGS];
  const float* log_arrivals;  // (V, copies): logarithms of `Noise.arrivals_SVC`
  const float* uniforms;  // (T, K)
  int32_t* tokens;  // (K, T): what was sampled, EOS included
  int32_t* lengths;  // (K): tokens before the end, -1: none was reached
  double* logprobs;  // (K): of what was sampled, at temperature 1
  uint8_t* running;  // (K): whether a sample goes on; Python ends one by 0
  float* value;  // (bins)
};

struct Request {
  Wanted wanted;
  Columns* prompt;
  // Of each sample. At first the token that samples follow is in those of the first, and the value marker in those of
  // the second: therefore there are two at least.
  std::vector<std::unique_ptr<Columns>> own;
  int time = 0;  // tokens of each sample so far: all began together

  static int sequences(int samples) { return std::max(2, samples); }
};

// Draws tokens from logits; as sampling.py does, from the same noise.
struct Sampler {
  std::vector<float> logits, shaped, probabilities, keys;
  std::vector<int> order;
  float log_total = 0;

  // gpt.py: the soft cap of GPT.logits, then the probabilities. False where they are not finite.
  bool read(const float* raw, int count, int padded) {
    logits.resize(padded);
    float* x = logits.data();
    for (int at = 0; at < padded; at += LANES) {
      // tanh(y) = 1 - 2 / (e^2y + 1)
      store(x + at, SOFTCAP - 2.0f * SOFTCAP / (exponential(load(raw + at) * (2.0f / SOFTCAP)) + 1.0f));
    }
    std::fill(x + count, x + padded, -INFINITY);
    auto [highest, total] = softmax(x);
    log_total = highest + std::log(total);
    return std::isfinite(log_total);
  }

  // Set the probabilities; returns the largest number and the sum of e to all less it.
  std::pair<float, float> softmax(const float* x) {
    int padded = int(logits.size());
    probabilities.resize(padded);
    auto [highest, total] = exponentials(x, probabilities.data(), padded);
    for (int at = 0; at < padded; at += LANES) store(&probabilities[at], load(&probabilities[at]) / total);
    return {highest, total};
  }

  // sampling.py: shaped_logits
  const float* shape(int count, const float* shaping) {
    float temperature = shaping[TEMPERATURE], top_p = shaping[TOP_P];
    if (temperature == 1.0f && top_p >= 1.0f) return logits.data();
    shaped.resize(logits.size());
    for (size_t token = 0; token < logits.size(); ++token) shaped[token] = logits[token] / temperature;
    if (top_p >= 1.0f) return shaped.data();
    softmax(shaped.data());
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int one, int other) { return shaped[one] > shaped[other]; });
    double before = 0;
    for (int rank = 0; rank < count; ++rank) {
      // In torch the sum with this token is made first (in double, and rounded), and the token is taken off again.
      float probability = probabilities[order[rank]], with = float(before += double(probability));
      if (rank > 0 && with - probability >= top_p) shaped[order[rank]] += OUTSIDE;
    }
    return shaped.data();
  }

  // sampling.py: next_tokens, for one row
  int next(int count, const float* shaping, float uniform) {
    const float* x = shape(count, shaping);
    if (x != logits.data()) softmax(x);
    float* sums = probabilities.data();
    double total = 0;  // torch sums up in double, and rounds each sum
    for (int token = 0; token < count; ++token) sums[token] = float(total += double(sums[token]));
    float target = uniform * sums[count - 1];
    int chosen = int(std::upper_bound(sums, sums + count, target) - sums);
    return std::min(chosen, count - 1);
  }

  // sampling.py: first_tokens. The keys of all copies of all tokens, of which the largest are drawn, in order.
  void first(const Wanted& wanted, int count, std::vector<int>& chosen) {
    const float* x = shape(count, wanted.shaping);
    int copies = wanted.copies;
    keys.resize(size_t(count) * copies);
    for (int token = 0, at = 0; token < count; ++token) {
      for (int copy = 0; copy < copies; ++copy, ++at) keys[at] = x[token] - wanted.log_arrivals[at];
    }
    order.resize(keys.size());
    std::iota(order.begin(), order.end(), 0);
    auto larger = [&](int one, int other) {
      return keys[one] > keys[other] || (keys[one] == keys[other] && one < other);
    };
    std::partial_sort(order.begin(), order.begin() + wanted.samples, order.end(), larger);
    chosen.resize(wanted.samples);
    for (int sample = 0; sample < wanted.samples; ++sample) chosen[sample] = order[sample] / copies;
  }
};

// A step of all requests: the rows are computed together, then each request draws its next tokens.
struct Step {
  Engine& engine;
  std::vector<Row> rows;
  std::vector<Segment> segments;
  Sampler sampler;
  std::vector<float> logits, bins;
  std::vector<int> chosen;

  explicit Step(Engine& engine) : engine(engine) {}

  void compute(Request** requests, int count) {
    for (int index = 0; index < count; ++index) {
      Request& request = *requests[index];
      const Wanted& wanted = request.wanted;
      int first = int(rows.size()), length = request.prompt->filled;
      if (request.time == 0) {
        rows.push_back({wanted.start, length, request.own[0].get(), 0});
        rows.push_back({wanted.value_marker, length, request.own[1].get(), 0});
      } else {
        for (int sample = 0; sample < wanted.samples; ++sample) {
          if (!wanted.running[sample]) continue;
          int token = wanted.tokens[size_t(sample) * wanted.most_tokens + request.time - 1];
          rows.push_back({token, length + request.time, request.own[sample].get(), request.time});
        }
      }
      segments.push_back({first, int(rows.size()) - first, request.prompt, request.time + 1});
    }
    engine.trunk(rows, segments, false);
    const Network& network = engine.network;
    int stride = rounded_up(network.shape.width, PANEL), columns = network.text_head.stride();
    logits.resize(rows.size() * columns);
    network.text_head.times<STORE>(int(rows.size()), engine.stream.data(), stride, logits.data(), columns);
  }

  // Returns how many samples of the request go on, -1 if something is not finite.
  int draw(Request& request, const Segment& segment) {
    bool finite = request.time == 0 ? begin(request, segment) : go_on(request, segment);
    request.time += 1;
    if (!finite) return -1;
    const Wanted& wanted = request.wanted;
    if (request.time == wanted.most_tokens) std::fill_n(wanted.running, wanted.samples, uint8_t(0));
    return int(std::count(wanted.running, wanted.running + wanted.samples, uint8_t(1)));
  }

  void put(const Wanted& wanted, int sample, int time, int token) {
    wanted.tokens[size_t(sample) * wanted.most_tokens + time] = token;
    wanted.logprobs[sample] += double(sampler.logits[token] - sampler.log_total);
    if (token == wanted.eos) wanted.lengths[sample] = time, wanted.running[sample] = 0;
  }

  // The first tokens of all samples, from the row of the token that they follow, and the value from the other one.
  bool begin(Request& request, const Segment& segment) {
    const Wanted& wanted = request.wanted;
    const Network& network = engine.network;
    int tokens = network.shape.tokens, columns = network.text_head.stride();
    bool finite = sampler.read(&logits[size_t(segment.first) * columns], tokens, columns);
    if (finite) {
      sampler.first(wanted, tokens, chosen);
      std::fill_n(wanted.running, wanted.samples, uint8_t(1));
      for (int sample = 0; sample < wanted.samples; ++sample) put(wanted, sample, 0, chosen[sample]);
      // All see the token that they follow. (The column of the value marker is written over: nobody sees it.)
      for (int sample = 1; sample < wanted.samples; ++sample) request.own[sample]->copy(*request.own[0], 1);
    }
    int stride = rounded_up(network.shape.width, PANEL), padded = network.bin_head.stride();
    bins.resize(padded);
    network.bin_head.times<STORE>(1, &engine.stream[size_t(segment.first + 1) * stride], stride, bins.data(), padded);
    finite &= sampler.read(bins.data(), network.shape.bins, padded);
    for (int bin = 0; bin < network.shape.bins; ++bin) {
      wanted.value[bin] = std::exp(sampler.logits[bin] - sampler.log_total);
    }
    return finite;
  }

  bool go_on(Request& request, const Segment& segment) {
    const Wanted& wanted = request.wanted;
    int tokens = engine.network.shape.tokens, columns = engine.network.text_head.stride();
    int row = segment.first;
    for (int sample = 0; sample < wanted.samples; ++sample) {
      if (!wanted.running[sample]) continue;
      if (!sampler.read(&logits[size_t(row) * columns], tokens, columns)) return false;
      float uniform = wanted.uniforms[size_t(request.time) * wanted.samples + sample];
      put(wanted, sample, request.time, sampler.next(tokens, wanted.shaping, uniform));
      ++row;
    }
    return true;
  }
};

// -- What Python calls ------------------------------------------------------------------------------------------------
// Pointers that are null, and false, say that there was no memory.

extern "C" {

int native_lanes() { return LANES; }

int native_shapings() { return SHAPINGS; }

void* native_open(const Shape* shape, const int32_t* windows, const float* rope) {
  try {
    auto engine = std::make_unique<Engine>();
    Network& network = engine->network;
    network.shape = *shape;
    network.layers.resize(shape->depth);
    for (int layer = 0; layer < shape->depth; ++layer) network.layers[layer].window = windows[layer];
    size_t angles = size_t(shape->positions) * shape->head_dim;
    network.rope = allocated<float>(angles);
    std::copy_n(rope, angles, network.rope.get());
    network.embeddings = allocated<float>(size_t(shape->vocabulary) * shape->width);
    if (shape->value_embedding) {
      network.value_embeddings = allocated<float>(size_t(shape->vocabulary) * network.value_width());
    }
    return engine.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void native_close(void* engine) { delete static_cast<Engine*>(engine); }

// Read the weights (float32, in rows), in the order of `GPT.parameters`: embedding, then qkv, attention_out, up and
// down of each layer, head, residual and embedding scales, and where there is one value embedding and scales.
bool native_weights(void* opened, const float* const* weights) {
  try {
    Network& network = static_cast<Engine*>(opened)->network;
    const Shape& shape = network.shape;
    const float* const* of_layers = weights + 1;
    const float* const* behind = of_layers + 4 * shape.depth;
    for (int token = 0; token < shape.vocabulary; ++token) {
      size_t at = size_t(token) * shape.width;
      normalized(weights[0] + at, &network.embeddings[at], shape.width);
    }
    int width = shape.width, qkv = network.query_width() + 2 * network.value_width();
    for (int number = 0; number < shape.depth; ++number) {
      Layer& layer = network.layers[number];
      const float* const* of_layer = of_layers + 4 * number;
      layer.qkv.pack(of_layer[0], qkv, width, shape.half);
      layer.out.pack(of_layer[1], width, network.query_width(), shape.half);
      layer.up.pack(of_layer[2], 4 * width, width, shape.half);
      layer.down.pack(of_layer[3], width, 4 * width, shape.half);
      layer.residual = behind[1][number], layer.embedding = behind[2][number];
      layer.value = shape.value_embedding ? behind[4][number] : 0.0f;
    }
    // Text and EOS alone can be sampled: what lies behind them in the vocabulary has no logits here but the bins.
    network.text_head.pack(behind[0], shape.tokens, width, shape.half);
    network.bin_head.pack(behind[0] + size_t(shape.first_bin) * width, shape.bins, width, shape.half);
    for (int token = 0; shape.value_embedding && token < shape.vocabulary; ++token) {
      for (int head = 0; head < shape.kv_heads; ++head) {
        size_t at = size_t(token) * network.value_width() + size_t(head) * shape.head_dim;
        normalized(behind[3] + at, &network.value_embeddings[at], shape.head_dim);
      }
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

int64_t native_bytes(const Shape* shape, int columns) { return int64_t(Columns::bytes(*shape, columns)); }

// Make room for the keys and values of a prompt; the first `common` of them are copied from another.
void* native_prompt(void* opened, int length, const void* other, int common) {
  try {
    auto prompt = std::make_unique<Columns>(static_cast<Engine*>(opened)->network, length);
    if (common) prompt->copy(*static_cast<const Columns*>(other), common);
    return prompt.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void native_forget_prompt(void* prompt) { delete static_cast<Columns*>(prompt); }

// Compute the keys and values that prompts lack; `tokens` are all of theirs, one prompt behind the other.
bool native_prefill(void* opened, void* const* prompts, const int32_t* lengths, int count, const int32_t* tokens) {
  try {
    Engine& engine = *static_cast<Engine*>(opened);
    std::vector<Row> rows;
    std::vector<Segment> segments;
    for (int index = 0; index < count; ++index) {
      Columns* prompt = static_cast<Columns*>(prompts[index]);
      int first = int(rows.size());
      for (int position = prompt->filled; position < lengths[index]; ++position) {
        rows.push_back({tokens[position], position, prompt, position});
      }
      tokens += lengths[index];
      prompt->filled = lengths[index];
      segments.push_back({first, int(rows.size()) - first, prompt, 0});
    }
    engine.trunk(rows, segments, true);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void* native_request(void* opened, void* prompt, const Wanted* wanted) {
  try {
    auto request = std::make_unique<Request>();
    request->wanted = *wanted;
    request->prompt = static_cast<Columns*>(prompt);
    for (int sample = 0; sample < Request::sequences(wanted->samples); ++sample) {
      const Network& network = static_cast<Engine*>(opened)->network;
      request->own.push_back(std::make_unique<Columns>(network, wanted->most_tokens));
    }
    return request.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void native_forget_request(void* request) { delete static_cast<Request*>(request); }

// Compute the next token of every running sample; `left` gets how many samples of each request go on, -1 where
// something is not finite. Returns the number of rows, or -1.
int native_step(void* opened, void* const* requests, int count, int32_t* left) {
  try {
    Step step(*static_cast<Engine*>(opened));
    Request** all = reinterpret_cast<Request**>(const_cast<void**>(requests));
    step.compute(all, count);
    for (int index = 0; index < count; ++index) left[index] = step.draw(*all[index], step.segments[index]);
    return int(step.rows.size());
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

}  // extern "C"

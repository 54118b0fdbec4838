// Decodes the codes that begin in a chunk. The reference is twin/decode-chunk.ts. Shaders that use it declare
// wants_block, restart, begin_block, put and bad, which it calls with what it finds.

@group(0) @binding(0) var<storage, read> files: array<File>;
@group(0) @binding(1) var<storage, read> tables: array<u32>;
@group(0) @binding(2) var<storage, read> words: array<u32>;
@group(0) @binding(3) var<storage, read> chunks: array<vec4<u32>>;

// The tables of the file. Each is: lookup, ends, places, symbols four to a word.
var<workgroup> codes: array<u32, MOST_TABLES * TABLE_WORDS>;

const ENDS = LOOKUP_WORDS;
const PLACES = ENDS + LONG_LENGTHS;
const SYMBOLS = PLACES + LONG_LENGTHS;

// Set from the file.
var<private> mcu_blocks: u32;
var<private> luma_first: u32;
var<private> luma_blocks: u32;
var<private> dc_tables: u32;
var<private> ac_tables: u32;
// Set from the chunk.
var<private> first_word: u32;
var<private> length: u32;
var<private> end: u32;
var<private> first_restart: u32;
var<private> odd: bool;
var<private> marks: vec3<u32>;
// Results of decoding the chunk.
var<private> exit: u32;
var<private> counts: Counts;

// All lanes of a workgroup call this at once.
fn load_tables(file: u32, lane: u32) {
  let all = files[file].table_count * TABLE_WORDS;
  for (var i = lane; i < all; i += GROUP_CHUNKS) {
    codes[i] = tables[files[file].tables + i];
  }
}

fn load_chunk(file: u32, group: u32, lane: u32) {
  mcu_blocks = files[file].mcu_blocks;
  luma_first = files[file].luma_first;
  luma_blocks = files[file].luma_across * files[file].luma_down;
  dc_tables = files[file].dc_tables;
  ac_tables = files[file].ac_tables;
  first_word = group * CHUNK_WORDS * GROUP_CHUNKS + lane;
  let chunk = chunks[group * GROUP_CHUNKS + lane];
  length = chunk.x & 255;
  end = (chunk.x >> 8) & 255;
  first_restart = (chunk.x >> 16) & 7;
  odd = (chunk.x >> 24) != 0;
  marks = chunk.yzw;
}

fn decode(entry: u32) {
  let bits = 8 * length;
  var at = entry & 255;
  var coefficient = (entry >> 8) & 63;
  var block = entry >> 16;
  var limit = next_mark((at + 7) / 8);
  counts = Counts();
  // The two words that contain the next bits.
  var word = at / 32;
  var high = word_at(word);
  var low = word_at(word + 1);
  var ended = false;
  while (at < bits) {
    if (at == limit) {
      // The marker cuts a block.
      if (coefficient != 0) {
        bad();
      }
      counts.restarts++;
      counts.blocks = 0;
      counts.dc = 0;
      coefficient = 0;
      block = 0;
      limit = next_mark(at / 8 + 1);
      restart();
      continue;
    }
    if (word != at / 32) {
      // A code with its value is shorter than a word, so the next word is needed at most, except after a step to a
      // marker.
      high = select(word_at(at / 32), low, at / 32 == word + 1);
      word = at / 32;
      low = word_at(word + 1);
    }
    let next = (high << (at % 32)) | ((low >> 1) >> (31 - at % 32));
    if (coefficient == 0) {
      if (!wants_block(at, limit)) {
        ended = true;
        break;
      }
      // Encoders fill the last byte before a marker with ones. No code consists of ones alone.
      let left = limit - at;
      if (left < 8 && (next >> (32 - left)) == (1u << left) - 1) {
        at = limit;
        continue;
      }
    }
    let table = (select(ac_tables, dc_tables, coefficient == 0) >> (2 * block)) & 3;
    let code = look_up(table, next);
    if (code == 0) {
      at++;
      bad();
      continue;
    }
    let code_bits = code & 31;
    let symbol = code >> 8;
    let size = symbol & 15;
    let value = extend(next << code_bits, size);
    at += code_bits + size;
    // For blocks before luma the subtraction wraps.
    let is_luma = block - luma_first < luma_blocks;
    if (coefficient == 0) {
      counts.blocks++;
      if (is_luma) {
        counts.entries++;
        counts.dc += u32(value);
      }
      begin_block(is_luma, value);
      coefficient = 1;
    } else if (size == 0) {
      coefficient = select(64u, coefficient + 16, symbol == 0xf0);
    } else {
      let place = coefficient + (symbol >> 4);
      if (place > 63) {
        bad();
      } else if (is_luma) {
        put(place, value);
      }
      counts.entries += u32(is_luma);
      coefficient = place + 1;
    }
    if (coefficient > 63) {
      coefficient = 0;
      block = select(block + 1, 0u, block + 1 == mcu_blocks);
    }
    if (at > limit) {
      bad();
      at = limit;
    }
  }
  if (coefficient == 0 && !ended) {
    _ = wants_block(at, limit);
  }
  exit = (at - bits) | (coefficient << 8) | (block << 16);
}

fn word_at(word: u32) -> u32 {
  return words[first_word + word * GROUP_CHUNKS];
}

// The code at the beginning of `next`: its length in bits 0 to 4 and its symbol from bit 8 on; 0 if there is no such
// code.
fn look_up(table: u32, next: u32) -> u32 {
  let first = table * TABLE_WORDS;
  let short = codes[first + (next >> (32 - LOOKUP_BITS))];
  if (short != 0) {
    return short;
  }
  let sixteen = next >> 16;
  var longer = 0u;
  for (var i = 0u; i < LONG_LENGTHS; i++) {
    longer += u32(sixteen >= codes[first + ENDS + i]);
  }
  if (longer == LONG_LENGTHS) {
    return 0;
  }
  let code_bits = LOOKUP_BITS + 1 + longer;
  let place = (sixteen >> (16 - code_bits)) + codes[first + PLACES + longer];
  return code_bits | (((codes[first + SYMBOLS + place / 4] >> (8 * (place % 4))) & 255) << 8);
}

// The value of the first `size` bits: unchanged from 2^(size - 1) on, negative below.
fn extend(next: u32, size: u32) -> i32 {
  let bits = (next >> 1) >> (31 - size);
  let is_negative = (next >> 31) == 0;
  return i32(bits) - select(0, (1 << size) - 1, is_negative);
}

// The bit at which the first mark from a byte on is; beyond all bits if there is no mark.
fn next_mark(byte: u32) -> u32 {
  for (var word = byte / 32; word < 3; word++) {
    let skipped = select(0u, byte % 32, word == byte / 32);
    let left = (marks[word] >> skipped) << skipped;
    if (left != 0) {
      return 8 * (32 * word + countTrailingZeros(left));
    }
  }
  return 8 * NO_END;
}

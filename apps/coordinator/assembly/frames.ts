// Checks what a node found of frames and lays it out for hashing, with WebAssembly SIMD: AssemblyScript, compiled by 'npm run wasm' to
// src/ledger/frames.wasm, which is committed so that nobody needs the compiler to run it.
//
// A frame has `channels` times `bins` counts, varints below 2^32. Its slot is what its digest is made of
// (libs/results/src/counts/source-digest.ts): the word `done`, then width, height, counted and every count as 64-bit integers.
// Wherever anything is not as it has to be, reading stops before that frame: the caller finds out what it is.
import { both } from '../../../libs/results/assembly/varints/both';
import { goOn, shortBytes, shortCounts, shorts, WINDOW } from '../../../libs/results/assembly/varints/short';

/** "done". */
const WORD: u32 = 0x656e6f64;
const HEAD: usize = 28;
/** Numbers that may be any number's value in JavaScript are up to this. */
const SAFE: u64 = 0x1fffffffffffff;
/** The last byte of a varint has none of these bits, of five bytes and of eight. */
const GO_ON: u64 = 0x8080808080;
const GO_ON_8: u64 = ((<u64>0x80808080) << 32) | 0x80808080;

let read_to: usize = 0;

/** Where the counts of the frames end that `read` has read. */
export function end(): usize {
  return read_to;
}

/**
 * Reads up to `frames` frames whose counts begin at `bytes` and end before `stop`, behind which 8 bytes may be read. Adds their counts to
 * those at `sums`, and says how many bytes each frame has. `widths`, `heights` and `lengths` are u32, `counted` float64. Returns how many
 * frames were read.
 */
export function read(
  bytes: usize,
  stop: usize,
  frames: usize,
  channels: usize,
  bins: usize,
  widths: usize,
  heights: usize,
  counted: usize,
  lengths: usize,
  slots: usize,
  sums: usize,
): usize {
  const stride = HEAD + ((channels * bins) << 3);
  let slot = slots;
  read_to = bytes;
  for (let row: usize = 0; row < frames; row++) {
    const width = <u64>load<u32>(widths + (row << 2));
    const height = <u64>load<u32>(heights + (row << 2));
    const pixels = width * height;
    const all = load<f64>(counted + (row << 3));
    if (pixels === 0 || pixels > SAFE || !(all >= 0 && all <= <f64>pixels)) return row;
    const wanted = <u64>all;
    store<u32>(slot, WORD);
    store<u64>(slot, width, 4);
    store<u64>(slot, height, 12);
    store<u64>(slot, wanted, 20);
    let at = read_to;
    let target = slot + HEAD;
    for (let channel: usize = 0; channel < channels; channel++) {
      let sum: u64 = 0;
      let large: u64 = 0;
      let shortSums = i64x2.splat(0);
      const last = target + (bins << 3);
      for (; target < last; target += 8) {
        if (at >= stop) return row;
        const eight = v128.load64_zero(at);
        const mask = goOn(eight);
        const short = shortCounts(mask);
        if (short > 0 && target + (WINDOW << 3) <= last) {
          const counts = shorts(eight, mask);
          const low = i32x4.extend_low_i16x8_u(counts);
          const high = i32x4.extend_high_i16x8_u(counts);
          // What is behind the counts is written over by the next.
          storeFour(target, low);
          storeFour(target + 32, high);
          shortSums = i64x2.add(shortSums, pairsOf(i32x4.add(low, high)));
          at += shortBytes(mask);
          target += (short - 1) << 3;
          continue;
        }
        const word = load<u64>(at);
        // Others are mostly of four bytes at most and come two in a word: where a count begins is known half as late.
        const firsts = ~word & GO_ON_8;
        const seconds = firsts & (firsts - 1);
        if (seconds !== 0 && target + 8 < last) {
          const one = word & (firsts ^ (firsts - 1));
          const other = (word & (seconds ^ (seconds - 1))) >> (ctz(firsts) + 1);
          if ((one | other) >> 32 === 0) {
            const two = both(one, other);
            store<u64>(target, two & 0xffffffff);
            store<u64>(target, two >> 32, 8);
            sum += (two & 0xffffffff) + (two >> 32);
            at += <usize>((ctz(seconds) + 1) >> 3);
            target += 8;
            continue;
          }
        }
        const ends = ~word & GO_ON;
        if (ends === 0) return row;
        // The lowest of the bits that say that a byte is the last, and all below it.
        const own = word & (ends ^ (ends - 1));
        const count =
          (own & 0x7f) |
          ((own >> 1) & 0x3f80) |
          ((own >> 2) & 0x1fc000) |
          ((own >> 3) & 0xfe00000) |
          ((own >> 4) & 0x7f0000000);
        at += <usize>((ctz(ends) + 1) >> 3);
        store<u64>(target, count);
        sum += count;
        large |= count;
      }
      sum += i64x2.extract_lane(shortSums, 0) + i64x2.extract_lane(shortSums, 1);
      // Every channel counts the same pixels.
      if (sum !== wanted || large >> 32 !== 0) return row;
    }
    if (at > stop) return row;
    add(slot + HEAD, target, sums);
    store<u32>(lengths + (row << 2), <u32>(at - read_to));
    read_to = at;
    slot += stride;
  }
  return frames;
}

/** Stores four counts as 64-bit integers. */
function storeFour(target: usize, four: v128): void {
  v128.store(target, i64x2.extend_low_i32x4_u(four));
  v128.store(target, i64x2.extend_high_i32x4_u(four), 16);
}

/** Four counts as two sums of 64 bits. */
function pairsOf(four: v128): v128 {
  return i64x2.add(i64x2.extend_low_i32x4_u(four), i64x2.extend_high_i32x4_u(four));
}

function add(from: usize, to: usize, sums: usize): void {
  for (; from + 16 <= to; from += 16, sums += 16) {
    v128.store(sums, i64x2.add(v128.load(sums), v128.load(from)));
  }
  if (from < to) store<u64>(sums, load<u64>(sums) + load<u64>(from));
}

import type { Rect, Size } from './rect.ts';

/**
 * A bit for each pixel of a plane. Bit x mod 32 of word `y * rowWords + floor(x / 32)` belongs to pixel (x, y); bits
 * beyond the width are 0.
 */
export interface BitPlane extends Size {
  readonly rowWords: number;
  readonly words: Uint32Array;
}

/** A plane whose bits are 0. Threads to which it is sent see the same bits if it is in shared memory. */
export function createBitPlane({ width, height }: Size, isShared = false): BitPlane {
  const rowWords = Math.ceil(width / 32);
  const bytes = 4 * rowWords * height;
  const words = new Uint32Array(isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  return { width, height, rowWords, words };
}

export function hasBit({ words, rowWords }: BitPlane, x: number, y: number): boolean {
  return ((words[y * rowWords + (x >>> 5)]! >>> (x & 31)) & 1) === 1;
}

export function setBit({ words, rowWords }: BitPlane, x: number, y: number): void {
  words[y * rowWords + (x >>> 5)]! |= 1 << (x & 31);
}

/** Whether no bit is set. */
export const isBlank = ({ words }: BitPlane): boolean => words.every((word) => word === 0);

/** The number of bits that are set inside a rectangle of the plane. */
export function countBits({ words, rowWords }: BitPlane, { x, y, width, height }: Rect): number {
  let count = 0;
  const last = (x + width - 1) >>> 5;
  for (let row = y; width > 0 && row < y + height; row++) {
    for (let word = x >>> 5; word <= last; word++) {
      count += onesOf(words[row * rowWords + word]! & bitsFromTo(x - 32 * word, x + width - 32 * word));
    }
  }
  return count;
}

/** Sets the bits of `to` whose bit is set in `rect` of `from`. The corner of `rect` goes to `at`; all of it fits. */
export function addBits(from: BitPlane, rect: Rect, to: BitPlane, at: { x: number; y: number }): void {
  if (rect.width <= 0) return;
  const last = (at.x + rect.width - 1) >>> 5;
  for (let row = 0; row < rect.height; row++) {
    const target = (at.y + row) * to.rowWords;
    for (let word = at.x >>> 5; word <= last; word++) {
      const bits = bitsAt(from, rect.y + row, 32 * word - at.x + rect.x);
      to.words[target + word]! |= bits & bitsFromTo(at.x - 32 * word, at.x + rect.width - 32 * word);
    }
  }
}

/** The part of a plane inside a rectangle, which may be the whole plane. */
export function cropBits(plane: BitPlane, rect: Rect): BitPlane {
  if (rect.x === 0 && rect.y === 0 && rect.width === plane.width && rect.height === plane.height) return plane;
  const cropped = createBitPlane(rect);
  addBits(plane, rect, cropped, { x: 0, y: 0 });
  return cropped;
}

/** For each square of `side` x `side` bits of a plane, whether it has a bit that is set, at the square's first bit. */
export function anyInSquare(plane: BitPlane, side: number): BitPlane {
  const { width, height, rowWords } = plane;
  const words = plane.words.slice();
  const sums: BitPlane = { width, height, rowWords, words };
  // A window of `reach` bits is widened by itself, moved by at most `reach`: 2 to 4 to 8 … A word only reads words that
  // are not widened yet.
  for (let reach = 1; reach < side; ) {
    const step = Math.min(reach, side - reach);
    for (let y = 0; y < height; y++) {
      for (let word = 0; word < rowWords; word++) words[y * rowWords + word]! |= bitsAt(sums, y, 32 * word + step);
    }
    reach += step;
  }
  for (let reach = 1; reach < side; ) {
    const step = Math.min(reach, side - reach);
    for (let i = 0; i < words.length - step * rowWords; i++) words[i]! |= words[i + step * rowWords]!;
    reach += step;
  }
  return cropBits(sums, { x: 0, y: 0, width: width - side + 1, height: height - side + 1 });
}

/** The 32 bits of a row from `bit` on; bits outside the row are 0. */
function bitsAt({ words, rowWords }: BitPlane, y: number, bit: number): number {
  const word = bit >> 5;
  const shift = bit & 31;
  const low = word >= 0 && word < rowWords ? words[y * rowWords + word]! : 0;
  if (shift === 0) return low;
  const high = word >= -1 && word + 1 < rowWords ? words[y * rowWords + word + 1]! : 0;
  return (low >>> shift) | (high << (32 - shift));
}

/** A word with the bits from `from` on and before `to`; both may be outside of it. */
function bitsFromTo(from: number, to: number): number {
  const upTo = (bits: number): number => (bits >= 32 ? -1 : bits <= 0 ? 0 : (1 << bits) - 1);
  return upTo(to) & ~upTo(from);
}

function onesOf(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

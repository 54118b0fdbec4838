/** The bytes of a file from `start` up to, but not including, `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The same bytes in few ranges, in order: ranges with at most `gapBytes` between them become one. */
export function joinRanges(ranges: readonly ByteRange[], gapBytes: number): ByteRange[] {
  const joined: ByteRange[] = [];
  for (const { start, end } of ranges.filter((range) => range.end > range.start).sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last && start <= last.end + gapBytes) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** The range in pieces of `maxBytes`, the last one shorter. */
export function cutRange({ start, end }: ByteRange, maxBytes: number): ByteRange[] {
  const pieces: ByteRange[] = [];
  for (let from = start; from < end; from += maxBytes)
    pieces.push({ start: from, end: Math.min(end, from + maxBytes) });
  return pieces;
}

/** A set of bytes. */
export class RangeSet {
  /** In order, with gaps between them. */
  #ranges: ByteRange[] = [];

  add(range: ByteRange): void {
    this.#ranges = joinRanges([...this.#ranges, range], 0);
  }

  /** The parts of the range that are not in the set. */
  missing({ start, end }: ByteRange): ByteRange[] {
    const missing: ByteRange[] = [];
    let from = start;
    for (const range of this.#ranges) {
      if (range.end <= from) continue;
      if (range.start >= end) break;
      if (range.start > from) missing.push({ start: from, end: range.start });
      from = range.end;
    }
    if (from < end) missing.push({ start: from, end });
    return missing;
  }
}

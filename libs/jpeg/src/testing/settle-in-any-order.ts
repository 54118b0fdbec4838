import type { JpegChunk } from '../frame/chunk.ts';
import type { JpegFrame } from '../frame/jpeg-frame.ts';
import { groupChunks, guess, settlePasses } from '../frame/passes.ts';
import { decodeChunk } from '../twin/decode-chunk.ts';
import type { DecodedChunk } from '../twin/synchronise.ts';

/**
 * Storage of a device: values that lanes write during a pass appear after it, in any order. Until then lanes see the
 * values from before.
 */
class Storage<T> {
  readonly #values = new Map<number, T>();
  #written: { place: number; value: T }[] = [];

  read(place: number): T | undefined {
    return this.#values.get(place);
  }

  write(place: number, value: T): void {
    this.#written.push({ place, value });
  }

  endPass(random: (below: number) => number): void {
    for (const { place, value } of inAnyOrder(this.#written, random)) this.#values.set(place, value);
    this.#written = [];
  }
}

/**
 * Does the same as settle.wgsl, with the workgroups of a pass, the lanes between two barriers, and the writes to
 * storage all in any order. Takes the chunks of one file, none of them after its end; returns the final content of
 * storage.
 */
export function settleInAnyOrder(
  frame: JpegFrame,
  chunks: readonly JpegChunk[],
  random: (below: number) => number,
): (DecodedChunk | undefined)[] {
  const decoded = new Storage<DecodedChunk>();
  const exits = [new Storage<number>(), new Storage<number>()] as const;
  const groups = Array.from({ length: Math.ceil(chunks.length / groupChunks) }, (_, group) => group);
  for (let pass = 0; pass < settlePasses; pass++) {
    for (const group of inAnyOrder(groups, random)) {
      const start = pass === 0 || group === 0 ? guess : exits[((pass + 1) % 2) as 0 | 1].read(group - 1)!;
      const first = group * groupChunks;
      const own = chunks.slice(first, first + groupChunks);
      const lanes = own.map((_, lane) => decoded.read(first + lane));
      const exitOf = exits[(pass % 2) as 0 | 1];
      if (lanes[0]?.entry === start) {
        exitOf.write(group, exits[((pass + 1) % 2) as 0 | 1].read(group)!);
        continue;
      }
      const settled = settleGroup(frame, own, lanes, start, random);
      for (const lane of inAnyOrder([...settled.keys()], random)) decoded.write(first + lane, settled[lane]!);
      exitOf.write(group, settled.at(-1)!.exit);
    }
    for (const storage of [decoded, ...exits]) storage.endPass(random);
  }
  return chunks.map((_, i) => decoded.read(i));
}

function settleGroup(
  frame: JpegFrame,
  chunks: readonly JpegChunk[],
  before: readonly (DecodedChunk | undefined)[],
  start: number,
  random: (below: number) => number,
): DecodedChunk[] {
  const decode = (lane: number, entry: number): DecodedChunk => ({
    entry,
    ...decodeChunk(frame, chunks[lane]!, entry),
  });
  const lanes = chunks.map((_, lane) => (lane > 0 && before[lane]) || decode(lane, lane === 0 ? start : guess));
  const exits = lanes.map(({ exit }) => exit);
  for (;;) {
    // Between two barriers lanes either read the exits of others, or write their own, never both.
    const entries = lanes.map(({ entry }, lane) => (lane === 0 ? entry : exits[lane - 1]!));
    const again = lanes.flatMap(({ entry }, lane) => (entry === entries[lane] ? [] : [lane]));
    if (again.length === 0) return lanes;
    for (const lane of inAnyOrder(again, random)) {
      lanes[lane] = decode(lane, entries[lane]!);
      exits[lane] = lanes[lane].exit;
    }
  }
}

function inAnyOrder<T>(values: readonly T[], random: (below: number) => number): T[] {
  return values
    .map((value) => ({ value, key: random(2 ** 30) }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

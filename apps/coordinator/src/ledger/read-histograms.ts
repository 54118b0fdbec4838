import { closeSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { HistogramPlace } from './record/settled-source.ts';
import { readVarints } from './varints.ts';

/** What is read at once, unless one source is longer. */
const blockBytes = 2 ** 20;

/**
 * Reads what a HistogramSpool has written to `path`: the `binsOfSource` counts at each place, one after another, each valid
 * until the next is asked for. Places that follow each other in the file are read together. It waits for the disk, and is
 * meant for a thread that has nothing else to do. Throws one sentence where the file is not as it was written.
 */
export function* readHistograms(
  path: string,
  places: readonly HistogramPlace[],
  binsOfSource: number,
): Generator<Float64Array, void, undefined> {
  const bins = new Float64Array(binsOfSource);
  let block = new Uint8Array(blockBytes);
  const file = openSync(path, 'r');
  try {
    for (let first = 0, next = 0; first < places.length; first = next) {
      const { offset: from } = places[first]!;
      let end = from;
      do end += places[next++]!.length;
      while (places[next]?.offset === end && end + places[next]!.length - from <= blockBytes);
      if (block.length < end - from) block = new Uint8Array(end - from);
      fill(file, block.subarray(0, end - from), from, path);
      for (const { offset, length, checksum } of places.slice(first, next)) {
        const at = offset - from;
        if (crc32(block.subarray(at, at + length)) !== checksum) {
          throw new Error(`The file of histograms '${path}' has changed at byte ${offset} since it was written`);
        }
        readVarints(block, at, bins);
        yield bins;
      }
    }
  } finally {
    closeSync(file);
  }
}

function fill(file: number, target: Uint8Array, from: number, path: string): void {
  for (let done = 0; done < target.length; ) {
    const bytesRead = readSync(file, target, done, target.length - done, from + done);
    if (bytesRead === 0) throw new Error(`The file of histograms '${path}' ends early`);
    done += bytesRead;
  }
}

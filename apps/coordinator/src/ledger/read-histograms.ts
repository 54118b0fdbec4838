import { closeSync, openSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { readVarints } from '@halogrid/proto/varints';
import { DamagedLogError } from '../log/log-file.ts';
import { fillFrom } from '../log/read-bytes.ts';
import type { HistogramPlace } from '../log/settled-source.ts';

/** What is read at once, unless one source is longer. */
const blockBytes = 2 ** 20;

/** Counts of a source that follow one another; valid until the next are asked for. */
export interface ReadCounts {
  /** Which of the places they are from. */
  place: number;
  /** How many counts of the source come before. */
  first: number;
  bins: Float64Array;
}

/** The counts of a source as varints, which begin at `at` of `bytes`; valid until the next are asked for. */
export interface PackedCounts {
  /** Which of the places they are from. */
  place: number;
  bytes: Uint8Array;
  /** Whether the bytes are others than those before. */
  areNew: boolean;
  at: number;
}

/**
 * Reads histograms of the log at `path`: the counts at each place, as they lie there. Places that follow each other in
 * the file are read together. It waits for the disk: of more than a few, a thread that has nothing else to do reads
 * them. Throws one sentence where the file is not as it was written.
 */
export function* readPackedHistograms(
  path: string,
  places: readonly HistogramPlace[],
): Generator<PackedCounts, void, undefined> {
  // A file in which no source was counted may not be there.
  if (places.length === 0) return;
  let bytes = new Uint8Array(blockBytes);
  const file = openSync(path, 'r');
  try {
    for (let begin = 0, next = 0; begin < places.length; begin = next) {
      const { offset: from } = places[begin]!;
      let end = from;
      do end += places[next++]!.length;
      while (places[next]?.offset === end && end + places[next]!.length - from <= blockBytes);
      if (bytes.length < end - from) bytes = new Uint8Array(end - from);
      const filled = bytes.subarray(0, end - from);
      fillFrom({ path, file }, filled, from);
      for (let place = begin; place < next; place++) {
        const { offset, length, checksum } = places[place]!;
        const at = offset - from;
        if (crc32(filled.subarray(at, at + length)) !== checksum) throw DamagedLogError.changed(path, offset);
        yield { place, bytes: filled, areNew: place === begin, at };
      }
    }
  } finally {
    closeSync(file);
  }
}

/**
 * The same as numbers: the `binsOfSource` counts at each place, one after another, `atOnce` of them at a time or what
 * is left of a source.
 */
export function* readHistograms(
  path: string,
  places: readonly HistogramPlace[],
  binsOfSource: number,
  atOnce = binsOfSource,
): Generator<ReadCounts, void, undefined> {
  const bins = new Float64Array(Math.min(atOnce, binsOfSource));
  for (const { place, bytes, at } of readPackedHistograms(path, places)) {
    for (let first = 0, readTo = at; first < binsOfSource; first += bins.length) {
      const some = bins.subarray(0, binsOfSource - first);
      readTo = readVarints(bytes, readTo, some);
      yield { place, first, bins: some };
    }
  }
}

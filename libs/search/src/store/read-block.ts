import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { massOf, type Vector, type VectorCounts } from '../distances/vector.ts';
import type { Block } from '../scan/block-scanner.ts';
import { countArrays, paddedLength } from '../scan/count-arrays.ts';
import type { Catalog } from './catalog.ts';
import { IndexError } from './index-error.ts';
import { cellsOfGrid, countsOfCell, type PipelineIdentity, type Unit } from './pipeline-identity.ts';

/** Where a block lies. */
export interface BlockPlace {
  readonly segment: number;
  /** Number of its first frame in the segment. */
  readonly from: number;
  readonly frames: number;
  readonly width: Block['width'];
  readonly offset: number;
  readonly bytes: number;
  readonly crc32: number;
}

/** Counts of a vector, with its padding. */
export function lengthOf(pipeline: PipelineIdentity, unit: Unit): number {
  return paddedLength(countsOfCell(pipeline)) * (unit === 'frame' ? cellsOfGrid(pipeline) : 1);
}

/** All blocks of an index, in its order. */
export function blocksOfIndex({ pipeline, segments }: Catalog): BlockPlace[] {
  const places: BlockPlace[] = [];
  for (const [index, { segment }] of segments.entries()) {
    let [from, offset] = [0, 0];
    for (const { frames, width, crc32 } of segment.blocks) {
      const bytes = frames * width * lengthOf(pipeline, 'frame');
      places.push({ segment: index, from, frames, width, offset, bytes, crc32 });
      from += frames;
      offset += bytes;
    }
  }
  return places;
}

/** Reads a block into `bytes`, which has its length. Throws IndexError if it is not what was written. */
export function readBlock({ segments }: Catalog, place: BlockPlace, bytes: Uint8Array): void {
  const { bins, segment } = segments[place.segment]!;
  let read = 0;
  for (let more = -1; more !== 0 && read < bytes.length; read += more) {
    more = readSync(bins, bytes, read, bytes.length - read, place.offset + read);
  }
  if (read === bytes.length && crc32(bytes) === place.crc32) return;
  throw new IndexError(
    `'${segment.name}.bins' is torn or has changed since it was written (${place.bytes} bytes from ${place.offset} on): make the index again`,
  );
}

/** The masses of the vectors of a block. */
export function massesOf(
  { pipeline, segments }: Catalog,
  { segment, from, frames }: BlockPlace,
  unit: Unit,
): Float64Array {
  const cells = cellsOfGrid(pipeline);
  const masses = segments[segment]!.columns.masses.subarray(from * cells, (from + frames) * cells);
  if (unit === 'cell' || cells === 1) return masses;
  return Float64Array.from({ length: frames }, (_, i) => massOf(masses.subarray(i * cells, (i + 1) * cells)));
}

/** The histogram of a frame of the index, as it is stored, with all its cells. */
export function readFrame(catalog: Catalog, row: number): VectorCounts {
  const { segment, at } = catalog.locate(row);
  const place = blocksOfIndex(catalog).find((each) => each.segment === segment && at < each.from + each.frames)!;
  const bytes = new Uint8Array(place.bytes);
  readBlock(catalog, place, bytes);
  const length = lengthOf(catalog.pipeline, 'frame');
  const counts = new countArrays[place.width](bytes.buffer);
  return counts.slice((at - place.from) * length, (at - place.from + 1) * length);
}

/**
 * A query from the counts of all cells without padding. By unit, the cells follow one another, or all are one vector.
 */
export function queryVector(pipeline: PipelineIdentity, bins: ArrayLike<number>, unit: Unit): Vector {
  const cellBins = countsOfCell(pipeline);
  const cellLength = paddedLength(cellBins);
  const counts = new Float64Array(lengthOf(pipeline, unit));
  for (let i = 0; i < bins.length; i++) {
    const [cell, bin] = [Math.floor(i / cellBins), i % cellBins];
    counts[unit === 'frame' ? cell * cellLength + bin : bin]! += bins[i]!;
  }
  return { bins: counts, mass: massOf(counts) };
}

/** Stored counts without their padding. */
export function withoutPadding(pipeline: PipelineIdentity, stored: VectorCounts): Float64Array {
  const cellBins = countsOfCell(pipeline);
  const cellLength = paddedLength(cellBins);
  const bins = new Float64Array(cellsOfGrid(pipeline) * cellBins);
  for (let i = 0; i < bins.length; i++) bins[i] = stored[Math.floor(i / cellBins) * cellLength + (i % cellBins)]!;
  return bins;
}

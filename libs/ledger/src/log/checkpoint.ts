import type { HistogramShape } from '@halogrid/results/histogram-shape';
import { type JobState, newState, type QuarantinedSource, type UnfinishedImage } from './job-state.ts';
import { MendedInputCounts, type MendedState } from './mended-inputs.ts';
import { SourceIndex, type SourceIndexState } from './source-index.ts';

const plain = [
  'state',
  'owner',
  'submittedMs',
  'finishedMs',
  'error',
  'digest',
  'canGoOn',
  'planned',
  'paused',
  'notes',
  'resultsVersion',
  'counts',
  'times',
  'nodes',
] as const;

/** A state as a checkpoint stores it: JSON objects and bytes. */
interface StoredState extends Pick<JobState, (typeof plain)[number]> {
  parts: { counted: string; totals: Uint8Array }[];
  index: SourceIndexState;
  attempts: [shard: number, attempt: number][];
  withdrawn?: [shard: number, attempt: number][];
  quarantined: [source: number, reason: QuarantinedSource][];
  /** The number of tiles of each image without a tile so far. */
  untouched: [source: number, tiles: number][];
  open: [source: number, image: StoredImage][];
  mended?: MendedState;
  mendedUris: [source: number, uri: string][];
}

/**
 * An open image. Only the places of its tiles are stored, because their counts would take more room than the counts of
 * the whole image.
 */
type StoredImage = Omit<UnfinishedImage, 'tiles' | 'parts'> & {
  tiles: [epoch: number, offset: number, length: number][];
};

/** Copies a state, whose facts are all written, for a checkpoint. */
export function storeState(state: JobState): object {
  const { parts, index, attempts, withdrawn, quarantined, open, mended, mendedUris } = state;
  const { stored } = mended;
  const images = [...open];
  const kept: StoredState = {
    ...(Object.fromEntries(plain.map((name) => [name, structuredClone(state[name])])) as Pick<
      JobState,
      (typeof plain)[number]
    >),
    parts: parts.map(({ counted, totals }) => ({ counted: String(counted), totals: bytesOf(totals.sums) })),
    index: index.stored,
    attempts: [...attempts],
    ...(withdrawn.size > 0 && { withdrawn: [...withdrawn] }),
    quarantined: [...quarantined],
    untouched: images.flatMap(([source, { tiles, tilesLeft }]) => (tiles.length > 0 ? [] : [[source, tilesLeft]])),
    open: images.flatMap(([source, image]) => (image.tiles.length > 0 ? [[source, storeImage(image)]] : [])),
    ...(stored && { mended: stored }),
    mendedUris: [...mendedUris],
  };
  return kept;
}

/** The state that `storeState` stored, without the counts of the tiles of open images. */
export function restoreState(shapes: readonly HistogramShape[], stored: object): JobState {
  const kept = stored as StoredState;
  const fresh = newState(shapes, kept.submittedMs);
  if (kept.parts.length !== shapes.length)
    throw new RangeError('A checkpoint has another number of pipelines than the job');
  for (const [i, { counted, totals }] of kept.parts.entries()) {
    const part = fresh.parts[i]!;
    part.counted = BigInt(counted);
    const { sums } = part.totals;
    if (sums.byteLength !== totals.length) throw new RangeError('The totals have another number of bins than the job');
    new Uint8Array(sums.buffer).set(totals);
  }
  const open = new Map<number, UnfinishedImage>();
  for (const [source, tilesLeft] of kept.untouched) open.set(source, { tilesLeft, pixels: 0, tiles: [], parts: [] });
  for (const [source, image] of kept.open) open.set(source, restoreImage(image));
  return {
    ...fresh,
    // Checkpoints of older versions lack some.
    ...(Object.fromEntries(plain.map((name) => [name, kept[name] ?? fresh[name]])) as Pick<
      JobState,
      (typeof plain)[number]
    >),
    index: new SourceIndex(kept.index),
    attempts: new Map(kept.attempts),
    withdrawn: new Map(kept.withdrawn),
    quarantined: new Map(kept.quarantined),
    reasons: undefined,
    open,
    mended: new MendedInputCounts(kept.mended),
    mendedUris: new Map(kept.mendedUris),
  };
}

function storeImage({ parts: _, tiles, ...image }: UnfinishedImage): StoredImage {
  return { ...image, tiles: tiles.map(({ epoch, offset, length }) => [epoch, offset, length]) };
}

function restoreImage({ tiles, ...image }: StoredImage): UnfinishedImage {
  return { ...image, tiles: tiles.map(([epoch, offset, length]) => ({ epoch, offset, length })), parts: [] };
}

/** In the byte order of every machine that Node runs on. */
const bytesOf = ({ buffer, byteOffset, byteLength }: BigUint64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength).slice();

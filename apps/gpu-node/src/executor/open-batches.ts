import type { PixelType, Rect } from '@halogrid/geometry';
import type { OpenImage } from '@halogrid/imaging';
import type { SharedItem } from '@halogrid/kernels';
import { mapAhead } from '@halogrid/threads';
import type { Batch } from './batch.ts';
import {
  closeImage,
  emptyBatch,
  failedOutcome,
  needsMap,
  planTile,
  type ShardRun,
  type SourceOutcome,
  samplingsOf,
  sourceError,
  tooSmall,
} from './shard-run.ts';
import { checkVersion } from './source-version.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Frames of a batch, whose encoded bytes are held until they are decoded. */
const batchFrames = 128;
/** Files opened before they are needed, so that decoding does not wait for reading. */
const filesAhead = 32;

/** A frame that is to be computed. */
export interface AskedFrame {
  source: LeasedSource;
  /** Index of the source in the lease. */
  position: number;
}

/** The same, and what is known of its file. */
export interface ListedFrame extends AskedFrame {
  /** Bytes, as it was listed. */
  fileBytes: number;
}

/** A frame with its place in a batch's staging memory. */
export interface PlacedFrame extends AskedFrame {
  image: OpenImage;
  whole: Rect;
  item: SharedItem;
}

/** Frames that a device takes at once. */
export interface FrameBatch {
  frames: PlacedFrame[];
  batch: Batch;
}

interface Opened extends AskedFrame {
  /** Undefined where it could not be opened, because of `error`. */
  image?: OpenImage;
  error?: unknown;
}

/**
 * Opens frames and packs them into batches; the images of a batch are the caller's to close. Frames that
 * cannot be opened, or are too small for a pipeline or too large for the device, get their outcome here.
 */
export async function* openBatches(
  run: ShardRun,
  frames: readonly AskedFrame[],
  outcomes: SourceOutcome[],
): AsyncGenerator<FrameBatch, void, undefined> {
  const { device } = run;
  // Those with a preview come last, so that they cut no batch in two: dense results are computed of all of a batch.
  const ordered = frames.toSorted((a, b) => Number(needsMap(run, a.source)) - Number(needsMap(run, b.source)));
  const opening = mapAhead(ordered, filesAhead, (frame) => open(run, frame), {
    discard: async ({ image }) => image && (await closeImage(run, image)),
  });
  /** Opened here and not handed out yet. */
  const held = new Set<OpenImage>();
  const handOut = (batch: FrameBatch): FrameBatch => {
    for (const { image } of batch.frames) held.delete(image);
    return batch;
  };
  const nextBatch = (pixel: PixelType): FrameBatch => ({ frames: [], batch: emptyBatch(run, pixel) });
  let current = nextBatch('u8');
  try {
    for (;;) {
      run.signal.throwIfAborted();
      const next = await run.clock.time('read', () => opening.next());
      if (next.done) break;
      const { source, position, image, error } = next.value;
      if (!image) {
        outcomes[position] = await failedOutcome(source, error);
        continue;
      }
      held.add(image);
      const refuse = async (stage: string, sentence: string): Promise<void> => {
        outcomes[position] = sourceError(source, stage, sentence);
        held.delete(image);
        await closeImage(run, image);
      };
      const small = tooSmall(image, run);
      if (small) {
        await refuse('read', small);
        continue;
      }
      const whole = { x: 0, y: 0, width: image.width, height: image.height };
      const plan = planTile(run, whole, image);
      const place = () => current.batch.add(plan, needsMap(run, source), samplingsOf(run, whole, image));
      const isSame = current.batch.pixel === image.pixel;
      let item = isSame && current.frames.length < batchFrames ? place() : undefined;
      if (!item && (!isSame || current.frames.length > 0)) {
        if (current.frames.length > 0) yield handOut(current);
        current = nextBatch(image.pixel);
        item = place();
      }
      if (item) current.frames.push({ source, position, image, whole, item });
      else {
        const pixels = `${image.width} x ${image.height} pixels`;
        const limit = `the device takes at once (${device.maxStagingBytes} bytes)`;
        await refuse('decode', `${pixels} and their results are more than ${limit}; cut the image into tiles`);
      }
    }
    if (current.frames.length > 0) yield handOut(current);
  } finally {
    await opening.return();
    for (const image of held) await closeImage(run, image);
  }
}

/** Never rejects. */
async function open(run: ShardRun, frame: AskedFrame): Promise<Opened> {
  try {
    const image = await run.openImage(frame.source.uri);
    try {
      checkVersion(image.version, frame.source.version);
      return { ...frame, image };
    } catch (error) {
      await closeImage(run, image);
      throw error;
    }
  } catch (error) {
    return { ...frame, error };
  }
}

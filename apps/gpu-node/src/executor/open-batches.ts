import { InputError, type OpenImage } from '@halogrid/imaging';
import { type PlaneItem, placeItem, planRead, type Rect } from '@halogrid/kernels';
import type { Source } from '@halogrid/proto';
import { closeImage, type ShardRun, type SourceOutcome, sourceError } from './shard-run.ts';
import { startAhead } from './start-ahead.ts';

/** Of a batch: 31 frames of 1080p. Half of it gave 2 % fewer frames a second on an H200 (measured). */
const batchBytes = 64 * 2 ** 20;
/** Frames of a batch, whose encoded bytes are held until they are decoded. */
const batchFrames = 128;
/** Files opened before they are needed, so that decoding does not wait for reading. */
const filesAhead = 32;

/** A frame with its place in a batch's staging memory. */
export interface PlacedFrame {
  source: Source;
  /** Index of the source in the lease. */
  position: number;
  image: OpenImage;
  whole: Rect;
  item: PlaneItem;
}

/** Frames that a device takes at once. */
export interface FrameBatch {
  frames: PlacedFrame[];
  stagingBytes: number;
}

interface Opened {
  source: Source;
  position: number;
  /** Undefined where it could not be opened, because of `error`. */
  image?: OpenImage;
  error?: unknown;
}

/**
 * Opens frames and packs them, in their order, into batches; the images of a batch are the caller's to close. Frames that
 * cannot be opened, or are too large for the device, get their outcome here.
 */
export async function* openBatches(
  run: ShardRun,
  sources: readonly Source[],
  outcomes: SourceOutcome[],
): AsyncGenerator<FrameBatch, void, undefined> {
  const positions = sources.map((source, position) => ({ source, position }));
  const opening = startAhead(
    positions,
    filesAhead,
    (frame) => open(run, frame),
    async ({ image }) => image && (await closeImage(run, image)),
  );
  /** Opened here and not handed out yet. */
  const held = new Set<OpenImage>();
  const handOut = (batch: FrameBatch): FrameBatch => {
    for (const { image } of batch.frames) held.delete(image);
    return batch;
  };
  let batch: FrameBatch = { frames: [], stagingBytes: 0 };
  try {
    for (;;) {
      run.signal.throwIfAborted();
      const next = await run.clock.time('read', () => opening.next());
      if (next.done) break;
      const { source, position, image, error } = next.value;
      if (!image) {
        if (!(error instanceof InputError)) throw error;
        outcomes[position] = sourceError(source, error.stage, error.message);
        continue;
      }
      held.add(image);
      const whole = { x: 0, y: 0, width: image.width, height: image.height };
      const plan = planRead(whole, image, run.pipeline.halo, run.pipeline.border);
      const { maxStagingBytes } = run.device;
      if (placeItem(plan, 0).end > maxStagingBytes) {
        const message = `${image.width} x ${image.height} pixels are more than the device takes at once (${maxStagingBytes} bytes); cut the image into tiles`;
        outcomes[position] = sourceError(source, 'decode', message);
        held.delete(image);
        await closeImage(run, image);
        continue;
      }
      const isFull = batch.frames.length >= batchFrames;
      if (isFull || placeItem(plan, batch.stagingBytes).end > Math.min(batchBytes, maxStagingBytes)) {
        const full = handOut(batch);
        batch = { frames: [], stagingBytes: 0 };
        if (full.frames.length > 0) yield full;
      }
      const { item, end } = placeItem(plan, batch.stagingBytes);
      batch.frames.push({ source, position, image, whole, item });
      batch.stagingBytes = end;
    }
    if (batch.frames.length > 0) yield handOut(batch);
  } finally {
    await opening.return();
    for (const image of held) await closeImage(run, image);
  }
}

/** Never rejects. */
async function open(run: ShardRun, frame: { source: Source; position: number }): Promise<Opened> {
  try {
    return { ...frame, image: await run.openImage(frame.source.uri) };
  } catch (error) {
    return { ...frame, error };
  }
}

import type { PixelType } from '@halogrid/geometry';
import type { OpenImage } from '@halogrid/imaging';
import { mapAhead } from '@halogrid/threads';
import type { AskedFrame } from './asked-frame.ts';
import type { Batch } from './batch.ts';
import { emptyBatch, type FilledFrame, placeTile, planWhole, type TilePlan } from './compute-tiles.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import { noDataOf } from './no-data-of.ts';
import { closeImage, openSource } from './open-source.ts';
import { needsMap, tooSmall } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import { errorOf, sourceError } from './source-errors.ts';

/** Frames of a batch, whose encoded bytes are held until they are decoded. */
const batchFrames = 128;
/** Files opened before they are needed, so that decoding does not wait for reading. */
const filesAhead = 32;

/** A frame with its place in a batch's staging memory. */
export interface PlacedFrame extends FilledFrame {
  image: OpenImage;
  plan: TilePlan;
}

/** Frames that a device takes at once. */
export interface FrameBatch {
  frames: PlacedFrame[];
  batch: Batch;
}

interface Opened extends AskedFrame {
  /** Undefined if the frame could not be opened, because of `error`. */
  image?: OpenImage;
  error?: unknown;
}

/**
 * Opens frames and packs them into batches; the caller closes the images of a batch. Frames that cannot be opened, or
 * are too small for a pipeline or too large for the device, get their outcome here.
 */
export async function* openBatches(
  run: ShardRun,
  frames: readonly AskedFrame[],
  outcomes: FrameOutcomes,
): AsyncGenerator<FrameBatch, void, undefined> {
  const { job, means, turn } = run;
  // Frames with a preview come last, so that they do not split a batch: dense results are computed for a whole batch.
  const ordered = frames.toSorted((a, b) => Number(needsMap(job, a.source)) - Number(needsMap(job, b.source)));
  const opening = mapAhead(ordered, filesAhead, (frame) => open(run, frame), {
    discard: async ({ image }) => image && (await closeImage(turn, image)),
  });
  /** Opened here, but not handed out yet. */
  const held = new Set<OpenImage>();
  const handOut = (batch: FrameBatch): FrameBatch => {
    for (const { image } of batch.frames) held.delete(image);
    return batch;
  };
  const nextBatch = (pixel: PixelType): FrameBatch => ({ frames: [], batch: emptyBatch(run, pixel) });
  let current = nextBatch('u8');
  try {
    for (;;) {
      turn.signal.throwIfAborted();
      const next = await turn.clock.time('read', () => opening.next());
      if (next.done) break;
      const { source, position, image, error } = next.value;
      if (!image) {
        outcomes.fail(position, await errorOf(source, error));
        continue;
      }
      held.add(image);
      const refuse = async (stage: string, sentence: string): Promise<void> => {
        outcomes.fail(position, sourceError(source, stage, sentence));
        held.delete(image);
        await closeImage(turn, image);
      };
      const small = tooSmall(job, image);
      if (small) {
        await refuse('read', small);
        continue;
      }
      const plan = planWhole(job, image);
      const mayExclude = source.mask !== undefined || noDataOf(job, image) !== undefined;
      const place = () => placeTile(job, current.batch, plan, source, { mayExclude });
      const isSame = current.batch.pixel === image.pixel;
      let item = isSame && current.frames.length < batchFrames ? place() : undefined;
      if (!item && (!isSame || current.frames.length > 0)) {
        if (current.frames.length > 0) yield handOut(current);
        current = nextBatch(image.pixel);
        item = place();
      }
      if (item) {
        const { size, rect } = plan;
        current.frames.push({ source, position, image, plan, size, rect, item, hasNoData: mayExclude });
      } else {
        const pixels = `${image.width} x ${image.height} pixels`;
        const limit = `the device takes at once (${means.device.maxStagingBytes} bytes)`;
        await refuse('decode', `${pixels} and their results are more than ${limit}; cut the image into tiles`);
      }
    }
    if (current.frames.length > 0) yield handOut(current);
  } finally {
    await opening.return();
    for (const image of held) await closeImage(turn, image);
  }
}

/** Never rejects. */
function open(run: ShardRun, frame: AskedFrame): Promise<Opened> {
  return openSource(run, frame.source).then(
    (image) => ({ ...frame, image }),
    (error: unknown) => ({ ...frame, error }),
  );
}

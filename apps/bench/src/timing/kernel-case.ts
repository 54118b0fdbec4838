import type { Size } from '@halogrid/geometry';
import {
  type AskedOperation,
  createPipeline,
  type Grid,
  type Pipeline,
  type PipelineItem,
  placeItem,
  planPipeline,
} from '@halogrid/kernels';
import type { Strategy } from '@halogrid/kernels/gpu';
import { randomBytes } from './random.ts';

/** Pixels of every value in no order; zeros, which all fall into one bin; or a picture of the caller. */
export type BenchInput = 'random' | 'flat' | 'photo';

/** A pipeline to time. */
export interface KernelCase {
  name: string;
  operations: AskedOperation[];
  /** Its results. */
  output: 'map' | 'histogram' | 'both';
  /** 'random' unless given. */
  input?: BenchInput;
  /** The images of this case, in place of the ones that all cases share. */
  images?: BenchImages;
  /** How the last kernel runs; its default unless given. Whole times take it only from pipelines of one kernel. */
  strategy?: Strategy;
  /** A histogram for each of its cells; one for the whole image unless given. */
  grid?: Grid;
  /** Images in a dispatch, as a node runs batches of frames or tiles; 1 unless given. Whole times ignore it. */
  batch?: number;
}

/** Images to time kernels on. */
export interface BenchImages {
  size: Size;
  /** Pixels of 'photo', rows without gaps: one plane for every channel, or the planes of all channels in turn. */
  photo?: Uint8Array;
  /** Further photos, which kernel times use in turns with it. */
  morePhotos?: readonly Uint8Array[];
}

/** One image as a device takes it. */
export interface StagedCase {
  pipeline: Pipeline;
  withMap: boolean;
  item: PipelineItem;
  /** The image. Its length is a multiple of 256. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The other photos, in the same layout. */
  moreBytes: Uint8Array<ArrayBuffer>[];
  /** Copies of the image in a dispatch. */
  batch: number;
}

/** Lays the image of a case out in memory. Throws ParameterError, and Error if the pipeline lacks the asked result. */
export function stageCase(one: KernelCase, shared: BenchImages): StagedCase {
  const { name, operations, output, input = 'random', images = shared, batch = 1, grid } = one;
  const asked = createPipeline(operations);
  if (output !== 'map' && asked.bins === 0) throw new Error(`The result of '${name}' has no histogram`);
  // Without bins nothing is counted.
  const pipeline = output === 'map' ? { ...asked, bins: 0 } : asked;
  const { width, height } = images.size;
  const plan = planPipeline(pipeline, { x: 0, y: 0, width, height }, images.size, grid);
  const { item, end } = placeItem(plan, pipeline.input.length, 0);
  const bytesOf = (photo?: Uint8Array) => {
    const pixels = pixelsOf(input, { size: images.size, photo }, pipeline.input.length);
    const bytes = new Uint8Array(end);
    for (let row = 0; row < height * pipeline.input.length; row++) {
      const from = (row * width) % pixels.length;
      const at = item.offset + Math.floor(row / height) * item.planeBytes + (row % height) * item.stride;
      bytes.set(pixels.subarray(from, from + width), at);
    }
    return bytes;
  };
  const [bytes, moreBytes] = [bytesOf(images.photo), (images.morePhotos ?? []).map(bytesOf)];
  return { pipeline, withMap: output !== 'histogram', item, bytes, moreBytes, batch };
}

function pixelsOf(input: BenchInput, { size, photo }: BenchImages, channels: number): Uint8Array {
  const count = size.width * size.height;
  switch (input) {
    case 'flat':
      return new Uint8Array(count);
    case 'random':
      return randomBytes(count, 1);
    case 'photo':
      if (photo && (photo.length === count || photo.length === count * channels)) return photo;
      throw new Error(`Expected ${count} pixels for the photo but received ${photo?.length ?? 'none'}`);
  }
}

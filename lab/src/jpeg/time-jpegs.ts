import type { Size } from '@halogrid/geometry';
import {
  isFine,
  JpegDecoder,
  type JpegFile,
  JpegFrameReader,
  JpegScratch,
  type JpegStage,
  layOutJpegs,
} from '@halogrid/jpeg';
import { bufferUsage, mapMode } from '@halogrid/kernels/webgpu-flags';

const { MAP_READ, COPY_SRC, COPY_DST, STORAGE, QUERY_RESOLVE } = bufferUsage;

/** Runs before the first timed one. */
const warmUps = 2;

export interface JpegTimes {
  /** Milliseconds of a batch by stage: the sum of its dispatches. */
  stagesMs: ReadonlyMap<string, number[]>;
  /** Milliseconds of a batch whose stages are in one pass. */
  wholeMs: number[];
  /** Frames of the batch that the decoder vouches for. */
  fine: number;
  /** The planes of the files, rows without gaps. */
  planes: Uint8Array[];
}

interface TimedBatch {
  batch: number;
  size: Size;
  repetitions: number;
}

/** Times a batch of frames of one size. `files` are the different frames; the batch repeats them. */
export async function timeJpegs(
  device: GPUDevice,
  files: readonly Uint8Array[],
  { batch, size, repetitions }: TimedBatch,
): Promise<JpegTimes> {
  const { all, placed } = placeFiles(files, batch, size);
  const layout = layOutJpegs(placed);
  const planesBytes = placed.at(-1)!.plane.offset + planeBytes(size);
  const bytes = device.createBuffer({ label: 'bench.files', size: all.length, usage: STORAGE | COPY_DST });
  const planes = device.createBuffer({ label: 'bench.planes', size: planesBytes, usage: STORAGE | COPY_SRC });
  device.queue.writeBuffer(bytes, 0, all);
  const decoder = await JpegDecoder.create(device);
  const scratch = new JpegScratch(device);
  const clock = new PassClock(device);

  const stagesMs = new Map<string, number[]>();
  const wholeMs: number[] = [];
  let found: GPUBuffer | undefined;
  for (let i = 0; i < warmUps + repetitions; i++) {
    for (const isWhole of [false, true]) {
      const encoder = device.createCommandEncoder({ label: 'bench.jpeg' });
      const buffers = scratch.prepare(layout, encoder, { bytes, planes });
      found = buffers.found;
      const stages = decoder.stages(layout, buffers);
      const parts = isWhole ? [stages] : stages.map((stage) => [stage]);
      const times = await clock.time(encoder, parts);
      if (i < warmUps) continue;
      if (isWhole) wholeMs.push(times[0]!);
      else addStages(stagesMs, stages, times);
    }
  }
  const statuses = new Uint32Array(await readBack(device, found!, layout.scratch.found));
  const pixels = await readBack(device, planes, planeBytes(size) * files.length);
  clock.destroy();
  scratch.destroy();
  return {
    stagesMs,
    wholeMs,
    fine: placed.filter((_, i) => isFine(statuses[2 * i]!)).length,
    planes: files.map((_, i) => withoutGaps(new Uint8Array(pixels, i * planeBytes(size)), size)),
  };
}

/** The bytes of all files of the batch, one after another, and where their planes go. */
function placeFiles(
  files: readonly Uint8Array[],
  batch: number,
  size: Size,
): { all: Uint8Array<ArrayBuffer>; placed: Required<JpegFile>[] } {
  const reader = new JpegFrameReader();
  const placed: Required<JpegFile>[] = [];
  let end = 0;
  for (let i = 0; i < batch; i++) {
    const file = files[i % files.length]!;
    const frame = reader.read(file);
    if (typeof frame === 'string') throw new Error(`A frame is not for a GPU: ${frame}`);
    const plane = { offset: i * planeBytes(size), stride: strideOf(size) };
    placed.push({ frame, offset: end, bytes: file.length, plane });
    end += Math.ceil(file.length / 4) * 4;
  }
  const all = new Uint8Array(end);
  for (const [i, { offset }] of placed.entries()) all.set(files[i % files.length]!, offset);
  return { all, placed };
}

/** Rows of whole vectors, as kernels read planes. */
const strideOf = ({ width }: Size): number => Math.ceil(width / 16) * 16;
const planeBytes = (size: Size): number => Math.ceil((strideOf(size) * size.height) / 256) * 256;

function withoutGaps(plane: Uint8Array, size: Size): Uint8Array {
  const pixels = new Uint8Array(size.width * size.height);
  for (let y = 0; y < size.height; y++) {
    const row = y * strideOf(size);
    pixels.set(plane.subarray(row, row + size.width), y * size.width);
  }
  return pixels;
}

function addStages(into: Map<string, number[]>, stages: readonly JpegStage[], times: readonly number[]): void {
  const sums = new Map<string, number>();
  for (const [i, { name }] of stages.entries()) sums.set(name, (sums.get(name) ?? 0) + times[i]!);
  for (const [name, ms] of sums) into.set(name, [...(into.get(name) ?? []), ms]);
}

/** Passes between two timestamps each. */
class PassClock {
  readonly #device: GPUDevice;
  readonly #queries: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  static readonly #most = 64;

  constructor(device: GPUDevice) {
    this.#device = device;
    this.#queries = device.createQuerySet({ label: 'bench.timestamps', type: 'timestamp', count: 2 * PassClock.#most });
    const size = 16 * PassClock.#most;
    this.#resolved = device.createBuffer({ label: 'bench.resolved', size, usage: QUERY_RESOLVE | COPY_SRC });
  }

  /** Records each part as a pass of its own and runs them. Resolves with the milliseconds of each. */
  async time(encoder: GPUCommandEncoder, parts: readonly (readonly JpegStage[])[]): Promise<number[]> {
    for (const [i, stages] of parts.entries()) {
      const stamps = { beginningOfPassWriteIndex: 2 * i, endOfPassWriteIndex: 2 * i + 1 };
      const pass = encoder.beginComputePass({ timestampWrites: { querySet: this.#queries, ...stamps } });
      for (const { record } of stages) record(pass);
      pass.end();
    }
    encoder.resolveQuerySet(this.#queries, 0, 2 * parts.length, this.#resolved, 0);
    this.#device.queue.submit([encoder.finish()]);
    const stamps = new BigUint64Array(await readBack(this.#device, this.#resolved, 16 * parts.length));
    return parts.map((_, i) => Number(stamps[2 * i + 1]! - stamps[2 * i]!) / 1e6);
  }

  destroy(): void {
    this.#queries.destroy();
    this.#resolved.destroy();
  }
}

async function readBack(device: GPUDevice, buffer: GPUBuffer, size: number): Promise<ArrayBuffer> {
  const back = device.createBuffer({ label: 'bench.readback', size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder({ label: 'bench.readback' });
  encoder.copyBufferToBuffer(buffer, 0, back, 0, size);
  device.queue.submit([encoder.finish()]);
  await back.mapAsync(mapMode.READ);
  const copy = back.getMappedRange().slice(0);
  back.destroy();
  return copy;
}

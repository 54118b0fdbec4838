import type { PlaneTarget } from '@halogrid/imaging';
import { ColourConverter, isFine, JpegDecoder, JpegScratch } from '@halogrid/jpeg';
import { type GpuSlot, moreResolvedAt, stampsOf, timestampCount } from '@halogrid/kernels/webgpu';
import { bufferUsage, mapMode } from '@halogrid/kernels/webgpu-flags';
import type { DecodedJpegs, StagedJpegs } from './device.ts';

/** Timestamps that decoding adds to a batch's own: before the upload, before and after decoding. */
export const decodeTimestampCount = 4;

const { MAP_READ, COPY_DST, STORAGE } = bufferUsage;

/** Bytes of files in a batch. 64 frames of 1080p have 7 MB at quality 75 and 13 MB at quality 90. */
const usualMaxBytes = 2 ** 25;
/** 64 frames of 1080p: 37,500 frames a second on an H200 (measured). */
const usualBatchBytes = 2 ** 27;
/** Data between two passes takes up to 17 times the bytes of the files, in one buffer. */
const scratchFactor = 20;

/**
 * Decodes JPEGs from the upload memory of slots to their planes, one batch after another, so that all batches share the
 * buffers between passes.
 */
export class WebGpuJpegs {
  readonly maxBytes: number;
  readonly batchBytes: number;
  readonly #device: GPUDevice;
  readonly #scratch: JpegScratch;
  #compiling: Promise<JpegDecoder> | undefined;
  #decoder: JpegDecoder | undefined;
  #compilingColours: Promise<ColourConverter> | undefined;
  #converter: ColourConverter | undefined;

  constructor(device: GPUDevice, maxStagingBytes: number) {
    this.#device = device;
    this.#scratch = new JpegScratch(device);
    const largest = Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize);
    this.maxBytes = 4 * Math.floor(Math.min(usualMaxBytes, largest / scratchFactor) / 4);
    this.batchBytes = Math.min(usualBatchBytes, maxStagingBytes);
  }

  /** Bytes of buffers that all batches share. */
  get heldBytes(): number {
    return this.#scratch.heldBytes;
  }

  async prepare(channels: PlaneTarget['channels']): Promise<void> {
    this.#compiling ??= JpegDecoder.create(this.#device);
    if (channels === 'rgb') {
      this.#compilingColours ??= ColourConverter.create(this.#device);
      this.#converter = await this.#compilingColours;
    }
    this.#decoder = await this.#compiling;
  }

  /** Everything is submitted when this returns. The promise resolves with the outcome. */
  async decode(slot: GpuSlot, { layout, colours, filesBytes, planesBytes }: StagedJpegs): Promise<DecodedJpegs> {
    if (!this.#decoder || (colours && !this.#converter)) throw new Error('The decoder of JPEGs is not compiled yet');
    const usedBytes = roundUp4(filesBytes);
    const bytes = slot.buffer('files', usedBytes, STORAGE | COPY_DST);
    const planes = slot.planes(planesBytes);
    const stampBytes = 8 * decodeTimestampCount;
    const found = slot.buffer('found', stampBytes + layout.scratch.found, MAP_READ | COPY_DST);

    slot.unmap();
    const encoder = this.#device.createCommandEncoder({ label: 'jpegs' });
    const stamps = (first: number) => ({ timestampWrites: stampsOf(slot, timestampCount + first) });
    encoder.beginComputePass({ label: 'jpegs.stamp', ...stamps(0) }).end();
    encoder.copyBufferToBuffer(slot.upload, 0, bytes, 0, usedBytes);
    const buffers = this.#scratch.prepare(layout, encoder, { bytes, planes });
    const pass = encoder.beginComputePass({ label: 'jpegs.decode', ...stamps(2) });
    this.#decoder.record(pass, layout, buffers);
    if (colours) {
      const records = slot.buffer('colours', colours.records.byteLength, STORAGE | COPY_DST);
      this.#device.queue.writeBuffer(records, 0, colours.records);
      this.#converter!.record(pass, colours, records, planes);
    }
    pass.end();
    encoder.copyBufferToBuffer(buffers.found, 0, found, stampBytes, layout.scratch.found);
    if (slot.timestamps) {
      const { queries, resolved } = slot.timestamps;
      encoder.resolveQuerySet(queries, timestampCount, decodeTimestampCount, resolved, moreResolvedAt);
      encoder.copyBufferToBuffer(resolved, moreResolvedAt, found, 0, stampBytes);
    }
    this.#device.queue.submit([encoder.finish()]);
    slot.isUploaded = true;

    await found.mapAsync(mapMode.READ);
    const mapped = found.getMappedRange();
    const statuses = new Uint32Array(mapped, stampBytes, layout.scratch.found / 4);
    const areFine = Array.from({ length: layout.fileCount }, (_, i) => isFine(statuses[2 * i]!));
    const result = {
      areFine: colours ? whereAllAreFine(areFine, colours.firsts) : areFine,
      seconds: slot.timestamps
        ? secondsOf(new BigUint64Array(mapped, 0, decodeTimestampCount))
        : { upload: 0, decode: 0 },
    };
    found.unmap();
    return result;
  }
}

/** For each file, whether all of its components are fine. */
const whereAllAreFine = (areFine: readonly boolean[], firsts: Uint32Array): boolean[] =>
  Array.from({ length: firsts.length - 1 }, (_, file) =>
    areFine.slice(firsts[file], firsts[file + 1]).every((isFine) => isFine),
  );

/** Seconds by the GPU's own clock, whose stamps are nanoseconds. */
function secondsOf(stamps: BigUint64Array): DecodedJpegs['seconds'] {
  const between = (from: number, to: number) => Math.max(0, Number(stamps[to]! - stamps[from]!)) / 1e9;
  return { upload: between(1, 2), decode: between(2, 3) };
}

const roundUp4 = (bytes: number): number => Math.ceil(bytes / 4) * 4;

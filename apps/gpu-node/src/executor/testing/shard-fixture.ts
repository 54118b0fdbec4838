// Images, leases and results for tests of the executor.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type PixelType, type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import { DecoderPool, type OpenImage, openImage } from '@halogrid/imaging';
import { type AskedOperation, createPipeline, type Grid, runReference } from '@halogrid/kernels';
import { createPipelineOver, type MapSamples, samplesOf, staged, type TestImage } from '@halogrid/kernels/testing';
import { FoundInPart, type FoundResult, Lease } from '@halogrid/proto';
import { writeChunk } from '@halogrid/results';
import { type FoundShard, shardRows } from '@halogrid/results/found-shard';
import type { HistogramShape } from '@halogrid/results/histogram-shape';
import { packSources } from '@halogrid/sources/pack-sources';
import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import type { NodeDevice } from '../../devices/device.ts';
import { pipelinesOf } from '../../parts/job-parts.ts';
import { type JobParts, type KeptShard, NodeParts } from '../../parts/node-parts.ts';
import { createExecutor, type Executor, type ExecutorOptions } from '../executor.ts';
import { noted } from './noted-device.ts';

/** Makes a folder for images and chunks, and removes it after `use`. */
export async function withFolder(use: (folder: TestFolder) => Promise<void>): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), 'halogrid-test-'));
  try {
    await mkdir(join(path, 'scratch'));
    await use(new TestFolder(path));
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

export class TestFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** URI of the folder that chunks go to. */
  get scratch(): string {
    return pathToFileURL(join(this.path, 'scratch')).href;
  }

  /** Writes a file and returns its URI. */
  async put(name: string, bytes: Uint8Array | string): Promise<string> {
    const path = join(this.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    return pathToFileURL(path).href;
  }

  /** The bytes of a whole map, band after band, put together from the chunks in a subfolder of the scratch folder. */
  async map(
    operations: readonly AskedOperation[],
    size: Size,
    rects: readonly Rect[],
    source = 0,
    below = '',
  ): Promise<Uint8Array> {
    const { sample, channels } = createPipeline(operations).output;
    const unit = sampleBytes[sample];
    const map = new Uint8Array(size.width * size.height * channels.length * unit).fill(255);
    for (const rect of rects) {
      const name = `${rect.x}-${rect.y}-${rect.width}-${rect.height}.${sample}`;
      const chunk = await readFile(join(this.path, 'scratch', below, 'map', String(source), name));
      const rowBytes = rect.width * unit;
      for (let row = 0; row < channels.length * rect.height; row++) {
        const y = rect.y + (row % rect.height) + Math.floor(row / rect.height) * size.height;
        map.set(chunk.subarray(row * rowBytes, (row + 1) * rowBytes), (y * size.width + rect.x) * unit);
      }
    }
    return map;
  }
}

/** A binary PGM, or a PPM for three planes, with a pattern that depends on `seed`; pixels have 32 values, or 65536. */
export function patternImage(
  { width, height }: Size,
  seed: number,
  planes: 1 | 3 = 1,
  pixel: PixelType = 'u8',
): { file: Uint8Array; image: TestImage } {
  const length = width * height * planes;
  const pixels = pixel === 'u8' ? new Uint8Array(length) : new Uint16Array(length);
  const [mask, maxval] = pixel === 'u8' ? [31, 255] : [65_535, 65_535];
  for (let i = 0; i < length; i++) pixels[i] = (Math.imul(i + seed * 977, 2654435761) >>> 11) & mask;
  // Files hold the planes pixel by pixel, the upper byte first.
  const unit = pixels.BYTES_PER_ELEMENT;
  const interleaved = Buffer.alloc(length * unit);
  for (let i = 0; i < length; i++) {
    interleaved.writeUIntBE(pixels[(i % planes) * width * height + Math.floor(i / planes)]!, i * unit, unit);
  }
  const header = `${planes === 1 ? 'P5' : 'P6'}\n${width} ${height}\n${maxval}\n`;
  return { file: Buffer.concat([Buffer.from(header), interleaved]), image: { width, height, pixels } };
}

/** 3x3 LBP with the default convention, changed by `parameters`. */
export const lbp = (parameters: Record<string, string> = {}, border = ''): Required<AskedOperation> => {
  return { kernel: 'lbp', parameters, border };
};

/** The result of the references for a whole image; the map as `TestFolder.map` gives it. */
export function referenceOf(
  operations: readonly AskedOperation[],
  image: TestImage,
  grid?: Grid,
): { counted: number; bins: Uint32Array; map: Uint8Array } {
  const pipeline = createPipelineOver(image.pixels instanceof Uint8Array ? 'u8' : 'u16', operations);
  const { item, bytes } = staged(pipeline, image, undefined, grid);
  const result = runReference(pipeline, bytes, item, true);
  return { counted: result.counted, bins: result.bins, map: bytesOf(samplesOf(pipeline, result, image)) };
}

const bytesOf = ({ buffer }: MapSamples): Uint8Array => new Uint8Array(buffer);

/** The same images, as if they could only be decoded whole; counts the decodes. */
export function openedWhole(): { openImage: (uri: string) => Promise<OpenImage>; decodes: () => number } {
  let decodes = 0;
  return {
    decodes: () => decodes,
    openImage: async (uri) => {
      const image = await openImage(uri);
      return {
        format: image.format,
        width: image.width,
        height: image.height,
        pixel: image.pixel,
        readsRegions: false,
        get inputBytes() {
          return image.inputBytes;
        },
        decode: (region, to) => {
          decodes++;
          assert.deepEqual(region, { x: 0, y: 0, width: image.width, height: image.height });
          return image.decode(region, to);
        },
        close: () => image.close(),
      };
    },
  };
}

/**
 * An executor for tests. Dense results are overwritten once they were given back. Results of frames are kept in memory,
 * and answers have them as `results`, like the results of tiles but with all cells.
 */
export function createTestExecutor(inner: NodeDevice, options: Partial<ExecutorOptions> = {}): Executor {
  const decoders = new DecoderPool({ processes: 1 });
  const { device } = noted(inner, { jpegs: inner.jpegs });
  const results = new Map<FoundInPart, FoundResult[]>();
  const execute = createExecutor({
    device,
    twin: device,
    openImage,
    decoders,
    writeChunk,
    nowMs: () => performance.now(),
    parts: new NodeParts(async (lease) => partsInMemory(results, lease)),
    ...options,
  });
  return async (lease, signal) => {
    const { found, ...answer } = await execute(lease, signal);
    const its = found && results.get(found);
    return its ? { ...answer, results: its } : { ...answer, found };
  };
}

function partsInMemory(results: Map<FoundInPart, FoundResult[]>, lease: Lease): JobParts {
  const shapes = pipelinesOf(lease).map(({ shape }) => shape);
  const keep = async (shard: FoundShard): Promise<KeptShard> => {
    const found = FoundInPart.create({ found: shard.found.length });
    results.set(found, resultsOf(shard, shapes));
    return { found, seconds: 0 };
  };
  return { add: keep, sum: keep, flush: () => {}, close: async () => {} };
}

/**
 * The results of frames by pipelines of these shapes, in the form of tile results: frame after frame, for each frame
 * pipeline after pipeline.
 */
export function resultsOf(shard: FoundShard, shapes: readonly HistogramShape[]): FoundResult[] {
  const block = new SourceBlock(shard.block);
  const rows = [...shardRows(shard, block, shapes)].sort((a, b) => a.nth - b.nth || a.part - b.part);
  return rows.flatMap(({ part: pipeline, nth, found }): FoundResult[] => {
    if (!found) return [];
    const { size, counted, captured } = found;
    const rect = { x: 0, y: 0, ...size };
    const result = { source: block.index(nth), ...size, rect, counted, bins: Uint32Array.from(found.bins) };
    if (pipeline > 0) return [{ ...result, pipeline }];
    return [captured ? { ...result, captured } : result];
  });
}

/** A lease of whole frames with the default pipeline, changed by `lease`. */
export function frameLease(
  folder: TestFolder,
  uris: readonly string[],
  { previews = 0, ...lease }: Partial<Lease> & { previews?: number } = {},
): Lease {
  return testLease(folder, { work: { $case: 'frames', value: {} }, sources: sourcesOf(uris, previews), ...lease });
}

/** A lease of one tile. */
export function tileLease(folder: TestFolder, uri: string, size: Size, rect: Rect, lease: Partial<Lease> = {}): Lease {
  return testLease(folder, {
    work: { $case: 'tile', value: { ...size, rect } },
    sources: sourcesOf([uri]),
    ...lease,
  });
}

const sourcesOf = (uris: readonly string[], previews = 0): Uint8Array =>
  packed(uris.map((uri, index) => ({ index, uri, preview: index < previews ? true : undefined })));

/** The sources of a lease, with defaults for fields that do not matter. */
export const packed = (sources: readonly (Pick<BlockSource, 'index' | 'uri'> & Partial<BlockSource>)[]): Uint8Array =>
  packSources(sources.map((source) => ({ name: String(source.index), sizeBytes: 0, ...source })));

/** The same lease with one of its sources changed. */
export function withSource(lease: Lease, nth: number, more: Partial<BlockSource>): Lease {
  const sources = [...new SourceBlock(lease.sources)];
  return { ...lease, sources: packSources(sources.with(nth, { ...sources[nth]!, ...more })) };
}

function testLease(folder: TestFolder, lease: Partial<Lease>): Lease {
  const pipeline = { operations: [lbp()] };
  return Lease.fromPartial({
    jobId: 'job',
    shard: 3,
    attempt: 1,
    epoch: 5,
    pipeline,
    scratch: folder.scratch,
    ...lease,
  });
}

/** Tiles of at most `side` pixels that cover the image. */
export function tilesOf(size: Size, side: number): Rect[] {
  const rects: Rect[] = [];
  for (let y = 0; y < size.height; y += side) {
    for (let x = 0; x < size.width; x += side) {
      rects.push({ x, y, width: Math.min(side, size.width - x), height: Math.min(side, size.height - y) });
    }
  }
  return rects;
}

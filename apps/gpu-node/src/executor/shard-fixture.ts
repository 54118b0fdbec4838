// Images, leases and results for tests of the executor.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openImage, writeChunk } from '@halogrid/imaging';
import {
  createPipeline,
  type ItemResult,
  placeItem,
  planRead,
  type Rect,
  runReference,
  type Size,
} from '@halogrid/kernels';
import { Lease } from '@halogrid/proto';
import type { Device } from '../devices/device.ts';
import { createExecutor, type Executor, type ExecutorOptions } from './executor.ts';

/** A folder for images and chunks that is gone afterwards. */
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

  /** Codes of a whole map, put together from its chunks. */
  async map(source: number, size: Size, rects: readonly Rect[]): Promise<Uint8Array> {
    const map = new Uint8Array(size.width * size.height).fill(255);
    for (const rect of rects) {
      const name = `${rect.x}-${rect.y}-${rect.width}-${rect.height}.u8`;
      const codes = await readFile(join(this.path, 'scratch', 'map', String(source), name));
      for (let y = 0; y < rect.height; y++) {
        map.set(codes.subarray(y * rect.width, (y + 1) * rect.width), (rect.y + y) * size.width + rect.x);
      }
    }
    return map;
  }
}

/** A binary PGM with a pattern that `seed` changes. */
export function patternPgm({ width, height }: Size, seed: number): { pgm: Uint8Array; pixels: Uint8Array } {
  const pixels = new Uint8Array(width * height);
  for (let i = 0; i < pixels.length; i++) pixels[i] = (Math.imul(i + seed * 977, 2654435761) >>> 11) & 31;
  return { pgm: Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]), pixels };
}

/** What the CPU twin says of a whole image. */
export function referenceOf(
  pixels: Uint8Array,
  size: Size,
  parameters: Record<string, string>,
  border: string,
): ItemResult {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters }], border);
  const whole = { x: 0, y: 0, ...size };
  const { item, end } = placeItem(planRead(whole, size, pipeline.halo, pipeline.border), 0);
  const bytes = new Uint8Array(end);
  for (let y = 0; y < size.height; y++) {
    bytes.set(pixels.subarray(y * size.width, (y + 1) * size.width), item.offset + y * item.stride);
  }
  return runReference(pipeline, bytes, item, true);
}

export function createTestExecutor(device: Device, options: Partial<ExecutorOptions> = {}): Executor {
  return createExecutor({ device, openImage, writeChunk, nowMs: () => performance.now(), ...options });
}

/** A lease of whole frames with the default pipeline, changed by `lease`. */
export function frameLease(folder: TestFolder, uris: readonly string[], lease: Partial<Lease> = {}): Lease {
  const sources = uris.map((uri, index) => ({ index, uri }));
  return testLease(folder, { work: { $case: 'frames', value: { sources } }, ...lease });
}

/** A lease of one tile. */
export function tileLease(folder: TestFolder, uri: string, size: Size, rect: Rect, lease: Partial<Lease> = {}): Lease {
  return testLease(folder, { work: { $case: 'tile', value: { source: { index: 0, uri }, ...size, rect } }, ...lease });
}

function testLease(folder: TestFolder, lease: Partial<Lease>): Lease {
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {} }], border: 'interior' };
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

// Leases computed with JPEGs decoded on the device or on cores.
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutate } from '@halogrid/jpeg/testing';
import type { FoundAnswer, Lease } from '@halogrid/proto';
import { repeated } from '@halogrid/testing';
import type { DeviceJpegs, NodeDevice } from '../../devices/device.ts';
import type { DecodeChoice } from '../../feed/decode-choice.ts';
import { JpegFeed, type JpegFeedOptions } from '../../feed/jpeg-feed.ts';
import type { ExecutorOptions } from '../executor.ts';
import { noted } from './noted-device.ts';
import { createTestExecutor, type TestFolder } from './shard-fixture.ts';

export type TestFeeds = Required<NonNullable<ExecutorOptions['feeds']>>;

/**
 * A device that is worth decoding on, with some members changed. Notes the number of files in each batch that it
 * decodes.
 */
export function watched(device: NodeDevice, changes: Partial<NodeDevice> = {}, jpegs: Partial<DeviceJpegs> = {}) {
  const batches: number[] = [];
  const its: DeviceJpegs = {
    ...device.jpegs!,
    ...jpegs,
    decode: (staging, batch) => {
      batches.push(batch.colours ? batch.colours.firsts.length - 1 : batch.layout.fileCount);
      return (jpegs.decode ?? device.jpegs!.decode)(staging, batch);
    },
  };
  const { device: on, out, maps } = noted(device, { info: { ...device.info, kind: 'gpu' }, jpegs: its, ...changes });
  return { on, batches, out, maps };
}

export function feedsOf(choice: DecodeChoice, on: NodeDevice, threads: JpegFeedOptions['threads']): TestFeeds {
  const feedTo = (channels: 'gray' | 'rgb') =>
    new JpegFeed({
      choice,
      device: on,
      channels,
      threads,
      coresAtOnce: 4,
      note: assert.fail,
      readRate: async () => undefined,
      keepRate: async () => {},
      nowMs: () => performance.now(),
    });
  return { gray: feedTo('gray'), rgb: feedTo('rgb') };
}

/** The answer of a lease, without times. */
export async function computed(
  lease: Lease,
  on: NodeDevice,
  feeds: TestFeeds,
  options: Partial<ExecutorOptions> = {},
): Promise<Partial<FoundAnswer>> {
  const {
    stageSeconds: _,
    busySeconds: __,
    timeline: ___,
    ...answer
  } = await createTestExecutor(on, { feeds, ...options })(lease, new AbortController().signal);
  return answer;
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

export const fixtures = globSync(
  fileURLToPath(new URL('../../../../../libs/imaging/fixtures/*.jpg', import.meta.url)),
).toSorted();

/** Files with bytes that hold no pixel. */
const mendedFixtures = globSync(
  fileURLToPath(new URL('../../../../../libs/imaging/mended-jpegs/*.jpg', import.meta.url)),
).toSorted();

/**
 * Faults of a frame header, as bytes by their offset from its marker: height at 5 and 6, width at 7 and 8, components
 * at 9, luma's sampling factors at 11.
 */
const badFrames: Readonly<Record<string, Record<number, number>>> = {
  'no-components': { 9: 0 },
  'two-components': { 9: 2 },
  'no-height': { 5: 0, 6: 0 },
  'sampling-3x1': { 11: 0x31 },
  'sampling-1x3': { 11: 0x13 },
  'sampling-0': { 11: 0x20 },
  'below-chroma': { 11: 0x11, 14: 0x22 },
  'no-quantisers': { 12: 3 },
  // Sizes below and above the true ones.
  smaller: { 6: 40 },
  higher: { 6: 200 },
  wider: { 8: 150 },
  '65500-squared': { 5: 0xff, 6: 0xdc, 7: 0xff, 8: 0xdc },
};

/**
 * A JPEG with each of these headers, with tables that have more codes than are possible, and with tables that are too
 * short.
 */
function badHeaders(jpeg: Buffer): [name: string, bytes: Buffer][] {
  const changed = (marker: number, changes: Record<number, number>): Buffer => {
    const copy = Buffer.from(jpeg);
    const at = copy.indexOf(Buffer.from([0xff, marker]));
    for (const [offset, value] of Object.entries(changes)) copy[at + Number(offset)] = value;
    return copy;
  };
  return [
    ...Object.entries(badFrames).map(([name, changes]): [string, Buffer] => [name, changed(0xc0, changes)]),
    ['codes-overflow', changed(0xc4, { 5: 3 })],
    ['no-codes', changed(0xc4, { 6: 0, 7: 0 })],
    ['one-scan-of-three', changed(0xda, { 4: 1 })],
  ];
}

/**
 * Every JPEG of the fixtures, some mutants of each, files with extra bytes, files with false headers, and files that
 * are not JPEGs.
 */
export async function putMixed(folder: TestFolder): Promise<string[]> {
  const uris: string[] = [];
  const put = async (name: string, bytes: Uint8Array | string) => uris.push(await folder.put(name, bytes));
  for (const path of fixtures) {
    const jpeg = readFileSync(path);
    await put(basename(path), jpeg);
    for (let seed = 1; seed <= repeated(2, 4); seed++) {
      await put(`${seed}-${basename(path)}`, mutate(jpeg, readFileSync(fixtures[seed]!), seed));
    }
    await put(`cut-${basename(path)}`, jpeg.subarray(0, jpeg.length >> 1));
  }
  for (const path of mendedFixtures) await put(basename(path), readFileSync(path));
  for (const [name, jpeg] of badHeaders(readFileSync(fixtures.find((path) => path.endsWith('420.jpg'))!))) {
    await put(`${name}.jpg`, jpeg);
  }
  await put('empty.jpg', '');
  await put('text.jpg', 'not a picture');
  await put('picture.pgm', 'P5\n4 4\n255\n0123456789abcdef');
  uris.push(`${uris[0]}.missing.jpg`);
  return uris;
}

/** The chunks below a folder, by their names. */
export function chunksIn(folder: string): Map<string, Buffer> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return new Map(paths.map((path) => [path.slice(folder.length), readFileSync(path)]));
}

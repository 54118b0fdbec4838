import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import sharp from 'sharp';

/** SHA-256 as lower-case hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

// biome-ignore lint/suspicious/noExplicitAny: what a file holds is for the test that reads it to say.
export function readJson(...path: string[]): any {
  return JSON.parse(readFileSync(join(...path), 'utf8'));
}

/** histogram.json in an output folder. */
export function readChannels(out: string): { counted: number; channels: { name: string; bins: number[] }[] } {
  return readJson(out, 'histogram.json');
}

/** The counts of histogram.json in an output folder; it must have one channel. */
export function readHistogram(out: string): { counted: number; bins: number[] } {
  const { counted, channels } = readChannels(out);
  if (channels.length !== 1) throw new Error(`Expected one channel but found ${channels.length}`);
  return { counted, bins: channels[0]!.bins };
}

/** The lines of errors.jsonl in an output folder. */
export function readErrors(
  out: string,
): { uri: string; frame: number; stage: string; error: string; attempts: number }[] {
  const lines = readFileSync(join(out, 'errors.jsonl'), 'utf8').split('\n');
  if (lines.pop() !== '') throw new Error('errors.jsonl does not end with a line feed');
  return lines.map((line) => JSON.parse(line));
}

/** The codes of a map file, row by row, as libvips reads them. */
export async function readMap(path: string): Promise<{ width: number; height: number; codes: Uint8Array }> {
  const { data, info } = await sharp(path, { limitInputPixels: false })
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 1) throw new Error(`Expected one channel in '${path}' but found ${info.channels}`);
  return { width: info.width, height: info.height, codes: data };
}

/** The samples of a map file as libvips reads them, bands one after another. */
export interface Bands {
  width: number;
  height: number;
  bands: number;
  samples: Uint8Array | Uint16Array | Uint32Array | Int16Array | Float32Array;
}

const arrays = {
  uchar: Uint8Array,
  ushort: Uint16Array,
  uint: Uint32Array,
  short: Int16Array,
  float: Float32Array,
} as const;

/** Reads band by band: as gray, so that libvips does not take them for colours. */
export async function readBands(path: string): Promise<Bands> {
  const open = () => sharp(path, { limitInputPixels: false });
  const { width, height, channels, depth } = await open().metadata();
  if (!depth || !(depth in arrays)) throw new Error(`Expected another type than ${depth} in '${path}'`);
  const SampleArray = arrays[depth as keyof typeof arrays];
  const gray = SampleArray.BYTES_PER_ELEMENT === 2 ? 'grey16' : 'b-w';
  const samples = new SampleArray(width * height * channels);
  for (const band of ([0, 1, 2, 3] as const).slice(0, channels)) {
    const one = open().extractChannel(band).toColourspace(gray);
    const { buffer, byteOffset } = await one.raw({ depth }).toBuffer();
    samples.set(new SampleArray(buffer, byteOffset, width * height), band * width * height);
  }
  return { width, height, bands: channels, samples };
}

/** SHA-256 of every file in a folder and below, by its path in it. */
export function hashFiles(...folder: string[]): Record<string, string> {
  const path = join(...folder);
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((file) => relative(path, join(file.parentPath, file.name))).sort();
  return Object.fromEntries(names.map((name) => [name, sha256(readFileSync(join(path, name)))]));
}

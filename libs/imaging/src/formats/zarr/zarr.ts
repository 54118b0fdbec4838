import { randomUUID } from 'node:crypto';
import { type Rect, sampleBytes } from '@halogrid/geometry';
import {
  type ArrayForm,
  arrayForm,
  InputError,
  type InputFile,
  openInputFile,
  type PlaneUri,
  parseMetadata,
  parsePlaneUri,
} from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import { checkHasPixels } from '../../pixel-limit.ts';
import { checkDecodeRequest } from '../../planes/decode-request.ts';
import type { OpenImage } from '../../planes/image.ts';
import type { PlaneTarget } from '../../planes/plane-target.ts';
import { ChunkCache } from './chunk-cache.ts';
import { chunkDecoder, type DecodeChunk, type DecodedChunk } from './chunk-decoder.ts';
import { ChunkFiles } from './chunk-files.ts';
import { copyChunk } from './copy-chunk.ts';

/** Chunks that are read at once, as far as they take no more than `bytesAtOnce` decoded. */
const chunksAtOnce = 8;
const bytesAtOnce = 2 ** 26;

/** Decoded chunks of all planes that are read on this thread: the next plane of a stack may share them. */
const cache = new ChunkCache(2 ** 27);

/**
 * Opens a plane of a Zarr array by the file of the array's metadata, which it takes over. The plane is read by region:
 * by the chunks that a region touches. A missing chunk has the fill value everywhere, as Zarr defines it; that the
 * array is still there is then made sure.
 */
export async function openZarr(file: InputFile, uri: string): Promise<OpenImage> {
  const plane = parsePlaneUri(uri)!;
  const metadata = parseMetadata(await file.readAll(), plane.file.slice(plane.file.lastIndexOf('/') + 1));
  const { version } = file;
  const isSure = file.kind === 'local' || file.hasSureVersion;
  await file.close();
  const form = arrayForm(metadata);
  if (typeof form === 'string') throw new InputError('decode', form);
  checkIndices(form, plane);
  const [height, width] = form.shape.slice(-2) as [number, number];
  checkHasPixels(width, height);
  const chunkBytes = sampleBytes[form.pixel] * form.chunk.reduce((all, size) => all * size, 1);
  const reader = {
    plane,
    form,
    files: new ChunkFiles(plane.file, form, chunkBytes),
    decode: await chunkDecoder(form, metadata),
    key: isSure ? `${plane.file} ${version}` : randomUUID(),
    atOnce: Math.max(1, Math.min(chunksAtOnce, Math.floor(bytesAtOnce / chunkBytes))),
  };
  cache.open();
  let isOpen = true;
  const opened: OpenImage & { mended: string | undefined } = {
    format: 'zarr',
    width,
    height,
    pixel: form.pixel,
    readsRegions: true,
    mended: undefined,
    get inputBytes() {
      return file.bytesRead + reader.files.bytesRead;
    },
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      if (await decodeRegion(reader, region, to)) return;
      await checkStillThere(plane.file, version);
      opened.mended = `missing chunks were read as the fill value ${form.fill}`;
    },
    async close(): Promise<void> {
      if (!isOpen) return;
      isOpen = false;
      cache.close();
      await reader.files.close();
    },
  };
  return opened;
}

interface PlaneReader {
  plane: PlaneUri;
  form: ArrayForm;
  files: ChunkFiles;
  decode: DecodeChunk;
  /** The beginning of the keys of its chunks in the cache. */
  key: string;
  atOnce: number;
}

/** Returns false if a chunk of the region is missing. */
async function decodeRegion(reader: PlaneReader, region: Rect, to: PlaneTarget): Promise<boolean> {
  const { plane, form, atOnce } = reader;
  const { chunk, fill } = form;
  const outer = plane.indices.map((at, i) => Math.floor(at / chunk[i]!));
  const inChunk = plane.indices.map((at, i) => at % chunk[i]!);
  const [height, width] = chunk.slice(-2) as [number, number];
  let hasAll = true;
  await forEachLimited(chunksOf(region, width, height), atOnce, async ([row, column]) => {
    const decoded = await chunkAt(reader, [...outer, row, column]);
    hasAll &&= decoded !== undefined;
    const area = { x: column * width, y: row * height, width, height };
    copyChunk(decoded ?? fill, inChunk, area, region, form.pixel, to);
  });
  return hasAll;
}

function chunkAt(
  { files, decode, key }: PlaneReader,
  coordinates: readonly number[],
): Promise<DecodedChunk | undefined> {
  const name = coordinates.join('/');
  return cache.get(`${key} ${name}`, async () => {
    const bytes = await files.read(coordinates);
    return bytes && (await decode(bytes, name));
  });
}

/** Rows and columns of the chunks that a region touches. */
function* chunksOf(
  { x, y, width, height }: Rect,
  chunkWidth: number,
  chunkHeight: number,
): Generator<[row: number, column: number]> {
  for (let row = Math.floor(y / chunkHeight); row * chunkHeight < y + height; row++) {
    for (let column = Math.floor(x / chunkWidth); column * chunkWidth < x + width; column++) yield [row, column];
  }
}

/** Throws InputError if the array has no plane of these indices. */
function checkIndices({ shape }: ArrayForm, { axes, indices }: PlaneUri): void {
  if (indices.length !== shape.length - 2) {
    throw new InputError(
      'decode',
      `The Zarr array has ${shape.length} axes: a plane has ${shape.length - 2} indices, not ${indices.length}`,
    );
  }
  const beyond = indices.findIndex((at, i) => at >= shape[i]!);
  if (beyond < 0) return;
  throw new InputError(
    'decode',
    `The Zarr array has ${axes[beyond]} from 0 to ${shape[beyond]! - 1}, and no ${indices[beyond]}`,
  );
}

/** A disk or a server that is gone has no chunks either. */
async function checkStillThere(uri: string, version: string): Promise<void> {
  const file = await openInputFile(uri);
  await file.close();
  if (file.version !== version) {
    throw new InputError('read', 'The metadata of the Zarr array changed while it was read', { fault: 'changed' });
  }
}

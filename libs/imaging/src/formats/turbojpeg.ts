import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadKoffi } from '@halogrid/threads/load-koffi';
import { limitConcurrency, poolThreads } from '@halogrid/threads/pool-threads';
import type { KoffiFunc, LibraryHandle } from 'koffi';
import { MissingDecoderError } from '../missing-decoder-error.ts';

/*
 * libturbojpeg 3.1 out of the package @julusian/jpeg-turbo, called directly: the package's own binding always decodes
 * with the fast DCT, which differs from libjpeg's default in 42 % of the pixels of a photograph (measured). The
 * accurate DCT costs 5 % more.
 */

type Decoder = { readonly brand: unique symbol };

interface TurboJpeg {
  init: KoffiFunc<(kind: number) => Decoder | null>;
  set: KoffiFunc<(decoder: Decoder, parameter: number, value: number) => number>;
  get: KoffiFunc<(decoder: Decoder, parameter: number) => number>;
  readHeader: KoffiFunc<(decoder: Decoder, jpeg: Uint8Array, bytes: number) => number>;
  crop: KoffiFunc<(decoder: Decoder, region: { x: number; y: number; w: number; h: number }) => number>;
  decompress: KoffiFunc<
    (decoder: Decoder, jpeg: Uint8Array, bytes: number, target: Uint8Array, stride: number, format: number) => number
  >;
  errorText: KoffiFunc<(decoder: Decoder) => string>;
  destroy: KoffiFunc<(decoder: Decoder) => void>;
}

// Names and values of turbojpeg.h.
const initDecompress = 1;
const pixelFormats = { 1: 6, 3: 0 } as const;
const parameters = { stopOnWarning: 0, width: 5, height: 6, precision: 7, colourspace: 8, scanLimit: 13 } as const;
const colourspaces = ['RGB', 'YCbCr', 'gray', 'CMYK', 'YCCK'] as const;

/** The limit of libjpeg-turbo's own fuzzers: a small progressive file may hold thousands of scans that cost minutes. */
const maxScans = 500;

/**
 * The most calls in flight: twice the threads of libuv's pool, on which they run. So a thread that is done finds the
 * next call waiting, and file reads do not queue behind many calls. koffi takes 256 at most.
 */
const maxCalls = Math.min(2 * poolThreads(), 256);

export interface TurboJpegHeader {
  width: number;
  height: number;
  /** Bits a sample. */
  precision: number;
  colourspace: (typeof colourspaces)[number] | undefined;
}

/** Rows of an image. */
export interface JpegRows {
  y: number;
  width: number;
  height: number;
}

/** Where a decoded image goes, row by row from the top: gray, or interleaved RGB. */
export interface JpegTarget {
  /** The first byte is of the first pixel. */
  bytes: Uint8Array;
  /** Bytes from one row to the next. */
  stride: number;
  channels: 1 | 3;
}

let library: TurboJpeg | undefined;
/** The memory that calls in flight read and write, kept here because native code holds only its addresses. */
const inUse = new Set<object>();

/** The folder of the package; loads nothing. Throws MissingDecoderError if the package is not installed. */
export function checkTurboJpeg(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve('@julusian/jpeg-turbo/package.json'));
  } catch {
    throw new MissingDecoderError(
      'jpeg',
      "JPEGs cannot be read here: the package @julusian/jpeg-turbo is not installed; 'npm install' gets it",
    );
  }
}

/** Reads the header on this thread, in microseconds; a text says what is wrong with the header. */
export function readTurboJpegHeader(jpeg: Uint8Array): TurboJpegHeader | string {
  library ??= load();
  const decoder = createDecoder(library);
  try {
    if (library.readHeader(decoder, jpeg, jpeg.length) !== 0) return library.errorText(decoder);
    return {
      width: library.get(decoder, parameters.width),
      height: library.get(decoder, parameters.height),
      precision: library.get(decoder, parameters.precision),
      colourspace: colourspaces[library.get(decoder, parameters.colourspace)],
    };
  } finally {
    library.destroy(decoder);
  }
}

/** Runs work as soon as fewer than `maxCalls` others run; the work makes one call of `decodeTurboJpeg` at a time. */
export const limitDecodes = limitConcurrency(maxCalls);

/**
 * Decodes all rows, or some, on a thread of libuv's pool. Resolves with whether libjpeg gives no warning; there is no
 * message, because libturbojpeg keeps it in the calling thread. Call it in `limitDecodes`. The caller must make sure
 * that the rows fit: native code checks nothing. Rows above them are read but not transformed, at four times the speed
 * (measured).
 */
export async function decodeTurboJpeg(jpeg: Uint8Array, target: JpegTarget, rows?: JpegRows): Promise<boolean> {
  library ??= load();
  const { readHeader, crop, decompress, destroy } = library;
  const decoder = createDecoder(library);
  const { bytes, stride, channels } = target;
  const call = { jpeg, bytes };
  inUse.add(call);
  try {
    if (rows) {
      const region = { x: 0, y: rows.y, w: rows.width, h: rows.height };
      if (readHeader(decoder, jpeg, jpeg.length) !== 0 || crop(decoder, region) !== 0) return false;
    }
    return await new Promise((resolve, reject) => {
      decompress.async(decoder, jpeg, jpeg.length, bytes, stride, pixelFormats[channels], (error, status) =>
        error ? reject(error) : resolve(status === 0),
      );
    });
  } finally {
    inUse.delete(call);
    destroy(decoder);
  }
}

/**
 * Decodes all rows on this thread, for a process that does nothing else meanwhile. Returns whether libjpeg gives no
 * warning.
 */
export function decodeTurboJpegNow(jpeg: Uint8Array, { bytes, stride, channels }: JpegTarget): boolean {
  library ??= load();
  const decoder = createDecoder(library);
  try {
    return library.decompress(decoder, jpeg, jpeg.length, bytes, stride, pixelFormats[channels]) === 0;
  } finally {
    library.destroy(decoder);
  }
}

/**
 * A decoder for one image. If it were used again, it would keep the last image's tables, which would stand in for
 * tables that a damaged or abbreviated file lacks. Creating and destroying one takes 1 microsecond (measured).
 */
function createDecoder(library: TurboJpeg): Decoder {
  const decoder = library.init(initDecompress);
  if (!decoder) throw new Error('libturbojpeg could not create a decoder: out of memory');
  library.set(decoder, parameters.scanLimit, maxScans);
  library.set(decoder, parameters.stopOnWarning, 1);
  return decoder;
}

/**
 * Loads the library. Returns its path, and its version as the file states it. Throws MissingDecoderError if none can be
 * loaded.
 */
export function findTurboJpeg(): { path: string; version: string } {
  const { path } = openLibrary();
  const version = /libjpeg-turbo version ([\d.]+)/.exec(readFileSync(path, 'latin1'))?.[1];
  return { path, version: version ?? 'unknown' };
}

function load(): TurboJpeg {
  const { file } = openLibrary();
  loadKoffi().struct('tjregion', { x: 'int', y: 'int', w: 'int', h: 'int' });
  return {
    init: file.func('void *tj3Init(int kind)') as TurboJpeg['init'],
    set: file.func('int tj3Set(void *decoder, int parameter, int value)') as TurboJpeg['set'],
    get: file.func('int tj3Get(void *decoder, int parameter)') as TurboJpeg['get'],
    readHeader: file.func(
      'int tj3DecompressHeader(void *decoder, const uint8_t *jpeg, size_t bytes)',
    ) as TurboJpeg['readHeader'],
    crop: file.func('int tj3SetCroppingRegion(void *decoder, tjregion region)') as TurboJpeg['crop'],
    decompress: file.func(
      'int tj3Decompress8(void *decoder, const uint8_t *jpeg, size_t bytes, uint8_t *target, int stride, int format)',
    ) as TurboJpeg['decompress'],
    errorText: file.func('const char *tj3GetErrorStr(void *decoder)') as TurboJpeg['errorText'],
    destroy: file.func('void tj3Destroy(void *decoder)') as TurboJpeg['destroy'],
  };
}

/** The package has a plain library for Linux; for macOS only the Node addon, which contains the same functions. */
function openLibrary(): { file: LibraryHandle; path: string } {
  const platform = `${process.platform}-${process.arch}`;
  const files: Partial<Record<NodeJS.Platform, string[]>> = {
    linux: [`${platform}/libturbojpeg.so.0`, `${platform}-musl/libturbojpeg.so.0`],
    darwin: [`${platform}/node-napi-v10.node`],
  };
  const failures: string[] = [];
  const folder = checkTurboJpeg();
  for (const file of files[process.platform] ?? []) {
    const path = join(folder, 'prebuilds', `jpeg-turbo-${file}`);
    try {
      return { file: loadKoffi().load(path), path };
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new MissingDecoderError(
    'jpeg',
    `There is no JPEG decoder for ${platform}: ${failures.join('; ') || 'only Linux and macOS have one'}`,
  );
}

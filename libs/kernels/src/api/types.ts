// What `halogrid/kernels` takes and gives. It imports nothing: the npm package has the types of this file as they are
// here.

/** A type of the WebGPU API where the program has types of that API. */
type Known<Name extends string> = typeof globalThis extends Record<Name, { prototype: infer Type }> ? Type : object;

/**
 * Pixels in memory: an ImageData, or anything else with these three. `data` is gray, RGB or RGBA, interleaved, of 8 or
 * 16 bits, from the upper left corner, rows without gaps; how many samples a pixel has follows from its length. Alpha
 * is ignored. Kernels that take gray get the luma (19595 R + 38470 G + 7471 B + 32768) >> 16.
 */
export interface Picture {
  readonly data: Uint8Array | Uint8ClampedArray | Uint16Array;
  /** Pixels, from 1. */
  readonly width: number;
  readonly height: number;
}

/**
 * What may compute: a WebGPU device, WebAssembly on the calling thread, or the definitions in plain JavaScript, which
 * are slow.
 */
export type Place = 'webgpu' | 'wasm' | 'reference';

export interface OpenOptions {
  /** `auto`, the default, takes a GPU, and WebAssembly where there is none. */
  on?: 'auto' | Place;
  /** Where adapters are asked for; `navigator.gpu` unless given. In Node.js: `create([])` of the package `webgpu`. */
  gpu?: Known<'GPU'>;
  /** A device to compute on, which stays yours. It is one of WebGPU. */
  device?: Known<'GPUDevice'>;
}

/** What computes. The same pictures give the same results on all. */
export interface Device {
  readonly on: Place;
  /** For people, e.g. `NVIDIA H200` or `WebAssembly`. */
  readonly name: string;
  /** Why it is this one, in one sentence. */
  readonly reason: string;
  /** Ends what `open` began. Who computes with it afterwards gets an error. */
  close(): void;
}

/** A border rule of docs/kernels, e.g. `mirror`. */
export type Border = 'zero' | 'replicate' | 'reflect' | 'mirror' | 'wrap' | 'interior';

export interface RunOptions<WithMap extends boolean = boolean> {
  /** What computes; one that `open()` chooses, once, unless given. */
  device?: Device;
  /** A histogram for each cell of so many rows and columns; 1 x 1 unless given. */
  grid?: { rows: number; columns: number };
  /** Whether the map is wanted, which is the default. Histograms alone take less time. */
  map?: WithMap;
}

export interface BorderOptions {
  /** The rule for pixels outside the picture, of every kernel; each has its default. */
  border?: Border;
}

/** See docs/kernels/lbp.md. */
export interface LbpParameters {
  /** 4 to 24; 8 unless given. */
  points?: number;
  /** Above 0, at most 16; 1 unless given. */
  radius?: number;
  convention?: 'nw-cw-msb' | 'nw-cw-lsb' | 'scikit-image' | 'opencv' | 'bob' | 'bob-circular' | 'mahotas';
  labels?: 'all' | 'ror' | 'uniform' | 'nri-uniform' | 'var';
}

/** See docs/kernels/ldp.md. */
export interface LdpParameters {
  /** 2 to 6; 3 unless given. */
  order?: number;
}

/** See docs/kernels/conv.md. Either `kernel` or `matrix` is needed. */
export interface ConvParameters {
  /** A name, e.g. `sobel-x` or `gaussian-5`. */
  kernel?: string;
  /** Rows of a square matrix of odd side 3 to 31. */
  matrix?: readonly (readonly number[])[];
  /** Of a Gaussian. */
  sigma?: number;
  /** What is convolved; `gray` unless given. */
  channels?: 'gray' | 'rgb';
  /** The type of results; `f32` unless given. */
  as?: 'f32' | 'u8' | 'i16';
}

export type Samples = Uint8Array | Uint16Array | Uint32Array | Int16Array | Float32Array;

/** What was found of a picture. */
export interface Result<WithMap extends boolean = boolean> {
  /** Of the picture, in pixels. */
  readonly width: number;
  readonly height: number;
  /** Names of the result's channels, e.g. the four directions of ldp. */
  readonly channels: readonly string[];
  /** A plane of `width * height` samples for each channel, one after another. */
  readonly map: WithMap extends true ? Samples : WithMap extends false ? undefined : Samples | undefined;
  /** Bins a channel; 0 where the result has no histogram. */
  readonly bins: number;
  /** `bins` counts for each channel, one channel after another; with a grid so for each cell, row by row. */
  readonly histogram: Uint32Array;
  /** Pixels that were counted in each channel. */
  readonly counted: number;
}

/** Computes a picture. Rejects with ParameterError for a picture or an option that is not allowed. */
export type Run<Options> = <WithMap extends boolean = true>(
  picture: Picture,
  options?: RunOptions<WithMap> & Options,
) => Promise<Result<WithMap>>;

// The types of `halogrid/kernels`. This file imports nothing, because the npm package contains its types unchanged.

/** A type of the WebGPU API, if the program has types of that API. */
type Known<Name extends string> = typeof globalThis extends Record<Name, { prototype: infer Type }> ? Type : object;

/**
 * Pixels in memory: an ImageData, or any other object with these three fields. `data` is gray, RGB or RGBA,
 * interleaved, of 8 or 16 bits, from the upper left corner, in rows without gaps. Its length determines the samples per
 * pixel. Alpha is ignored. Kernels that take gray get the luma (19595 R + 38470 G + 7471 B + 32768) >> 16.
 */
export interface Picture {
  readonly data: Uint8Array | Uint8ClampedArray | Uint16Array;
  /** Pixels, at least 1. */
  readonly width: number;
  readonly height: number;
}

/**
 * A kind of device: WebGPU, WebAssembly on the calling thread, or the reference definitions in plain JavaScript, which
 * are slow.
 */
export type Place = 'webgpu' | 'wasm' | 'reference';

export interface OpenOptions {
  /** `auto`, the default, takes a GPU, or WebAssembly if there is no GPU. */
  on?: 'auto' | Place;
  /**
   * The object to request adapters from. Default: `navigator.gpu`. In Node.js: `create([])` of the package `webgpu`.
   */
  gpu?: Known<'GPU'>;
  /** The WebGPU device to compute on. `close` does not destroy it. */
  device?: Known<'GPUDevice'>;
}

/** A device that computes. The same pictures give the same results on all devices. */
export interface Device {
  readonly on: Place;
  /** The device's name for people, e.g. `NVIDIA H200` or `WebAssembly`. */
  readonly name: string;
  /** Why this device was chosen, in one sentence. */
  readonly reason: string;
  /** Releases what `open` made. Later runs on the device reject. */
  close(): void;
}

/** A border rule of docs/kernels, e.g. `mirror`. */
export type Border = 'zero' | 'replicate' | 'reflect' | 'mirror' | 'wrap' | 'interior';

export interface RunOptions<WithMap extends boolean = boolean> {
  /** The device to compute on. Default: one that `open()` chooses, once. */
  device?: Device;
  /** Makes a histogram for each cell of a grid of `rows` x `columns` cells. Default: 1 x 1. */
  grid?: { rows: number; columns: number };
  /** Whether the map is wanted. Default: true. Histograms alone take less time. */
  map?: WithMap;
}

export interface BorderOptions {
  /** The rule for pixels outside the picture, for every kernel. Default: each kernel's own. */
  border?: Border;
}

/** See docs/kernels/lbp.md. */
export interface LbpParameters {
  /** 4 to 24. Default: 8. */
  points?: number;
  /** Above 0, at most 16. Default: 1. */
  radius?: number;
  convention?: 'nw-cw-msb' | 'nw-cw-lsb' | 'scikit-image' | 'opencv' | 'bob' | 'bob-circular' | 'mahotas';
  labels?: 'all' | 'ror' | 'uniform' | 'nri-uniform' | 'var';
}

/** See docs/kernels/ldp.md. */
export interface LdpParameters {
  /** 2 to 6. Default: 3. */
  order?: number;
}

/** See docs/kernels/conv.md. Either `kernel` or `matrix` is needed. */
export interface ConvParameters {
  /** A name, e.g. `sobel-x` or `gaussian-5`. */
  kernel?: string;
  /** Rows of a square matrix of odd side 3 to 31. */
  matrix?: readonly (readonly number[])[];
  /** The standard deviation of a Gaussian, in pixels. */
  sigma?: number;
  /** The channels to convolve. Default: `gray`. */
  channels?: 'gray' | 'rgb';
  /** The type of results. Default: `f32`. */
  as?: 'f32' | 'u8' | 'i16';
}

/** See docs/kernels/glcm.md. */
export interface GlcmParameters {
  /** 2 to 64. Default: 32. */
  levels?: number;
  /** DISTANCE@ANGLE, joined by `+`. Default: `1@0+1@45+1@90+1@135`. */
  offsets?: string;
  /** Whether each pair counts in both directions. Default: false. */
  symmetric?: boolean;
}

export type Samples = Uint8Array | Uint16Array | Uint32Array | Int16Array | Float32Array;

/** The result of a picture. */
export interface Result<WithMap extends boolean = boolean> {
  /** The width of the picture, in pixels. */
  readonly width: number;
  readonly height: number;
  /** Names of the result's channels, e.g. the four directions of ldp. */
  readonly channels: readonly string[];
  /** A plane of `width * height` samples for each channel, one after another. */
  readonly map: WithMap extends true ? Samples : WithMap extends false ? undefined : Samples | undefined;
  /** Bins per channel; 0 if the result has no histogram. */
  readonly bins: number;
  /** `bins` counts for each channel, one channel after another; with a grid, for each cell in turn, row by row. */
  readonly histogram: Uint32Array;
  /** Pixels that were counted in each channel; of glcm, the sum of the first matrix. */
  readonly counted: number;
}

/** Computes a picture. Rejects with ParameterError for a picture or an option that is not allowed. */
export type Run<Options> = <WithMap extends boolean = true>(
  picture: Picture,
  options?: RunOptions<WithMap> & Options,
) => Promise<Result<WithMap>>;

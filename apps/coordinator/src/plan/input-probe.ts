import { sampleBytes } from '@halogrid/geometry';
import { isVideoFile, MissingDecoderError, type openImage, type peekSize, type ReadOptions } from '@halogrid/imaging';
import type { ImageSize } from '@halogrid/jobs/shard';
import { tileSide } from '@halogrid/jobs/tile-side';
import type { JobSpec } from '@halogrid/proto';
import { namesNoData } from '@halogrid/proto/no-data';
import { readOptions } from '@halogrid/proto/read-options';
import {
  changedInput,
  formatOfName,
  hasUnsupportedExtension,
  hasVideoExtension,
  InputError,
  isOfVersion,
  isPlaneUri,
  isRowUri,
  type Mask,
  Masks,
  maskedVersion,
  mostPixels,
  redactUri,
  type Source,
  showFile,
  tellsContent,
  usualPixels,
  versionOfContent,
} from '@halogrid/sources';
import { limitConcurrency } from '@halogrid/threads';
import type { EarlierOutput } from '../output/previous/earlier-output.ts';

/**
 * A remote file larger than this is opened to see whether it must be cut. A request for each smaller file would be too
 * many. So is a row of a Parquet file: to open each would unpack all of it.
 */
const probeRemoteAboveBytes = 16 * 2 ** 20;

/**
 * How many images are opened at once: enough to hide the latency of a disk or server, few enough to hold in memory,
 * because some are read whole.
 */
const opensAhead = 8;

/** Why a video is not read with a sample that stands for no value. */
const noDataOfVideo =
  'NoData and masks are for images, not for videos: exclude videos, or process them in a job of their own';

/** Why a video is not read by page. */
const pageOfVideo =
  'The job asks for a page of stacks, which a video lacks: exclude videos, or process them in a job of their own';

/** Why a video is not read at a level. */
const levelOfVideo =
  'The job asks for a level of pyramids, which a video lacks: exclude videos, or process them in a job of their own';

/** Why a video is not read with options about the samples of images. */
const samplesOfVideo =
  'The job reads a band or scaled samples of TIFFs (--band, --scale): exclude videos, or process them in a job of their own';

/** An input; if `version` is the version of its content, or of it and its mask, `listedVersion` is the listed one. */
export type Input = Source & { listedVersion?: string; mask?: Mask };

/** What was found out about an input that must be computed. */
export type InputFinding =
  | { kind: 'sized'; input: Input; size: ImageSize; version?: string }
  | { kind: 'video'; input: Input }
  | { kind: 'unopened'; input: Input; bytes: number }
  | { kind: 'unreadable'; input: Input; error: InputError };

/** An input that need not be read while the job is planned. */
export type Unopened = Extract<InputFinding, { kind: 'unopened' }>;

/** An input whose earlier result is still valid. `file` is its number in the earlier output. */
export interface Kept {
  kind: 'kept';
  input: Input;
  file: number;
}

/** How inputs are examined. */
export interface ProbeMeans {
  open: typeof openImage;
  peek: typeof peekSize;
  /** The output of an earlier job in the output folder. */
  earlier: EarlierOutput | undefined;
  /** Called with a video as soon as it is known to be one, even if videos before it are still being planned. */
  onVideo?: (uri: string) => void;
}

/**
 * Finds out what the plan of a job must know about its inputs.
 *
 * Inputs that were named themselves are opened, and so are all inputs of a job that asks for a tile size, a level or a
 * page. Files found in folders are read only if they are large enough to hold more than a tile's pixels. First only
 * their header is read: for a JPEG that takes 40 µs of a core, opening 80 (measured), and decoding a millisecond or
 * more. So a node never meets a frame that is too large to hold, and a JPEG below 32 KiB costs nothing.
 *
 * Planes of a Zarr are opened, because no file tells their size. They have no listed version, because no file tells
 * whether a chunk has changed: results of an earlier run are never kept. Nor are results of slides, which depend on
 * files beside them and on the version of OpenSlide.
 */
export class InputProbe {
  readonly #spec: JobSpec;
  readonly #tilePixels: number;
  readonly #read: ReadOptions | undefined;
  readonly #means: ProbeMeans;
  readonly #masks: Masks | undefined;
  readonly #opening = limitConcurrency(opensAhead);

  constructor(spec: JobSpec, means: ProbeMeans) {
    this.#spec = spec;
    this.#tilePixels = tileSide(spec.tilePx) ** 2;
    this.#read = readOptions(spec);
    this.#means = means;
    this.#masks = spec.mask ? new Masks(spec.mask) : undefined;
  }

  /**
   * As `probe`, but at once, for inputs that need not be read or waited for, such as most small frames in folders.
   * Undefined for others.
   */
  probeNow(input: Source): Unopened | undefined {
    const { uri, name, sizeBytes } = input;
    const { tilePx, checksum } = this.#spec;
    if (
      this.#means.earlier ||
      this.#masks ||
      tilePx ||
      this.#read ||
      checksum ||
      input.error ||
      input.named ||
      !uri.startsWith('file:')
    )
      return undefined;
    if (isPlaneUri(uri) || isRowUri(uri)) return undefined;
    if (hasVideoExtension(name) || hasUnsupportedExtension(name) || hasNoSize(input)) return undefined;
    if (mostPixels(uri, sizeBytes) > this.#tilePixels) return undefined;
    return { kind: 'unopened', input, bytes: estimateBytes(uri, sizeBytes) };
  }

  /** Finds out whether the earlier result of the input is still valid; if not, as `look`. */
  async probe(listed: Source): Promise<InputFinding | Kept> {
    const { earlier } = this.#means;
    // Before any await, so that inputs that are listed twice take their results in order.
    const file = listed.error ? undefined : earlier?.index.take(redactUri(listed.uri));
    const isLocal = !listed.error && listed.uri.startsWith('file:');
    const { version: listedVersion } = listed;
    let input: Input =
      this.#spec.checksum && isLocal && !hasNoSize(listed) && !isPlaneUri(listed.uri)
        ? { ...listed, listedVersion, version: await versionOfContent(listed.uri) }
        : listed;
    if (this.#masks && !listed.error && !hasVideoExtension(listed.name)) {
      const masked = await this.#masked(this.#masks, input).catch(asInputError);
      if (masked instanceof InputError) return { kind: 'unreadable', input, error: masked };
      input = masked;
    }
    const { version } = input;
    if (
      file === undefined ||
      !version ||
      !tellsContent(version) ||
      isSlide(input) ||
      !(await earlier!.holds(file, input.uri, version))
    )
      return this.look(input);
    return { kind: 'kept', input, file };
  }

  /** The input with its mask; if one of them changes, so does its version. Rejects with InputError if it has none. */
  async #masked(masks: Masks, input: Input): Promise<Input> {
    const { version, listedVersion = version } = input;
    const mask = await masks.of(input.name);
    const ofMask = this.#spec.checksum ? await versionOfContent(mask.uri) : mask.version;
    const both = version !== undefined && ofMask !== undefined ? maskedVersion(version, ofMask) : undefined;
    return Object.assign({ ...input, mask }, { listedVersion, version: both });
  }

  /** Finds out what the input is, and its size if that must be known before a node gets it. */
  async look(input: Input): Promise<InputFinding> {
    const { uri, sizeBytes } = input;
    if (input.error) return { kind: 'unreadable', input, error: new InputError('read', input.error) };
    if (input.named || hasVideoExtension(input.name) || hasUnsupportedExtension(input.name)) {
      const wrong = await whyNotAsStated(input);
      if (wrong) return { kind: 'unreadable', input, error: wrong };
      const isVideo = await isVideoFile(uri).catch(asInputError);
      if (isVideo instanceof InputError) return { kind: 'unreadable', input, error: isVideo };
      if (isVideo && this.#read?.level)
        return { kind: 'unreadable', input, error: new InputError('read', levelOfVideo) };
      if (isVideo && this.#read?.page) return { kind: 'unreadable', input, error: new InputError('read', pageOfVideo) };
      if (isVideo) {
        if (this.#masks || namesNoData(this.#spec.nodata))
          return { kind: 'unreadable', input, error: new InputError('read', noDataOfVideo) };
        if (this.#spec.band || this.#spec.scale)
          return { kind: 'unreadable', input, error: new InputError('read', samplesOfVideo) };
        this.#means.onVideo?.(uri);
        return { kind: 'video', input };
      }
    }
    if (this.#spec.tilePx || this.#read || input.named || hasNoSize(input) || isPlaneUri(uri) || isSlide(input))
      return this.#open(input);
    const unopened = (bytes = estimateBytes(uri, sizeBytes)): InputFinding => ({ kind: 'unopened', input, bytes });
    if (!uri.startsWith('file:') || isRowUri(uri))
      return sizeBytes > probeRemoteAboveBytes ? this.#open(input) : unopened();
    // Opening reads the first bytes, and finds an unsupported format while the job is planned.
    if (hasUnsupportedExtension(input.name)) return this.#open(input);
    if (mostPixels(uri, sizeBytes) <= this.#tilePixels) return unopened();
    const size = await this.#means.peek(uri);
    return size && size.width * size.height <= this.#tilePixels ? unopened(channelBytes(size)) : this.#open(input);
  }

  #open(input: Input): Promise<InputFinding> {
    return this.#opening(() => openInput(input, this.#means.open, this.#read));
  }
}

/**
 * Whether the file is on this machine and has size 0: it is empty, or a pipe, or generated by the system for each
 * process, as below /proc. Opening it gives the reason. Nodes do not read it, because each may see another file there.
 */
const hasNoSize = ({ uri, sizeBytes, version }: Input): boolean =>
  sizeBytes === 0 && version !== undefined && uri.startsWith('file:');

/** Whether OpenSlide reads it: its first bytes may be a small picture of it. */
const isSlide = ({ uri }: Input): boolean => formatOfName(uri) === 'slide';

async function openInput(input: Input, open: typeof openImage, read?: ReadOptions): Promise<InputFinding> {
  try {
    const image = await open(input.uri, read);
    const { width, height, pixel, version } = image;
    await image.close();
    const error = errorOfStated(input, version);
    if (error) return { kind: 'unreadable', input, error };
    return { kind: 'sized', input, size: { width, height, pixel }, version };
  } catch (error) {
    return { kind: 'unreadable', input, error: asInputError(error) };
  }
}

/** Why a file is not the one that its manifest states; undefined if it is, or the manifest states nothing. */
async function whyNotAsStated(input: Input): Promise<InputError | undefined> {
  if (!input.isStated) return undefined;
  try {
    return errorOfStated(input, (await showFile(input.uri, false)).version);
  } catch (error) {
    return asInputError(error);
  }
}

function errorOfStated(
  { isStated, version: stated, listedVersion = stated }: Input,
  now: string | undefined,
): InputError | undefined {
  if (!isStated || listedVersion === undefined || isOfVersion(now, listedVersion)) return undefined;
  return changedInput(`The file is not what its manifest states (${listedVersion})`);
}

/** Decoded bytes of one channel of an image. */
export const channelBytes = ({ width, height, pixel = 'u8' }: ImageSize): number => width * height * sampleBytes[pixel];

/**
 * The error, if it is the input's fault; else throws it. A missing decoder counts as the fault of the inputs that need
 * it: the plan goes on with the others.
 */
function asInputError(error: unknown): InputError {
  if (error instanceof MissingDecoderError) return new InputError('decode', error.message);
  if (error instanceof InputError && error.fault !== 'process') return error;
  throw error;
}

/**
 * Decoded bytes of a channel of an image that was not opened, from the size of its file. If the estimate is too high,
 * batches only become smaller; if it is too low, nodes hold more than their credit.
 */
const estimateBytes = (uri: string, fileBytes: number): number => Math.max(1, usualPixels(uri, fileBytes));

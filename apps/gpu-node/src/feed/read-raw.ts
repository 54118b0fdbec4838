import { type PnmHeader, readPnmHeader } from '@halogrid/imaging/pnm-header';
import { giveBackBytes, takeBytes } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';
import { closePlanned, openPlanned, type PlannedFile, readPlanned } from './planned-file.ts';
import type { RawBatch, RawLimits } from './raw-orders.ts';

/** Files that are read in parallel, to hide the latency of the file system. */
const atOnce = 8;
/** Bytes of a file that are read at first; files with longer headers are left to cores. */
const headBytes = 512;
/** Rows and planes begin at multiples of these, as kernels need them: see `placePlanes` of `libs/kernels`. */
const lanePixels = 16;
const planeStep = 256;

/** A frame for devices, with its open file. */
interface OpenFrame {
  file: PlannedFile;
  header: PnmHeader;
}

/**
 * Reads gray 8-bit frames (PGM) to planes in `to`, one after another, as many as fit. Files that cannot be read, are
 * not the planned version or are other images are left out: cores decode them, or report what is wrong.
 */
export async function readRaw(files: readonly AskedFile[], to: Uint8Array, limits: RawLimits): Promise<RawBatch> {
  const taken: number[] = [];
  let inputBytes = 0;
  let planesBytes = 0;
  /**
   * The offset of the frame's plane; none for a file that is left out. Undefined if the batch is full and the file must
   * wait.
   */
  const place = (frame: OpenFrame | undefined): { offset?: number } | undefined => {
    if (!frame) return {};
    const { width, height } = frame.header;
    const end = planesBytes + roundUp(roundUp(width, lanePixels) * height, planeStep);
    // A frame that does not even fit an empty batch is left out.
    if (end > limits.planesBytes) return planesBytes === 0 ? {} : undefined;
    const offset = planesBytes;
    planesBytes = end;
    return { offset };
  };
  for (let first = 0; first < files.length; first += atOnce) {
    const opened = await Promise.all(files.slice(first, first + atOnce).map((file) => openFrame(file, limits.minSide)));
    const places: { offset?: number }[] = [];
    for (const frame of opened) {
      const its = place(frame);
      if (!its) break;
      places.push(its);
    }
    const areRead = await Promise.all(
      places.map(({ offset }, i) => offset !== undefined && readPlane(opened[i]!, to, offset)),
    );
    for (const [i, isRead] of areRead.entries()) {
      if (!isRead) continue;
      const { width, height, dataStart } = opened[i]!.header;
      taken.push(first + i, width, height, places[i]!.offset!);
      inputBytes += dataStart + width * height;
    }
    await Promise.all(opened.map((frame) => frame && closePlanned(frame.file)));
    if (places.length < opened.length)
      return { done: first + places.length, taken: new Uint32Array(taken), inputBytes };
  }
  return { done: files.length, taken: new Uint32Array(taken), inputBytes };
}

/** Undefined for a file that is not for devices. */
async function openFrame(asked: AskedFile, minSide: number): Promise<OpenFrame | undefined> {
  const file = await openPlanned(asked);
  if (!file) return undefined;
  const head = takeBytes(Math.min(headBytes, file.sizeBytes));
  const header = (await readPlanned(file, head, 0)) ? headerOf(head) : undefined;
  giveBackBytes(head);
  if (header) {
    const { width, height, channels, pixel, isPlain, dataStart } = header;
    const isGray = channels === 1 && pixel === 'u8' && !isPlain;
    const isWhole = dataStart + width * height <= file.sizeBytes;
    if (isGray && isWhole && Math.min(width, height) >= minSide) return { file, header };
  }
  await closePlanned(file);
  return undefined;
}

function headerOf(head: Buffer): PnmHeader | undefined {
  try {
    return readPnmHeader(head);
  } catch {
    return undefined;
  }
}

async function readPlane({ file, header }: OpenFrame, to: Uint8Array, offset: number): Promise<boolean> {
  const { width, height, dataStart } = header;
  const stride = roundUp(width, lanePixels);
  const length = width * height;
  if (stride === width) return await readPlanned(file, to.subarray(offset, offset + length), dataStart);
  const pixels = takeBytes(length);
  const isRead = await readPlanned(file, pixels, dataStart);
  for (let row = 0; isRead && row < height; row++) {
    to.set(pixels.subarray(row * width, (row + 1) * width), offset + row * stride);
  }
  giveBackBytes(pixels);
  return isRead;
}

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;

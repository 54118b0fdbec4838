import { jpegTime } from '@halogrid/imaging/jpeg-time';
import { sayOtherJpegs } from '@halogrid/imaging/other-jpegs';
import { endOfHeader, type JpegFrame, type JpegStretches, readJpegFrame, StretchScan } from '@halogrid/jpeg';
import { giveBackBytes, takeBytes } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { AskedFile } from './asked-files.ts';
import { closePlanned, openPlanned, type PlannedFile, readPlanned } from './planned-file.ts';

/** The positions of a JPEG's stretches: the parts between restart markers, which decode independently. */
export interface JpegIndex {
  /** The file's bytes up to the beginning of the data. */
  head: Uint8Array;
  frame: JpegFrame;
  stretches: JpegStretches;
  sizeBytes: number;
  captured?: CaptureTime;
  /** As OpenImage.mended: other pictures that were not read. */
  mended?: string;
}

/** Bytes read of a file at first, and the most read to find its data: pictures and profiles in a header may be long. */
const [firstHeadBytes, mostHeadBytes] = [2 ** 14, 2 ** 20];
/** Bytes of data read at once. */
const blockBytes = 2 ** 22;
/**
 * The most stretches of an index, 16 MB of memory. An image of 2^32 pixels has a million stretches of 16 rows by 256
 * pixels.
 */
const mostStretches = 2 ** 20;

/**
 * Reads a JPEG once and finds its restart markers, in 4 MiB of memory and that of the index. Undefined if the file
 * cannot be read, is not a JPEG of at least `leastPixels` pixels, or has no restart markers or misplaced ones. Never
 * rejects.
 */
export async function indexJpeg(asked: AskedFile, leastPixels: number): Promise<JpegIndex | undefined> {
  const file = await openPlanned(asked);
  if (!file) return undefined;
  try {
    const head = await readHead(file);
    const frame = head && readJpegFrame(head, file.sizeBytes);
    if (!head || !frame || typeof frame === 'string' || !isWorthIt(frame, leastPixels)) return undefined;
    const stretches = await readStretches(file, frame);
    if (!stretches) return undefined;
    const facts = { captured: jpegTime(head), mended: sayOtherJpegs(head) };
    return { head, frame, stretches, sizeBytes: file.sizeBytes, ...facts };
  } finally {
    await closePlanned(file);
  }
}

const isWorthIt = ({ width, height, blocks, restartBlocks }: JpegFrame, leastPixels: number): boolean =>
  restartBlocks > 0 && blocks / restartBlocks <= mostStretches && width * height >= leastPixels;

/** The bytes of a JPEG up to the beginning of its data. */
async function readHead(file: PlannedFile): Promise<Uint8Array | undefined> {
  for (let bytes = firstHeadBytes; ; bytes *= 8) {
    const length = Math.min(bytes, file.sizeBytes);
    const head = new Uint8Array(length);
    if (!(await readPlanned(file, head, 0)) || head[0] !== 0xff || head[1] !== 0xd8) return undefined;
    const end = endOfHeader(head);
    if (end !== undefined) return head.slice(0, end);
    if (length === file.sizeBytes || length >= mostHeadBytes) return undefined;
  }
}

async function readStretches(file: PlannedFile, frame: JpegFrame): Promise<JpegStretches | undefined> {
  const scan = new StretchScan(frame);
  const block = takeBytes(blockBytes);
  try {
    for (let at = frame.dataStart; at < file.sizeBytes && !scan.isDone; at += blockBytes) {
      const piece = block.subarray(0, Math.min(blockBytes, file.sizeBytes - at));
      if (!(await readPlanned(file, piece, at))) return undefined;
      scan.take(piece);
    }
    const found = scan.end();
    return typeof found === 'string' ? undefined : found;
  } finally {
    giveBackBytes(block);
  }
}

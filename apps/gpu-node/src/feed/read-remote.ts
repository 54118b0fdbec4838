import { JpegFrameReader } from '@halogrid/jpeg';
import { openInputFile, quickToGiveUp } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';
import { type BegunFile, beginWhole } from './begun-file.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import { readJpegs } from './read-jpegs.ts';

/** As many as the connections to a host. */
const atOnce = 16;

const reader = new JpegFrameReader();

/**
 * As `readJpegs`, for files on servers, over the connections of this thread. If a file cannot be fetched, cores request
 * it again.
 */
export const readRemoteJpegs = (
  files: readonly AskedFile[],
  to: Uint8Array,
  limits: JpegLimits,
): Promise<EncodedBatch> => readJpegs(files, to, limits, reader, { atOnce, begin: beginQuickly() });

/** Cores request the files that are not worth requesting here. */
function beginQuickly(): (asked: AskedFile, most: number) => Promise<BegunFile | undefined> {
  const open = quickToGiveUp(openInputFile);
  return (asked, most) => beginWhole(open, asked, most);
}

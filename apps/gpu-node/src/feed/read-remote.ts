import { JpegFrameReader } from '@halogrid/jpeg';
import { isOfVersion, openInputFile, quickToGiveUp } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import { type BegunFile, readJpegs } from './read-jpegs.ts';

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
  return (asked, most) => begin(open, asked, most);
}

/** Fetches the whole file. */
async function begin(
  open: typeof openInputFile,
  { uri, version }: AskedFile,
  most: number,
): Promise<BegunFile | undefined> {
  const file = await open(uri).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { sizeBytes } = file;
    const isPlanned = version === undefined || isOfVersion(file.version, version);
    if (isPlanned && sizeBytes <= most) {
      return { sizeBytes, head: await file.readAll(), readRest: async () => false, close: () => file.close() };
    }
  } catch {
    // Cores will request it again and report why.
  }
  await file.close();
  return undefined;
}

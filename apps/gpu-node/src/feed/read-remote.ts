import { JpegFrameReader } from '@halogrid/jpeg';
import { isOfVersion, openInputFile } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import { type ReadFile, readJpegs } from './read-jpegs.ts';

/** As many as there are connections to a host. */
const atOnce = 16;

const reader = new JpegFrameReader();

/** As `readJpegs`, of files on servers, by the connections of this thread. One that cannot be had is asked for again by cores. */
export const readRemoteJpegs = (
  files: readonly AskedFile[],
  to: Uint8Array,
  limits: JpegLimits,
): Promise<EncodedBatch> => readJpegs(files, to, limits, reader, { atOnce, readWhole: fetchWhole });

async function fetchWhole({ uri, version }: AskedFile, most: number): Promise<ReadFile | undefined> {
  const file = await openInputFile(uri).catch(() => undefined);
  if (!file) return undefined;
  const giveBack = (): void => void file.close();
  try {
    const isPlanned = version === undefined || isOfVersion(file.version, version);
    if (isPlanned && file.sizeBytes <= most) return { bytes: await file.readAll(), giveBack };
  } catch {
    // Cores say why.
  }
  giveBack();
  return undefined;
}

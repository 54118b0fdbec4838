import { isOfVersion, type openInputFile } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';

/** A file whose header was read. */
export interface BegunFile {
  sizeBytes: number;
  /** Its first bytes, with its header, or the whole file. */
  head: Uint8Array;
  /** Reads the bytes after `head`. Never rejects; false if the file has become shorter, or cannot be read. */
  readRest(into: Uint8Array): Promise<boolean>;
  /** Called once, when the file is not read any more. */
  close(): Promise<void>;
}

/**
 * Reads the whole file. Never rejects; undefined for a file longer than `most`, of another version, or that cannot be
 * read.
 */
export async function beginWhole(
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
    // Cores will read it again and report why.
  }
  await file.close();
  return undefined;
}

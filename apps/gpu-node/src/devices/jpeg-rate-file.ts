import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '@halogrid/results';
import { makeFolders, softwareVersion } from '@halogrid/service';
import { isAbsent, nameOfFile, type TunedAdapter } from './tuning-file.ts';

/** What a file holds, beside the tuned choices of the adapter. */
interface MeasuredRate {
  softwareVersion: string;
  /** Bytes of JPEG files that the device decodes in a second. */
  bytesPerSecond: number;
}

const pathIn = (folder: string, adapter: TunedAdapter): string => join(folder, nameOfFile('jpeg-rate', adapter));

/** The rate at which an adapter decodes JPEGs, by this version, of the first folder that has it. */
export async function readJpegRate(adapter: TunedAdapter, folders: readonly string[]): Promise<number | undefined> {
  for (const folder of folders) {
    try {
      const kept = JSON.parse(await readFile(pathIn(folder, adapter), 'utf8')) as Partial<MeasuredRate>;
      const { bytesPerSecond: rate } = kept;
      if (kept.softwareVersion === softwareVersion && typeof rate === 'number' && rate > 0) return rate;
    } catch {
      // It is measured again, at no cost.
    }
  }
  return undefined;
}

/** Keeps a rate in the first folder that can be written. */
export async function writeJpegRate(
  adapter: TunedAdapter,
  bytesPerSecond: number,
  folders: readonly string[],
): Promise<void> {
  const measured: MeasuredRate = { softwareVersion, bytesPerSecond };
  for (const folder of folders) {
    try {
      await makeFolders(folder, 0o700);
      await writeFileAtomically(pathIn(folder, adapter), `${JSON.stringify(measured, null, 2)}\n`);
      return;
    } catch {
      // The next run measures it again.
    }
  }
}

/** Removes the rate of an adapter, and returns the files that there were. */
export async function forgetJpegRate(adapter: TunedAdapter, folders: readonly string[]): Promise<string[]> {
  const removed: string[] = [];
  for (const folder of folders) {
    try {
      await rm(pathIn(folder, adapter));
      removed.push(pathIn(folder, adapter));
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
  return removed;
}

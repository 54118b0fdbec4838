import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlaneTarget } from '@halogrid/imaging';
import { writeFileAtomically } from '@halogrid/results';
import { makeFolders, softwareVersion } from '@halogrid/service';
import { isAbsent, nameOfFile, type TunedAdapter } from './adapter-file.ts';

/** The content of a file, beside the tuned choices of the adapter. */
interface MeasuredRate {
  softwareVersion: string;
  /** Bytes of JPEG files that the device decodes in a second. */
  bytesPerSecond: number;
}

type Channels = PlaneTarget['channels'];

/** Colours have their own file. */
const names: Readonly<Record<Channels, string>> = { gray: 'jpeg-rate', rgb: 'jpeg-rate-rgb' };

const pathIn = (folder: string, adapter: TunedAdapter, channels: Channels): string =>
  join(folder, nameOfFile(names[channels], adapter));

/** The rate at which an adapter decodes JPEGs to `channels` with this version, from the first folder that has it. */
export async function readJpegRate(
  adapter: TunedAdapter,
  channels: Channels,
  folders: readonly string[],
): Promise<number | undefined> {
  for (const folder of folders) {
    try {
      const kept = JSON.parse(await readFile(pathIn(folder, adapter, channels), 'utf8')) as Partial<MeasuredRate>;
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
  channels: Channels,
  bytesPerSecond: number,
  folders: readonly string[],
): Promise<void> {
  const measured: MeasuredRate = { softwareVersion, bytesPerSecond };
  for (const folder of folders) {
    try {
      await makeFolders(folder, 0o700);
      await writeFileAtomically(pathIn(folder, adapter, channels), `${JSON.stringify(measured, null, 2)}\n`);
      return;
    } catch {
      // The next run measures it again.
    }
  }
}

/** Removes the rates of an adapter, and returns the paths of the removed files. */
export async function forgetJpegRate(adapter: TunedAdapter, folders: readonly string[]): Promise<string[]> {
  const removed: string[] = [];
  for (const path of folders.flatMap((folder) => [pathIn(folder, adapter, 'gray'), pathIn(folder, adapter, 'rgb')])) {
    try {
      await rm(path);
      removed.push(path);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
  return removed;
}

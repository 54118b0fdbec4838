import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { createPipeline, describePipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { makeFolders, softwareVersion } from '@halogrid/service';

/** Pixels a second, end to end, of the last run of each kind: see rateKey. Newest last. */
interface Rates {
  softwareVersion: string;
  rates: Record<string, number>;
}

/** Kinds of runs that are remembered. */
const maxRates = 200;

/** A shorter run says more of how long a start takes. */
const minSeconds = 1;

/**
 * A run must have spent at least this part of its time on its work. A small image takes a second where the machine is busy,
 * and milliseconds of that are work: such a rate, a thousandth of the real one, would have an archive take years.
 */
const minBusyPart = 0.5;

/** What a rate holds for: what is computed and written, and what computes it on this machine. */
export function rateKey({ pipeline, mapFormat }: JobSpec, device: string, nodes: number): string {
  return `${nodes} x ${device}, ${describePipeline(createPipeline(pipeline!.operations))}, map ${mapFormat}`;
}

/** The rate of the last run of that kind; undefined where there was none, or the file cannot be read. */
export async function readRate(key: string, file = ratesFile(process.env)): Promise<number | undefined> {
  const rate = (await readRates(file))[key];
  return typeof rate === 'number' && rate > 0 ? rate : undefined;
}

/** How long a run took, and how long its nodes were at work, all stages of all shards together. */
export interface RunTime {
  seconds: number;
  busySeconds: number;
}

/** Remembers the rate of a run that was long and busy enough to tell. It is for estimates alone, so a file that cannot be written is no failure. */
export async function keepRate(
  key: string,
  pixels: number,
  { seconds, busySeconds }: RunTime,
  file = ratesFile(process.env),
): Promise<void> {
  if (!file || pixels === 0 || seconds < minSeconds || busySeconds < minBusyPart * seconds) return;
  const { [key]: _, ...others } = await readRates(file);
  const rates = Object.fromEntries([...Object.entries(others), [key, pixels / seconds]].slice(-maxRates));
  const text = JSON.stringify({ softwareVersion, rates } satisfies Rates, null, 2);
  await makeFolders(join(file, '..'), 0o700)
    .then(() => writeFileAtomically(file, `${text}\n`))
    .catch(() => {});
}

/** The rates that were kept by this version: those of another are of another program. */
async function readRates(file: string | undefined): Promise<Record<string, number>> {
  try {
    const kept = JSON.parse(await readFile(file!, 'utf8')) as Rates;
    return kept.softwareVersion === softwareVersion && typeof kept.rates === 'object' ? kept.rates : {};
  } catch {
    return {};
  }
}

/** In the cache folder of the user; undefined for a user without a home. */
export function ratesFile(env: NodeJS.ProcessEnv): string | undefined {
  try {
    const cache = env.XDG_CACHE_HOME || join(homedir(), '.cache');
    return isAbsolute(cache) ? join(cache, 'halogrid', 'rates.json') : undefined;
  } catch {
    return undefined;
  }
}

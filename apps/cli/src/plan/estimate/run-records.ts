import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { cacheFolders, makeFolders, softwareVersion } from '@halogrid/service';
import { type CostDevice, isCostDevice } from './kernel-costs.ts';
import type { Parts } from './work-parts.ts';

/** A run that is remembered for estimates. */
export interface KeptRun {
  /** The kind of machine: several machines may share a home folder. */
  machine: string;
  /** The device that computed it, and whether it was chosen automatically. */
  device: CostDevice;
  isChosen: boolean;
  /** The parts of its time by the constants of the program, and the seconds that it took. */
  parts: Parts;
  seconds: number;
  /** How many times longer other programs made the run, as measured before it; at least 1. */
  slowdown: number;
  /** The time until the nodes served, divided by that time by the constants of the program and by `slowdown`. */
  startFactor: number;
}

/** The most runs that are remembered. */
const maxRuns = 200;

/** The file of remembered runs, in the cache folder of the user, or among temporary files if the user has none. */
export const runsFile = (env: NodeJS.ProcessEnv): string => join(cacheFolders(env)[0]!, 'runs.json');

/** The remembered runs of a machine, oldest first. A file that cannot be read counts as missing. */
export async function readRuns(machine: string, file = runsFile(process.env)): Promise<KeptRun[]> {
  return (await allRuns(file)).filter((run) => run.machine === machine);
}

/** Remembers a run. Errors of writing are ignored, because runs only serve estimates. */
export async function keepRun(run: KeptRun, file = runsFile(process.env)): Promise<void> {
  const lines = [...(await allRuns(file)), run].slice(-maxRuns).map((kept) => JSON.stringify(kept));
  const text = `{"softwareVersion":${JSON.stringify(softwareVersion)},"runs":[\n${lines.join(',\n')}\n]}\n`;
  await makeFolders(dirname(file), 0o700)
    .then(() => writeFileAtomically(file, text))
    .catch(() => {});
}

const allRuns = (file: string): Promise<KeptRun[]> => readFile(file, 'utf8').then(parseRuns, () => []);

/** The runs in the text of the file; none if it is damaged or of another version of the program. */
export function parseRuns(text: string): KeptRun[] {
  try {
    const kept: { softwareVersion?: unknown; runs: KeptRun[] } = JSON.parse(text);
    return kept.softwareVersion === softwareVersion ? kept.runs.filter(isRun).slice(-maxRuns) : [];
  } catch {
    return [];
  }
}

/** Whether a parsed value has all that estimates read. Throws if it is not an object, or has no parts. */
const isRun = ({ machine, device, isChosen, parts, seconds, slowdown, startFactor }: KeptRun): boolean =>
  typeof machine === 'string' &&
  isCostDevice(device) &&
  typeof isChosen === 'boolean' &&
  slowdown >= 1 &&
  Object.keys(parts).length > 0 &&
  [slowdown, seconds, startFactor, ...Object.values(parts)].every((value) => Number.isFinite(value) && value > 0);

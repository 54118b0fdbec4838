import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { cacheFolders, makeFolders, softwareVersion } from '@halogrid/service';
import type { RunRecord } from './cost-model.ts';
import type { CostDevice } from './kernel-costs.ts';

/** A run that is remembered for estimates. */
export interface KeptRun extends RunRecord {
  /** The kind of machine: several machines may share a home folder. */
  machine: string;
  /** The device that computed it, and whether it was chosen automatically. */
  device: CostDevice;
  isChosen: boolean;
  /** The time until the nodes served, divided by that time by the constants of the program. */
  startFactor: number;
}

/** Runs that are remembered at most. A file that is larger than they can be is not ours. */
const maxRuns = 200;
const maxFileBytes = 4 * 2 ** 20;

const devices: readonly unknown[] = ['gpu', 'software', 'cpu'] satisfies CostDevice[];

/**
 * The remembered runs of a machine, oldest first. A file that cannot be read, is damaged or of another version of the
 * program counts as missing.
 */
export async function readRuns(machine: string, file = runsFile(process.env)): Promise<KeptRun[]> {
  return (await allRuns(file)).filter((run) => run.machine === machine);
}

/** Remembers a run. Errors of writing are ignored, because runs only serve estimates. */
export async function keepRun(run: KeptRun, file = runsFile(process.env)): Promise<void> {
  const runs = [...(await allRuns(file)), run].slice(-maxRuns);
  const lines = runs.map((kept) => JSON.stringify(kept)).join(',\n');
  await makeFolders(join(file, '..'), 0o700)
    .then(() =>
      writeFileAtomically(file, `{"softwareVersion":${JSON.stringify(softwareVersion)},"runs":[\n${lines}\n]}\n`),
    )
    .catch(() => {});
}

async function allRuns(file: string): Promise<KeptRun[]> {
  try {
    if ((await stat(file)).size > maxFileBytes) return [];
    const kept: { softwareVersion?: unknown; runs?: unknown } = JSON.parse(await readFile(file, 'utf8'));
    if (kept.softwareVersion !== softwareVersion || !Array.isArray(kept.runs)) return [];
    return kept.runs.filter(isRun).slice(-maxRuns);
  } catch {
    return [];
  }
}

function isRun(value: unknown): value is KeptRun {
  if (typeof value !== 'object' || value === null) return false;
  const { machine, device, isChosen, startFactor, slowdown, seconds, parts } = value as Partial<
    Record<keyof KeptRun, unknown>
  >;
  return (
    typeof machine === 'string' &&
    devices.includes(device) &&
    typeof isChosen === 'boolean' &&
    isPositive(startFactor) &&
    isPositive(slowdown) &&
    slowdown >= 1 &&
    isPositive(seconds) &&
    typeof parts === 'object' &&
    parts !== null &&
    Object.values(parts).every(isPositive)
  );
}

const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && Number.isFinite(value);

/**
 * The file of remembered runs: in the cache folder of the user, or in his folder for temporary files if he has none.
 */
export const runsFile = (env: NodeJS.ProcessEnv): string => join(cacheFolders(env)[0]!, 'runs.json');

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '@halogrid/results/write-file-atomically';
import { cacheFolders, makeFolders, softwareVersion } from '@halogrid/service';
import type { RunRecord } from './cost-model.ts';
import type { CostDevice } from './kernel-costs.ts';

/** A run on this machine, as it is remembered for estimates. */
export interface KeptRun extends RunRecord {
  /** What kind of machine it was: a home folder may be that of several. */
  machine: string;
  /** What computed it, and whether it was chosen for lack of a wish. */
  device: CostDevice;
  isChosen: boolean;
  /** What it took until the nodes served, over what that takes by the program's own figures. */
  startFactor: number;
}

/** Runs that are remembered; a file that is larger than such a number ever needs is none of ours. */
const maxRuns = 200;
const maxFileBytes = 4 * 2 ** 20;

const devices: readonly unknown[] = ['gpu', 'software', 'cpu'] satisfies CostDevice[];

/** Oldest first. What cannot be read, is damaged or of another version of the program is as if it were not there. */
export async function readRuns(machine: string, file = runsFile(process.env)): Promise<KeptRun[]> {
  return (await allRuns(file)).filter((run) => run.machine === machine);
}

/** Remembers a run. It is for estimates alone, so a file that cannot be written is no failure. */
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

/** In the cache folder of the user, or, where there is none, in one of his for temporary files. */
export const runsFile = (env: NodeJS.ProcessEnv): string => join(cacheFolders(env)[0]!, 'runs.json');

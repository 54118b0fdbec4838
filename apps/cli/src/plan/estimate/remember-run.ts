import { JobState, type JobStatus, type NodeStatus } from '@halogrid/proto';
import type { DeviceChoice } from '../../options/option-values.ts';
import type { CostDevice } from './kernel-costs.ts';
import type { RunCosts } from './run-costs.ts';
import { type KeptRun, keepRun } from './run-records.ts';
import { thisMachine } from './this-machine.ts';

export interface EndedRun {
  costs: RunCosts;
  nodes: readonly Pick<NodeStatus, 'device'>[];
  /** As asked for. */
  asked: DeviceChoice;
  /** Until the nodes served. */
  startSeconds: number;
}

/** A job that set aside more of its inputs than this did less than was planned. */
const maxQuarantined = 0.1;

/** Remembers what a job of this machine took, where it did all that was planned. */
export async function rememberRun(job: JobStatus, run: EndedRun): Promise<void> {
  const kept = runToKeep(job, run, await run.costs.slowdown);
  if (kept) await keepRun(kept);
}

/** Undefined for a run that says nothing of others. */
export function runToKeep(
  job: JobStatus,
  { costs, nodes, asked, startSeconds }: EndedRun,
  slowdown: number,
): KeptRun | undefined {
  const counts = job.counts!;
  const isWhole = counts.frames > 0 && counts.quarantined <= maxQuarantined * counts.sources && !counts.kept;
  const [device, ...others] = new Set(nodes.map((node) => node.device?.kind));
  if (job.state !== JobState.COMPLETE || !isWhole || others.length > 0 || !isCostDevice(device)) return undefined;
  const parts = costs.partsOf(counts, device);
  const seconds = (job.finishedMs - job.submittedMs) / 1000;
  if (!parts || seconds <= 0) return undefined;
  const startFactor = startSeconds / (slowdown * costs.usualStartSeconds);
  return { machine: thisMachine(), device, isChosen: asked === 'auto', parts, seconds, slowdown, startFactor };
}

const isCostDevice = (kind: string | undefined): kind is CostDevice =>
  kind === 'gpu' || kind === 'software' || kind === 'cpu';

import { JobState, type JobStatus, type NodeStatus } from '@halogrid/proto';
import type { DeviceChoice } from '../../options/option-values.ts';
import type { CostDevice } from './kernel-costs.ts';
import type { RunCosts } from './run-costs.ts';
import { type KeptRun, keepRun } from './run-records.ts';
import { thisMachine } from './this-machine.ts';

export interface EndedRun {
  costs: RunCosts;
  nodes: readonly Pick<NodeStatus, 'device'>[];
  /** The device that was asked for. */
  asked: DeviceChoice;
  /** Seconds until the nodes served. */
  startSeconds: number;
}

/** The largest share of quarantined inputs of a run to remember: with more, a job did less than was planned. */
const maxQuarantined = 0.1;

/** Remembers the time of a job on this machine, if it did all that was planned. */
export async function rememberRun(job: JobStatus, run: EndedRun): Promise<void> {
  const kept = runToKeep(job, run, await run.costs.slowdown);
  if (kept) await keepRun(kept);
}

/** The run as it is remembered; undefined if it says nothing about other runs. */
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

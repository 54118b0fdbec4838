import { describeShards, percentDone, secondsLeft } from '@halogrid/console/words/progress.js';
import { JobState, type JobStatus } from '@halogrid/proto';
import { describePixels, describeSeconds, plural } from './quantities.ts';

/** Characters of the bar, with enough room and with little. */
const [longBar, shortBar] = [24, 10];

/**
 * What a line that is too long for the terminal loses, in this order. The bar is first made shorter. The percentage
 * stays longest.
 */
const leftOut = [
  'none quarantined',
  'long bar',
  'nodes',
  'speed',
  'bar',
  'quarantined',
  'left',
  'shards',
  'doing',
] as const;

type Part = 'shards' | 'doing' | 'speed' | 'left' | 'nodes' | 'quarantined' | 'none quarantined';

/**
 * The line that a terminal shows while a job runs, without colours, at most `columns` wide. It has whole parts only,
 * and is empty if not even the percentage fits. All characters are one column wide, so sentences with names are never
 * parts of it.
 */
export function progressBar(job: JobStatus, columns: number): string {
  const parts = partsOf(job);
  const percent = percentDone(job);
  let bar = longBar;
  const line = (): string => {
    const filled = Math.floor((percent * bar) / 100);
    const drawn = bar > 0 ? `${'█'.repeat(filled)}${'░'.repeat(bar - filled)} ` : '';
    const rest = parts.size > 0 ? `  ${[...parts.values()].join(' · ')}` : '';
    return `${drawn}${String(percent).padStart(3)} %${rest}`;
  };
  for (const part of leftOut) {
    if (line().length <= columns) break;
    if (part === 'long bar') bar = shortBar;
    else if (part === 'bar') bar = 0;
    else parts.delete(part);
  }
  return line().length <= columns ? line() : '';
}

/** The line that is logged from time to time while a job runs. */
export function progressLine(job: JobStatus): string {
  const why = whyWaiting(job);
  const waiting = why ? [`waiting: ${why}`] : [];
  const parts = partsOf(job);
  // What it does is told otherwise.
  if (why || job.paused) parts.delete('doing');
  return `${job.paused ? 'paused' : stateWord(job.state)}: ${[...parts.values(), ...waiting].join(', ')}`;
}

/** What a job waits for; empty if it does not. A paused one waits for `halogrid resume` alone. */
export const whyWaiting = ({ paused, waiting }: JobStatus): string => (paused ? '' : waiting);

/** A job's state as one word. */
export function stateWord(state: JobState): string {
  return state.replace('JOB_STATE_', '').toLowerCase();
}

/** How long a running job still takes: `about 10 s left`; undefined if it is not known. */
export function describeLeft(job: JobStatus): string | undefined {
  const left = secondsLeft(job);
  if (left === undefined) return undefined;
  return `about ${left < 59.5 ? `${Math.round(left)} s` : describeSeconds(left)} left`;
}

/** The parts of the line in the order in which they are shown. */
function partsOf(job: JobStatus): Map<Part, string> {
  const { state, pixelsPerSecond, nodes, waiting } = job;
  const { quarantined, shardsDone } = job.counts!;
  const parts = new Map<Part, string>([['shards', describeShards(job)]]);
  if (state === JobState.FINALISING) return parts.set('doing', 'writing the results');
  if (job.paused) return parts.set('doing', 'paused');
  // A job that has begun and has no speed shows 0 px/s.
  if (pixelsPerSecond !== undefined || shardsDone > 0) parts.set('speed', `${describePixels(pixelsPerSecond ?? 0)}/s`);
  const left = describeLeft(job);
  if (left) parts.set('left', left);
  if (waiting) parts.set('doing', 'waiting');
  if (nodes === 0 && !waiting) parts.set('doing', 'waiting for a node');
  else parts.set('nodes', plural(nodes, 'node'));
  return parts.set(quarantined > 0 ? 'quarantined' : 'none quarantined', `${quarantined} quarantined`);
}

import { JobState, type JobStatus } from '@halogrid/proto';
import { describePixels, describeSeconds, plural } from './quantities.ts';

/** Characters of the bar itself. */
const barLength = 24;

/** The line that a terminal shows while a job runs, without colours, at most `columns` long. */
export function progressBar(job: JobStatus, speed: Speed, columns: number): string {
  const share = doneShare(job);
  const filled = Math.floor(share * barLength);
  const bar = '█'.repeat(filled) + '░'.repeat(barLength - filled);
  const percent = `${String(Math.floor(share * 100)).padStart(3)} %`;
  return `${bar} ${percent}  ${facts(job, speed).join(' · ')}`.slice(0, columns);
}

/** The line that a log gets now and then while a job runs. */
export function progressLine(job: JobStatus, speed: Speed): string {
  return `${stateWord(job.state)}: ${facts(job, speed).join(', ')}`;
}

/** A job's state as one word. */
export function stateWord(state: JobState): string {
  return state.replace('JOB_STATE_', '').toLowerCase();
}

function facts(job: JobStatus, speed: Speed): string[] {
  const { shards, shardsDone, quarantined } = job.counts!;
  const found = job.planned ? shards : `${shards}+`;
  const list = [`${shardsDone} of ${found} shards`];
  if (job.state === JobState.FINALISING) return [...list, 'writing the results'];
  list.push(`${describePixels(speed.pixelsPerSecond)}/s`);
  const left = secondsLeft(job, speed);
  if (left !== undefined) list.push(`about ${left < 60 ? `${left} s` : describeSeconds(left)} left`);
  list.push(job.nodes === 0 && !job.waiting ? 'waiting for a node' : plural(job.nodes, 'node'));
  list.push(`${quarantined} quarantined`);
  if (job.waiting) list.push(`waiting: ${job.waiting}`);
  return list;
}

/** The part of a job that is done, in [0, 1]; 0 as long as its size is unknown. */
function doneShare(job: JobStatus): number {
  const { shards, shardsDone } = job.counts!;
  if (!job.planned) return 0;
  return shards === 0 ? 1 : shardsDone / shards;
}

/** Seconds to the end at this speed, where they can be told. */
function secondsLeft(job: JobStatus, speed: Speed): number | undefined {
  const { shards, shardsDone } = job.counts!;
  if (!job.planned || speed.shardsPerSecond === 0 || shardsDone === shards) return undefined;
  return Math.round((shards - shardsDone) / speed.shardsPerSecond);
}

/** Speeds are means over this time: long enough not to jump with every shard, short enough to follow nodes that join. */
const windowMs = 10_000;

export interface Speed {
  pixelsPerSecond: number;
  shardsPerSecond: number;
}

interface Sample {
  ms: number;
  pixels: number;
  shards: number;
}

/** Measures how fast a job goes from how far it is. */
export class Speedometer {
  private samples: Sample[] = [];

  /** Takes how far the job is at `ms` and gives its speed over the last ten seconds; zeros at first. */
  measure(ms: number, pixels: number, shards: number): Speed {
    this.samples.push({ ms, pixels, shards });
    while (this.samples.length > 2 && this.samples[1]!.ms <= ms - windowMs) this.samples.shift();
    const first = this.samples[0]!;
    const seconds = (ms - first.ms) / 1000;
    if (seconds === 0) return { pixelsPerSecond: 0, shardsPerSecond: 0 };
    return {
      pixelsPerSecond: Math.max(0, pixels - first.pixels) / seconds,
      shardsPerSecond: Math.max(0, shards - first.shards) / seconds,
    };
  }
}

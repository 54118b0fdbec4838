import { hasEnded, type JobStatus, type JobTimes } from '@halogrid/proto';
import { describeSeconds } from '../progress/quantities.ts';

/** What a node is at while it has shards. */
const works = ['read', 'decode', 'device', 'encode'] as const;
type Work = (typeof works)[number];

/** What most of a job's time was spent on, or spent in waiting for. */
export type Bound = Work | 'start' | 'listing' | 'shards' | 'writing';

/** Where the time of a job went, from submission to its end, in seconds. */
export interface TimeSpent {
  /** Until a node had the first shard. */
  starting: number;
  /** From then until the last result was merged. */
  computing: number;
  /** From then until the output was complete. */
  writing: number;
  /** Until the last source was listed, which goes on while nodes compute; absent where nobody saw it. */
  listing?: number;
  /** Parts of `computing`, in [0, 1], in which a node was at something, as a mean of the nodes; `shard`: had a shard at all. */
  busy: Record<Work | 'shard', number>;
  /** Absent where nodes told nothing. */
  bound?: Bound;
}

/** Undefined where too little was seen of the job: it has not ended, had no results, or an earlier coordinator began it. */
export function whereTimeWent(job: JobStatus): TimeSpent | undefined {
  const { times, submittedMs, finishedMs, nodesUsed } = job;
  if (!hasEnded(job) || !times?.leasedMs || !times.computedMs || !nodesUsed) return undefined;
  const between = (fromMs: number, toMs: number) => Math.max(0, toMs - fromMs) / 1000;
  const computing = between(times.leasedMs, times.computedMs);
  const part = (name: string) => rounded((times.busySeconds[name] ?? 0) / (computing * nodesUsed || 1));
  const { read, decode, device, encode, shard } = times.busySeconds;
  const tells = [read, decode, device, encode, shard].some((seconds) => seconds !== undefined);
  const spent: TimeSpent = {
    starting: between(submittedMs, times.leasedMs),
    computing,
    writing: between(times.computedMs, finishedMs),
    ...(times.listedMs && { listing: between(submittedMs, times.listedMs) }),
    busy: {
      read: part('read'),
      decode: part('decode'),
      device: part('device'),
      encode: part('encode'),
      shard: part('shard'),
    },
  };
  return tells ? { ...spent, bound: boundOf(spent, times) } : spent;
}

/** A device that is busy for this part of the time, one batch after another, has none left for more. */
const fullDevice = 0.8;
/** What is under way for nearly as long as anything else may be what all wait for. */
const nearly = 0.9;

/** What bound a job: the part of it that took more than half, or what nodes were at for longest while they had shards. */
export function boundOf(
  { starting, computing, writing, listing, busy }: Omit<TimeSpent, 'bound'>,
  { stageSeconds, busySeconds }: Pick<JobTimes, 'stageSeconds' | 'busySeconds'>,
): Bound {
  const half = (starting + computing + writing) / 2;
  if (writing > half) return 'writing';
  if (starting > half) return 'start';
  if (busy.shard < 1 / 2)
    return listing !== undefined && listing > starting + computing * nearly ? 'listing' : 'shards';
  const secondsOf = (...stages: string[]) => stages.reduce((sum, stage) => sum + (stageSeconds[stage] ?? 0), 0);
  const seconds: Record<Work, number> = {
    read: secondsOf('read'),
    decode: secondsOf('decode'),
    device: secondsOf('upload', 'compute', 'readback'),
    encode: secondsOf('encode'),
  };
  const takesTurns = seconds.device <= (busySeconds.device ?? 0) * 1.05;
  if (busy.device >= fullDevice && takesTurns) return 'device';
  // Where several are under way all the time, as on a CPU that decodes and computes, it is the one that took most.
  const most = Math.max(...works.map((work) => busy[work]));
  const longest = works.filter((work) => busy[work] >= most * nearly);
  return longest.reduce((a, b) => (seconds[b] > seconds[a] ? b : a));
}

/** Rows of a table: where the time went, and what bound it; none where that is not known. */
export function describeTime(spent: TimeSpent | undefined): string[][] {
  if (!spent) return [];
  const { starting, computing, writing } = spent;
  const parts = [
    `${describeSeconds(starting)} to the first shard`,
    `${describeSeconds(computing)} computing`,
    `${describeSeconds(writing)} writing`,
  ];
  return [['time', parts.join(', ')], ...(spent.bound ? [['bound by', describeBound(spent, spent.bound)]] : [])];
}

const workNames: Record<Work, string> = {
  read: 'reading',
  decode: 'decoding',
  device: 'the device',
  encode: 'keeping maps',
};

function describeBound({ starting, computing, writing, busy }: TimeSpent, bound: Bound): string {
  const percent = (part: number) => `${Math.round(part * 100)} %`;
  const all = describeSeconds(starting + computing + writing);
  switch (bound) {
    case 'start':
      return `the start: it took ${describeSeconds(starting)} of ${all}`;
    case 'writing':
      return `writing the results: it took ${describeSeconds(writing)} of ${all}`;
    case 'listing':
      return `listing: nodes had no shard in ${percent(1 - busy.shard)} of ${describeSeconds(computing)}`;
    case 'shards':
      return `waiting: nodes had no shard in ${percent(1 - busy.shard)} of ${describeSeconds(computing)}`;
    case 'device':
      return `the device: busy in ${percent(busy.device)} of ${describeSeconds(computing)}, decoding in ${percent(busy.decode)}`;
    default: {
      const seconds = `${describeSeconds(busy[bound] * computing)} of ${describeSeconds(computing)}`;
      return `${workNames[bound]}: under way in ${seconds}; the device was busy in ${percent(busy.device)}`;
    }
  }
}

/** In [0, 1], to a thousandth. */
const rounded = (part: number): number => Math.round(Math.min(1, Math.max(0, part)) * 1000) / 1000;

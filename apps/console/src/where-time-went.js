// Where the time of a job went, and what bound it, on the console and in a terminal alike.
import { hasEnded } from './progress.js';
import { describeSeconds } from './seconds.js';

/** @import { JobStatus, JobTimes } from '@halogrid/proto' */

/** What a node is at while it has shards. */
const works = /** @type {const} */ (['read', 'decode', 'device', 'encode']);

/** @typedef {(typeof works)[number]} Work */

/**
 * What most of a job's time was spent on, or spent in waiting for.
 *
 * @typedef {Work | 'start' | 'listing' | 'shards' | 'writing'} Bound
 */

/**
 * Where the time of a job went, from submission to its end, in seconds. `starting`: until a node had the first shard; `computing`:
 * from then until the last result was merged; `writing`: from then until the output was complete; `listing`: until the last source
 * was listed, which goes on while nodes compute, absent where nobody saw it. `busy`: parts of `computing`, in [0, 1], in which a node
 * was at something, as a mean of the nodes; `shard`: had a shard at all. `bound` is absent where nodes told nothing.
 *
 * @typedef {object} TimeSpent
 * @property {number} starting
 * @property {number} computing
 * @property {number} writing
 * @property {number} [listing]
 * @property {Record<Work | 'shard', number>} busy
 * @property {Bound} [bound]
 */

/**
 * Undefined where too little was seen of the job: it had no results, or an earlier coordinator began it; and for one that has not
 * ended, unless `nowMs` of the coordinator's clock says until when it is told of.
 *
 * @param {JobStatus} job
 * @param {number} [nowMs]
 * @returns {TimeSpent | undefined}
 */
export function whereTimeWent(job, nowMs) {
  const { times, submittedMs, nodesUsed } = job;
  const endMs = hasEnded(job) ? job.finishedMs : nowMs;
  if (endMs === undefined || !times?.leasedMs || !nodesUsed) return undefined;
  const computedMs = times.computedMs || (hasEnded(job) ? 0 : endMs);
  if (!computedMs) return undefined;
  /** @param {number} fromMs @param {number} toMs */
  const between = (fromMs, toMs) => Math.max(0, toMs - fromMs) / 1000;
  const computing = between(times.leasedMs, computedMs);
  /** @param {string} name */
  const part = (name) => rounded((times.busySeconds[name] ?? 0) / (computing * nodesUsed || 1));
  const { read, decode, device, encode, shard } = times.busySeconds;
  const tells = [read, decode, device, encode, shard].some((seconds) => seconds !== undefined);
  /** @type {TimeSpent} */
  const spent = {
    starting: between(submittedMs, times.leasedMs),
    computing,
    writing: between(computedMs, endMs),
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

/**
 * What bound a job: the part of it that took more than half, or what nodes were at for longest while they had shards.
 *
 * @param {Omit<TimeSpent, 'bound'>} spent
 * @param {Pick<JobTimes, 'stageSeconds' | 'busySeconds'>} times
 * @returns {Bound}
 */
export function boundOf({ starting, computing, writing, listing, busy }, { stageSeconds, busySeconds }) {
  const half = (starting + computing + writing) / 2;
  if (writing > half) return 'writing';
  if (starting > half) return 'start';
  if (busy.shard < 1 / 2)
    return listing !== undefined && listing > starting + computing * nearly ? 'listing' : 'shards';
  /** @param {string[]} stages */
  const secondsOf = (...stages) => stages.reduce((sum, stage) => sum + (stageSeconds[stage] ?? 0), 0);
  /** @type {Record<Work, number>} */
  const seconds = {
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

/**
 * Rows of a table: where the time went, and what bound it; none where that is not known.
 *
 * @param {TimeSpent | undefined} spent
 * @returns {string[][]}
 */
export function describeTime(spent) {
  if (!spent) return [];
  const { starting, computing, writing } = spent;
  const parts = [
    `${describeSeconds(starting)} to the first shard`,
    `${describeSeconds(computing)} computing`,
    `${describeSeconds(writing)} writing`,
  ];
  return [['time', parts.join(', ')], ...(spent.bound ? [['bound by', describeBound(spent, spent.bound)]] : [])];
}

/** @type {Record<Work, string>} */
export const workNames = {
  read: 'reading',
  decode: 'decoding',
  device: 'the device',
  encode: 'keeping maps',
};

/** @param {TimeSpent} spent @param {Bound} bound */
function describeBound({ starting, computing, writing, busy }, bound) {
  /** @param {number} part */
  const percent = (part) => `${Math.round(part * 100)} %`;
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

/** In [0, 1], to a thousandth. @param {number} part */
const rounded = (part) => Math.round(Math.min(1, Math.max(0, part)) * 1000) / 1000;

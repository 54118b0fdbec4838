// Where the time of a job went, and what limited it, for the console and for terminals.
import { hasEnded } from './progress.js';
import { describeSeconds } from './seconds.js';

/** @import { JobStatus, JobTimes } from '@halogrid/proto' */

/** What a node does with its shards. */
const works = /** @type {const} */ (['read', 'decode', 'device', 'encode']);

/** @typedef {(typeof works)[number]} Work */

/** What may hold up a node that has shards; `node`: none of the others. */
const binders = /** @type {const} */ (['network', 'read', 'decode', 'device', 'encode', 'node']);

/** @typedef {(typeof binders)[number]} Binder */

/**
 * What most of a job's time was spent on, or spent waiting for.
 *
 * @typedef {Binder | 'start' | 'listing' | 'host' | 'jobs' | 'coordinator' | 'shards' | 'writing'} Bound
 */

/**
 * Where the time of a job went, from its submission to its end. Times are in seconds. Parts are of `computing`, in [0,
 * 1], as means of the nodes.
 *
 * @typedef {object} TimeSpent
 * @property {number} starting until a node had the first shard
 * @property {number} computing from then until the last result was merged
 * @property {number} writing from then until the output was complete
 * @property {number} [listing] until the last source was listed, while nodes compute already; absent if not seen
 * @property {Record<Work | 'shard', number>} busy the part in which a node did each work; `shard`: had a shard
 * @property {Record<Binder, number>} [binding] the part in which each held up the work after it; absent for older nodes
 * @property {number} [queued] the part in which shards waited for a node
 * @property {number} [others] the part in which shards waited while nodes had shards of other jobs
 * @property {{ place: string, seconds: number }} [away] the host or bucket that the job waited for longest
 * @property {Bound} [bound] absent if nodes reported nothing
 */

/**
 * Undefined if too little is known: the job has no results, or an earlier coordinator process began it. For a job that
 * has not ended, `nowMs` is the time of the coordinator's clock up to which it is described.
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
  const { read, decode, device, encode, shard, queued, others } = times.busySeconds;
  const hasBinding = binders.some((name) => times.busySeconds[`${name}_binds`] !== undefined);
  const tells = [read, decode, device, encode, shard].some((seconds) => seconds !== undefined);
  /** @type {TimeSpent} */
  const spent = {
    starting: between(submittedMs, times.leasedMs),
    computing,
    writing: between(computedMs, endMs),
    listing: times.listedMs ? between(submittedMs, times.listedMs) : undefined,
    busy: {
      read: part('read'),
      decode: part('decode'),
      device: part('device'),
      encode: part('encode'),
      shard: part('shard'),
    },
    binding: hasBinding
      ? /** @type {Record<Binder, number>} */ (Object.fromEntries(binders.map((name) => [name, part(`${name}_binds`)])))
      : undefined,
    away: awayOf(times.busySeconds),
    // Time of the coordinator, so the number of nodes does not matter.
    queued: queued === undefined ? undefined : rounded(queued / (computing || 1)),
    others: others === undefined ? undefined : rounded(others / (computing || 1)),
  };
  return tells ? { ...spent, bound: boundOf(spent, times) } : spent;
}

/** @param {Record<string, number>} busySeconds @returns {TimeSpent['away']} */
function awayOf(busySeconds) {
  const hosts = Object.entries(busySeconds).filter(([name]) => name.startsWith('away '));
  if (hosts.length === 0) return undefined;
  const [name, seconds] = hosts.reduce((a, b) => (b[1] > a[1] ? b : a));
  return { place: name.slice('away '.length), seconds };
}

/** A device that is busy for this part of the time, with one batch after another, is fully used. */
const fullDevice = 0.8;
/** Work that runs for nearly as long as the longest may be what limits a node. */
const nearly = 0.9;

/**
 * What limited a job: the phase that took more than half of the time, or the work that nodes did for longest while they
 * had shards.
 *
 * @param {Omit<TimeSpent, 'bound'>} spent
 * @param {Pick<JobTimes, 'stageSeconds' | 'busySeconds'>} times
 * @returns {Bound}
 */
export function boundOf(
  { starting, computing, writing, listing, busy, binding, queued = 0, others = 0, away },
  { stageSeconds, busySeconds },
) {
  const half = (starting + computing + writing) / 2;
  if (writing > half) return 'writing';
  /** @param {number} seconds */
  const isAwayMostOf = (seconds) => away !== undefined && away.seconds > seconds / 2;
  if (starting > half) return isAwayMostOf(starting) ? 'host' : 'start';
  if (busy.shard < 1 / 2) {
    const idle = 1 - busy.shard;
    if (isAwayMostOf(idle * computing)) return 'host';
    if (listing !== undefined && listing > starting + computing * nearly) return 'listing';
    // Both were true at the same time for at least the part by which their sum exceeds 1.
    if (queued + idle - 1 <= idle / 2) return 'shards';
    return others > queued / 2 ? 'jobs' : 'coordinator';
  }
  if (binding) return binders.reduce((a, b) => (binding[b] > binding[a] ? b : a));
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
  // If several run all the time, as on a CPU that decodes and computes, the one that took most seconds counts.
  const most = Math.max(...works.map((work) => busy[work]));
  const longest = works.filter((work) => busy[work] >= most * nearly);
  return longest.reduce((a, b) => (seconds[b] > seconds[a] ? b : a));
}

/**
 * Rows of a table: where the time went, and what limited the job; none if that is not known.
 *
 * @param {TimeSpent | undefined} spent
 * @returns {string[][]}
 */
export function describeTimeSpent(spent) {
  if (!spent) return [];
  const { starting, computing, writing } = spent;
  const parts = [
    `${describeSeconds(starting)} to the first shard`,
    `${describeSeconds(computing)} computing`,
    `${describeSeconds(writing)} writing`,
  ];
  const { bound } = spent;
  return [
    ['time', parts.join(', ')],
    ...(bound ? [['bound by', describeBound(spent, bound) + besideOthers(spent)]] : []),
  ];
}

/** @type {Record<Binder, string>} */
export const workNames = {
  network: 'the network',
  read: 'reading',
  decode: 'decoding',
  device: 'the device',
  encode: 'storing results',
  node: "the node's own work",
};

/** @param {TimeSpent} spent @param {Bound} bound */
function describeBound({ starting, computing, writing, busy, binding, away }, bound) {
  /** @param {number} part */
  const percent = (part) => `${Math.round(part * 100)} %`;
  /** @param {number} part */
  const ofComputing = (part) => `${describeSeconds(part * computing)} of ${describeSeconds(computing)}`;
  const all = describeSeconds(starting + computing + writing);
  const idle = `nodes had no shard for ${percent(1 - busy.shard)} of ${describeSeconds(computing)}`;
  switch (bound) {
    case 'start':
      return `the start: it took ${describeSeconds(starting)} of ${all}`;
    case 'writing':
      return `writing the results: it took ${describeSeconds(writing)} of ${all}`;
    case 'listing':
      return `listing: ${idle}`;
    case 'host':
      return `${placeName(away?.place ?? '')}: it was unavailable for ${describeSeconds(away?.seconds ?? 0)} of ${all}`;
    case 'jobs':
      return `other jobs: nodes were at them for ${percent(1 - busy.shard)} of ${describeSeconds(computing)}`;
    case 'coordinator':
      return `the coordinator: ${idle}, while shards waited for one`;
    case 'shards':
      return `waiting: ${idle}`;
    case 'device':
      if (binding)
        return `the device: it had work for ${ofComputing(binding.device)} and was busy for ${percent(busy.device)}`;
      return `the device: busy for ${percent(busy.device)} of ${describeSeconds(computing)}, decoding for ${percent(busy.decode)}`;
    case 'node':
      return `the node's own work: it had shards, but read, decoded, computed and stored none of them for ${ofComputing(binding?.node ?? 0)}`;
    default: {
      const device = `the device was busy for ${percent(busy.device)}`;
      if (binding)
        return `${workNames[bound]}: everything else waited for it, ${ofComputing(binding[bound])}; ${device}`;
      const work = bound === 'network' ? 'read' : bound;
      return `${workNames[work]}: running for ${ofComputing(busy[work])}; ${device}`;
    }
  }
}

/** A part of a node's time that is worth a word. */
const notable = 0.1;

/**
 * The addition for a job that shared its nodes with others: its times are longer than its own work.
 *
 * @param {TimeSpent} spent
 */
function besideOthers({ computing, bound, others = 0 }) {
  if (bound === 'jobs' || others < notable) return '';
  return `; other jobs had shards at nodes while its own waited, for ${Math.round(others * 100)} % of ${describeSeconds(computing)}`;
}

/** @param {string} place */
function placeName(place) {
  const [scheme, name] = place.split('://');
  return `the ${scheme?.startsWith('http') ? 'host' : 'bucket'} '${name}'`;
}

/** Rounded to a thousandth, and limited to [0, 1]. @param {number} part */
const rounded = (part) => Math.round(Math.min(1, Math.max(0, part)) * 1000) / 1000;

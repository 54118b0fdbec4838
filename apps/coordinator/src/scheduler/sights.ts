import { hostStaysAway, waitsForHost } from '@halogrid/jobs/away-sentences';
import { lackOf, type OutputLack, waitedInVain, waitsFor } from '@halogrid/jobs/output-lack';
import { needInWords, placeOfNeed } from '@halogrid/proto';
import { isActive } from './active-nodes.ts';
import { forgetOutputLack, isWriting, lacksRoom, outputLack, outputOf } from './output-need.ts';
import type { AttachedNode, ScheduledJob, SchedulerState, ShardEntry, Sight, Turn } from './scheduler-state.ts';

/** The pause before a node that lacks something is asked again; it doubles each time, up to the longest. */
const firstWaitMs = 1_000;
/** A folder may be mounted at any time. */
const longestWaitMs = 30_000;
/**
 * For a node that showed that it meets a need, and then failed for lack of it: asking it again soon is of little use.
 */
const longestWaitAfterFailuresMs = 5 * 60_000;
/** A disk that is full may have room at any moment, and trying costs little. */
const longestWaitForRoomMs = 5_000;
/** A node with more sights than this forgets those that no job needs; until then they are kept for people to see. */
const maxSights = 64;

export function canDo({ sights }: AttachedNode, needs: readonly string[] | undefined): boolean {
  return needs === undefined || needs.every((need) => sights.get(need)?.kind === 'shown');
}

/**
 * Whether the node is known to lack a need of the shard. A disk that is full for every node does not count, nor does a
 * host that has been away for less than the time that jobs wait.
 */
function lacksFor(
  node: AttachedNode,
  { job, shard }: ShardEntry,
  { sourceGraceMs }: SchedulerState,
  now: number,
): boolean {
  return (shard.needs ?? []).some((need) => {
    const sight = node.sights.get(need);
    if (sight?.kind !== 'lacking') return false;
    if (placeOfNeed(need) !== undefined) return now - sight.sinceMs >= sourceGraceMs;
    return !job.outputLack || !lacksRoom(node, need);
  });
}

/** Whether an active node that `isMeant` accepts could do the shard, as far as is known. */
export function someNodeCouldHave(
  state: SchedulerState,
  entry: ShardEntry,
  now: number,
  isMeant: (node: AttachedNode) => boolean,
): boolean {
  for (const node of state.nodes.values())
    if (isActive(node, now) && isMeant(node) && !lacksFor(node, entry, state, now)) return true;
  return false;
}

/** Asks every node about the new needs of a job, even if the node has shown them for another job. */
export function needsPlanned<A>(turn: Turn<A>, job: ScheduledJob, needs: Iterable<string>): void {
  for (const need of needs) {
    if (job.needs.has(need)) continue;
    job.needs.set(need, 0);
    for (const node of turn.state.nodes.values()) ask(turn, node, need);
  }
}

/** Asks a joining node about all needs of jobs, and believes it about those that it says it lacks. */
export function greet<A>(turn: Turn<A>, node: AttachedNode, lacks: readonly { need: string; reason: string }[]): void {
  const { state, now } = turn;
  for (const { need, reason } of lacks) {
    // Not asked again: what the node says it lacks does not change while its process lives.
    setLacking(turn, node, need, { reason, askAtMs: Number.POSITIVE_INFINITY, waitMs: firstWaitMs, sinceMs: now });
  }
  for (const job of state.jobs.values()) {
    for (const need of job.needs.keys()) if (!node.sights.has(need)) ask(turn, node, need);
  }
}

/** The node has shown that it meets the need. */
export function setShown<A>(turn: Turn<A>, node: AttachedNode, need: string): void {
  const { session, nodeId } = node;
  const before = node.sights.get(need);
  const { waitMs, isDoubtful } = keptOf(before);
  node.sights.set(need, { kind: 'shown', waitMs, isDoubtful });
  if (before?.kind !== 'lacking') return;
  turn.commands.push({ kind: 'RecordLack', session, nodeId, need, reason: undefined });
  node.isOnProbation = true;
}

/**
 * The coordinator has tried to write results itself. `own`: why that failed, so that no node can write either;
 * undefined: it succeeded.
 */
export function lookedAtOutput<A>(turn: Turn<A>, need: string, own: OutputLack | undefined): void {
  const { state } = turn;
  if (!isWriting(need)) return;
  for (const job of state.jobs.values()) if (job.needs.has(need)) job.outputLack = own;
  if (!own) return;
  for (const node of state.nodes.values())
    if (node.sights.get(need)?.kind === 'shown') setLacked(turn, node, need, own.error);
}

/** The node has shown that it lacks the need. */
export function setLacked<A>(turn: Turn<A>, node: AttachedNode, need: string, reason: string): void {
  lack(turn, node, need, { reason, atMostMs: longestWaitMs });
}

/** The node failed a shard for lack of the need, even if it had shown to meet it. */
export function loseSight<A>(turn: Turn<A>, node: AttachedNode, need: string, reason: string): void {
  if (node.sights.get(need)?.kind === 'lacking') return;
  node.isOnProbation = true;
  lack(turn, node, need, { reason, atMostMs: longestWaitAfterFailuresMs, isDoubtful: true });
}

/** The node has computed a shard: earlier failures for lack of a need are forgotten. */
export function confirmSights(node: AttachedNode, { shard }: ShardEntry): void {
  for (const need of shard.needs ?? []) {
    const sight = node.sights.get(need);
    if (sight?.kind !== 'shown') continue;
    sight.waitMs = firstWaitMs;
    sight.isDoubtful = undefined;
  }
}

/** Asks nodes again that lacked a need a while ago, and treats a node that does not answer as lacking it. */
export function keepAsking<A>(turn: Turn<A>): void {
  const { state, now } = turn;
  for (const node of state.nodes.values()) {
    for (const [need, sight] of node.sights) {
      if (sight.kind === 'asked' && now - sight.sinceMs > state.reportWithinMs) {
        const reason = `It has not answered for ${state.reportWithinMs} ms whether it can`;
        // `isAsked`: its answer may still come.
        setLacking(turn, node, need, {
          reason,
          askAtMs: 0,
          waitMs: firstWaitMs,
          sinceMs: sight.sinceMs,
          isAsked: true,
        });
      } else if (sight.kind === 'lacking' && !sight.isAsked && sight.askAtMs <= now && isNeeded(state, need)) {
        sight.isAsked = true;
        turn.commands.push({ kind: 'ProbeNode', session: node.session, need });
      }
    }
  }
}

/**
 * Fails jobs with a need that no active node has met for too long, unless they wait for nodes. A node that shows the
 * need again does not reset that time before it has computed a shard with it, because it may fail for lack of it again;
 * but a job fails only while every active node lacks the need. Usually some node lacks nothing, and no need has to be
 * examined.
 */
export function failBlocked<A>({ state, now, commands }: Turn<A>): void {
  const active = [...state.nodes.values()].filter((node) => isActive(node, now));
  if (active.length === 0 || active.some(({ sights }) => !sights.values().some(isInDoubt))) {
    for (const job of state.jobs.values()) {
      job.lackedSinceMs.clear();
      forgetOutputLack(job, active);
    }
    return;
  }
  for (const job of state.jobs.values()) {
    if (job.isPaused) continue;
    for (const need of job.needs.keys()) {
      const lacks = ({ sights }: AttachedNode): boolean => sights.get(need)?.kind === 'lacking';
      if (!active.every(({ sights }) => isInDoubt(sights.get(need)))) {
        job.lackedSinceMs.delete(need);
        if (isWriting(need)) forgetOutputLack(job, active);
      } else if (!job.lackedSinceMs.has(need)) job.lackedSinceMs.set(need, now);
      else if (active.every(lacks) && !isLeftTo(state, need, now)) {
        const waitedMs = now - job.lackedSinceMs.get(need)!;
        const lack = outputLack(state, job, need);
        if (waitedMs < graceOf(state, need, lack) || (job.waitsForNode && lack?.kind !== 'room')) continue;
        const error = lack ? waitedInVain(outputOf(need), lack, waitedMs) : failedSentence(state, need, waitedMs);
        commands.push({ kind: 'FailJob', jobId: job.jobId, error, isWant: true });
        break;
      }
    }
  }
}

/**
 * Whether a node that is set aside meets the need and will be given shards again. A node that has failed every shard it
 * was ever given is not waited for: it would be set aside again and again.
 */
function isLeftTo({ nodes }: SchedulerState, need: string, now: number): boolean {
  for (const { health, isDraining, sights } of nodes.values())
    if (!isDraining && health.isAside(now) && !health.failsEverything && sights.get(need)?.kind === 'shown')
      return true;
  return false;
}

/** Whether the node lacks the need, or may fail for lack of it again. */
const isInDoubt = (sight: Sight | undefined): boolean =>
  sight?.kind === 'lacking' || (sight?.kind === 'shown' && sight.isDoubtful === true);

function graceOf(state: SchedulerState, need: string, lack: OutputLack | undefined): number {
  if (lack?.kind === 'room') return state.spaceGraceMs;
  return placeOfNeed(need) === undefined ? state.graceMs : state.sourceGraceMs;
}

/** Why the job waits: no node meets the needs of some of its shards. */
export function whyBlocked(state: SchedulerState, job: ScheduledJob): string | undefined {
  for (const need of job.lackedSinceMs.keys()) {
    const lack = outputLack(state, job, need);
    if (lack) return waitsFor(outputOf(need), lack);
    const nodes = whoLacks(state, need);
    // If a node has shown the need since then, it is only on probation until it has computed something.
    if (!nodes || isShown(state, need)) continue;
    const place = placeOfNeed(need);
    return place === undefined ? blockedSentence(need, nodes) : waitsForHost({ place, ...nodes });
  }
  return undefined;
}

/** The host or bucket that the job waits for. */
export function awaitedPlace(state: SchedulerState, { lackedSinceMs }: ScheduledJob): string | undefined {
  for (const need of lackedSinceMs.keys()) {
    const place = placeOfNeed(need);
    if (place !== undefined && !isShown(state, need)) return place;
  }
  return undefined;
}

function isShown({ nodes }: SchedulerState, need: string): boolean {
  for (const { sights } of nodes.values()) if (sights.get(need)?.kind === 'shown') return true;
  return false;
}

/** Why a job fails after waiting for something that every node lacks. */
function failedSentence(state: SchedulerState, need: string, waitedMs: number): string {
  const place = placeOfNeed(need);
  const nodes = whoLacks(state, need)!;
  return place === undefined ? blockedSentence(need, nodes) : hostStaysAway({ place, ...nodes }, waitedMs);
}

/** The first node that lacks the need, and why, with the number of other such nodes; undefined if none lacks it now. */
function whoLacks({ nodes }: SchedulerState, need: string): { who: string; reason: string } | undefined {
  const lacking = [...nodes.values()].flatMap(({ name, sights }) => {
    const sight = sights.get(need);
    return sight?.kind === 'lacking' ? [{ name, reason: sight.reason }] : [];
  });
  const [first] = lacking;
  const others = lacking.length > 1 ? ` (and ${lacking.length - 1} more)` : '';
  return first && { who: `node '${first.name}'`, reason: `${first.reason}${others}` };
}

const blockedSentence = (need: string, { who, reason }: { who: string; reason: string }): string =>
  `No attached node can ${needInWords(need)}: ${who}: ${reason}; ${remedyOf(need)}, or have the job wait for a node that can`;

function remedyOf(need: string): string {
  if (need.startsWith('decode')) return 'install what is missing there';
  if (need.startsWith('zones')) return 'run the same version of Node.js there';
  return 'mount the folder there, and start the node with a --data-root that holds it';
}

function ask<A>(turn: Turn<A>, node: AttachedNode, need: string): void {
  const sight = node.sights.get(need);
  if (
    sight?.kind === 'asked' ||
    (sight?.kind === 'lacking' && (sight.isAsked || sight.askAtMs === Number.POSITIVE_INFINITY))
  )
    return;
  // An earlier success counts until the node answers differently.
  if (!sight) node.sights.set(need, { kind: 'asked', sinceMs: turn.now });
  else if (sight.kind === 'lacking') sight.isAsked = true;
  turn.commands.push({ kind: 'ProbeNode', session: node.session, need });
  for (const known of node.sights.keys()) {
    if (node.sights.size <= maxSights) break;
    if (!isNeeded(turn.state, known)) node.sights.delete(known);
  }
}

function lack<A>(
  turn: Turn<A>,
  node: AttachedNode,
  need: string,
  { reason, atMostMs, isDoubtful }: { reason: string; atMostMs: number; isDoubtful?: boolean },
): void {
  // The job has ended meanwhile.
  if (isWriting(need) && !isNeeded(turn.state, need)) return;
  const before = node.sights.get(need);
  const longestMs = isWriting(need) && lackOf(reason) ? longestWaitForRoomMs : atMostMs;
  const kept = keptOf(before);
  const waitMs = Math.min(longestMs, kept.waitMs);
  setLacking(turn, node, need, {
    reason,
    sinceMs: before?.kind === 'lacking' ? before.sinceMs : turn.now,
    askAtMs: turn.now + waitMs,
    waitMs: waitMs * 2,
    isDoubtful: isDoubtful || kept.isDoubtful,
  });
}

/** What the node's next sight keeps of this one: until it computes a shard, longer pauses and doubts stay. */
const keptOf = (sight: Sight | undefined): { waitMs: number; isDoubtful?: boolean } =>
  sight && sight.kind !== 'asked' ? sight : { waitMs: firstWaitMs };

function setLacking<A>(
  { commands }: Turn<A>,
  node: AttachedNode,
  need: string,
  sight: Omit<Extract<Sight, { kind: 'lacking' }>, 'kind' | 'isAsked'> & { isAsked?: boolean },
): void {
  const { session, nodeId } = node;
  if (node.sights.get(need)?.kind !== 'lacking') {
    commands.push({ kind: 'RecordLack', session, nodeId, need, reason: sight.reason });
  }
  node.sights.set(need, { kind: 'lacking', isAsked: false, ...sight });
}

const isNeeded = ({ jobs }: SchedulerState, need: string): boolean => {
  for (const job of jobs.values()) if (job.needs.has(need)) return true;
  return false;
};

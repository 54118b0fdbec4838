import type { Opinion } from './events.ts';
import { finishShard } from './finish-shard.ts';
import { isSampled } from './is-sampled.ts';
import { countNeeds } from './job-needs.ts';
import { judge } from './judge.ts';
import { giveUp, leaseToAll, release, requeue, shareAnew } from './leases.ts';
import { removeNode, wrongNodeReason } from './node-events.ts';
import type { AttachedNode, ShardEntry, Turn } from './scheduler-state.ts';
import { setAsideBad } from './set-aside-bad.ts';
import { confirmSights } from './sights.ts';

/** Takes an answer for good. */
export function accept<A>(turn: Turn<A>, entry: ShardEntry, opinion: Opinion): void {
  const node = turn.state.nodesById.get(opinion.nodeId);
  if (node) {
    node.health.add(false);
    if (opinion.answer.goodShare !== 0) node.isOnProbation = false;
    confirmSights(node, entry);
  }
  // What failed elsewhere is computed here.
  for (const nodeId of entry.failedOn) setAsideBad(turn, nodeId, 'Another node could compute it');
  hear(turn, entry, opinion);
}

/** Takes an answer for a shard from which its lease is released: it is committed, or another opinion is asked for. */
export function hear<A>(turn: Turn<A>, entry: ShardEntry, opinion: Opinion): void {
  entry.opinions = [...entry.opinions, opinion];
  settle(turn, entry);
}

/**
 * Takes an answer that comes too late, to a lease that was recalled when another node had answered the shard. Where it says
 * something else than what was committed, both are in doubt, and the reference decides.
 */
export function contest<A>(turn: Turn<A>, opinion: Opinion): void {
  const { jobId, shard } = opinion.lease;
  const job = turn.state.jobs.get(jobId);
  const entry = job?.contestable.get(shard);
  const committed = entry?.committed;
  const isRecalled = ({ session, attempt }: ShardEntry['recalled'][number]): boolean =>
    session === opinion.session && attempt === opinion.lease.attempt;
  if (!job || !entry || !committed || !entry.recalled.some(isRecalled)) return;
  entry.recalled = entry.recalled.filter((recalled) => !isRecalled(recalled));
  if (opinion.answer.digest === committed.answer.digest) return;
  entry.opinions = [...entry.opinions, opinion];
  recordMismatch(turn, entry);
  if (entry.state.kind !== 'settling') return;
  // What is being written is judged when it is.
  if (job.open.get(shard) === entry) return;
  reopen(turn, entry);
  leaseToAll(turn);
}

/** Has the reference judge what is committed already; the job waits for it. */
export function reopen<A>(turn: Turn<A>, entry: ShardEntry): void {
  const { job, shard } = entry;
  if (!job.open.has(shard.shard)) {
    job.open.set(shard.shard, entry);
    countNeeds(job, shard);
    turn.state.openShards++;
  }
  requeue(turn, entry, 'check');
}

/** Decides over the shard by what was answered so far. */
function settle<A>(turn: Turn<A>, entry: ShardEntry): void {
  const { job, shard, committed } = entry;
  const isChecked = committed !== undefined || isSampled(job.jobId, shard.shard, job.verify);
  const verdict = judge(entry.opinions, isChecked ? 2 : 1);
  switch (verdict.kind) {
    case 'open':
      if (verdict.isDisputed) recordMismatch(turn, entry);
      recallOthers(turn, entry);
      requeue(turn, entry, 'check');
      leaseToAll(turn);
      break;
    case 'undecidable':
      recordMismatch(turn, entry);
      recallOthers(turn, entry);
      giveUp(turn, entry, `${entry.opinions.length} answers to it all differ`);
      break;
    case 'believed':
      recallOthers(turn, entry);
      for (const { nodeId, lease } of verdict.outvoted) setAsideWrong(turn, nodeId, lease);
      conclude(turn, entry, verdict.opinion);
      break;
  }
}

/** Commits what a device found, if it is what is believed; where only the reference has found that, a device is asked again. */
function conclude<A>(turn: Turn<A>, entry: ShardEntry, believed: Opinion): void {
  const isBelieved = ({ answer }: Opinion): boolean =>
    entry.opinions.length === 1 || answer.digest === believed.answer.digest;
  const ofDevice = entry.opinions.find((opinion) => !opinion.isCheck && isBelieved(opinion));
  if (entry.committed || ofDevice) {
    believe(turn, entry, ofDevice ?? believed);
    return;
  }
  // A device that was wrong has left wrong chunks of the map: the next one overwrites them.
  entry.opinions = entry.opinions.filter(isBelieved);
  requeue(turn, entry, 'check');
  leaseToAll(turn);
}

function believe<A>(turn: Turn<A>, entry: ShardEntry, opinion: Opinion): void {
  const { commands } = turn;
  const { job, shard, committed } = entry;
  if (opinion.answer.goodShare === 0 && shard.work.kind === 'tile') job.refused.add(shard.work.source.index);
  if (!committed) {
    const { session, lease, leasedAtMs, nodeId } = opinion;
    entry.opinions = [];
    entry.vetting = undefined;
    const { bytes: answerBytes } = opinion.answer;
    entry.state = { kind: 'settling', nodeId, answerBytes };
    job.unwrittenBytes += answerBytes;
    if (entry.recalled.length > 0) {
      entry.committed = { ...opinion, answer: { digest: opinion.answer.digest, bytes: 0 } };
      entry.opinions = [entry.committed];
      job.contestable.set(shard.shard, entry);
    }
    // The state carries answers unread; this one came with an event of this scheduler.
    commands.push({ kind: 'CommitShard', session, lease, leasedAtMs, answer: opinion.answer as A });
    return;
  }
  job.contestable.delete(shard.shard);
  if (committed.answer.digest !== opinion.answer.digest) {
    const error = `Shard ${shard.shard} was merged as ${committed.nodeId} had computed it, and the reference says otherwise`;
    commands.push({ kind: 'FailJob', jobId: job.jobId, error: `${error}; run the job again without that node` });
    return;
  }
  finishShard(turn, entry);
}

function recallOthers<A>({ state, now, commands }: Turn<A>, entry: ShardEntry): void {
  for (const held of entry.held) {
    const { node, attempt } = held;
    const { session } = node;
    release(state, held);
    entry.recalled = [...entry.recalled, { session, attempt }];
    node.deadlineMs = now + state.reportWithinMs;
    commands.push({ kind: 'RecallShards', session, jobId: entry.job.jobId, shards: [entry.shard.shard] });
  }
}

/** The node is not wanted any more; what it said of shards that are not committed is forgotten. */
function setAsideWrong<A>(turn: Turn<A>, nodeId: string, lease: Opinion['lease']): void {
  const { state, commands } = turn;
  commands.push({ kind: 'RecordWrongAnswer', nodeId, lease });
  state.wrongNodes.add(nodeId);
  for (const job of state.jobs.values()) {
    for (const entry of job.open.values()) {
      if (entry.committed || entry.opinions.length === 0) continue;
      entry.opinions = entry.opinions.filter((opinion) => opinion.nodeId !== nodeId);
    }
  }
  const node: AttachedNode | undefined = state.nodesById.get(nodeId);
  if (!node) return;
  removeNode(turn, node, false);
  commands.push({ kind: 'DropNode', session: node.session, lost: true, isFinal: true, reason: wrongNodeReason });
  shareAnew(turn);
}

function recordMismatch<A>({ commands }: Turn<A>, { job, shard, opinions }: ShardEntry): void {
  const nodeIds = opinions.map(({ nodeId }) => nodeId);
  commands.push({ kind: 'RecordMismatch', jobId: job.jobId, shard: shard.shard, nodeIds });
}

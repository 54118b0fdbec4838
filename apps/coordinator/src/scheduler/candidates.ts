import { firstOf } from '@halogrid/jobs/planned-sources';
import type { Candidate } from './events.ts';
import { finishShard } from './finish-shard.ts';
import { isSampled } from './is-sampled.ts';
import { countNeeds } from './job-needs.ts';
import { judge } from './judge.ts';
import { giveUp, leaseToAll, release, requeue } from './leases.ts';
import type { ShardEntry, Turn } from './scheduler-state.ts';
import { setAsideBad } from './set-aside-bad.ts';
import { otherThanReference, setAsideWrong } from './set-aside-wrong.ts';
import { confirmSights } from './sights.ts';

/** Accepts an answer. */
export function acceptAnswer<A>(turn: Turn<A>, entry: ShardEntry, candidate: Candidate): void {
  const node = turn.state.nodesById.get(candidate.nodeId);
  if (node) {
    node.health.add(false);
    if (candidate.answer.goodShare !== 0) node.isOnProbation = false;
    confirmSights(node, entry);
  }
  // This node has computed a shard that failed elsewhere.
  for (const nodeId of entry.failedOn) setAsideBad(turn, nodeId, 'Another node could compute it');
  recordAnswer(turn, entry, candidate);
}

/** Adds an answer, whose lease is released already, to the candidates; commits one or asks for another answer. */
function recordAnswer<A>(turn: Turn<A>, entry: ShardEntry, candidate: Candidate): void {
  entry.candidates = [...entry.candidates, candidate];
  settle(turn, entry);
}

/**
 * Takes a late answer to a lease that was recalled after another node had answered. If it differs from the committed
 * answer, both are in doubt, and the reference decides.
 */
export function compareLateAnswer<A>(turn: Turn<A>, candidate: Candidate): void {
  const { jobId, shard } = candidate.lease;
  const job = turn.state.jobs.get(jobId);
  const entry = job?.contestable.get(shard);
  const committed = entry?.committed;
  const isRecalled = ({ session, attempt }: ShardEntry['recalled'][number]): boolean =>
    session === candidate.session && attempt === candidate.lease.attempt;
  if (!job || !entry || !committed || !entry.recalled.some(isRecalled)) return;
  entry.recalled = entry.recalled.filter((recalled) => !isRecalled(recalled));
  if (candidate.answer.digest === committed.answer.digest) return;
  entry.candidates = [...entry.candidates, candidate];
  recordMismatch(turn, entry);
  if (entry.state.kind !== 'settling') return;
  // If the answer is still being written, commitFinished reopens the shard.
  if (job.open.get(shard) === entry) return;
  reopen(turn, entry);
  leaseToAll(turn);
}

/** Has the reference judge a committed shard; the job waits for that. */
export function reopen<A>(turn: Turn<A>, entry: ShardEntry): void {
  const { job, shard } = entry;
  if (!job.open.has(shard.shard)) {
    job.open.set(shard.shard, entry);
    countNeeds(job, shard);
    if (!job.isPaused) turn.state.openShards++;
  }
  requeue(turn, entry, 'check');
}

/** Decides about the shard by the answers so far. */
function settle<A>(turn: Turn<A>, entry: ShardEntry): void {
  const { job, shard, committed } = entry;
  const isVerified = committed !== undefined || isSampled(job.jobId, shard.shard, job.verifyPercent);
  const verdict = judge(entry.candidates, isVerified ? 2 : 1);
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
      giveUp(turn, entry, `${entry.candidates.length} answers to it all differ`);
      break;
    case 'chosen':
      recallOthers(turn, entry);
      for (const { nodeId, lease } of verdict.outvoted) setAsideWrong(turn, nodeId, lease, otherThanReference);
      chooseResult(turn, entry, verdict.candidate);
      break;
  }
}

/**
 * Commits the answer of a device that agrees with the choice; if only the reference agrees, a device must compute the
 * shard again.
 */
function chooseResult<A>(turn: Turn<A>, entry: ShardEntry, chosen: Candidate): void {
  const agrees = ({ answer }: Candidate): boolean =>
    entry.candidates.length === 1 || answer.digest === chosen.answer.digest;
  const ofDevice = entry.candidates.find((candidate) => !candidate.verify && agrees(candidate));
  if (entry.committed || ofDevice) {
    commitResult(turn, entry, ofDevice ?? chosen);
    return;
  }
  // A device that was wrong has left wrong chunks of the map: the next one overwrites them.
  entry.candidates = entry.candidates.filter(agrees);
  requeue(turn, entry, 'check');
  leaseToAll(turn);
}

function commitResult<A>(turn: Turn<A>, entry: ShardEntry, candidate: Candidate): void {
  const { commands } = turn;
  const { job, shard, committed } = entry;
  if (candidate.answer.goodShare === 0 && shard.work.kind === 'tile') job.refused.add(firstOf(shard.work.sources));
  if (!committed) {
    const { session, lease, leasedAtMs, nodeId } = candidate;
    entry.candidates = [];
    entry.vetting = undefined;
    const { bytes: answerBytes } = candidate.answer;
    entry.state = { kind: 'settling', nodeId, answerBytes };
    job.unwrittenBytes += answerBytes;
    if (entry.recalled.length > 0) {
      entry.committed = { ...candidate, answer: { digest: candidate.answer.digest, bytes: 0 } };
      entry.candidates = [entry.committed];
      job.contestable.set(shard.shard, entry);
    }
    // The state types answers as Comparable; this one came with an event of this scheduler, so it is an A.
    commands.push({ kind: 'CommitShard', session, lease, leasedAtMs, answer: candidate.answer as A });
    return;
  }
  job.contestable.delete(shard.shard);
  if (committed.answer.digest !== candidate.answer.digest) {
    const error = `Shard ${shard.shard} was merged as ${committed.nodeId} had computed it, but the reference computes something else`;
    commands.push({ kind: 'FailJob', jobId: job.jobId, error: `${error}; run the job again without that node` });
    return;
  }
  finishShard(turn, entry);
}

function recallOthers<A>({ state, now, commands }: Turn<A>, entry: ShardEntry): void {
  for (const held of entry.held) {
    const { node, number: attempt } = held;
    const { session } = node;
    release(state, held);
    entry.recalled = [...entry.recalled, { session, attempt }];
    node.deadlineMs = now + state.reportWithinMs;
    commands.push({ kind: 'RecallShards', session, jobId: entry.job.jobId, shards: [entry.shard.shard] });
  }
}

function recordMismatch<A>({ commands }: Turn<A>, { job, shard, candidates }: ShardEntry): void {
  const nodeIds = candidates.map(({ nodeId }) => nodeId);
  commands.push({ kind: 'RecordMismatch', jobId: job.jobId, shard: shard.shard, nodeIds });
}

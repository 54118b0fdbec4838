import type { SourceError, SourceResult } from '@halogrid/jobs/shard';
import { readVarints } from '@halogrid/proto/varints';
import type { Ledger, ShardCommit } from '../ledger/ledger.ts';
import type { AnswerFact, Fact, SourceFault, TileFact } from '../log/fact.ts';

/** How many changes wait for the disk together. */
const atOnce = 256;

/**
 * Repeats what the facts of a job say about its shards in another job that has the same plan, in the same order. Plan,
 * notes, times and states are left out. Rejects with InvalidResultError if an answer is implausible.
 */
export async function replayFacts(
  facts: AsyncIterable<Fact>,
  ledger: Pick<Ledger, 'addAttempt' | 'commit' | 'epochOf' | 'quarantineShard' | 'skipShard' | 'withdraw'>,
  jobId: string,
): Promise<void> {
  const nodes: { name: string; device: string }[] = [];
  const epoch = ledger.epochOf(jobId);
  const repeat = async (fact: Fact): Promise<unknown> => {
    switch (fact.kind) {
      case 'node':
        return nodes.push({ name: fact.name, device: fact.device });
      case 'attempt':
        return ledger.addAttempt(jobId, fact.shard, fact.attempt);
      case 'answer':
      case 'tile':
        return ledger.commit({ jobId, epoch, ...answerOf(fact), node: nodes[fact.node - 1] });
      case 'given-up':
        return ledger.quarantineShard(jobId, fact.shard, fact.errors[0]?.error ?? '', fact.attempts);
      case 'skipped':
        return ledger.skipShard(jobId, fact.shard);
      case 'withdrawn':
        return ledger.withdraw(jobId, fact.shard);
    }
    return undefined;
  };
  let writing: Promise<unknown>[] = [];
  for await (const fact of facts) {
    writing.push(repeat(fact));
    if (writing.length < atOnce) continue;
    await Promise.all(writing);
    writing = [];
  }
  await Promise.all(writing);
}

function answerOf(fact: AnswerFact | TileFact): Omit<ShardCommit, 'jobId' | 'epoch' | 'node'> {
  const { shard, attempt, mended, stageSeconds, busySeconds } = fact;
  const errors = fact.errors.map(errorOf);
  const common = { shard, attempt, mended, stageSeconds: { ...stageSeconds }, busySeconds: { ...busySeconds } };
  if (fact.kind === 'tile') return { ...common, errors, results: tileResults(fact), inputBytes: 0 };
  const { part, places, found, pixels, digest, parts } = fact;
  return { ...common, errors, results: [], found: { part, places, found, pixels, digest, parts }, inputBytes: 0 };
}

const errorOf = ({ source, stage, error }: SourceFault): SourceError => ({ source, stage, error });

function tileResults({ source, size, rect, captured, parts = [] }: TileFact): SourceResult[] {
  return parts.map(({ counted, binCount, bins: packed }, pipeline) => {
    const bins = new Float64Array(binCount);
    readVarints(packed, 0, bins);
    return { source, size, rect, counted, bins, ...(pipeline > 0 ? { pipeline } : captured && { captured }) };
  });
}

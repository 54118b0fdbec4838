import { Cause } from '@halogrid/proto';
import { isOfVersion } from '@halogrid/sources';
import { refsOf } from '../job/packed-frames.ts';
import type { Shard, ShardAnswer, SourceRef } from '../job/shard.ts';
import type { Verdict } from '../scheduler/events.ts';
import { type NodeProbes, sayUri } from './node-probes.ts';
import type { Eyes } from './own-view.ts';

/** An answer is taken for good at this attempt, where it is a network that fails, and the coordinator's as well. */
const lastAttempt = 3;

/**
 * Finds out whether sources that a node could not have are at fault, or the node: the coordinator reads each itself. One that it
 * can read, as it was listed, refutes the answer.
 */
export async function vetAnswer(
  eyes: Eyes,
  probes: Pick<NodeProbes, 'samples' | 'isGone'>,
  { shard, answer, attempt }: { shard: Shard; answer: Pick<ShardAnswer, 'errors'>; attempt: number },
): Promise<Verdict> {
  const refs = new Map(refsOf(shard.work).map((ref) => [ref.index, ref]));
  let untold: Verdict | undefined;
  // Frames of a video are all in one file.
  const looked = new Map<string, Verdict>();
  for (const { source, error, cause = Cause.CONTENT } of answer.errors) {
    const ref = refs.get(source);
    if (cause === Cause.CONTENT || !ref) continue;
    const version = versionOf(shard, ref);
    const verdict =
      looked.get(ref.uri) ??
      (await vetSource(eyes, probes, { ref: { ...ref, version }, shard, error, cause, attempt }));
    looked.set(ref.uri, verdict);
    if (verdict.kind === 'refuted' || verdict.kind === 'later') return verdict;
    if (verdict.kind === 'untold') untold ??= verdict;
  }
  return untold ?? { kind: 'upheld' };
}

async function vetSource(
  eyes: Eyes,
  probes: Pick<NodeProbes, 'samples' | 'isGone'>,
  { ref, shard, error, cause, attempt }: { ref: SourceRef; shard: Shard; error: string; cause: Cause; attempt: number },
): Promise<Verdict> {
  const { uri, version } = ref;
  const need = shard.needs?.find((each) => each.startsWith('read ') && uri.startsWith(`${each.slice(5)}/`));
  const reason = `${error} (${sayUri(uri)})`;
  let view = await eyes.see(uri, cause === Cause.ACCESS);
  if (view.kind === 'not there') {
    // Nothing is told of files by a folder that is not there any more.
    if (need !== undefined && (await probes.isGone(need))) return { kind: 'refuted', need, reason };
    // Nor by one that was not there just now, and is again.
    view = await eyes.see(uri, cause === Cause.ACCESS);
  }
  if (view.kind === 'there') {
    if (version !== undefined && !isOfVersion(view.file.version, version)) return { kind: 'upheld' };
    if (need !== undefined) probes.samples.failed(need, uri);
    return { kind: 'refuted', need, reason };
  }
  if (view.mayPass && attempt < lastAttempt) return { kind: 'later', reason };
  // What was never seen from here may be seen from elsewhere.
  return version !== undefined || view.isMissing ? { kind: 'upheld' } : { kind: 'untold', reason };
}

/** As it was listed; frames of a video have that of their segment. */
function versionOf({ work }: Shard, { version }: SourceRef): string | undefined {
  const segment = work.kind === 'frames' ? work.segment?.version : undefined;
  return version ?? (segment || undefined);
}

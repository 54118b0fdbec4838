import { readSources } from '@halogrid/jobs/planned-sources';
import { type Shard, type ShardAnswer, sourcesIn } from '@halogrid/jobs/shard';
import { Cause } from '@halogrid/proto';
import { isOfVersion } from '@halogrid/sources';
import type { Verdict } from '../scheduler/events.ts';
import { type NodeProbes, sayUri } from './node-probes.ts';
import type { Eyes } from './own-view.ts';

/**
 * An answer is put off this often if the coordinator, too, meets a fault that may pass. After that, the answer counts.
 */
const mostDelays = 2;

/** An answer to a shard, to be vetted. */
export interface Vetted {
  shard: Shard;
  answer: Pick<ShardAnswer, 'errors'>;
  /** How often an answer to the shard was put off. */
  delays: number;
}

/**
 * Finds out whether sources that a node could not read are at fault, or the node: the coordinator reads each source
 * itself. A source that it can read, in the listed version, refutes the answer.
 */
export async function vetAnswer(eyes: Pick<Eyes, 'see'>, probes: VettingProbes, vetted: Vetted): Promise<Verdict> {
  const { shard, answer } = vetted;
  const sources = new Map([...readSources(shard.work.sources)].map((source) => [source.index, source]));
  let untold: Verdict | undefined;
  // By URI, because all frames of a video are in one file.
  const looked = new Map<string, Verdict>();
  for (const { source, error, cause = Cause.CONTENT } of answer.errors) {
    const asked = sources.get(source);
    if (cause === Cause.CONTENT || !asked) continue;
    const { uri } = asked;
    const version = asked.pin ?? segmentVersionOf(shard);
    const verdict = looked.get(uri) ?? (await vetSource(eyes, probes, { ...vetted, uri, version, error, cause }));
    looked.set(uri, verdict);
    if (verdict.kind !== 'upheld' && verdict.kind !== 'untold') return verdict;
    if (verdict.kind === 'untold') untold ??= verdict;
  }
  return untold ?? { kind: 'upheld' };
}

type VettingProbes = Pick<NodeProbes, 'samples' | 'isGone' | 'isHostGone'>;

async function vetSource(
  eyes: Pick<Eyes, 'see'>,
  probes: VettingProbes,
  {
    uri,
    version,
    shard,
    answer,
    error,
    cause,
    delays,
  }: Vetted & {
    uri: string;
    version: string | undefined;
    error: string;
    cause: Cause;
  },
): Promise<Verdict> {
  const need = shard.needs?.find((each) => each.startsWith('read ') && uri.startsWith(`${each.slice(5)}/`));
  const reason = `${error} (${sayUri(uri)})`;
  const isWhole = cause !== Cause.CHANGED;
  let view = await eyes.see(uri, isWhole);
  if (view.kind === 'not there') {
    // A folder that is not there any more, or a host that is away, proves nothing about a file.
    if (need !== undefined && (await probes.isGone(need))) return { kind: 'refuted', need, reason };
    const isOfHost = cause === Cause.AWAY || cause === Cause.CLOSED || version !== undefined;
    const hasSome = answer.errors.length < sourcesIn(shard.work);
    if (need !== undefined && isOfHost && (await probes.isHostGone(need, { uri, fault: view.fault }, hasSome))) {
      return { kind: 'away', need, reason };
    }
    // Neither does a folder or host that was away just now and is back: the file is read again.
    view = await eyes.see(uri, isWhole);
  }
  if (view.kind === 'there') {
    if (version !== undefined && !isOfVersion(view.file.version, version)) return { kind: 'upheld' };
    if (need !== undefined) probes.samples.failed(need, uri);
    return { kind: 'refuted', need, reason };
  }
  const mayPass = view.fault === 'away' || view.fault === 'process';
  if (mayPass && delays < mostDelays) return { kind: 'later', reason };
  // A file that the coordinator has never seen may be readable elsewhere.
  return version !== undefined || view.isMissing ? { kind: 'upheld' } : { kind: 'untold', reason };
}

/** The version of the video, if the shard is a segment of one. */
const segmentVersionOf = ({ work }: Shard): string | undefined =>
  (work.kind === 'frames' && work.segment?.version) || undefined;

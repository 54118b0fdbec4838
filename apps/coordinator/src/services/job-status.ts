import { askedPipelines } from '@halogrid/jobs/asked-operations';
import type { JobRecord, LedgerState } from '@halogrid/ledger';
import { JobState, JobStatus, type Load, type NodeStatus, type WorkersAtWork } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources';
import type { AttachedNodeView } from '../dispatch/attached-nodes.ts';
import type { JobNow } from '../dispatch/job-now.ts';

export const wireStates: Record<LedgerState, JobState> = {
  pending: JobState.PENDING,
  running: JobState.RUNNING,
  finalising: JobState.FINALISING,
  complete: JobState.COMPLETE,
  failed: JobState.FAILED,
  cancelled: JobState.CANCELLED,
};

/** The message about a job, without secrets in its URIs. */
export function toJobStatus(record: JobRecord, { nodes, waiting, speed }: JobNow): JobStatus {
  const spec = { ...record.spec, sources: record.spec.sources.map(redactUri) };
  const state = wireStates[record.state];
  const told = { notes: [...(record.notes ?? [])], asked: askedPipelines(record.spec) };
  return JobStatus.fromPartial({ ...record, ...told, spec, state, nodes, waiting, ...speed });
}

/** The message about a node. */
export function toNodeStatus(node: AttachedNodeView): NodeStatus {
  const { nodeId, name, device, softwareVersion, threads, creditBytes } = node.hello;
  const { leases, shardsDone, shardsFailed, pixelsDone, attachedMs, isDraining: draining } = node;
  const { shown, leasedBytes, lastFailure, load } = node;
  return {
    nodeId,
    name,
    device,
    softwareVersion,
    draining,
    leases,
    shardsDone,
    shardsFailed,
    pixelsDone,
    attachedMs,
    lacks: node.lacks.map(({ need, reason, sinceMs }) => ({ need: redactNeed(need), reason, sinceMs })),
    setAsideUntilMs: node.asideUntilMs,
    threads,
    sees: shown.map(redactNeed),
    leasedBytes,
    creditBytes,
    lastFailure: lastFailure?.error ?? '',
    lastFailureMs: lastFailure?.atMs ?? 0,
    load: load ? workersOf(load) : [],
  };
}

/** The workers of the node. The node's word is not trusted: no more are busy than there are. */
function workersOf({ decode, video, device }: Load): WorkersAtWork[] {
  return Object.entries({ decode, video, device }).flatMap(([kind, load]) => {
    if (!load || load.workers === 0) return [];
    const busy = Math.max(0, Math.min(load.workers, Number.isFinite(load.busy) ? load.busy : 0));
    return [{ kind, workers: load.workers, busy: Math.round(busy * 100) / 100, queued: load.queued }];
  });
}

/** The need without secrets in its URI. */
const redactNeed = (need: string): string =>
  need.replace(/^(read|write) (.*)$/s, (_, verb, uri) => `${verb} ${redactUri(uri)}`);

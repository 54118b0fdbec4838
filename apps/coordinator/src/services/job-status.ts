import { redactUri } from '@halogrid/imaging';
import { JobState, JobStatus, NodeStatus } from '@halogrid/proto';
import type { JobRecord, LedgerState } from '../ledger/ledger.ts';
import type { AttachedNodeView } from '../node-session.ts';

const wireStates: Record<LedgerState, JobState> = {
  pending: JobState.PENDING,
  running: JobState.RUNNING,
  finalising: JobState.FINALISING,
  complete: JobState.COMPLETE,
  failed: JobState.FAILED,
  cancelled: JobState.CANCELLED,
};

/** The job as the wire carries it, without what may be secret in its URIs. `nodes`: attached ones that hold or held a shard of it. */
export function toJobStatus(record: JobRecord, nodes: number): JobStatus {
  const spec = { ...record.spec, sources: record.spec.sources.map(redactUri) };
  return JobStatus.fromPartial({ ...record, spec, state: wireStates[record.state], nodes });
}

/** The node as the wire carries it. */
export function toNodeStatus(node: AttachedNodeView): NodeStatus {
  const { nodeId, name, device, softwareVersion } = node.hello;
  const { leases, shardsDone, pixelsDone, attachedMs, isDraining: draining } = node;
  return NodeStatus.fromPartial({
    ...{ nodeId, name, device, softwareVersion, draining, leases, shardsDone, pixelsDone, attachedMs },
  });
}

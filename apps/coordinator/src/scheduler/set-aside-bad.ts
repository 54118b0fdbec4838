import { shareAnew } from './leases.ts';
import { isBadNode } from './node-health.ts';
import type { Turn } from './scheduler-state.ts';

/** How often each node is set aside, if all fail everything, before the jobs fail. */
const maxAsideAlone = 2;

/** Sets a bad node aside for a while: then its failures do not count against shards. `error` is the last one. */
export function setAsideBad<A>(turn: Turn<A>, nodeId: string, error: string): void {
  const { state, now, commands } = turn;
  const node = state.nodesById.get(nodeId);
  if (!node?.health.isSuspect) return;
  const { health } = node;
  const others = [...state.nodes.values()].filter((other) => other !== node).map((other) => other.health);
  // If no other node has computed anything, none can be compared with this one: the shards may be at fault.
  const isHopeless = others.every(({ failsEverything }) => failsEverything);
  if (isHopeless ? !health.failsEverything : !isBadNode(health, others)) return;
  const { failures, answers: of } = health;
  if (isHopeless && health.timesAside >= maxAsideAlone) failJobs(turn, nodeId, error);
  const forMs = health.setAside(now);
  state.health.set(nodeId, health);
  commands.push({ kind: 'RecordSetAside', nodeId, forMs, failures, of });
  for (const job of state.jobs.values()) {
    for (const entry of job.open.values()) {
      if (entry.failedOn.length > 0) entry.failedOn = entry.failedOn.filter((id) => id !== nodeId);
    }
  }
  shareAnew(turn);
}

/** Fails the jobs whose shards this node has failed again and again, if there is no better node. */
function failJobs<A>({ state, commands }: Turn<A>, nodeId: string, last: string): void {
  const { size } = state.nodes;
  const who = size === 1 ? `Node ${nodeId}, the only one there is,` : `Each of the ${size} nodes that there are`;
  const error = `${who} failed every shard that it was given, and no other came: ${last}`;
  for (const { jobId, open } of state.jobs.values()) {
    const isFailed = [...open.values()].some(({ failedOn }) => failedOn.includes(nodeId));
    if (isFailed) commands.push({ kind: 'FailJob', jobId, error });
  }
}

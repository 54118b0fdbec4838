import { shareAnew } from './leases.ts';
import { isBadNode } from './node-health.ts';
import type { Turn } from './scheduler-state.ts';

/** Where all nodes fail everything, each is set aside so often, and others are waited for, before the jobs fail. */
const maxAsideAlone = 2;

/**
 * Sets the node aside for a while where it is a bad one: its failures then blame no shard. `error` is the last of them.
 */
export function setAsideBad<A>(turn: Turn<A>, nodeId: string, error: string): void {
  const { state, now, commands } = turn;
  const node = state.nodesById.get(nodeId);
  if (!node?.health.isSuspect) return;
  const { health } = node;
  const others = [...state.nodes.values()].filter((other) => other !== node).map((other) => other.health);
  // Then there is nobody to compare it with: it may be the shards.
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

/** Fails the jobs of which the node, for lack of a better one, has failed shards again and again. */
function failJobs<A>({ state, commands }: Turn<A>, nodeId: string, last: string): void {
  const { size } = state.nodes;
  const who = size === 1 ? `Node ${nodeId}, the only one there is,` : `Each of the ${size} nodes that there are`;
  const error = `${who} failed every shard that it was given, and no other came: ${last}`;
  for (const { jobId, open } of state.jobs.values()) {
    const isFailed = [...open.values()].some(({ failedOn }) => failedOn.includes(nodeId));
    if (isFailed) commands.push({ kind: 'FailJob', jobId, error });
  }
}

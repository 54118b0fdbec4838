import { handBack, leaseToAll } from './leases.ts';
import type { AttachedNode, Turn } from './scheduler-state.ts';

/** Attaches the node. Where it is attached already, the older conversation ends and its leases are handed back. */
export function nodeJoined<A>(turn: Turn<A>, event: { session: number; nodeId: string; creditBytes: number }): void {
  const { state, now, commands } = turn;
  const before = state.nodesById.get(event.nodeId);
  if (before) {
    remove(turn, before, false);
    commands.push({ kind: 'DropNode', session: before.session, lost: false, reason: 'The node attached anew' });
  }
  const { session, nodeId, creditBytes } = event;
  const deadlineMs = now + state.reportWithinMs;
  const leases: AttachedNode['leases'] = new Set();
  const node = { session, nodeId, creditBytes, leases, leasedBytes: 0, isDraining: false, deadlineMs };
  state.nodes.set(session, node);
  state.nodesById.set(nodeId, node);
  leaseToAll(turn);
}

export function nodeDraining<A>(turn: Turn<A>, session: number): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  node.isDraining = true;
  // The others may now retry what they failed, if this was the last node that had not.
  leaseToAll(turn);
}

export function nodeLeft<A>(turn: Turn<A>, session: number): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  // A draining node that still holds leases was killed as it did not stop in time, which is no shard's fault.
  remove(turn, node, !node.isDraining);
  leaseToAll(turn);
}

/**
 * Drops the nodes that were silent past their deadline. When the tick itself comes late, this process did not run and
 * could not hear anybody: the deadlines are put off by as long.
 */
export function ticked<A>(turn: Turn<A>): void {
  const { state, now, commands } = turn;
  const lateMs = now - (state.lastTickMs ?? now) - state.tickMs;
  state.lastTickMs = now;
  const silent: AttachedNode[] = [];
  for (const node of state.nodes.values()) {
    if (lateMs > state.tickMs) node.deadlineMs += lateMs;
    if (node.deadlineMs < now) silent.push(node);
  }
  for (const node of silent) {
    remove(turn, node, !node.isDraining);
    const reason = `The node was silent for more than ${state.reportWithinMs} ms`;
    commands.push({ kind: 'DropNode', session: node.session, lost: true, reason });
  }
  if (silent.length > 0) leaseToAll(turn);
}

function remove<A>(turn: Turn<A>, node: AttachedNode, isBlamed: boolean): void {
  turn.state.nodes.delete(node.session);
  turn.state.nodesById.delete(node.nodeId);
  handBack(turn, node, isBlamed);
}

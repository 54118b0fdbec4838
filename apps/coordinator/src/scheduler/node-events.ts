import { adoptLeases } from './adopt.ts';
import type { SchedulerEvent } from './events.ts';
import { findLease, handBack, leaseTo, putInPart, shareAnew } from './leases.ts';
import { NodeHealth } from './node-health.ts';
import { NodeRate } from './node-rate.ts';
import type { AttachedNode, Turn } from './scheduler-state.ts';
import { failBlocked, greet, keepAsking, lookedAtOutput, setLacked, setShown } from './sights.ts';
import { copyStragglers } from './stragglers.ts';

/**
 * Attaches the node. If it is attached already, the older conversation ends and its leases are handed back, unless the
 * node brings them along.
 */
export function nodeJoined<A>(turn: Turn<A>, event: Extract<SchedulerEvent<A>, { kind: 'NodeJoined' }>): void {
  const { state, now, commands } = turn;
  const { session, nodeId, name = nodeId, creditBytes, decoders = 0, hasComputed, brought = [], lacks = [] } = event;
  const wrong = state.wrongNodes.get(nodeId);
  if (wrong !== undefined) {
    commands.push({ kind: 'DropNode', session, lost: true, isFinal: true, reason: wrong });
    return;
  }
  const before = state.nodesById.get(nodeId);
  if (before) {
    removeNode(turn, before, false);
    const reason = 'The node attached again';
    commands.push({ kind: 'DropNode', session: before.session, lost: false, isFinal: false, reason });
  }
  const health = state.health.get(nodeId) ?? new NodeHealth();
  if (hasComputed) health.prove();
  const node: AttachedNode = {
    session,
    nodeId,
    name,
    creditBytes,
    decoders,
    leases: new Set(),
    rate: new NodeRate(),
    health,
    sights: new Map(),
    isOnProbation: health.timesAside > 0,
    place: undefined,
    computing: 0,
    leasedBytes: 0,
    isDraining: false,
    deadlineMs: now + state.reportWithinMs,
  };
  state.nodes.set(session, node);
  state.nodesById.set(nodeId, node);
  adoptLeases(turn, node, brought);
  greet(turn, node, lacks);
  shareAnew(turn);
}

export function needShown<A>(turn: Turn<A>, { session, need }: { session: number; need: string }): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  setShown(turn, node, need);
  leaseTo(turn, node);
}

export function needLacked<A>(
  turn: Turn<A>,
  { session, need, reason, own }: Extract<SchedulerEvent<A>, { kind: 'NeedLacked' }>,
): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  lookedAtOutput(turn, need, own);
  setLacked(turn, node, need, reason);
  // Other nodes may now get shards that were left for this one.
  shareAnew(turn);
}

export function nodeCredited<A>(turn: Turn<A>, session: number, creditBytes: number): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  node.creditBytes = creditBytes;
  leaseTo(turn, node);
}

/** The shard makes room for another. */
export function shardInPart<A>(turn: Turn<A>, event: Extract<SchedulerEvent<A>, { kind: 'ShardInPart' }>): void {
  const node = turn.state.nodes.get(event.session);
  const held = node && findLease(turn.state, node, event.lease);
  if (typeof held !== 'object') return;
  putInPart(turn, held);
  leaseTo(turn, held.node);
}

export function nodeDraining<A>(turn: Turn<A>, session: number): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  node.isDraining = true;
  // If this was the last node that had not failed a shard, others may now retry it.
  shareAnew(turn);
}

export function nodeLeft<A>(turn: Turn<A>, session: number): void {
  const node = turn.state.nodes.get(session);
  if (!node) return;
  // A draining node that still holds leases was killed because it did not stop in time, which no shard caused.
  removeNode(turn, node, !node.isDraining);
  shareAnew(turn);
}

/**
 * Drops the nodes that were silent past their deadline. When the tick itself is late, this process did not run and
 * could not receive messages: the deadlines are extended by the delay.
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
    removeNode(turn, node, !node.isDraining);
    const reason = `The node was silent for more than ${state.reportWithinMs} ms`;
    commands.push({ kind: 'DropNode', session: node.session, lost: true, isFinal: false, reason });
  }
  keepAsking(turn);
  // Rates have changed, and some nodes are no longer set aside.
  shareAnew(turn);
  failBlocked(turn);
  copyStragglers(turn);
}

/** Takes the node's leases and forgets it. */
export function removeNode<A>(turn: Turn<A>, node: AttachedNode, isBlamed: boolean): void {
  turn.state.nodes.delete(node.session);
  turn.state.nodesById.delete(node.nodeId);
  handBack(turn, node, isBlamed);
  turn.state.waiting.delete(node);
}

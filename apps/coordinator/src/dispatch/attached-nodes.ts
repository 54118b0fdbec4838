import type { Hello, Lack, Load } from '@halogrid/proto';
import type { NodeView } from '../scheduler/scheduler.ts';
import type { NodeSession } from './node-session.ts';
import type { NodeTotals } from './node-totals.ts';

/** A node that is attached, as people see it. */
export interface AttachedNodeView extends NodeTotals {
  hello: Hello;
  leases: number;
  /** How many of them count against its credit, and their cost. */
  computing: number;
  leasedBytes: number;
  isDraining: boolean;
  /** In all its conversations with this coordinator, as `shardsDone` and `pixelsDone`. */
  shardsFailed: number;
  /** Needs that it was asked about and cannot meet; times are milliseconds since 1970. */
  lacks: Lack[];
  /** Needs that it has shown it can meet. */
  shown: string[];
  /** The load of its workers, as last reported in this conversation. */
  load?: Load;
  /** Until when it gets no shards because it fails too often, in milliseconds since 1970; 0 if it gets some. */
  asideUntilMs: number;
  /** Milliseconds since 1970. */
  attachedMs: number;
}

/**
 * Every node, by name. `knownOf` gives the scheduler's view of it, and `offsetMs` is added to times of the scheduler's
 * clock to get milliseconds since 1970.
 */
export function attachedNodes(
  sessions: readonly [session: number, node: NodeSession][],
  knownOf: (session: number) => NodeView,
  nowMs: number,
  offsetMs: number,
): AttachedNodeView[] {
  const views = sessions.map(([session, node]) => viewNode(node, knownOf(session), nowMs, offsetMs));
  return views.sort((a, b) => (a.hello.name < b.hello.name ? -1 : 1));
}

function viewNode(
  { connection: _, totals, ...node }: NodeSession,
  { asideUntilMs, lacks, failures: shardsFailed, ...known }: NodeView,
  nowMs: number,
  offsetMs: number,
): AttachedNodeView {
  return {
    ...node,
    ...totals,
    ...known,
    shardsFailed,
    lacks: lacks.map((lack) => ({ ...lack, sinceMs: Math.round(lack.sinceMs + offsetMs) })),
    asideUntilMs: asideUntilMs > nowMs ? Math.round(asideUntilMs + offsetMs) : 0,
  };
}

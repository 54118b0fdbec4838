import type { Hello } from '@halogrid/proto';
import type { NodeView } from '../scheduler/scheduler.ts';
import type { AttachedNodeView, NodeConnection, NodeSession } from './node-session.ts';
import { AllNodeTotals } from './node-totals.ts';

/** The conversations with nodes that go on, by number. A number is never used again. */
export class NodeSessions {
  readonly #sessions = new Map<number, NodeSession>();
  readonly #totals = new AllNodeTotals();
  #last = 0;

  /** Begins one; returns its number. */
  open(hello: Hello, connection: NodeConnection, attachedMs: number): number {
    const session = ++this.#last;
    this.#sessions.set(session, { hello, connection, attachedMs, totals: this.#totals.of(hello.nodeId) });
    return session;
  }

  /** A node failed a shard, for that reason. */
  failed(nodeId: string, error: string, atMs: number): void {
    this.#totals.failed(nodeId, error, atMs);
  }

  get(session: number): NodeSession | undefined {
    return this.#sessions.get(session);
  }

  delete(session: number): void {
    this.#sessions.delete(session);
  }

  entries(): [session: number, node: NodeSession][] {
    return [...this.#sessions];
  }

  hellos(): Hello[] {
    return [...this.#sessions.values()].map(({ hello }) => hello);
  }

  /** Every node, by name; `knownOf` is what the scheduler has of it, and `offsetMs` leads from its clock to 1970. */
  views(knownOf: (session: number) => NodeView, nowMs: number, offsetMs: number): AttachedNodeView[] {
    const views = [...this.#sessions].map(([session, node]) => viewNode(node, knownOf(session), nowMs, offsetMs));
    return views.sort((a, b) => (a.hello.name < b.hello.name ? -1 : 1));
  }

  /** Ends them all, for that reason. */
  dropAll(reason: string): void {
    const dropped = [...this.#sessions.values()];
    // Dropping a conversation does not count as losing its node.
    this.#sessions.clear();
    for (const { connection } of dropped) connection.drop(reason, false);
  }
}

/** The node as those see it who ask. */
function viewNode(
  { connection: _, totals, ...node }: NodeSession,
  { asideUntilMs, lacks, failures: shardsFailed, ...known }: NodeView,
  nowMs: number,
  offsetMs: number,
): AttachedNodeView {
  return {
    ...{ ...node, ...totals, ...known, shardsFailed },
    lacks: lacks.map((lack) => ({ ...lack, sinceMs: Math.round(lack.sinceMs + offsetMs) })),
    asideUntilMs: asideUntilMs > nowMs ? Math.round(asideUntilMs + offsetMs) : 0,
  };
}

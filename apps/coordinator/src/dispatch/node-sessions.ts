import type { Hello } from '@halogrid/proto';
import type { NodeConnection, NodeSession } from './node-session.ts';
import { AllNodeTotals } from './node-totals.ts';

/** The conversations with nodes that go on, by number. A number is never used again. */
export class NodeSessions {
  readonly #sessions = new Map<number, NodeSession>();
  readonly #totals = new AllNodeTotals();
  #last = 0;

  /** Begins a conversation; returns its number. */
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

  /** Ends all conversations, for that reason. */
  dropAll(reason: string): void {
    const dropped = [...this.#sessions.values()];
    // Dropping a conversation does not count as losing its node.
    this.#sessions.clear();
    for (const { connection } of dropped) connection.drop(reason, false);
  }
}

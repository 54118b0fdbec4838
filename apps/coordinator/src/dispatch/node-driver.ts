import type { Hello, PartFound, SearchPart } from '@halogrid/proto';
import { comparable } from './answer-digest.ts';
import type { NodeConnection, NodeReport, NodeSession } from './node-session.ts';
import { PartSearches } from './part-searches.ts';
import { warnOfSharedGpu } from './shared-gpus.ts';
import { adoptedOf, type WorkCommand, type WorkParts } from './work-parts.ts';

/** Holds the conversations with nodes, from welcome to the end, and tells the scheduler what they report. */
export class NodeDriver {
  readonly #parts: WorkParts;
  readonly #searches = new PartSearches();

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  /** Starts a conversation with a welcome, after which leases may be ordered at once; returns its number. */
  attach(hello: Hello, connection: NodeConnection): number {
    const { clock, log, sessions, left, recorder, tell } = this.#parts;
    const session = sessions.open(hello, connection, clock.wallMs());
    const { nodeId, name, creditBytes, decoders, hasComputed, held, lacks } = hello;
    left.attached(nodeId);
    const told = { nodeId, name, creditBytes, decoders, hasComputed, brought: held, lacks };
    tell({ kind: 'NodeJoined', session, ...told }, (commands) => connection.welcome(adoptedOf(commands)));
    if (sessions.get(session)) {
      recorder.nodeAttached(hello);
      // If the node attached again, its older conversation has ended by now.
      warnOfSharedGpu(hello, sessions.hellos(), log);
    }
    return session;
  }

  /** Takes a report; ignores reports of a conversation that has ended. */
  report(session: number, report: NodeReport): void {
    const { sessions, sights, tell } = this.#parts;
    const node = sessions.get(session);
    if (!node) return;
    const { name, device } = node.hello;
    if (report.kind === 'NodeLooked') {
      tell({ kind: 'NodeReported', session });
      void sights.probes.answered(session, report.sight);
    } else if (report.kind === 'NodeSearched') {
      tell({ kind: 'NodeReported', session });
      this.#searches.answered(session, report.found);
    } else if (report.kind === 'NodeLoaded') {
      node.load = report.load;
      tell({ kind: 'NodeReported', session });
    } else if (report.kind === 'NodeCredited') {
      takeCredit(node, report.creditBytes);
      tell({ ...report, session });
    } else if (report.kind === 'NodeBrought') {
      const { jobId, ...brought } = report;
      takeCredit(node, brought.creditBytes);
      // The node is told which leases go on before it gets new ones.
      tell({ ...brought, session }, (commands) => node.connection.kept(jobId, adoptedOf(commands)));
    } else if (report.kind !== 'ShardCompleted') tell({ ...report, session });
    else tell({ ...report, session, answer: comparable(report.answer, { name, device: device?.name ?? '' }) });
  }

  /** The conversation is over, because the node has drained or because its connection is gone. */
  detach(session: number): void {
    const { scheduler, sessions, left, recorder, tell } = this.#parts;
    const node = sessions.get(session);
    if (!node) return;
    const isDraining = scheduler.node(session)?.isDraining;
    this.#forget(session);
    const lostBecause = isDraining ? undefined : 'Its connection broke';
    left.left(node, lostBecause);
    recorder.nodeLeft(node.hello, lostBecause);
    tell({ kind: 'NodeLeft', session });
  }

  /** Ends a conversation that the scheduler has ended. */
  drop({ session, reason: ordered, lost, isFinal }: Extract<WorkCommand, { kind: 'DropNode' }>): void {
    const { sessions, left, recorder } = this.#parts;
    const node = sessions.get(session);
    this.#forget(session);
    const unheard = lost && !isFinal ? node?.connection.whyUnheard?.() : undefined;
    const reason = unheard ?? ordered;
    // Not lost: the node attached again, and only its older conversation ends.
    if (node && lost) left.left(node, reason);
    if (node) recorder.nodeLeft(node.hello, lost ? reason : undefined);
    node?.connection.drop(reason, isFinal);
  }

  /** Ends all conversations, for that reason. */
  dropAll(reason: string): void {
    const { sessions } = this.#parts;
    for (const [session] of sessions.entries()) this.#searches.left(session);
    sessions.dropAll(reason);
  }

  /** Has the node search a part of an index. Rejects with one sentence if it is gone before it answers. */
  async searchPart(session: number, part: Omit<SearchPart, 'search'>): Promise<PartFound> {
    const connection = this.#parts.sessions.get(session)?.connection;
    if (!connection) throw new Error('The node is gone');
    return this.#searches.ask({ session, search: (order) => connection.search(order) }, part);
  }

  #forget(session: number): void {
    const { sessions, sights } = this.#parts;
    sessions.delete(session);
    sights.probes.left(session);
    this.#searches.left(session);
  }
}

function takeCredit(node: NodeSession, creditBytes: number): void {
  node.hello = { ...node.hello, creditBytes };
  node.connection.creditTaken(creditBytes);
}

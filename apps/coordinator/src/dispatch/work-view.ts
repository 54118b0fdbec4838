import type { JobHistoryView, LeftNode } from '@halogrid/proto';
import type { SearchNode } from '@halogrid/retrieval';
import type { ShardCounts } from '../scheduler/scheduler.ts';
import { type AttachedNodeView, attachedNodes } from './attached-nodes.ts';
import type { OtherJobs } from './dispatcher-options.ts';
import type { JobTimeline } from './history/job-histories.ts';
import { type JobNow, readJobNow, writeJobNow } from './job-now.ts';
import type { WorkParts } from './work-parts.ts';

type SeenParts = Pick<WorkParts, 'scheduler' | 'running' | 'sessions' | 'left' | 'recorder' | 'clock'>;

/** Answers questions of people, metrics and other coordinators about nodes and running jobs. Changes nothing. */
export class WorkView {
  readonly #parts: SeenParts;
  readonly #others: OtherJobs | undefined;

  constructor(parts: SeenParts, others: OtherJobs | undefined) {
    this.#parts = parts;
    this.#others = others;
  }

  /** Every attached node, by name. */
  nodes(): AttachedNodeView[] {
    const { scheduler, sessions, clock } = this.#parts;
    const nowMs = clock.monotonicMs();
    const knownOf = (session: number) => scheduler.node(session)!;
    return attachedNodes(sessions.entries(), knownOf, nowMs, clock.wallMs() - nowMs);
  }

  /** Nodes that left or were lost within a day, the last one first. */
  leftNodes(): LeftNode[] {
    return this.#parts.left.list();
  }

  /** The nodes that may search parts of indexes. */
  searchNodes(): SearchNode[] {
    const { scheduler, sessions } = this.#parts;
    const able = sessions
      .entries()
      .filter(([session, { hello }]) => hello.searches && !scheduler.node(session)?.isDraining);
    return able.map(([session, { hello }]) => ({ session, id: hello.nodeId, device: hello.device?.kind ?? '' }));
  }

  /** When each shard of a job was on which node; undefined as for `history`. */
  timeline(jobId: string): JobTimeline | undefined {
    return this.#parts.recorder.histories.timeline(jobId, this.#parts.clock.monotonicMs());
  }

  /** The history of a job; undefined if this process did not see the job, or it ended too long ago. */
  history(jobId: string): JobHistoryView | undefined {
    return this.#parts.recorder.histories.view(jobId, this.#parts.clock.monotonicMs());
  }

  /** The present state of a job, as told by its leader if that is another coordinator. */
  jobNow(jobId: string): JobNow {
    const { running, sessions, clock } = this.#parts;
    const run = running.get(jobId);
    const text = run ? '' : this.#others?.now(jobId);
    const told = text ? readJobNow(text) : undefined;
    if (told) return told;
    const nodeIds = run?.nodeIds;
    const nodes = sessions.hellos().filter(({ nodeId }) => nodeIds?.has(nodeId)).length;
    return { nodes, waiting: this.whyWaiting(jobId), speed: run?.speed.at(clock.monotonicMs()) };
  }

  /** The present state of each job that runs here, as other coordinators read it, by id. */
  jobsNow(): Map<string, string> {
    return new Map(this.#parts.running.ids().map((jobId) => [jobId, writeJobNow(this.jobNow(jobId))]));
  }

  /** Why a job waits although nodes are attached, in one sentence; empty if it does not wait. */
  whyWaiting(jobId: string): string {
    const { running, scheduler, clock } = this.#parts;
    const heldBack = () => scheduler.whyHeldBack(jobId, clock.monotonicMs());
    return running.get(jobId)?.waiting ?? scheduler.whyBlocked(jobId) ?? heldBack() ?? '';
  }

  /** Shards of the running jobs, by state. */
  shards(): ShardCounts {
    return this.#parts.scheduler.shards();
  }

  /** The bytes that the leases of each owner with running jobs hold. */
  leasedBytes(): ReadonlyMap<string, number> {
    return this.#parts.scheduler.leasedBytes();
  }
}

import type { Command } from '../scheduler/commands.ts';
import type { SchedulerEvent } from '../scheduler/events.ts';
import type { JobSights } from '../sight/job-sights.ts';
import type { ComparableAnswer } from './answer-digest.ts';
import type { NodeSession } from './node-session.ts';

type Order<Kind> = Extract<Command<ComparableAnswer>, { kind: Kind }>;

/** Finds out for the scheduler what nodes can do, and whether a node is at fault, and sends it the result. */
export class NodeQuestions {
  readonly #sights: JobSights;
  readonly #tell: (event: SchedulerEvent<ComparableAnswer>) => void;

  constructor(sights: JobSights, tell: (event: SchedulerEvent<ComparableAnswer>) => void) {
    this.#sights = sights;
    this.#tell = tell;
  }

  /** Probes whether the node meets a need. */
  probe({ session, need }: Order<'ProbeNode'>, node: NodeSession | undefined): void {
    if (!node) return;
    const { hello, connection } = node;
    const { remoteStorage, timeZoneData } = hello;
    const isRemote = remoteStorage || this.#sights.isThroughUs(need);
    void this.#sights.probes.ask({ session, isRemote, timeZoneData, probe: (probe) => connection.probe(probe) }, need);
  }

  async vet({ shard, candidate, delays }: Order<'VetAnswer'>): Promise<void> {
    // The scheduler types answers as Comparable; this one came with a report, so it is a ComparableAnswer.
    const answer = (candidate.answer as ComparableAnswer).content;
    const verdict = await this.#sights.vet({ shard, answer, delays });
    this.#tell({ kind: 'AnswerVetted', candidate, verdict });
  }

  async vetOutput({ session, lease, failure }: Order<'VetOutput'>): Promise<void> {
    const found = await this.#sights.vetOutput(lease.jobId, failure.error);
    if (found) this.#tell({ kind: 'OutputVetted', session, lease, failure, ...found });
  }
}

import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { Shard } from '@halogrid/jobs/shard';
import { writeNeed } from '@halogrid/proto';
import { limitConcurrency } from '@halogrid/threads';
import type { Verdict } from '../scheduler/events.ts';
import { needsOfJob } from './needs-of.ts';
import { NodeProbes, type Shown } from './node-probes.ts';
import type { Eyes } from './own-view.ts';
import { type Vetted, vetAnswer } from './vet-answer.ts';

/** How many answers are vetted at once: each may have files read. */
const vetsAtOnce = 8;

/**
 * What the shards of running jobs need, which nodes meet these needs, and whether a node or its sources are at fault.
 */
export class JobSights {
  readonly probes: NodeProbes;
  readonly #eyes: Eyes;
  readonly #vetting = limitConcurrency(vetsAtOnce);
  readonly #jobs = new Map<
    string,
    { scratch: string; objects: string | undefined; needsOf: (shard: Shard) => readonly string[]; needs: Set<string> }
  >();

  constructor(eyes: Eyes, nowMs: () => number, tell: (session: number, need: string, shown: Shown) => void) {
    this.#eyes = {
      ...eyes,
      // Results of such a job are written to its bucket, too.
      whyNotWritten: async (uri, reason) => {
        const objects = this.#objectsOf(uri);
        return (await eyes.whyNotWritten(uri, reason)) ?? (objects ? eyes.whyNotWritten(objects, reason) : undefined);
      },
    };
    this.probes = new NodeProbes(this.#eyes, nowMs, tell);
  }

  /** Whether nodes meet that need through the coordinator, because results are kept for other coordinators. */
  isThroughUs(need: string): boolean {
    return [...this.#jobs.values()].some(({ scratch, objects }) => objects && need === writeNeed(scratch));
  }

  jobStarted({ jobId, spec, scratch, objects }: AcceptedJob): void {
    this.#jobs.set(jobId, { scratch, objects, needsOf: needsOfJob(spec, scratch), needs: new Set() });
  }

  jobEnded(jobId: string): void {
    const needs = this.#jobs.get(jobId)?.needs ?? [];
    this.#jobs.delete(jobId);
    for (const need of needs) {
      const isNeeded = [...this.#jobs.values()].some((other) => other.needs.has(need));
      if (!isNeeded) this.probes.forget(need);
    }
  }

  /** The shard with its needs. Its sources were listed just now. */
  planned(jobId: string, shard: Shard): Shard {
    const needing = this.recovered(jobId, shard);
    for (const need of needing.needs ?? []) if (need.startsWith('read file:')) this.probes.listed(need);
    return needing;
  }

  /** As `planned`, for sources that an earlier coordinator listed. */
  recovered(jobId: string, shard: Shard): Shard {
    const job = this.#jobs.get(jobId);
    const needs = job?.needsOf(shard);
    for (const need of needs ?? []) job!.needs.add(need);
    const needing = needs?.length ? { ...shard, needs } : shard;
    this.probes.samples.note(needing);
    return needing;
  }

  /** Finds out whether the sources that a node could not read, or the node itself, are at fault. */
  vet(vetted: Vetted): Promise<Verdict> {
    return this.#vetting(() => vetAnswer(this.#eyes, this.probes, vetted));
  }

  /**
   * For a node that could not write results of the job: the need that it lacks. `own`: why the coordinator cannot write
   * them either. Undefined if the job has ended.
   */
  async vetOutput(jobId: string, reason: string): Promise<{ need: string; own?: OutputLack } | undefined> {
    const scratch = this.#jobs.get(jobId)?.scratch;
    if (scratch === undefined) return undefined;
    const own = await this.#vetting(() => this.#eyes.whyNotWritten(scratch, reason));
    return { need: writeNeed(scratch), own };
  }

  #objectsOf(scratchUri: string): string | undefined {
    return [...this.#jobs.values()].find(({ scratch }) => scratch === scratchUri)?.objects;
  }
}

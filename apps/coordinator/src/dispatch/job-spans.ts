import { isEnd, type LedgerState } from '@halogrid/ledger';
import type { Clock } from '@halogrid/service/clock';
import type { SpanExport } from '@halogrid/service/span-export';
import { childSpanId, spanIdOf, traceIdOf } from '@halogrid/service/trace-context';
import type { MergedShard } from './history/job-history.ts';
import { begunSeconds } from './history/shard-times.ts';

/** Sends spans to a collector: one for each job, below it one for each merged shard, and below that its stages. */
export class JobSpans {
  readonly #out: SpanExport;
  readonly #clock: Clock;
  /** When jobs began or went on here, in milliseconds since 1970. */
  readonly #begun = new Map<string, number>();

  constructor(out: SpanExport, clock: Clock) {
    this.#out = out;
    this.#clock = clock;
  }

  jobStarted(jobId: string): void {
    this.#begun.set(jobId, this.#clock.wallMs());
  }

  /** A job has reached this state. */
  jobIs(jobId: string, state: LedgerState): void {
    const fromMs = this.#begun.get(jobId);
    if (fromMs === undefined || !isEnd(state)) return;
    this.#begun.delete(jobId);
    this.#out.add({
      name: 'job',
      traceId: traceIdOf(jobId),
      spanId: spanIdOf(jobId),
      fromMs,
      toMs: this.#clock.wallMs(),
      attributes: { 'halogrid.job': jobId, 'halogrid.state': state },
      ...(state !== 'complete' && { error: state }),
    });
  }

  merged(jobId: string, { node, shard, attempt, leasedAtMs, answeredMs, mergedMs, pixels, spans }: MergedShard): void {
    const traceId = traceIdOf(jobId);
    const lease = spanIdOf(jobId, shard, attempt);
    const offsetMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    const add = (name: string, spanId: string, parentId: string, fromMs: number, toMs: number, more = {}) =>
      this.#out.add({
        name,
        traceId,
        spanId,
        parentId,
        fromMs: fromMs + offsetMs,
        toMs: toMs + offsetMs,
        attributes: { 'halogrid.shard': shard, 'halogrid.attempt': attempt, 'halogrid.node': node, ...more },
      });
    add('lease', lease, spanIdOf(jobId), leasedAtMs, mergedMs, { 'halogrid.pixels': pixels });
    let children = 0;
    const addChild = (name: string, fromMs: number, toMs: number) =>
      add(name, childSpanId(lease, ++children), lease, fromMs, toMs);
    const begunMs = 1000 * begunSeconds(leasedAtMs / 1000, answeredMs / 1000, spans);
    for (const { stage, from, to } of spans) addChild(stage, begunMs + 1000 * from, begunMs + 1000 * to);
    addChild('merge', answeredMs, mergedMs);
  }
}

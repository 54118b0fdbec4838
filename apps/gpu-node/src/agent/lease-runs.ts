import { MissingDecoderError } from '@halogrid/imaging';
import { decodeNeed, type Lease } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { DeviceLostError } from '../devices/device.ts';
import type { Executor } from '../executor/executor.ts';
import type { NodeMetrics } from '../metrics/node-metrics.ts';
import { OutputError } from '../parts/output-error.ts';
import type { Answer } from './conversation-state.ts';

export interface LeaseRunsOptions {
  execute: Executor;
  metrics: NodeMetrics;
  log: Log;
  /** Called when a shard is computed and waits in a part. */
  inPart: (leaseId: number) => void;
  /** Called with the outcome of a shard, unless the shard was forgotten. */
  answered: (answer: Answer & { leaseId: number }) => void;
}

/** The shards that the node computes, for all coordinators. */
export class LeaseRuns {
  readonly #options: LeaseRunsOptions;
  readonly #running = new Map<number, AbortController>();

  constructor(options: LeaseRunsOptions) {
    this.#options = options;
  }

  /** Starts to compute a shard. Never rejects. */
  async start(leaseId: number, lease: Lease): Promise<void> {
    const { execute, metrics, log, inPart, answered } = this.#options;
    const abort = new AbortController();
    this.#running.set(leaseId, abort);
    const { jobId, shard, attempt } = lease;
    try {
      const report = await execute(lease, abort.signal, () => inPart(leaseId));
      if (abort.signal.aborted) return;
      metrics.observeShard(lease, report);
      for (const { source, stage, error } of report.errors) log.warn({ jobId, source, stage }, error);
      answered({ kind: 'shardCompleted', leaseId, report });
    } catch (caught) {
      if (abort.signal.aborted) return;
      const error = caught instanceof Error ? caught.message : String(caught);
      metrics.shards.inc({ outcome: 'failed' });
      log.error({ jobId, shard, attempt }, error);
      answered({
        kind: 'shardFailed',
        leaseId,
        error,
        isOutput: caught instanceof OutputError,
        isDevice: caught instanceof DeviceLostError,
        need: caught instanceof MissingDecoderError ? decodeNeed(caught) : '',
      });
    } finally {
      this.#running.delete(leaseId);
    }
  }

  /** Stops a shard that is not wanted any more. */
  forget(leaseId: number): void {
    this.#running.get(leaseId)?.abort(new Error('The lease was taken back'));
    this.#options.metrics.shards.inc({ outcome: 'forgotten' });
  }
}

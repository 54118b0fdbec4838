import type { Registry } from '@halogrid/service';
import { Counter, Gauge } from '@halogrid/service/metrics';
import type { WorkerMeter } from './worker-meter.ts';

/** The kinds of workers of a node. There may be several workers of each kind. */
export const workerKinds = ['decode', 'video', 'device'] as const;
export type WorkerKind = (typeof workerKinds)[number];

export type MeteredWorkers = Pick<WorkerMeter, 'workers' | 'busy' | 'queued' | 'seconds'>;

/** The state of a node's work, read on request. */
export interface NodeWork {
  readonly workers: Readonly<Record<WorkerKind, MeteredWorkers>>;
  /** Batches that wait for staging memory. */
  readonly waitingForMemory: () => number;
  /** Bytes of memory that the device has for batches, whether or not they are in use; undefined if it does not tell. */
  readonly heldBytes: () => number | undefined;
  /**
   * Bytes fetched from storage since the process began, because they were not in the page cache; undefined if not
   * known.
   */
  readonly storageReadBytes: () => number | undefined;
  /** Seconds since the last call. */
  takeSeconds(): { busy: Record<string, number>; binding: Record<string, number> };
}

/** Metrics that are read from a node's work on request: who is busy, what waits, and what the bottleneck is. */
export function exposeWork(registry: Registry, deviceKind: string, work: NodeWork): void {
  const registers = [registry];
  new Counter({
    name: 'halogrid_node_busy_seconds_total',
    help: 'Seconds in which a stage was under way for at least one shard; shard: in which the node had a shard.',
    labelNames: ['stage'],
    registers,
    collect() {
      const seconds = work.takeSeconds();
      for (const [stage, value] of Object.entries(seconds.busy)) this.inc({ stage }, value);
      for (const [stage, value] of Object.entries(seconds.binding)) binding.inc({ stage }, value);
    },
  });
  // Registered second: collecting the counter above also sets this one.
  const binding = new Counter({
    name: 'halogrid_node_binding_seconds_total',
    help: 'Seconds in which a stage was the one that all later stages waited for, one stage at a time. The stage with most seconds is the bottleneck.',
    labelNames: ['stage'],
    registers,
  });
  const ofWorkers = (name: string, help: string, read: (meter: MeteredWorkers) => number) =>
    new Gauge({
      name: `halogrid_node_${name}`,
      help,
      labelNames: ['stage'],
      registers,
      collect() {
        for (const stage of workerKinds) this.set({ stage }, read(work.workers[stage]));
        if (name === 'queue') this.set({ stage: 'memory' }, work.waitingForMemory());
      },
    });
  ofWorkers(
    'workers',
    'Threads that decode images, processes and engines that decode videos, and devices or their threads.',
    (meter) => meter.workers,
  );
  ofWorkers('workers_busy', 'Workers that are busy now.', (meter) => meter.busy);
  ofWorkers(
    'queue',
    'Images, segments and batches that wait for a worker, and batches that wait for memory.',
    (meter) => meter.queued,
  );
  const told = new Map<WorkerKind, number>();
  new Counter({
    name: 'halogrid_node_worker_seconds_total',
    help: 'Seconds in which workers were busy, all workers together; its rate divided by their number is the utilisation.',
    labelNames: ['stage'],
    registers,
    collect() {
      for (const stage of workerKinds) {
        const { seconds } = work.workers[stage];
        this.inc({ stage }, seconds - (told.get(stage) ?? 0));
        told.set(stage, seconds);
      }
    },
  });
  let fetched = 0;
  new Counter({
    name: 'halogrid_node_storage_read_bytes_total',
    help: 'Bytes that the system fetched from disks or network file systems for this process, because they were not in the page cache.',
    registers,
    collect() {
      const bytes = work.storageReadBytes() ?? fetched;
      this.inc(bytes - fetched);
      fetched = bytes;
    },
  });
  new Gauge({
    name: 'halogrid_gpu_memory_bytes',
    help: 'Memory that the device has for batches, on the device and mapped for it, in use or kept for the next; absent if it is not known.',
    labelNames: ['device'],
    registers,
    collect() {
      const bytes = work.heldBytes();
      if (bytes !== undefined) this.set({ device: deviceKind }, bytes);
    },
  });
}

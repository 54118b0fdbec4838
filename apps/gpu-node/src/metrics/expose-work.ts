import type { Registry } from '@halogrid/service';
import { Counter, Gauge } from '@halogrid/service/metrics';
import type { WorkerMeter } from './worker-meter.ts';

/** What does the work of a node, each as many at once as there are of it. */
export const workerKinds = ['decode', 'video', 'device'] as const;
export type WorkerKind = (typeof workerKinds)[number];

export type MeteredWorkers = Pick<WorkerMeter, 'workers' | 'busy' | 'queued' | 'seconds'>;

/** What a node tells of its work when it is asked. */
export interface NodeWork {
  readonly workers: Readonly<Record<WorkerKind, MeteredWorkers>>;
  /** Batches that wait for staging memory. */
  readonly waitingForMemory: () => number;
  /**
   * Bytes of memory that the device has for batches, whether or not they are in use; undefined where it does not say.
   */
  readonly heldBytes: () => number | undefined;
  /**
   * Bytes that were fetched from storage since the process began, as they were not in the page cache; undefined where
   * it is not known.
   */
  readonly storageReadBytes: () => number | undefined;
  /** Seconds since it was last asked. */
  takeSeconds(): { busy: Record<string, number>; binding: Record<string, number> };
}

/** What a node reads off its own work when it is asked: who is busy, who waits, and what binds. */
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
  // After the one that counts for both.
  const binding = new Counter({
    name: 'halogrid_node_binding_seconds_total',
    help: 'Seconds in which a stage was what all behind it waited for; of each second one. The stage with most of them binds.',
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
  ofWorkers('workers_busy', 'Those of them that are at work now.', (meter) => meter.busy);
  ofWorkers(
    'queue',
    'Images, segments and batches that wait for one of them, and batches that wait for memory.',
    (meter) => meter.queued,
  );
  const told = new Map<WorkerKind, number>();
  new Counter({
    name: 'halogrid_node_worker_seconds_total',
    help: 'Seconds of all of them together in which they were at work; its rate by their number is how far they are used.',
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
    help: 'Bytes that the system fetched from disks or network file systems for this process: what it read and the page cache had not.',
    registers,
    collect() {
      const bytes = work.storageReadBytes() ?? fetched;
      this.inc(bytes - fetched);
      fetched = bytes;
    },
  });
  new Gauge({
    name: 'halogrid_gpu_memory_bytes',
    help: 'Memory that the device has for batches, on the device and mapped for it, in use or kept for the next; none where it is not known.',
    labelNames: ['device'],
    registers,
    collect() {
      const bytes = work.heldBytes();
      if (bytes !== undefined) this.set({ device: deviceKind }, bytes);
    },
  });
}

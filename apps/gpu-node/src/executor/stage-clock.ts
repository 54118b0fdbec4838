import type { FoundInPart } from '@halogrid/proto';
import type { BatchResult, DecodedJpegs } from '../devices/device.ts';
import type { KeptShard } from '../parts/node-parts.ts';
import type { BusyClock } from './busy-clock.ts';
import type { StageSpans } from './stage-spans.ts';

/** The stages of a shard, in the order of the work. */
export const stages = ['read', 'decode', 'upload', 'compute', 'readback', 'encode'] as const;
export type Stage = (typeof stages)[number];

/** Sums the seconds that one shard spends in each stage. */
export class StageClock {
  readonly seconds: Record<Stage, number> = { read: 0, decode: 0, upload: 0, compute: 0, readback: 0, encode: 0 };
  readonly #nowMs: () => number;
  readonly #busy: BusyClock;
  readonly #spans: StageSpans;
  readonly #readsFrom: 'network' | 'read';

  /** `busy` is the clock of the shard's job. `readsFrom`: where the sources are, a server or a disk. */
  constructor(nowMs: () => number, busy: BusyClock, spans: StageSpans, readsFrom: 'network' | 'read' = 'read') {
    this.#nowMs = nowMs;
    this.#busy = busy;
    this.#spans = spans;
    this.#readsFrom = readsFrom;
  }

  /** Counts the time until `work` settles. */
  async time<T>(stage: 'read' | 'decode' | 'encode', work: () => Promise<T>): Promise<T> {
    const activity = stage === 'read' ? this.#readsFrom : stage;
    const startedMs = this.#nowMs();
    this.#busy.begin(activity);
    try {
      return await work();
    } finally {
      this.#busy.end(activity);
      this.#spans.add(stage, startedMs);
      this.seconds[stage] += (this.#nowMs() - startedMs) / 1000;
    }
  }

  /**
   * Counts the time in which the device has a batch. Its working time comes from its own clock, because batches wait
   * for each other.
   */
  async onDevice(work: () => Promise<BatchResult>): Promise<BatchResult> {
    const startedMs = this.#nowMs();
    this.#busy.begin('device');
    try {
      const result = await work();
      const { upload, compute, readback } = result.seconds;
      this.#busy.addDevice(upload + compute + readback);
      return result;
    } finally {
      this.#busy.end('device');
      this.#spans.add('device', startedMs);
    }
  }

  /**
   * Counts the time in which a thread packs and writes results; waiting for the other shards of the part is not a
   * stage.
   */
  async inPart(keep: () => Promise<KeptShard>): Promise<FoundInPart> {
    const startedMs = this.#nowMs();
    this.#busy.begin('part');
    try {
      const { found, seconds } = await keep();
      this.#busy.addEncoded(seconds);
      this.add('encode', seconds);
      return found;
    } finally {
      this.#busy.end('part');
      this.#spans.add('encode', startedMs);
    }
  }

  /** Counts the time in which the device itself has decoded. */
  addDecoded({ upload, decode }: DecodedJpegs['seconds']): void {
    this.#busy.addDevice(upload + decode);
    this.add('upload', upload);
    this.add('decode', decode);
  }

  add(stage: Stage, seconds: number): void {
    this.seconds[stage] += seconds;
  }
}

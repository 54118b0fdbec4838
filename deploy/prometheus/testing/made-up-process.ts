import { Lease, ShardCompleted } from '@halogrid/proto';
import { Counter, Gauge } from '@halogrid/service/metrics';
import { Registry } from 'prom-client';
import { createMetrics, type Metrics } from '../../../apps/coordinator/src/dispatch/work-metrics.ts';
import {
  exposeLeadership,
  exposeState,
  type StateOfLedger,
  type StateOfWork,
} from '../../../apps/coordinator/src/expose-state.ts';
import { exposeWork, type MeteredWorkers } from '../../../apps/gpu-node/src/metrics/expose-work.ts';
import { NodeMetrics } from '../../../apps/gpu-node/src/metrics/node-metrics.ts';

/** A shard of these clusters: a batch of Full HD frames, and the time that it takes. */
export const shardOf = { frames: 16, framePixels: 1920 * 1080, inputBytes: 6_000_000, seconds: 5, deviceSeconds: 2.4 };
/** The constant power of a card. */
export const cardWatts = 300;
/** Seconds of a shard in each stage. */
const stageSeconds = {
  read: 0.4,
  decode: 1.6,
  upload: 0.1,
  compute: shardOf.deviceSeconds,
  readback: 0.2,
  encode: 0.3,
};

/** A process of a made-up cluster: it has an address that Prometheus knows, and metrics that end with the process. */
abstract class MadeUpProcess {
  readonly instance: string;
  isUp = true;
  lagSeconds = 0.02;
  /** Seconds since 1970; infinity: no token of it ends. */
  tokenEndsAt = Number.POSITIVE_INFINITY;
  registry!: Registry;
  #cpuSeconds!: Counter;

  constructor(instance: string) {
    this.instance = instance;
  }

  /** A minute has passed. */
  tick(): void {
    this.#cpuSeconds.inc(30);
  }

  protected begin(app: 'coordinator' | 'node'): void {
    this.registry = new Registry();
    const registers = [this.registry];
    const gauge = (name: string, collect: () => number, labels: Record<string, string> = {}) =>
      new Gauge({
        name,
        help: name,
        labelNames: Object.keys(labels),
        registers,
        collect() {
          this.set(labels, collect());
        },
      });
    gauge('halogrid_build_info', () => 1, { app, version: '0.1.0' });
    gauge('process_resident_memory_bytes', () => 4e8);
    gauge('nodejs_eventloop_lag_p99_seconds', () => this.lagSeconds);
    const token = { kind: 'token', name: 'rack' };
    gauge('halogrid_credential_end_timestamp_seconds', () => this.tokenEndsAt, token);
    this.#cpuSeconds = new Counter({ name: 'process_cpu_seconds_total', help: 'CPU', registers });
  }
}

/** A coordinator, with the metrics of the real one. */
export class MadeUpCoordinator extends MadeUpProcess {
  readonly job = 'halogrid-coordinator';
  readonly #state: StateOfWork;
  readonly #ledger: StateOfLedger;
  /** Undefined while it stands by. */
  work: Metrics | undefined;
  #epoch = 0;

  constructor(instance: string, state: StateOfWork, ledger: StateOfLedger) {
    super(instance);
    this.#state = state;
    this.#ledger = ledger;
    this.start();
  }

  /** Starts a new process, which is a standby. */
  start(): void {
    this.begin('coordinator');
    this.isUp = true;
    this.work = undefined;
    exposeLeadership(this.registry, this);
  }

  get standby(): string | undefined {
    return this.work ? undefined : 'Standby: another leads';
  }

  get epoch(): number {
    return this.#epoch;
  }

  lead(epoch: number, nodes: readonly { name: string }[]): void {
    this.#epoch = epoch;
    this.work = createMetrics(this.registry);
    exposeState(this.registry, this.#state, this.#ledger);
    for (const { name } of nodes) this.work.wrongAnswers.inc({ node: name }, 0);
  }

  /**
   * A shard was leased after it had waited for `waitedSeconds`, and merged. `damaged` of its frames could not be
   * decoded.
   */
  merged(waitedSeconds: number, nowSeconds: number, damaged: number): void {
    const metrics = this.work!;
    metrics.shardAttempts.inc({ reason: 'first' });
    metrics.shardQueueSeconds.observe({ value: waitedSeconds });
    metrics.mergeSeconds.observe({ value: 0.003 });
    metrics.shardsFinished.inc({ kernel: 'lbp', outcome: 'ok' });
    metrics.shardSeconds.observe({ labels: { kernel: 'lbp' }, value: shardOf.seconds });
    const frames = shardOf.frames - damaged;
    metrics.inputPixels.inc({ kernel: 'lbp' }, frames * shardOf.framePixels);
    metrics.inputFrames.inc({ kernel: 'lbp' }, frames);
    metrics.inputBytes.inc(shardOf.inputBytes);
    metrics.quarantined.inc({ stage: 'decode' }, damaged);
    for (const [stage, seconds] of Object.entries(stageSeconds)) metrics.stageSeconds.inc({ stage }, seconds);
    metrics.lastResult.set(nowSeconds);
  }

  /** A user searched for a frame, and nodes did the search. */
  searched(): void {
    const metrics = this.work!;
    metrics.searches.inc({ by: 'nodes' });
    metrics.searchSeconds.observe({ by: 'nodes' }, 0.02);
    metrics.searchedFrames.inc({ device: 'gpu' }, 1e6);
  }
}

const lease = Lease.fromPartial({
  pipeline: { operations: [{ kernel: 'lbp' }] },
  work: { $case: 'frames', value: {} },
});
const completed = ShardCompleted.fromPartial({
  found: { found: shardOf.frames, pixels: shardOf.frames * shardOf.framePixels },
  stageSeconds,
  inputBytes: shardOf.inputBytes,
});

/** A node, with the metrics of the real one. */
export class MadeUpNode extends MadeUpProcess {
  readonly job = 'halogrid-node';
  readonly name: string;
  lacks = 0;
  /** How many times as long as usual its device takes for a shard. */
  slowness = 1;
  metrics!: NodeMetrics;
  readonly #card: string;
  #cardMillijoules = 0;
  #storageBytes = 0;
  /** Counts the energy of its card. */
  #drew!: (millijoules: number) => void;
  /** Shards since the last minute. */
  #shards = 0;
  #deviceSeconds = 0;
  #untold = { busy: { device: 0, shard: 0 }, binding: { device: 0, idle: 0 } };

  constructor(name: string, cluster: string) {
    super(`${name}.${cluster}:9465`);
    this.name = name;
    this.#card = `GPU-${name}.${cluster}`;
    this.start();
  }

  /** A new process. */
  start(): void {
    this.begin('node');
    this.isUp = true;
    this.metrics = new NodeMetrics(this.registry);
    this.metrics.info.set({ device: 'gpu', name: 'A card', gpu_uuid: this.#card, pci_bus_id: '0' }, 1);
    this.metrics.deviceLost.inc({ device: 'gpu' }, 0);
    this.metrics.busySeconds.inc({ device: 'gpu' }, 0);
    this.#deviceSeconds = 0;
    this.#storageBytes = 0;
    const idle = { workers: 4, busy: 0, queued: 0, seconds: 0 };
    exposeWork(this.registry, 'gpu', {
      workers: { decode: idle, video: idle, device: this.#device() },
      waitingForMemory: () => 1,
      heldBytes: () => 1e9,
      storageReadBytes: () => this.#storageBytes,
      takeSeconds: () => {
        const told = this.#untold;
        this.#untold = { busy: { device: 0, shard: 0 }, binding: { device: 0, idle: 0 } };
        return told;
      },
    });
    // As in dcgm-exporter, with its labels: percent, MiB, watts; and millijoules since the driver was loaded.
    const labels = { gpu: '0', UUID: this.#card, device: 'nvidia0', modelName: 'A card', Hostname: this.name };
    const ofCard = (name: string) => {
      return { name: `DCGM_FI_DEV_${name}`, help: name, labelNames: Object.keys(labels), registers: [this.registry] };
    };
    for (const [name, value] of Object.entries({ GPU_UTIL: 60, FB_USED: 2000, POWER_USAGE: cardWatts }))
      new Gauge(ofCard(name)).set(labels, value);
    const energy = new Counter(ofCard('TOTAL_ENERGY_CONSUMPTION'));
    energy.inc(labels, this.#cardMillijoules);
    this.#drew = (millijoules) => {
      this.#cardMillijoules += millijoules;
      energy.inc(labels, millijoules);
    };
  }

  /** Its work of this minute keeps it busy for at most a minute. */
  override tick(): void {
    super.tick();
    this.#drew(60 * cardWatts * 1000);
    const device = Math.min(60, this.#shards * stageSeconds.compute * this.slowness);
    this.#shards = 0;
    this.#deviceSeconds += device;
    const { busy, binding } = this.#untold;
    busy.device += device;
    busy.shard += device;
    binding.device += device;
    binding.idle += 60 - device;
  }

  #device(): MeteredWorkers {
    const seconds = () => this.#deviceSeconds;
    return {
      workers: 1,
      busy: 1,
      queued: 2,
      get seconds() {
        return seconds();
      },
    };
  }

  /** It computed a shard. */
  computed(): void {
    this.#shards++;
    this.metrics.uploadedBytes.inc(shardOf.inputBytes);
    this.#storageBytes += shardOf.inputBytes / 2;
    this.metrics.readBackBytes.inc(1024);
    this.metrics.observeShard(lease, completed);
    this.metrics.busySeconds.inc({ device: 'gpu' }, stageSeconds.compute);
  }
}

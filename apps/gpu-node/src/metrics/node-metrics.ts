import type { FoundAnswer, FoundResult, Lease } from '@halogrid/proto';
import type { Registry } from '@halogrid/service';
import { Counter, Gauge, Histogram, histogramOfExemplars, workBuckets } from '@halogrid/service/metrics';
import { exemplarOf } from '@halogrid/service/trace-context';

/** The fields of an answer that are counted. */
type ObservedAnswer = Pick<FoundAnswer, 'found' | 'errors' | 'stageSeconds' | 'inputBytes'> & {
  results: readonly Pick<FoundResult, 'rect'>[];
};

/**
 * Everything that a node measures of its own work. Labels are from small sets: kernels, stage, outcome, device kind.
 */
export class NodeMetrics {
  readonly info: Gauge<'device' | 'name' | 'gpu_uuid' | 'pci_bus_id'>;
  readonly attached: Gauge;
  readonly leases: Gauge;
  readonly stagingBytes: Gauge;
  readonly shards: Counter<'outcome'>;
  readonly busySeconds: Counter<'device'>;
  readonly deviceLost: Counter<'device'>;
  readonly deviceJpegs: Counter<'outcome'>;
  readonly uploadedBytes: Counter;
  readonly readBackBytes: Counter;
  readonly #stageSeconds: Histogram<string>;
  readonly #pixels: Counter<'kernel'>;
  readonly #frames: Counter<'kernel'>;
  readonly #inputBytes: Counter;
  readonly #quarantined: Counter<'stage'>;
  readonly #searchSeconds: Histogram<'device'>;
  readonly #searchedFrames: Counter<'device'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.info = new Gauge({
      name: 'halogrid_node_info',
      help: 'Always 1; the labels say what this node computes on: kind, name, and the NVIDIA card, if it has one open.',
      labelNames: ['device', 'name', 'gpu_uuid', 'pci_bus_id'],
      registers,
    });
    this.attached = new Gauge({
      name: 'halogrid_node_attached',
      help: 'Whether a coordinator leases shards to this node (1) or not (0).',
      registers,
    });
    this.leases = new Gauge({
      name: 'halogrid_node_leases',
      help: 'Shards that this node holds now.',
      registers,
    });
    this.stagingBytes = new Gauge({
      name: 'halogrid_inflight_bytes',
      help: 'Bytes of staging memory that hold planes being decoded or computed now.',
      registers,
    });
    this.shards = new Counter({
      name: 'halogrid_node_shards_total',
      help: 'Shards this node is done with, by outcome: completed, failed, or forgotten because the lease was taken back.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of ['completed', 'failed', 'forgotten']) this.shards.inc({ outcome }, 0);
    this.busySeconds = new Counter({
      name: 'halogrid_gpu_busy_seconds_total',
      help: 'Seconds in which kernels ran or JPEGs were decoded, by the kind of the device; its rate is the utilisation.',
      labelNames: ['device'],
      registers,
    });
    this.deviceLost = new Counter({
      name: 'halogrid_gpu_device_lost_total',
      help: 'Times the device was lost and opened again, by its kind.',
      labelNames: ['device'],
      registers,
    });
    this.deviceJpegs = new Counter({
      name: 'halogrid_node_device_jpegs_total',
      help: 'JPEGs that the device had to decode, by outcome: decoded, or doubtful, which cores decoded again.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of ['decoded', 'doubtful']) this.deviceJpegs.inc({ outcome }, 0);
    this.uploadedBytes = new Counter({
      name: 'halogrid_node_uploaded_bytes_total',
      help: 'Bytes of planes and of JPEGs that were copied to the device; none if it computes in the memory of the host.',
      registers,
    });
    this.readBackBytes = new Counter({
      name: 'halogrid_node_read_back_bytes_total',
      help: 'Bytes of counts and dense results that came back from the device.',
      registers,
    });
    this.#stageSeconds = histogramOfExemplars(registry, {
      name: 'halogrid_stage_duration_seconds',
      help: 'Seconds that a shard spent in a stage: read, decode, upload, compute, readback or encode.',
      labelNames: ['stage'],
      buckets: workBuckets,
    });
    this.#pixels = new Counter({
      name: 'halogrid_node_pixels_total',
      help: 'Pixels computed in completed shards, by the kernels of the pipeline.',
      labelNames: ['kernel'],
      registers,
    });
    this.#frames = new Counter({
      name: 'halogrid_node_frames_total',
      help: 'Whole frames computed in completed shards, by the kernels of the pipeline.',
      labelNames: ['kernel'],
      registers,
    });
    this.#inputBytes = new Counter({
      name: 'halogrid_node_input_bytes_total',
      help: 'Encoded bytes read from sources for completed shards.',
      registers,
    });
    this.#quarantined = new Counter({
      name: 'halogrid_node_quarantined_total',
      help: 'Inputs that cannot be processed, by the stage that found out: read or decode.',
      labelNames: ['stage'],
      registers,
    });
    for (const stage of ['read', 'decode']) this.#quarantined.inc({ stage }, 0);
    this.#searchSeconds = new Histogram({
      name: 'halogrid_node_search_duration_seconds',
      help: 'Seconds of each search of a part of an index, by the kind of the device.',
      labelNames: ['device'],
      buckets: workBuckets,
      registers,
    });
    this.#searchedFrames = new Counter({
      name: 'halogrid_node_searched_frames_total',
      help: 'Frames of indexes that were searched, by the kind of the device.',
      labelNames: ['device'],
      registers,
    });
  }

  /** Counts a search of a part of an index. */
  observeSearch(device: string, frames: number, seconds: number): void {
    this.#searchSeconds.observe({ device }, seconds);
    this.#searchedFrames.inc({ device }, frames);
  }

  /** Counts a computed shard. */
  observeShard(lease: Lease, { results, found, errors, stageSeconds, inputBytes }: ObservedAnswer): void {
    const pipelines = lease.pipelines ? lease.pipelines.named.map(({ pipeline }) => pipeline) : [lease.pipeline];
    const kernels = pipelines.map((its) => (its?.operations ?? []).map((operation) => operation.kernel).join('+'));
    this.shards.inc({ outcome: 'completed' });
    const exemplarLabels = exemplarOf(lease.jobId);
    for (const [stage, value] of Object.entries(stageSeconds))
      this.#stageSeconds.observe({ labels: { stage }, value, exemplarLabels });
    const rect = results[0]?.rect;
    const pixels = found?.pixels ?? (rect ? rect.width * rect.height : 0);
    for (const kernel of kernels) {
      this.#pixels.inc({ kernel }, pixels);
      if (found) this.#frames.inc({ kernel }, found.found);
    }
    this.#inputBytes.inc(inputBytes);
    for (const { stage } of errors) this.#quarantined.inc({ stage });
  }
}

import type { DecoderPool, OpenImage, ReadOptions } from '@halogrid/imaging';
import type { writeChunk } from '@halogrid/results';
import type { NodeDevice } from '../devices/device.ts';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import type { RawFeed } from '../feed/raw-feed.ts';
import type { WorkerMeter } from '../metrics/worker-meter.ts';
import type { BandedJpegs } from './jpeg-bands.ts';
import type { PlaneCache } from './plane-cache.ts';
import type { ShardJob } from './shard-job.ts';
import type { StageClock } from './stage-clock.ts';

/** A shard that is being computed: its job, the means of the node, and this turn at it. */
export interface ShardRun {
  readonly job: ShardJob;
  readonly means: ShardMeans;
  readonly turn: ShardTurn;
}

/** What a node computes a shard with. */
export interface ShardMeans {
  readonly device: NodeDevice;
  /** Chooses the decoder of JPEGs for the pipelines' channels; absent if cores decode all of them. */
  readonly jpegs?: JpegFeed | undefined;
  /** Reads raw frames; absent if each is opened by itself. */
  readonly raws?: RawFeed | undefined;
  readonly openImage: (uri: string, read?: ReadOptions) => Promise<OpenImage>;
  readonly decoders: DecoderPool;
  readonly meters: ExecutorMeters;
  readonly writeChunk: typeof writeChunk;
  readonly planes: PlaneCache;
  /** Decodes large JPEGs in bands; absent if none are. */
  readonly banded?: BandedJpegs | undefined;
  /** Logs a line. */
  readonly note: (line: string) => void;
}

/** One turn at a shard: a shard over which the device was lost has a second one. */
export interface ShardTurn {
  /** Aborted when the result is not needed any more. */
  readonly signal: AbortSignal;
  readonly clock: StageClock;
  /** Size of batches as a share of the usual size, in (0, 1]. */
  readonly batchShare: number;
  /** Encoded bytes read so far. */
  inputBytes: number;
}

/** Counters of the decoders that all shards share. */
export interface ExecutorMeters {
  /** Threads that decode images. */
  readonly decode: WorkerMeter;
  /** Processes and engines that decode segments of videos. */
  readonly video: WorkerMeter;
}

import type { DecoderPool, OpenImage, PlaneTarget, ReadOptions } from '@halogrid/imaging';
import { shortened } from '@halogrid/kernels';
import { excessOf, type FoundAnswer, type Lease, leaseBounds } from '@halogrid/proto';
import type { writeChunk } from '@halogrid/results';
import { isRemoteUri, quickToGiveUp } from '@halogrid/sources';
import { SourceBlock } from '@halogrid/sources/source-block';
import { Budget } from '@halogrid/threads';
import { DeviceLostError, type NodeDevice } from '../devices/device.ts';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import type { RawFeed } from '../feed/raw-feed.ts';
import { WorkerMeter } from '../metrics/worker-meter.ts';
import type { NodeParts } from '../parts/node-parts.ts';
import { type BusyClock, BusyClocks, busyMessage } from './busy-clock.ts';
import { type ComputedShard, computeShard } from './compute-shard.ts';
import type { BandedJpegs } from './jpeg-bands.ts';
import { type KnownResults, knownResults, withKnown } from './known-results.ts';
import { PlaneCache } from './plane-cache.ts';
import { toRemoteLease } from './remote-lease.ts';
import { shardJob } from './shard-job.ts';
import type { ExecutorMeters, ShardRun } from './shard-run.ts';
import { StageClock } from './stage-clock.ts';
import { StageSpans } from './stage-spans.ts';
import { type LeasedSource, unpackLease } from './unpack-lease.ts';

/**
 * Computes a lease: reads and decodes its sources, runs the kernels, writes the wanted chunks, and adds results of
 * frames to a part. The answer names sources that cannot be processed. Rejects with every other error, and with the
 * signal's reason once that has aborted. If the device is lost during a shard, the shard is tried once more, in batches
 * of half the size. Several calls may run at once. `inPart` is called if the results wait in a part for other shards.
 */
export type Executor = (lease: Lease, signal: AbortSignal, inPart?: () => void) => Promise<FoundAnswer>;

export interface ExecutorOptions {
  device: NodeDevice;
  /** The reference, which computes the leases to verify. */
  twin: NodeDevice;
  /** Rejects with InputError for faults of the input. */
  openImage: (uri: string, read?: ReadOptions) => Promise<OpenImage>;
  /** The decoders of JPEGs, to gray and to colours. Default: cores decode. */
  feeds?: Readonly<Partial<Record<PlaneTarget['channels'], JpegFeed>>>;
  /** The reader of raw frames. Default: each frame is opened by itself. */
  rawFeed?: RawFeed;
  /** Decodes large JPEGs in bands. Default: they are decoded whole, or copied first. */
  banded?: BandedJpegs;
  /** The decoders of videos. */
  decoders: DecoderPool;
  writeChunk: typeof writeChunk;
  /** Receives the results of frames. */
  parts: NodeParts;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** Measures stages and bottlenecks. Default: new clocks. */
  clocks?: BusyClocks;
  meters?: ExecutorMeters;
  /** Whether files of leases with `handOver` are read from there. Default: true. */
  hasRemoteStorage?: boolean | undefined;
  /** Called with sentences for people about things that did not fail. */
  note?: (line: string) => void;
}

/**
 * Memory for images that are decoded as a whole to be cut into tiles: two of the largest that are decoded so, in gray.
 */
const planeCacheBytes = 512 * 2 ** 20;

/**
 * Shards that are under way beyond the batches in flight: their files are opened, and their chunks written, meanwhile.
 */
const shardsAhead = 4;

/** Segments under way beyond those that are decoded, at least. */
const leastSegmentsAhead = 4;

/**
 * How many segments are under way while `decoders` are decoded at the same time. The others wait for a decoder, or for
 * their frames to be computed and answered. Segments of the same length end together, so there is one more for each
 * decoder: with one more for every four, decoders waited for leases.
 */
export const segmentsUnderWay = (decoders: number): number => decoders + Math.max(leastSegmentsAhead, decoders);

/**
 * The first attempts at a shard end early if a host seems to be away. Later attempts request each file, so that no file
 * is blamed without a request.
 */
const quickAttempts = 2;

/** A leased shard, with its sources as the node reaches them. */
interface GivenShard {
  lease: Lease;
  near: Lease;
  sources: readonly LeasedSource[];
  known: KnownResults | undefined;
  spans: StageSpans;
}

const isVideo = ({ work }: Lease): boolean => work?.$case === 'frames' && work.value.segment !== undefined;

export function createExecutor(options: ExecutorOptions): Executor {
  const {
    device,
    twin,
    openImage,
    feeds = {},
    rawFeed,
    banded,
    decoders,
    writeChunk,
    parts,
    nowMs,
    hasRemoteStorage = true,
    note = () => {},
  } = options;
  const planes = new PlaneCache(planeCacheBytes);
  const fileTurns = new Budget(device.batchesInFlight + shardsAhead);
  const videoTurns = new Budget(segmentsUnderWay(decoders.processes));
  const clocks = options.clocks ?? new BusyClocks(nowMs, device.info.kind);
  const meters = options.meters ?? {
    decode: new WorkerMeter(1, nowMs),
    video: new WorkerMeter(decoders.processes, nowMs),
  };

  function runOf(
    { lease, near, sources, known, spans }: GivenShard,
    signal: AbortSignal,
    busy: BusyClock,
    batchShare: number,
  ) {
    const job = shardJob(near, known);
    const open = lease.attempt <= quickAttempts ? quickToGiveUp(openImage) : openImage;
    const shared = { openImage: open, decoders, meters, writeChunk, planes, banded, note };
    const own = { ...shared, device, jpegs: feeds[job.channels], raws: rawFeed };
    const clock = new StageClock(nowMs, busy, spans, readsFrom(sources));
    return {
      job,
      means: lease.verify ? { ...shared, device: twin } : own,
      turn: { signal, clock, batchShare, inputBytes: 0 },
    };
  }

  async function compute(
    given: GivenShard,
    signal: AbortSignal,
    busy: BusyClock,
    batchShare = 1,
  ): Promise<ComputedShard & Pick<ShardRun, 'turn'>> {
    signal.throwIfAborted();
    const run = runOf(given, signal, busy, batchShare);
    try {
      const computed = await computeShard(run, given.near.work, given.lease.sources, given.sources);
      signal.throwIfAborted();
      const { frames } = computed;
      const whole = frames && given.known ? { frames: withKnown(frames, given.known) } : {};
      return { ...computed, ...whole, turn: run.turn };
    } catch (error) {
      if (!(error instanceof DeviceLostError) || signal.aborted || batchShare < 1) throw error;
      // Perhaps it had no memory left; the shard is tried again in any case.
      return await compute(given, signal, busy, 0.5);
    }
  }

  return async (lease, signal, inPart) => {
    checkLease(lease);
    const near = lease.handOver ? toRemoteLease(lease, hasRemoteStorage) : lease;
    const block = new SourceBlock(near.sources);
    const known = knownResults(near, block);
    const given = { lease, near, sources: unpackLease(block, lease.verify), known, spans: new StageSpans(nowMs) };
    const turns = isVideo(lease) ? videoTurns : fileTurns;
    const part = parts.hold(lease);
    try {
      await turns.acquire(1);
      return await clocks.during(lease.jobId, async (busy) => {
        const computed = await compute(given, signal, busy).finally(() => turns.release(1));
        const { frames, turn } = computed;
        const found = frames && (await turn.clock.inPart(() => part.keep(frames, inPart)));
        signal.throwIfAborted();
        return { ...answerOf(given, computed), found, busySeconds: busyMessage(busy.take()) };
      });
    } finally {
      part.release();
    }
  };
}

/** Where the sources of a shard are; usually all are in one place. */
const readsFrom = ([first]: readonly LeasedSource[]): 'network' | 'read' =>
  first && isRemoteUri(first.uri) ? 'network' : 'read';

function answerOf(
  { lease: { jobId, shard, attempt, epoch }, spans }: GivenShard,
  { results, errors, mended, turn: { clock, inputBytes } }: ComputedShard & Pick<ShardRun, 'turn'>,
): Omit<FoundAnswer, 'busySeconds'> {
  return {
    jobId,
    shard,
    attempt,
    epoch,
    results,
    errors,
    inputBytes,
    mended: mended.length > 0 ? { kinds: mended } : undefined,
    stageSeconds: clock.seconds,
    timeline: { spans: spans.end() },
  };
}

/** Throws one sentence for a lease that exceeds the bounds of any sensible lease. */
export function checkLease(lease: Lease): void {
  const excess = excessOf(lease, leaseBounds);
  if (!excess) return;
  const { what, value, allowed } = excess;
  throw new Error(`The lease cannot be used: expected ${allowed} for ${what} but received '${shortened(value)}'`);
}

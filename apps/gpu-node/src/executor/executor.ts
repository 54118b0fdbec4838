import type { DecoderPool, OpenImage, PlaneTarget } from '@halogrid/imaging';
import { shortened } from '@halogrid/kernels';
import { excessOf, type FoundAnswer, type Lease, leaseBounds, type MendedKind } from '@halogrid/proto';
import type { writeChunk } from '@halogrid/results';
import { isRemoteUri, quickToGiveUp } from '@halogrid/sources';
import { Budget } from '@halogrid/threads';
import { type Device, DeviceLostError } from '../devices/device.ts';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import type { RawFeed } from '../feed/raw-feed.ts';
import { WorkerMeter } from '../metrics/worker-meter.ts';
import { type BusyClock, BusyClocks, busyMessage } from './busy-clock.ts';
import type { BandedJpegs } from './jpeg-bands.ts';
import type { SourceOutcome } from './outcomes.ts';
import { PlaneCache } from './plane-cache.ts';
import { runFrames } from './run-frames.ts';
import { runTile } from './run-tile.ts';
import { runVideo } from './run-video.ts';
import { shardJob } from './shard-job.ts';
import type { ExecutorMeters, ShardRun } from './shard-run.ts';
import { StageClock } from './stage-clock.ts';
import { StageSpans } from './stage-spans.ts';
import { type LeasedSource, unpackLease } from './unpack-lease.ts';

/**
 * Computes a lease: reads and decodes its sources, runs the kernels, writes the chunks that are wanted. Sources that cannot
 * be processed are part of the answer; it rejects for everything else, with what made the shard fail, and with the signal's
 * reason once that has aborted. A shard over which the device is lost is tried once more, in batches of half the size.
 * Several may run at once.
 */
export type Executor = (lease: Lease, signal: AbortSignal) => Promise<FoundAnswer>;

export interface ExecutorOptions {
  device: Device;
  /** The reference, which computes what is to be checked. */
  twin: Device;
  /** Rejects with InputError for what is the input's fault. */
  openImage: (uri: string) => Promise<OpenImage>;
  /** Who decodes JPEGs, to gray and to colours; cores unless given. */
  feeds?: Readonly<Partial<Record<PlaneTarget['channels'], JpegFeed>>>;
  /** Who reads raw frames; they are opened one by one unless given. */
  rawFeed?: RawFeed;
  /** Large JPEGs that are decoded in bands; all are decoded whole, or copied first, unless given. */
  banded?: BandedJpegs;
  /** What decodes videos. */
  decoders: DecoderPool;
  writeChunk: typeof writeChunk;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** How long what was under way, and what bound; one of its own unless given. */
  clocks?: BusyClocks;
  meters?: ExecutorMeters;
  /** Told what a person should know though nothing failed. */
  note?: (line: string) => void;
}

/** Memory for images that are decoded as a whole to be cut into tiles: two of the largest that are decoded so, in gray. */
const planeCacheBytes = 512 * 2 ** 20;

/** Shards that are under way beyond the batches in flight: their files are opened, and their chunks written, meanwhile. */
const shardsAhead = 4;

/** Segments under way beyond those that are decoded, at least. */
const leastSegmentsAhead = 4;

/**
 * Segments under way where so many are decoded at the same time: others wait for a decoder, or have frames left to be computed or an answer to be
 * taken. Those of one length end together, so there is another for each decoder: with a quarter as many, decoders waited for leases.
 */
export const segmentsUnderWay = (decoders: number): number => decoders + Math.max(leastSegmentsAhead, decoders);

/**
 * The first attempts of a shard end early if a host seems to be away. Later attempts request each file, so that none is
 * blamed without a request.
 */
const quickAttempts = 2;

/** A shard that the node was given. */
interface GivenShard {
  lease: Lease;
  sources: readonly LeasedSource[];
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
    nowMs,
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

  async function execute(
    { lease, sources, spans }: GivenShard,
    signal: AbortSignal,
    busy: BusyClock,
    batchShare: number,
  ): Promise<FoundAnswer> {
    const { jobId, shard, attempt, epoch, work, verify } = lease;
    if (!work) throw new Error('The lease has no work');
    const job = shardJob(lease);
    const open = attempt <= quickAttempts ? quickToGiveUp(openImage) : openImage;
    const shared = { openImage: open, decoders, meters, writeChunk, planes, banded, note };
    const run: ShardRun = {
      job,
      means: verify ? { ...shared, device: twin } : { ...shared, device, jpegs: feeds[job.channels], raws: rawFeed },
      turn: { signal, clock: new StageClock(nowMs, busy, spans, readsFrom(sources)), batchShare, inputBytes: 0 },
    };
    const outcomes = await runWork(run, work, sources);
    signal.throwIfAborted();
    return {
      jobId,
      shard,
      attempt,
      epoch,
      results: outcomes.flatMap((outcome) => (outcome.kind === 'result' ? outcome.results : [])),
      areFrames: work.$case === 'frames',
      errors: outcomes.flatMap((outcome) => (outcome.kind === 'error' ? [outcome.error] : [])),
      ...mendedSources(outcomes),
      stageSeconds: run.turn.clock.seconds,
      busySeconds: busyMessage(busy.take()),
      inputBytes: run.turn.inputBytes,
      timeline: { spans: spans.end() },
    };
  }

  return async (lease, signal) => {
    checkLease(lease);
    const given = { lease, sources: unpackLease(lease), spans: new StageSpans(nowMs) };
    const turns = isVideo(lease) ? videoTurns : fileTurns;
    await turns.acquire(1);
    try {
      signal.throwIfAborted();
      return await clocks.during(lease.jobId, (busy) =>
        execute(given, signal, busy, 1).catch((error) => {
          if (!(error instanceof DeviceLostError) || signal.aborted) throw error;
          // Perhaps it had no memory left; if it was something else, it is tried again all the same.
          return execute(given, signal, busy, 0.5);
        }),
      );
    } finally {
      turns.release(1);
    }
  };
}

/** Where the sources of a shard are; all of a shard are in one place as a rule. */
const readsFrom = ([first]: readonly LeasedSource[]): 'network' | 'read' =>
  first && isRemoteUri(first.uri) ? 'network' : 'read';

async function runWork(
  run: ShardRun,
  work: NonNullable<Lease['work']>,
  sources: readonly LeasedSource[],
): Promise<SourceOutcome[]> {
  if (work.$case === 'tile') return [await runTile(run, sources[0], work.value)];
  const { segment } = work.value;
  return segment ? await runVideo(run, sources, segment) : await runFrames(run, sources);
}

/** Sources with a result from whose files bytes were removed, by the sentence that says which bytes. */
function mendedSources(outcomes: readonly SourceOutcome[]): Pick<FoundAnswer, 'mended'> {
  const kinds = new Map<string, MendedKind>();
  for (const outcome of outcomes) {
    if (outcome.kind !== 'result' || outcome.mended === undefined) continue;
    const { mended, results } = outcome;
    const source = results[0]!.source;
    const kind = kinds.get(mended) ?? { mended, sources: 0, source };
    kinds.set(mended, { mended, sources: kind.sources + 1, source: Math.min(kind.source, source) });
  }
  return kinds.size > 0 ? { mended: { kinds: [...kinds.values()] } } : {};
}

/** Throws one sentence for a lease of which something is longer, or more, than any that a coordinator has reason to give. */
export function checkLease(lease: Lease): void {
  const excess = excessOf(lease, leaseBounds);
  if (!excess) return;
  const { what, value, allowed } = excess;
  throw new Error(`The lease cannot be used: expected ${allowed} for ${what} but received '${shortened(value)}'`);
}

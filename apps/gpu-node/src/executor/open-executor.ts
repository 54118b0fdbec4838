import { DecoderPool, imageOpener, type PlaneTarget } from '@halogrid/imaging';
import { writeChunk } from '@halogrid/results';
import { PartThread } from '@halogrid/results/part-thread';
import { cacheFolders } from '@halogrid/service';
import { coresHere, memoryHere } from '@halogrid/threads/limits';
import { poolThreads } from '@halogrid/threads/pool-threads';
import { openTwinDevice } from '../devices/cpu-device.ts';
import type { NodeDevice } from '../devices/device.ts';
import { readJpegRate, writeJpegRate } from '../devices/jpeg-rate-file.ts';
import type { DecodeChoice } from '../feed/decode-choice.ts';
import { IndexThread } from '../feed/index-thread.ts';
import { JpegFeed } from '../feed/jpeg-feed.ts';
import { JpegThreads, jpegThreads } from '../feed/jpeg-threads.ts';
import { RawFeed, RawThreads, rawThreads } from '../feed/raw-feed.ts';
import { WorkerMeter } from '../metrics/worker-meter.ts';
import { openJobParts } from '../parts/job-parts.ts';
import { NodeParts } from '../parts/node-parts.ts';
import { type BusyClock, BusyClocks } from './busy-clock.ts';
import { createExecutor, type Executor, segmentsUnderWay } from './executor.ts';
import { BandedJpegs } from './jpeg-bands.ts';
import type { ExecutorMeters } from './shard-run.ts';

/**
 * Decoded bytes leased for each batch in flight: two shards of the largest size that planners make, one being computed
 * and the next. With one, nodes waited for leases: 5,500 PGM frames of 1080p a second on an H200 instead of 6,000
 * (measured).
 */
const creditBytesABatch = 2 * 128 * 2 ** 20;
/**
 * The cost that planners count for a long segment of a video. A node holds less of it, and nothing before it is
 * decoded.
 */
const creditBytesASegment = 128 * 2 ** 20;

/** Decoded pixels take at most this part of the memory, unless an option sets another limit. */
const partForPixels = 1 / 4;

export interface OpenExecutorOptions {
  /** Closed by the caller, after the executor. */
  device: NodeDevice;
  /** The decoders of JPEGs. */
  decode: DecodeChoice;
  /** The longest time in which a video decoder may give no frame. Default: that of VideoReaderOptions. */
  decoderTimeoutMs?: number;
  /** Decoded bytes that the node is leased at once. Default: as much as keeps it busy. */
  creditBytes?: number | undefined;
  /** As in ExecutorOptions. */
  hasRemoteStorage?: boolean;
  /** Logs a line. */
  note: (line: string) => void;
}

/** An executor with its readers and decoders. */
export interface OpenExecutor {
  execute: Executor;
  /** Segments of videos that are decoded at the same time. */
  decoders: number;
  /** Decoded bytes to lease at once. */
  creditBytes: number;
  /** Counters of its decoders. */
  meters: ExecutorMeters;
  clock: BusyClock;
  close(): Promise<void>;
}

/** Starts no more than a thread or two: the rest starts with the work that needs it. */
export function openExecutor(options: OpenExecutorOptions): OpenExecutor {
  const { device, decode, decoderTimeoutMs, note } = options;
  const nowMs = () => performance.now();
  const folders = cacheFolders(process.env);
  const twin = openTwinDevice();
  const images = imageOpener(poolThreads());
  const threads = new JpegThreads(jpegThreads(poolThreads()));
  const feedTo = (channels: PlaneTarget['channels']): JpegFeed =>
    new JpegFeed({
      choice: decode,
      device,
      channels,
      threads,
      coresAtOnce: poolThreads(),
      nowMs,
      note,
      readRate: () => readJpegRate(device.info, channels, folders),
      keepRate: (rate) => writeJpegRate(device.info, channels, rate, folders),
    });
  const feeds = { gray: feedTo('gray'), rgb: feedTo('rgb') };
  const rawFeed = new RawFeed(new RawThreads(rawThreads(poolThreads())));
  const indexer = new IndexThread();
  const banded = new BandedJpegs(indexer.index);
  const decoders = new DecoderPool({
    processes: Math.min(poolThreads(), coresHere()),
    hangMs: decoderTimeoutMs,
    note,
  });
  const usualBytes = [
    device.batchesInFlight * creditBytesABatch,
    segmentsUnderWay(decoders.processes) * creditBytesASegment,
  ];
  const { creditBytes = Math.min(Math.max(...usualBytes), Math.floor(memoryHere() * partForPixels)) } = options;
  const partThread = new PartThread();
  const parts = new NodeParts((lease) => openJobParts(partThread, lease));
  const clocks = new BusyClocks(nowMs, device.info.kind);
  const meters = { decode: new WorkerMeter(poolThreads(), nowMs), video: new WorkerMeter(decoders.processes, nowMs) };
  return {
    execute: createExecutor({
      device,
      twin,
      feeds,
      rawFeed,
      banded,
      decoders,
      writeChunk,
      parts,
      nowMs,
      note,
      clocks,
      meters,
      hasRemoteStorage: options.hasRemoteStorage,
      openImage: (uri, read) => images.openImage(uri, read),
    }),
    decoders: decoders.processes,
    creditBytes,
    meters,
    clock: clocks.whole,
    async close() {
      await parts.close();
      await partThread.end();
      await images.close();
      await threads.close();
      await indexer.close();
      await rawFeed.close();
      await decoders.close();
      await twin.close();
    },
  };
}

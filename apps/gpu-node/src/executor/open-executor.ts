import { availableParallelism } from 'node:os';
import { DecoderPool, imageOpener, type PlaneTarget } from '@halogrid/imaging';
import { writeChunk } from '@halogrid/results';
import { cacheFolders } from '@halogrid/service';
import { poolThreads } from '@halogrid/threads/pool-threads';
import { openTwinDevice } from '../devices/cpu-device.ts';
import type { Device } from '../devices/device.ts';
import { readJpegRate, writeJpegRate } from '../devices/jpeg-rate-file.ts';
import type { DecodeChoice } from '../feed/decode-choice.ts';
import { IndexThread } from '../feed/index-thread.ts';
import { JpegFeed } from '../feed/jpeg-feed.ts';
import { JpegThreads, jpegThreads } from '../feed/jpeg-threads.ts';
import { RawFeed, RawThreads, rawThreads } from '../feed/raw-feed.ts';
import { WorkerMeter } from '../metrics/worker-meter.ts';
import { type BusyClock, BusyClocks } from './busy-clock.ts';
import { createExecutor, type Executor, segmentsUnderWay } from './executor.ts';
import { BandedJpegs } from './jpeg-bands.ts';
import type { ExecutorMeters } from './shard-run.ts';

export interface OpenExecutorOptions {
  /** Closed by the caller, after the executor. */
  device: Device;
  /** Who decodes JPEGs. */
  decode: DecodeChoice;
  /** How long a decoder of videos may give nothing; see VideoReaderOptions for what is usual. */
  decoderTimeoutMs?: number;
  /** Takes a line for the log. */
  note: (line: string) => void;
}

/** An executor with all that it reads and decodes with. */
export interface OpenExecutor {
  execute: Executor;
  /** Segments of videos that are decoded at the same time. */
  decoders: number;
  /** Segments of videos that are worth having under way. */
  segments: number;
  /** What it tells of its work. */
  meters: ExecutorMeters;
  clock: BusyClock;
  close(): Promise<void>;
}

/** Starts no more than a thread or two: the rest starts with the work that needs it. */
export function openExecutor({ device, decode, decoderTimeoutMs, note }: OpenExecutorOptions): OpenExecutor {
  const nowMs = () => performance.now();
  const folders = cacheFolders(process.env);
  const twin = openTwinDevice();
  const images = imageOpener(poolThreads());
  const threads = new JpegThreads(jpegThreads(poolThreads()));
  const feedTo = (channels: PlaneTarget['channels']): JpegFeed =>
    new JpegFeed({
      ...{ choice: decode, device, channels, threads, coresAtOnce: poolThreads(), nowMs, note },
      readRate: () => readJpegRate(device.info, channels, folders),
      keepRate: (rate) => writeJpegRate(device.info, channels, rate, folders),
    });
  const feeds = { gray: feedTo('gray'), rgb: feedTo('rgb') };
  const rawFeed = new RawFeed(new RawThreads(rawThreads(poolThreads())));
  const indexer = new IndexThread();
  const banded = new BandedJpegs(indexer.index);
  const decoders = new DecoderPool({
    processes: Math.min(poolThreads(), availableParallelism()),
    hangMs: decoderTimeoutMs,
    note,
  });
  const clocks = new BusyClocks(nowMs, device.info.kind);
  const meters = { decode: new WorkerMeter(poolThreads(), nowMs), video: new WorkerMeter(decoders.processes, nowMs) };
  return {
    execute: createExecutor({
      ...{ device, twin, feeds, rawFeed, banded, decoders, writeChunk, nowMs, note, clocks, meters },
      openImage: (uri) => images.openImage(uri),
    }),
    decoders: decoders.processes,
    segments: segmentsUnderWay(decoders.processes),
    meters,
    clock: clocks.whole,
    async close() {
      await images.close();
      await threads.close();
      await indexer.close();
      await rawFeed.close();
      await decoders.close();
      await twin.close();
    },
  };
}

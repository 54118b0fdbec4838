import { existsSync } from 'node:fs';
import { DecoderProcesses } from './decoder-processes.ts';
import { type DecoderKind, placeSegments } from './place-segments.ts';
import type { HardwareFound, SegmentRequest } from './process/segment-request.ts';
import { hardwareRoomBytes, roomBytes } from './process/video-protocol.ts';
import { SegmentDecoder } from './segment-decoder.ts';
import { SharedMemory } from './shared-memory.ts';
import type { VideoFile } from './video-file.ts';
import { VideoReader, type VideoReaderOptions } from './video-reader.ts';

export interface DecoderPoolOptions extends VideoReaderOptions {
  /** The most processes that decode on cores at the same time. */
  processes: number;
  /** The most processes that decode in hardware beside them; `hardwareProcesses()` by default. */
  hardware?: number;
  /** A process that has had no work for this time is ended; 10 s by default. */
  idleMs?: number;
}

interface Waiting {
  file: VideoFile;
  request: SegmentRequest;
  take(decoder: SegmentDecoder | undefined): void;
}

/** The most videos that are remembered because hardware was in doubt of them. */
const mostDoubted = 10_000;
/** How often waiting segments are placed again: the decoder that one waits for may be late. */
const lookMs = 200;
/**
 * With one process more than engines, all engines are at work: on an H200 with seven, 8 processes give 4,090 frames/s
 * of 1080p, and 16 give 4,200 (measured).
 */
const processesBeyondEngines = 1;

/** Processes that decode in hardware, until one has told how many engines there are; 0 without an NVIDIA card. */
const hardwareProcesses = (): number => (existsSync('/dev/nvidiactl') ? 8 : 0);

/**
 * Processes that decode segments, on cores and in hardware, each one segment after another. They are started when there
 * is work for them. A process that has met damage gets no more segments, because FFmpeg may have come to harm that
 * shows later; the next segment then waits for a new process. The pool must be closed.
 */
export class DecoderPool {
  /** The most segments that are decoded at the same time, on cores and in hardware. */
  readonly processes: number;
  readonly #options: DecoderPoolOptions;
  readonly #of: Record<DecoderKind, DecoderProcesses>;
  readonly #waiting: Waiting[] = [];
  readonly #doubted = new Set<string>();
  /** Processes that were to have hardware and found none. */
  readonly #withoutCard = new WeakSet<VideoReader>();
  /** A process on cores was asked for a card and found none. */
  #lacksCard = false;
  readonly #notes = new Set<string>();
  /** When the present wait began; undefined if no segment waits. */
  #waitsSinceMs: number | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: DecoderPoolOptions) {
    const { processes, hardware = hardwareProcesses() } = options;
    this.#options = options;
    this.processes = processes + hardware;
    this.#of = {
      cores: new DecoderProcesses('cores', processes, () => this.#start('cores')),
      hardware: new DecoderProcesses('hardware', hardware, () => this.#start('hardware')),
    };
  }

  /**
   * Waits for a process and has it decode a segment; `signal` ends the wait. The file must stay open until the decoder
   * is closed. If `request.hwaccel` is "auto", cores or hardware decode it, whichever will be done first.
   */
  async decode(file: VideoFile, request: SegmentRequest, signal?: AbortSignal): Promise<SegmentDecoder> {
    const decoder = this.#isClosed ? undefined : await this.#wait(file, request, signal);
    if (!decoder) throw new Error('The decoders are closed');
    return decoder;
  }

  /** Ends all processes, even if they are at work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#lookTimer);
    for (const { take } of this.#waiting.splice(0)) take(undefined);
    const { cores, hardware } = this.#of;
    await Promise.all([...cores.readers, ...hardware.readers].map((reader) => reader.end()));
  }

  #start(kind: DecoderKind): VideoReader {
    const { note, ...options } = this.#options;
    const once = (line: string) => {
      if (this.#isNew(line)) note?.(line);
    };
    const bytes = kind === 'hardware' ? hardwareRoomBytes : roomBytes;
    const reader = new VideoReader({ memory: () => new SharedMemory(bytes), ...options, note: once });
    void reader.ended.then(() => {
      this.#of[kind].remove(reader);
      this.#serve();
    });
    return reader;
  }

  #wait(file: VideoFile, request: SegmentRequest, signal?: AbortSignal): Promise<SegmentDecoder | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<SegmentDecoder | undefined>();
    const abort = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      reject(signal!.reason);
    };
    const take = (decoder: SegmentDecoder | undefined) => {
      signal?.removeEventListener('abort', abort);
      resolve(decoder);
    };
    const waiting: Waiting = { file, request, take };
    this.#waiting.push(waiting);
    signal?.addEventListener('abort', abort, { once: true });
    this.#serve();
    return promise;
  }

  /** Gives waiting segments to the processes that will be done with them first. */
  #serve(): void {
    if (this.#isClosed || this.#waiting.length === 0) return;
    const nowMs = performance.now();
    const waitedMs = nowMs - (this.#waitsSinceMs ?? nowMs);
    const { cores, hardware } = this.#of;
    const decoders = [...cores.states(nowMs, waitedMs), ...hardware.states(nowMs, waitedMs)];
    const segments = this.#waiting.map(({ file, request }) => ({
      packets: packetsOf(request),
      kinds: this.#kindsFor(file, request),
    }));
    const placed = placeSegments(
      segments,
      decoders.map(({ state }) => state),
      { cores: cores.packetMs, hardware: hardware.packetMs },
    );
    const waiting = this.#waiting.splice(0);
    for (const [i, one] of waiting.entries()) {
      const decoder = placed[i] === undefined ? undefined : decoders[placed[i]]!;
      if (decoder) this.#begin(one, this.#of[decoder.state.kind], decoder.reader);
      else this.#waiting.push(one);
    }
    this.#waitsSinceMs = this.#waiting.length > 0 ? (this.#waitsSinceMs ?? nowMs) : undefined;
    clearTimeout(this.#lookTimer);
    if (this.#waiting.length > 0) this.#lookTimer = setTimeout(() => this.#serve(), lookMs);
  }

  #begin({ file, request, take }: Waiting, processes: DecoderProcesses, free: VideoReader | undefined): void {
    const reader = processes.begin(free, file, packetsOf(request), performance.now());
    const isBeside = processes.kind === 'cores' && this.#kindsFor(file, request).length > 1;
    // An engine idles while the process that feeds it waits for a core: beside 16 decoders on 16 cores, seven engines
    // were at work half of the time (measured).
    if (isBeside) reader.giveWay();
    const hwaccel = processes.kind === 'hardware' ? 'cuda' : this.#methodOnCores(request);
    const host = {
      letGo: (done: VideoReader) => this.#giveBack(done, processes),
      isNew: (line: string) => this.#isNew(line),
      hardware: (found: HardwareFound) => this.#learn(file, reader, found),
    };
    take(new SegmentDecoder(file, { ...request, hwaccel }, reader, host));
  }

  #kindsFor({ version }: VideoFile, { hwaccel }: SegmentRequest): DecoderKind[] {
    const isForHardware = this.#of.hardware.most > 0 && !this.#doubted.has(version);
    if (hwaccel === 'cuda' && isForHardware) return ['hardware'];
    return hwaccel === 'auto' && isForHardware ? ['cores', 'hardware'] : ['cores'];
  }

  /**
   * The hardware method of a process on cores. If "cuda" was asked for on a machine without a card, one process tries
   * it all the same, so that the reason is logged.
   */
  #methodOnCores({ hwaccel }: SegmentRequest): string {
    const wasAsked = hwaccel === 'cuda' && (this.#lacksCard || this.processes > this.#options.processes);
    return hwaccel === 'auto' || wasAsked ? '' : hwaccel;
  }

  #learn({ version }: VideoFile, reader: VideoReader, { engines, isUsed }: HardwareFound): void {
    const { hardware } = this.#of;
    if (engines > 0) hardware.most = Math.min(hardware.most, engines + processesBeyondEngines);
    else if (this.#of.cores.readers.includes(reader)) this.#lacksCard = true;
    else {
      // There may be no card, or the other processes may have all that it offers.
      hardware.most = Math.min(hardware.most, hardware.readers.length - 1);
      this.#withoutCard.add(reader);
    }
    if (isUsed) return;
    hardware.ignore(reader);
    if (engines > 0 && this.#doubted.size < mostDoubted) this.#doubted.add(version);
    this.#serve();
  }

  #isNew(line: string): boolean {
    const isNew = !this.#notes.has(line);
    this.#notes.add(line);
    return isNew;
  }

  #giveBack(reader: VideoReader, processes: DecoderProcesses): void {
    if (this.#isClosed) return;
    if (!reader.isFree || reader.isSpent || this.#withoutCard.has(reader)) {
      void reader.end();
      return;
    }
    processes.free(reader, performance.now());
    this.#serve();
    this.#endIdle();
  }

  /** Begins to wait again whenever a process has become idle. */
  #endIdle(): void {
    clearTimeout(this.#idleTimer);
    const endAll = () => {
      const { cores, hardware } = this.#of;
      const nowMs = performance.now();
      for (const reader of [...cores.takeIdle(nowMs), ...hardware.takeIdle(nowMs)]) void reader.end();
    };
    this.#idleTimer = setTimeout(endAll, this.#options.idleMs ?? 10_000);
    this.#idleTimer.unref();
  }
}

const packetsOf = ({ start, end }: SegmentRequest): number => Math.max(1, end - start.packet);

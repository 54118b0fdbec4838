import type { DecoderKind, DecoderState } from './place-segments.ts';
import type { VideoFile } from './video-file.ts';
import type { VideoReader } from './video-reader.ts';

/**
 * Milliseconds a packet until they are measured: for H.264 in 1080p on one core of a server, and in one of eight
 * processes on seven engines.
 */
const firstPacketMs: Record<DecoderKind, number> = { cores: 7, hardware: 2 };
/**
 * Milliseconds to start a process, besides its first segment. The driver takes a second to open a card, and opens it
 * for one process after another.
 */
const startMs: Record<DecoderKind, number> = { cores: 0, hardware: 1200 };
/** The weight of the last segment in the measured rate. */
const weight = 0.2;

interface Work {
  packets: number;
  sinceMs: number;
  /** Whether its time counts in the measured rate. */
  isMeasured: boolean;
}

/** Processes of one kind: which decode, which are free, and how fast they are. */
export class DecoderProcesses {
  readonly kind: DecoderKind;
  /** Processes at most. */
  most: number;
  packetMs: number;
  readonly #readers = new Map<VideoReader, Work | undefined>();
  /** Free processes; the last that became free is used first. */
  readonly #idle: VideoReader[] = [];
  readonly #start: () => VideoReader;

  constructor(kind: DecoderKind, most: number, start: () => VideoReader) {
    this.kind = kind;
    this.most = most;
    this.packetMs = firstPacketMs[kind];
    this.#start = start;
  }

  get readers(): VideoReader[] {
    return [...this.#readers.keys()];
  }

  /**
   * The states of its processes, then of processes that could be started. The time to start one counts less the time
   * that work has waited.
   */
  states(nowMs: number, waitedMs: number): { state: DecoderState; reader: VideoReader | undefined }[] {
    const states = [...this.#readers].map(([reader, work]) => {
      const isFree = work === undefined;
      // A process that is late is expected to need as long again as it is late.
      const freeInMs = work ? Math.abs(work.packets * this.packetMs - (nowMs - work.sinceMs)) : 0;
      return { state: { kind: this.kind, freeInMs, isFree }, reader };
    });
    const missing = Math.max(0, this.most - this.#readers.size);
    const freeInMs = Math.max(0, startMs[this.kind] - waitedMs);
    const state = { kind: this.kind, freeInMs, isFree: true };
    return [...states, ...Array.from({ length: missing }, () => ({ state, reader: undefined }))];
  }

  /**
   * Gives a segment to a free process if `reader` is given (best to one that has read the file before), or else to a
   * new one.
   */
  begin(reader: VideoReader | undefined, file: VideoFile, packets: number, nowMs: number): VideoReader {
    const idle = this.#idle.filter(({ isFree }) => isFree);
    const known = reader && (idle.findLast((one) => isOf(one, file)) ?? idle.at(-1));
    const chosen = known ?? this.#start();
    this.remove(chosen);
    // The first segment of a process includes the time of its start.
    this.#readers.set(chosen, { packets, sinceMs: nowMs, isMeasured: known !== undefined });
    return chosen;
  }

  /** Does not measure the process's present segment, because it is not decoded in the way of this kind. */
  ignore(reader: VideoReader): void {
    const work = this.#readers.get(reader);
    if (work) work.isMeasured = false;
  }

  /** The process has done its segment and may do another. */
  free(reader: VideoReader, nowMs: number): void {
    const work = this.#readers.get(reader);
    if (work?.isMeasured) this.packetMs += weight * ((nowMs - work.sinceMs) / work.packets - this.packetMs);
    this.#readers.set(reader, undefined);
    this.#idle.push(reader);
  }

  /** The process has ended, or is about to. */
  remove(reader: VideoReader): void {
    this.#readers.delete(reader);
    const idle = this.#idle.indexOf(reader);
    if (idle >= 0) this.#idle.splice(idle, 1);
  }

  /** Takes all free processes, which the caller ends. */
  takeIdle(nowMs: number): VideoReader[] {
    const taken = this.#idle.splice(0);
    for (const reader of taken) this.#readers.set(reader, { packets: 0, sinceMs: nowMs, isMeasured: false });
    return taken;
  }
}

const isOf = ({ file }: VideoReader, { access, version }: VideoFile): boolean =>
  file?.version === version && JSON.stringify(file.access) === JSON.stringify(access);

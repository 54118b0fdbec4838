import type { DecoderKind, DecoderState } from './place-segments.ts';
import type { VideoFile } from './video-file.ts';
import type { VideoReader } from './video-reader.ts';

/**
 * Until something was measured: 1080p of H.264 as one core of a server decodes it, and one of eight processes on seven
 * engines.
 */
const firstPacketMs: Record<DecoderKind, number> = { cores: 7, hardware: 2 };
/**
 * To start one, beyond what each segment takes: to open a card takes a second of the driver, which opens one after
 * another.
 */
const startMs: Record<DecoderKind, number> = { cores: 0, hardware: 1200 };
/** What the last segment weighs of a measured rate. */
const weight = 0.2;

interface Work {
  packets: number;
  sinceMs: number;
  /** How long it takes tells how quick such processes are. */
  isMeasured: boolean;
}

/** Processes of one kind: which of them decode, which are free, and how quick they are. */
export class DecoderProcesses {
  readonly kind: DecoderKind;
  /** Processes at most. */
  most: number;
  packetMs: number;
  readonly #readers = new Map<VideoReader, Work | undefined>();
  /** The last that was used is the first to be used again. */
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
   * Its processes, then those that could be started; what starting one takes counts less by the time that work has
   * waited.
   */
  states(nowMs: number, waitedMs: number): { state: DecoderState; reader: VideoReader | undefined }[] {
    const states = [...this.#readers].map(([reader, work]) => {
      const isFree = work === undefined;
      // What takes longer than expected is expected to go on as long again.
      const freeInMs = work ? Math.abs(work.packets * this.packetMs - (nowMs - work.sinceMs)) : 0;
      return { state: { kind: this.kind, freeInMs, isFree }, reader };
    });
    const missing = Math.max(0, this.most - this.#readers.size);
    const freeInMs = Math.max(0, startMs[this.kind] - waitedMs);
    const state = { kind: this.kind, freeInMs, isFree: true };
    return [...states, ...Array.from({ length: missing }, () => ({ state, reader: undefined }))];
  }

  /** Has a free one, or a new one, begin with a segment; best one that has read the file before. */
  begin(reader: VideoReader | undefined, file: VideoFile, packets: number, nowMs: number): VideoReader {
    const idle = this.#idle.filter(({ isFree }) => isFree);
    const known = reader && (idle.findLast((one) => isOf(one, file)) ?? idle.at(-1));
    const chosen = known ?? this.#start();
    this.remove(chosen);
    // The first has the start of the process in it.
    this.#readers.set(chosen, { packets, sinceMs: nowMs, isMeasured: known !== undefined });
    return chosen;
  }

  /** What a process is at is not what those of its kind are for, so that it tells nothing of how quick they are. */
  ignore(reader: VideoReader): void {
    const work = this.#readers.get(reader);
    if (work) work.isMeasured = false;
  }

  /** It has done its segment and may do another. */
  free(reader: VideoReader, nowMs: number): void {
    const work = this.#readers.get(reader);
    if (work?.isMeasured) this.packetMs += weight * ((nowMs - work.sinceMs) / work.packets - this.packetMs);
    this.#readers.set(reader, undefined);
    this.#idle.push(reader);
  }

  /** It has ended, or is about to. */
  remove(reader: VideoReader): void {
    this.#readers.delete(reader);
    const idle = this.#idle.indexOf(reader);
    if (idle >= 0) this.#idle.splice(idle, 1);
  }

  /** All that are free, which are to be ended, and are free no more. */
  takeIdle(nowMs: number): VideoReader[] {
    const taken = this.#idle.splice(0);
    for (const reader of taken) this.#readers.set(reader, { packets: 0, sinceMs: nowMs, isMeasured: false });
    return taken;
  }
}

const isOf = ({ file }: VideoReader, { access, version }: VideoFile): boolean =>
  file?.version === version && JSON.stringify(file.access) === JSON.stringify(access);

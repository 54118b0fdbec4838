// What is said between a process that reads videos and the one that started it. Orders come as lines of JSON at stdin.
// At stdout records go back, in their order: a head of doubles, and what it announces. A process with memory that both
// have mapped puts luma there, and into the records where there is none or a frame is larger.
import type { VideoFile } from '../video-file.ts';
import type { IndexLine } from './index-line.ts';
import type { HardwareFound, SegmentRequest } from './segment-request.ts';

/** What a process is told to do; one thing after another. */
export type VideoTask = { kind: 'index' } | { kind: 'decode'; request: SegmentRequest };

export type VideoOrder =
  | (VideoTask & Pick<VideoFile, 'access' | 'version'>)
  | {
      kind: 'freed' /** Where frames lay in the memory that have been taken; `inline` for those that did not. */;
      places: number[];
    };

/** What it says beside frames. The last of an order is 'end' or 'refused'. */
export type VideoMessage =
  | { kind: 'bad'; position: number; error: string }
  | { kind: 'mended' /** What was left out of the frame that comes next. */; mended: string }
  | { kind: 'created' /** Since 1970 in UTC. */; ms: number }
  | { kind: 'note'; line: string }
  | ({ kind: 'hardware' } & HardwareFound)
  | { kind: 'refused'; stage: 'read' | 'decode'; error: string }
  | { kind: 'end' /** Encoded, of the packets that were read. */; inputBytes: number }
  | Exclude<IndexLine, { kind: 'end' }>
  | { kind: 'listed'; last: Extract<IndexLine, { kind: 'end' }> };

/**
 * The doubles of a head: of a frame, whose planes lie one after another, or of one of the other records instead of
 * `position`. `encoded`: 1 for a frame that is the bytes of a JPEG, as one row; `limited`: 1 for luma of the limited
 * range.
 */
export const headFields = [
  ...(['position', 'width', 'height', 'sampleBytes', 'planes', 'stride', 'bytes', 'place'] as const),
  ...(['encoded', 'limited'] as const),
] as const;
export type RecordHead = Record<(typeof headFields)[number], number>;
export const videoHeadBytes = 8 * headFields.length;

/** A message, as JSON of so many bytes. */
export const messageRecord = -1;
/** Nothing but that the process is at work. */
export const aliveRecord = -2;
/** No frame comes before some have been taken. */
export const fullRecord = -3;

/** The place of a frame whose luma follows its head. */
export const inline = -1;

/** Frames that are given out and not taken yet, at most. */
export const mostFramesOut = 64;
/** Bytes of luma that are, except of a single frame, where a core decodes: 0.1 s of 1080p. */
export const roomBytes = 32 * 2 ** 20;
/** Where hardware does, which is quicker than whoever takes its frames: half of it is a batch of a GPU. */
export const hardwareRoomBytes = 128 * 2 ** 20;

/** Where a process listens that knows how to fetch what it reads, and the memory that both have mapped. */
export const servedFd = 3;
export const memoryFd = 4;

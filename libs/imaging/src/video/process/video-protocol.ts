// The protocol between a process that reads videos and the process that started it. Orders come as lines of JSON at
// stdin. Records go back at stdout, in order: a head of doubles, then the bytes that it announces. If both processes
// have mapped a memory, luma is put there. Without one, or if a frame is larger, luma is in the records.
import type { VideoFile } from '../video-file.ts';
import type { IndexLine } from './index-line.ts';
import type { HardwareFound, SegmentRequest } from './segment-request.ts';

/** A task for a process, which does one at a time. */
export type VideoTask = { kind: 'index' } | { kind: 'decode'; request: SegmentRequest };

export type VideoOrder =
  | (VideoTask & Pick<VideoFile, 'access' | 'version'>)
  | {
      kind: 'freed';
      /** The places of frames that have been taken; `inline` for frames that were not in the memory. */
      places: number[];
    };

/** What a process says besides frames. The last message of an order is 'end' or 'refused'. */
export type VideoMessage =
  | { kind: 'bad'; position: number; error: string }
  | {
      kind: 'mended';
      /** A sentence that says what was removed from the next frame. */
      mended: string;
    }
  | {
      kind: 'created';
      /** Milliseconds since 1970 in UTC. */
      ms: number;
    }
  | { kind: 'note'; line: string }
  | ({ kind: 'hardware' } & HardwareFound)
  | { kind: 'refused'; stage: 'read' | 'decode'; error: string }
  | {
      kind: 'end';
      /** The encoded bytes of the packets that were read. */
      inputBytes: number;
    }
  | Exclude<IndexLine, { kind: 'end' }>
  | { kind: 'listed'; last: Extract<IndexLine, { kind: 'end' }> };

/**
 * The doubles of a head. `position` is a frame's position, or says which other record this is. A frame's planes lie one
 * after another. `encoded`: 1 for a frame that is the bytes of a JPEG, as one row; `limited`: 1 for luma of the limited
 * range.
 */
export const headFields = [
  'position',
  'width',
  'height',
  'sampleBytes',
  'planes',
  'stride',
  'bytes',
  'place',
  'encoded',
  'limited',
] as const;
export type RecordHead = Record<(typeof headFields)[number], number>;
export const videoHeadBytes = 8 * headFields.length;

/** A message: `bytes` bytes of JSON follow. */
export const messageRecord = -1;
/** Says that the process is at work. */
export const aliveRecord = -2;
/** Says that no frame can come before some have been taken. */
export const fullRecord = -3;

/** The place of a frame whose luma follows its head. */
export const inline = -1;

/** The most frames that are given out and not taken yet. */
export const mostFramesOut = 64;
/**
 * The most bytes of luma that are given out and not taken yet, unless a single frame has more, if a core decodes: 0.1 s
 * of 1080p.
 */
export const roomBytes = 32 * 2 ** 20;
/**
 * The same limit if hardware decodes, which is quicker than the process that takes its frames: half of it is a batch of
 * a GPU.
 */
export const hardwareRoomBytes = 128 * 2 ** 20;

/**
 * File descriptors of a process that reads videos: for asking its parent for the bytes of a file, and for the memory
 * that both map.
 */
export const servedFd = 3;
export const memoryFd = 4;

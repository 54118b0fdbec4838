// The protocol between a process that reads slides and the process that started it. Orders come as lines of JSON at
// stdin, one at a time. Each is answered at stdout by the length of a text (four bytes, little-endian), the text, which
// is JSON, and the bytes that it announces.
import type { Rect } from '@halogrid/geometry';

/** A slide by its path; `version` changes when one of its files does. */
export interface SlideFile {
  path: string;
  version: string;
}

export type SlideOrder =
  | { kind: 'version' }
  | { kind: 'open'; slide: SlideFile }
  | { kind: 'read'; slide: SlideFile; level: number; region: Rect };

/** What is known of a slide. */
export interface SlideFacts {
  levels: { width: number; height: number }[];
  /** The width of a pixel of level 0 in micrometres, if the slide states it. */
  microns?: number | undefined;
  /** The version of OpenSlide. */
  by: string;
}

export type SlideAnswer =
  | { kind: 'version'; version: string; library: string }
  | { kind: 'opened'; facts: SlideFacts }
  /** Red, green and blue of each pixel, row by row. */
  | { kind: 'pixels'; bytes: number }
  /** The slide is at fault. */
  | { kind: 'refused'; error: string }
  /** OpenSlide cannot be loaded. */
  | { kind: 'missing'; error: string };

/** The longest pause between two words of a process at work: a slow disk has to bring what a few blocks need. */
export const hangMs = 60_000;

import type { IndexedPlace } from '../ranking/hit.ts';
import type { IndexedJob, Segment } from './manifest.ts';
import type { Unit } from './pipeline-identity.ts';
import { cellsOfGrid, type PipelineIdentity } from './pipeline-identity.ts';
import { noText, type RowColumns, textAt } from './row-columns.ts';
import { UnknownCamera } from './unknown-camera.ts';

/** What is known of a frame of an index. Times are milliseconds; null if not known. */
export interface IndexRow extends IndexedPlace {
  readonly row: number;
  readonly timestampMs: number | null;
  /** Since 1970 in UTC. */
  readonly capturedAtMs: number | null;
  readonly camera: string | null;
  /** Pixels that are counted, in all cells. */
  readonly counted: number;
}

/** A segment that is open: its columns, in memory that threads share, and the file of its histograms. */
export interface OpenSegment {
  readonly segment: Segment;
  readonly columns: RowColumns;
  /** Descriptor of NAME.bins. */
  readonly bins: number;
}

/** All frames of an index by their number, which counts over its segments from 0. It can be sent to threads. */
export class Catalog {
  readonly pipeline: PipelineIdentity;
  readonly segments: readonly OpenSegment[];
  /** The number of the first frame of each segment, and at the end the number of all frames. */
  readonly starts: readonly number[];

  constructor(pipeline: PipelineIdentity, segments: readonly OpenSegment[]) {
    this.pipeline = pipeline;
    this.segments = segments;
    const starts = [0];
    for (const { segment } of segments) starts.push(starts.at(-1)! + segment.frames);
    this.starts = starts;
  }

  get frames(): number {
    return this.starts.at(-1)!;
  }

  /** The segment of a frame, and its number there. */
  locate(row: number): { segment: number; at: number } {
    let [low, high] = [0, this.segments.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle]! <= row) low = middle;
      else high = middle - 1;
    }
    return { segment: low, at: row - this.starts[low]! };
  }

  readonly placeOf = (row: number): IndexedPlace => {
    const { segment, at } = this.locate(row);
    const { columns } = this.segments[segment]!;
    return { uri: textAt(columns, columns.source[at]!), frame: columns.frame[at]! };
  };

  describe(row: number): IndexRow {
    const { segment, at } = this.locate(row);
    const { columns } = this.segments[segment]!;
    const cells = cellsOfGrid(this.pipeline);
    const masses = columns.masses.subarray(at * cells, (at + 1) * cells);
    const camera = columns.camera[at]!;
    return {
      row,
      ...this.placeOf(row),
      timestampMs: orNull(columns.timestampMs[at]!),
      capturedAtMs: orNull(columns.capturedAtMs[at]!),
      camera: camera === noText ? null : textAt(columns, camera),
      // Every channel counts the same pixels.
      counted: masses.reduce((sum, mass) => sum + mass, 0) / this.pipeline.channels.length,
    };
  }

  /** The job of a frame. */
  jobOf(row: number): IndexedJob {
    const { segment, at } = this.locate(row);
    let end = 0;
    return this.segments[segment]!.segment.jobs.find(({ frames }) => {
      end += frames;
      return at < end;
    })!;
  }

  /** Whether any frame has a value in that column. */
  knows(column: 'capturedAtMs' | 'camera'): boolean {
    const isMissing = (value: number): boolean => (column === 'camera' ? value === noText : Number.isNaN(value));
    return this.segments.some(({ columns }) => !columns[column].every(isMissing));
  }

  /** Throws UnknownCamera if that camera has no frame, but others have. */
  checkCamera(camera: string): void {
    const names = new Set<string>();
    for (const { columns } of this.segments) {
      for (const text of new Set(columns.camera)) if (text !== noText) names.add(textAt(columns, text));
    }
    if (names.size > 0 && !names.has(camera)) throw new UnknownCamera('The index', camera, names);
  }

  /** The number of frames, or of cells, that count no pixel. */
  countEmpty(unit: Unit): number {
    const cells = unit === 'cell' ? 1 : cellsOfGrid(this.pipeline);
    let empty = 0;
    for (const { columns } of this.segments) {
      for (let from = 0; from < columns.masses.length; from += cells) {
        let cell = from;
        while (cell < from + cells && columns.masses[cell] === 0) cell++;
        if (cell === from + cells) empty++;
      }
    }
    return empty;
  }

  /** The first frame of that URI and number; undefined if there is none. */
  find(uri: string, frame: number): number | undefined {
    const wanted = Buffer.from(uri, 'utf8');
    for (const [index, { columns }] of this.segments.entries()) {
      const texts = new Set<number>();
      columns.textEnds.forEach((end, text) => {
        const from = text === 0 ? 0 : columns.textEnds[text - 1]!;
        if (end - from === wanted.length && wanted.equals(columns.textBytes.subarray(from, end))) texts.add(text);
      });
      if (texts.size === 0) continue;
      const at = columns.source.findIndex((text, i) => texts.has(text) && columns.frame[i] === frame);
      if (at >= 0) return this.starts[index]! + at;
    }
    return undefined;
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

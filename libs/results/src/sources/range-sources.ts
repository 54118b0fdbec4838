import { type CapturedInput, type CaptureOrigin, type CaptureRule, parseCapture } from '@halogrid/sources/captured';
import type { EncodedGroup } from '../features/encode-group.ts';
import { LineBuffer } from './line-buffer.ts';
import { type ListedRange, ListedSources } from './listed-sources.ts';
import { SourceGroups } from './source-groups.ts';
import type { SourceLine } from './source-line.ts';

/** How many sources that are done have a capture time from where. */
export type CaptureCounts = Partial<Record<CaptureOrigin, number>>;

/** Why a source is quarantined. */
export interface SourceFailure {
  stage: string;
  error: string;
  /** How often it was leased; 0 where the planner could not read it. */
  attempts: number;
}

/** What the tables of a job tell of sources that follow one another, but their histograms; a thread can hand it to another. */
export interface SourcesPiece {
  count: number;
  /** Lines of sources.jsonl; none of sources that come as row groups. */
  lines: Uint8Array<ArrayBuffer>;
  /** Row groups of sources.parquet. */
  groups: EncodedGroup[];
  /** Lines of errors.jsonl. */
  errors: Uint8Array<ArrayBuffer>;
  captured: CaptureCounts;
  listed: ListedRange;
}

/** What is before a piece. */
export interface PieceStart {
  /** Whether the list of its sources is row groups. */
  isRows: boolean;
  /** Entries of job.json that are known to be before it. */
  entries: number;
}

/** Gathers what the tables of a job tell of a range of sources, one by one and in order. */
export class RangeSources {
  readonly #rule: CaptureRule;
  #isRows = false;
  #count = 0;
  readonly #lines = new LineBuffer();
  readonly #rows = new SourceGroups();
  #groups: EncodedGroup[] = [];
  readonly #errors = new LineBuffer();
  #captured: CaptureCounts = {};
  readonly #listed = new ListedSources();

  constructor(rule: CaptureRule) {
    this.#rule = rule;
  }

  /** Begins a piece. All pieces of a range have lists of one kind. */
  begin({ isRows, entries }: PieceStart): void {
    this.#isRows = isRows;
    this.#listed.begin(entries);
  }

  /** The next source, with its fields in the order of docs/outputs.md; `failure` is there where it is quarantined. */
  add(line: SourceLine, failure?: SourceFailure): void {
    this.#count++;
    this.#listed.add(line, failure?.error);
    if (!this.#isRows) this.#lines.put(line);
    else {
      const group = this.#rows.add(line);
      if (group) this.#groups.push(group);
    }
    if (failure) this.#errors.put(errorOf(line, failure));
    else {
      const origin = this.#originOf(line);
      this.#captured[origin] = (this.#captured[origin] ?? 0) + 1;
    }
  }

  /** The next row groups, whose sources were added as lines before. */
  addRows(groups: readonly EncodedGroup[]): void {
    this.#groups.push(...groups);
  }

  /** Ends the range: its last row group. */
  end(): void {
    this.#groups.push(...this.#rows.end());
  }

  /** What was added since the last call. A row group is that of a later call until it has ended. */
  take(): SourcesPiece {
    const taken = {
      count: this.#count,
      lines: this.#lines.take(),
      groups: this.#groups,
      errors: this.#errors.take(),
      captured: this.#captured,
      listed: this.#listed.take(),
    };
    this.#count = 0;
    this.#groups = [];
    this.#captured = {};
    return taken;
  }

  #originOf(line: SourceLine): CaptureOrigin {
    const input: CapturedInput = { uri: line.uri };
    if (line.frame !== undefined) input.video = { timestampMs: line.timestampMs ?? null };
    const captured = line.quarantined || line.captured === undefined ? undefined : parseCapture(line.captured);
    if (captured) input.captured = captured;
    return this.#rule.origin(input);
  }
}

/** The memory of a piece that changes hands. */
export const memoryOfSources = ({ lines, groups, errors }: SourcesPiece): ArrayBuffer[] =>
  [lines, errors, ...groups.flatMap(({ pieces }) => pieces)].map(({ buffer }) => buffer as ArrayBuffer);

/** A line of errors.jsonl; `frame` is the number of the frame in its video, 0 for an image. */
const errorOf = ({ uri, frame = 0 }: SourceLine, { stage, error, attempts }: SourceFailure): object => {
  return { uri, frame, stage, error, attempts };
};

import { type CapturedInput, type CaptureOrigin, type CaptureRule, parseCapture } from '@halogrid/sources/captured';
import type { EncodedGroup } from '../features/encode-group.ts';
import { LineBuffer } from './line-buffer.ts';
import { type ListedRange, ListedSources } from './listed-sources.ts';
import { SourceGroups } from './source-groups.ts';
import type { SourceLine } from './source-line.ts';

/** How many done sources have a capture time from each origin. */
export type CaptureCounts = Partial<Record<CaptureOrigin, number>>;

/** Why a source is quarantined. */
export interface SourceFailure {
  stage: string;
  error: string;
  /** How often it was leased; 0 if the planner could not read it. */
  attempts: number;
}

/** The contents of a job's tables, except histograms, for consecutive sources. A thread can transfer it to another. */
export interface SourcesPiece {
  count: number;
  /** Lines of sources.jsonl; empty if the sources come as row groups. */
  lines: Uint8Array<ArrayBuffer>;
  /** Row groups of sources.parquet. */
  groups: EncodedGroup[];
  /** Lines of errors.jsonl. */
  errors: Uint8Array<ArrayBuffer>;
  captured: CaptureCounts;
  listed: ListedRange;
}

/** How a piece begins. */
export interface PieceStart {
  /** Whether its sources are listed as row groups. */
  isRows: boolean;
  /** How many entries of job.json, at least, come before the piece. */
  entries: number;
}

/** Gathers the contents of a job's tables, except histograms, for a range of sources, one by one and in order. */
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

  /** Begins a piece. All pieces of a range list their sources in the same way. */
  begin({ isRows, entries }: PieceStart): void {
    this.#isRows = isRows;
    this.#listed.begin(entries);
  }

  /** Adds the next source, with its fields in the order of docs/outputs.md. `failure` says why it is quarantined. */
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

  /** Adds the next row groups. The lines of their sources were added before. */
  addRows(groups: readonly EncodedGroup[]): void {
    this.#groups.push(...groups);
  }

  /** Ends the range and its last row group. */
  end(): void {
    this.#groups.push(...this.#rows.end());
  }

  /** Returns what was added since the last call. A row group that has not ended yet is left to a later call. */
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

/** The buffers of a piece, to transfer them to another thread. */
export const memoryOfSources = ({ lines, groups, errors }: SourcesPiece): ArrayBuffer[] =>
  [lines, errors, ...groups.flatMap(({ pieces }) => pieces)].map(({ buffer }) => buffer as ArrayBuffer);

/** A line of errors.jsonl. `frame` is the number of the frame in its video, 0 for an image. */
const errorOf = ({ uri, frame = 0 }: SourceLine, { stage, error, attempts }: SourceFailure): object => {
  return { uri, frame, stage, error, attempts };
};

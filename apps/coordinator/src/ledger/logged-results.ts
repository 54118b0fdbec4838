import type { JobSpec } from '@halogrid/proto';
import { type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { quarantinedDigest, type SourceDigest } from '@halogrid/results/source-digest';
import { CaptureRule, type CaptureTime, timeOfFile } from '@halogrid/sources/captured';
import { jobGrid, jobParts } from '../job/accepted-job.ts';
import { jobDigest } from '../log/digest.ts';
import type { AnswerFact, FoundSources, WholeFact } from '../log/fact.ts';
import type { FactPlace } from '../log/fact-place.ts';
import { FrameRows } from '../log/frame-rows.ts';
import { HeldFacts } from '../log/held-facts.ts';
import type { JobLog } from '../log/job-log.ts';
import { isOpen } from '../log/job-state.ts';
import type { HistogramPlace, StoredPlace } from '../log/settled-source.ts';
import { jobLine } from './job-line.ts';
import type {
  FramesRun,
  JobResults,
  SettledRow,
  SettledRun,
  SettledSources,
  SourceOutcome,
  SourceOutcomes,
} from './ledger.ts';
import type { LoggedPlan } from './logged-plan.ts';

/** A pipeline of a job. */
export interface LoggedPart {
  name: string;
  /** That of the job of its own that would have these results. */
  spec: JobSpec;
  shape: HistogramShape;
  line: string;
}

export function loggedParts(spec: JobSpec): LoggedPart[] {
  const grid = jobGrid(spec);
  return jobParts(spec).map(({ name, spec, pipeline }) => {
    return { name, spec, shape: histogramShape(pipeline, grid), line: jobLine(pipeline, grid) };
  });
}

/** An answer that is read, and the place of a source in it. */
interface FoundRow {
  answer: ReadAnswer;
  row: number;
  /** How many sources follow it there that follow it in the job too, itself included. */
  left: number;
}

/** Reads from the log of a job what was found of its sources, or from what waits to be written. */
export class LoggedResults {
  readonly goesByMtime: boolean;
  readonly #parts: readonly LoggedPart[];
  readonly #log: JobLog;
  readonly #plan: LoggedPlan;
  readonly #held: HeldFacts<ReadAnswer>;

  constructor(spec: JobSpec, parts: readonly LoggedPart[], log: JobLog, plan: LoggedPlan) {
    this.goesByMtime = new CaptureRule(spec.captured).isMtime;
    this.#parts = parts;
    this.#log = log;
    this.#plan = plan;
    this.#held = new HeldFacts((place) => readAnswer(log, place));
  }

  /** What became of a source by a pipeline; undefined while it is open. Waits for the disk. */
  outcome(index: number, part = 0): SourceOutcome | undefined {
    if (isOpen(this.#log.state, index)) return undefined;
    const { block, nth } = this.#plan.source(index);
    const video = block.video(nth);
    const source = { index, uri: block.uri(nth), name: block.name(nth), ...(video && { video }) };
    const reason = this.#log.state.quarantined.get(index);
    if (reason) {
      const { stage, error, attempts } = reason;
      return { ...source, state: 'quarantined', stage, error, attempts };
    }
    const { answer, row } = this.#found(index);
    const { size, counted, digest } = answer.rows(part).settled(row) as Extract<
      ReturnType<FrameRows['settled']>,
      { state: 'done' }
    >;
    const captured = this.#captured(() => block.version(nth), answer, row);
    return { ...source, state: 'done', size, tiles: block.tiles(nth), counted, digest, ...(captured && { captured }) };
  }

  /** What each pipeline found, of a job all of whose sources are settled. */
  results(): Pick<JobResults, 'sources' | 'counted' | 'bins' | 'digest'>[] {
    return this.#parts.map(({ line }, part) => {
      const { counted, totals } = this.#log.state.parts[part]!;
      const digest = jobDigest(line, this.#digests(part));
      return { sources: this.#outcomes(part), counted, bins: totals.sums.slice(), digest };
    });
  }

  /** By the pipeline at that place: those from `from` on, up to the first that is open or waits for the disk. */
  settled(from: number, atMost: number, part: number): SettledSources {
    const runs: SettledRun[] = [];
    const { quarantined } = this.#log.state;
    let next = from;
    while (next - from < atMost && !isOpen(this.#log.state, next)) {
      const found = quarantined.has(next) ? undefined : this.#found(next);
      if (found && !found.answer.written) break;
      const frames = found && this.#framesRun(next, from + atMost - next, found, part);
      if (frames) {
        runs.push(frames);
        next += frames.count;
        continue;
      }
      const source = this.#settledRow(next, found, part);
      const last = runs.at(-1);
      const file = found?.answer.written?.file ?? '';
      // One that is quarantined has nothing in a file.
      if (last?.kind === 'sources' && (!file || !last.file || last.file === file)) {
        last.sources.push(source);
        last.file ||= file;
      } else runs.push({ kind: 'sources', sources: [source], file });
      next++;
    }
    return { next, runs };
  }

  /** Undefined for an image that was cut or kept, and where its block waits for the disk. */
  #framesRun(first: number, atMost: number, found: FoundRow, part: number): FramesRun | undefined {
    if (this.#log.state.index.isWhole(first)) return undefined;
    const planned = this.#plan.source(first);
    if (!planned.place) return undefined;
    const { answer, row, left } = found;
    const { epoch, offset, length } = planned.place;
    return {
      ...{ kind: 'frames', file: answer.written!.file, first, count: Math.min(left, atMost), row },
      planned: { file: this.#log.file(epoch), offset, length, nth: planned.nth },
      stored: answer.stored(part),
      ...(part > 0 && answer.isTimed && { times: { file: answer.written!.file, stored: answer.stored(0) } }),
      ...{ goesByMtime: this.goesByMtime, hasHistograms: this.#parts[part]!.shape.bins > 0 },
    };
  }

  #settledRow(index: number, found: FoundRow | undefined, part: number): SettledRow {
    const { block, nth } = this.#plan.source(index);
    const version = block.version(nth);
    const source = this.outcome(index, part)!;
    const { uri, name, video } = source;
    const planned = { index, uri, name, ...(video && { video }), ...(version !== undefined && { version }) };
    if (source.state === 'quarantined') {
      const { state, stage, error, attempts } = source;
      return { ...planned, state, stage, error, attempts };
    }
    const { state, size, counted, digest, captured } = source;
    const place = this.#parts[part]!.shape.bins > 0 ? found!.answer.histograms(part, found!.row) : undefined;
    const more = { ...(captured && { captured }), ...(place && { place }) };
    return { ...planned, state, ...size, counted, digest: Buffer.from(digest).toString('hex'), ...more };
  }

  #captured(version: () => string | undefined, answer: ReadAnswer, row: number): CaptureTime | undefined {
    return timeOfFile(this.goesByMtime, version, () => (answer.isTimed ? answer.rows(0).captured(row) : undefined));
  }

  #outcomes(part: number): SourceOutcomes {
    const { sources: length } = this.#log.state.index;
    const at = (index: number) => this.outcome(index, part);
    const each = function* (): Generator<SourceOutcome, undefined> {
      for (let index = 0; index < length; index++) yield at(index)!;
      return undefined;
    };
    return { length, at, [Symbol.iterator]: each };
  }

  *#digests(part: number): Generator<SourceDigest> {
    const { index, quarantined } = this.#log.state;
    for (let next = 0; next < index.sources; ) {
      if (quarantined.has(next)) {
        yield quarantinedDigest;
        next++;
        continue;
      }
      const { answer, row, left } = this.#found(next);
      yield answer.rows(part).digests.subarray(32 * row, 32 * (row + left));
      next += left;
    }
  }

  /** Of a source that is done. */
  #found(source: number): FoundRow {
    const { index, quarantined } = this.#log.state;
    if (index.isWhole(source)) {
      const answer = this.#read(index.whole(source), (fact) => fact.kind === 'whole' && fact.source === source);
      return { answer, row: 0, left: 1 };
    }
    const { shard, nth, left } = index.frame(source)!;
    const answer = this.#read(index.answer(shard), (fact) => fact.kind === 'answer' && fact.shard === shard);
    const errors = answer.errors.filter((error) => error < source).length;
    let good = 1;
    while (good < left && !quarantined.has(source + good)) good++;
    return { answer, row: nth - errors, left: good };
  }

  #read(place: FactPlace | undefined, isIt: (fact: WholeFact | AnswerFact) => boolean): ReadAnswer {
    if (!place || !this.#log.isWritten(place)) return new ReadAnswer(lastOf(this.#log, isIt));
    return this.#held.at(place);
  }
}

/** Where an answer is written. */
interface WrittenAnswer {
  file: string;
  place: FactPlace;
  bytes: Uint8Array;
}

function readAnswer(log: JobLog, place: FactPlace): ReadAnswer {
  const { fact, bytes } = log.read(place);
  return new ReadAnswer(fact as WholeFact | AnswerFact, { file: log.file(place.epoch), place, bytes });
}

/** An answer that was read. */
class ReadAnswer {
  /** Sources with an error, in order. */
  readonly errors: readonly number[];
  readonly isTimed: boolean;
  /** Undefined where it waits to be written. */
  readonly written: WrittenAnswer | undefined;
  readonly #fact: FoundSources;
  readonly #runs: Float64Array;
  readonly #rows: (FrameRows | undefined)[] = [];

  constructor(fact: WholeFact | AnswerFact, written?: WrittenAnswer) {
    this.written = written;
    this.#fact = fact;
    this.isTimed = fact.isTimed;
    const isWhole = fact.kind === 'whole';
    this.errors = isWhole ? [] : fact.errors.map(({ source }) => source).sort((a, b) => a - b);
    this.#runs = Float64Array.from(isWhole ? [fact.source, 1] : fact.runs);
  }

  rows(part: number): FrameRows {
    const known = this.#rows[part];
    if (known) return known;
    const { stored, countsBytes } = this.#fact.parts[part]!;
    const bytes = Uint8Array.from(stored.subarray(countsBytes));
    const rows = new FrameRows(this.#fact.found, this.isTimed && part === 0, bytes);
    this.#rows[part] = rows;
    return rows;
  }

  /** Where the file has what a pipeline found. */
  stored(part: number): StoredPlace {
    const { stored, countsBytes, rowsChecksum } = this.#fact.parts[part]!;
    const { place, bytes } = this.written!;
    const offset = place.offset + stored.byteOffset - bytes.byteOffset;
    const rowsBytes = stored.length - countsBytes;
    return { runs: this.#runs, isTimed: this.isTimed && part === 0, offset, countsBytes, rowsBytes, rowsChecksum };
  }

  histograms(part: number, row: number): HistogramPlace {
    return this.rows(part).place(row, this.stored(part).offset);
  }
}

function lastOf(log: JobLog, isIt: (fact: WholeFact | AnswerFact) => boolean): WholeFact | AnswerFact {
  let last: WholeFact | AnswerFact | undefined;
  for (const fact of log.waiting()) if ((fact.kind === 'whole' || fact.kind === 'answer') && isIt(fact)) last = fact;
  if (!last) throw new RangeError('What was found of a source is neither written nor waits');
  return last;
}

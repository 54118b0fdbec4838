import type { HistogramShape } from '@halogrid/results/histogram-shape';
import type { LogMark } from '../registry/registry.ts';
import { storeState } from './checkpoint.ts';
import type { CheckpointFact, Fact } from './fact.ts';
import { DamagedFactError, packFact, readFact } from './fact-codec.ts';
import type { FactPlace } from './fact-place.ts';
import { fold, placeFact } from './fold.ts';
import { factOffsets, type GroupPlace, maxGroupBytes } from './group.ts';
import { type JobState, newState } from './job-state.ts';
import { DamagedLogError } from './log-file.ts';
import type { LogAppender, LogPlace } from './log-place.ts';
import { wholeImage } from './whole-image.ts';

export interface JobLogOptions {
  place: LogPlace;
  /** Of this leader: that of the log that it writes. */
  epoch: number;
  /** Of the job, one a pipeline. */
  shapes: readonly HistogramShape[];
  /** Bytes of a log between two checkpoints, at least; 64 MiB unless given. */
  checkpointBytes?: number;
}

const mostBytesBetween = 2 ** 26;
/** A group takes no more facts once it has so many bytes: one fact alone may have as many. */
const fullGroupBytes = maxGroupBytes / 4;

interface Waiting {
  fact: Fact;
  bytes: Uint8Array;
  /** Whether the state knows where it lies: that stays, however often its group is written. */
  isPlaced: boolean;
}

/**
 * The facts of one job as its leader knows and writes them. A fact changes the state at once, and is durable with the
 * next append that succeeds. Each leader writes a log of its own, from a checkpoint of what it read of the others:
 * nothing that an earlier leader still writes is ever read.
 */
export class JobLog {
  #state: JobState;
  readonly #place: LogPlace;
  readonly #epoch: number;
  /** Begun with the first append. */
  #log: LogAppender | undefined;
  /** Those of the leaders before. */
  readonly #earlier: readonly LogMark[];
  readonly #checkpointBytes: number;
  readonly #waiting: Waiting[] = [];
  #checkpointEnd = 0;
  /** Bytes of the last one. */
  #checkpointLength = 0;

  /** That of a new job. Nothing is written yet. */
  static create(options: JobLogOptions, submittedMs: number): JobLog {
    return new JobLog(options, newState(options.shapes, submittedMs), []);
  }

  /**
   * Goes on with a job of which `marks` count, in a log of its own, or in the one that it has begun with this epoch.
   * Nothing is written yet. Rejects with DamagedLogError where what counts is not as it was written.
   */
  static async takeOver(options: JobLogOptions, marks: readonly LogMark[]): Promise<JobLog> {
    const { state, last } = await readState(options, marks);
    const isOwn = marks.at(-1)!.epoch === options.epoch;
    const log = new JobLog(options, state, isOwn ? marks.slice(0, -1) : marks);
    if (isOwn) {
      log.#log = await options.place.goOn(options.epoch, last);
      log.#checkpointEnd = last.end;
    }
    // The group with the last tile of an image may have been full.
    for (const source of [...state.open.keys()]) log.#addWhole(source);
    return log;
  }

  private constructor(
    { place, epoch, checkpointBytes = mostBytesBetween }: JobLogOptions,
    state: JobState,
    earlier: readonly LogMark[],
  ) {
    this.#place = place;
    this.#epoch = epoch;
    this.#state = state;
    this.#earlier = earlier;
    this.#checkpointBytes = checkpointBytes;
  }

  /** As all facts make it, those that are not written too. */
  get state(): JobState {
    return this.#state;
  }

  /** How much of each log counts once the registry knows it. */
  get marks(): LogMark[] {
    return [...this.#earlier, { epoch: this.#epoch, bytes: this.#end }];
  }

  /** Whether anything of the job is written, by this leader or before. */
  get isBegun(): boolean {
    return this.#end > 0 || this.#earlier.length > 0;
  }

  /** Whether facts wait to be written. */
  get hasNews(): boolean {
    return this.#waiting.length > 0 || this.#end === 0;
  }

  /** Throws RangeError for a fact that cannot follow, which is an error of the caller: the job cannot go on then. */
  add(fact: Fact): void {
    // Packed first: what the caller holds of it may change later.
    const bytes = packFact(fact);
    this.#state = fold(this.#state, fact);
    this.#waiting.push({ fact, bytes, isPlaced: false });
    if (fact.kind === 'tile') this.#addWhole(fact.source);
  }

  /**
   * Writes what was added before, as one group, and resolves once it stays there. After a rejection nothing of it
   * counts: the next call writes all of it again, in the same place. One call at a time.
   */
  async append(): Promise<void> {
    this.#log ??= await this.#place.begin(this.#epoch);
    const group = this.#nextGroup();
    const offsets = factOffsets(
      this.#log.end,
      group.map(({ bytes }) => bytes),
    );
    for (const waiting of group) {
      const { fact, bytes, isPlaced } = waiting;
      const place = { epoch: this.#epoch, offset: offsets.next().value!, length: bytes.length };
      if (!isPlaced) placeFact(this.#state, fact, place);
      waiting.isPlaced = true;
    }
    const checkpoint =
      group.length === this.#waiting.length && this.#needsCheckpoint() ? this.#checkpoint() : undefined;
    const facts = [...group.map(({ bytes }) => bytes), ...(checkpoint ? [checkpoint] : [])];
    if (facts.length === 0) return;
    const { end } = await this.#log.append(facts, checkpoint !== undefined);
    this.#waiting.splice(0, group.length);
    if (!checkpoint) return;
    this.#checkpointEnd = end;
    this.#checkpointLength = checkpoint.length;
  }

  /** Whether what lies there is written. */
  isWritten({ epoch, offset }: FactPlace): boolean {
    return epoch !== this.#epoch || offset < this.#end;
  }

  /** Facts that were added and are not written, in their order. */
  *waiting(): Generator<Fact> {
    for (const { fact } of this.#waiting) yield fact;
  }

  /**
   * The fact that lies there, and its bytes, which its binary parts share. Waits for the disk. Throws DamagedLogError where
   * it is not as it was written.
   */
  read({ epoch, offset, length }: FactPlace): { fact: Fact; bytes: Uint8Array } {
    const bytes = this.#place.read(epoch, offset, length);
    try {
      return { fact: readFact(bytes), bytes };
    } catch (error) {
      if (error instanceof DamagedFactError) throw DamagedLogError.changed(this.file(epoch), offset);
      throw error;
    }
  }

  /** The file in which a log is, for threads that read it. */
  file(epoch: number): string {
    return this.#place.file(epoch);
  }

  async close(): Promise<void> {
    await this.#log?.close();
  }

  /** Bytes of its own log that are written. */
  get #end(): number {
    return this.#log?.end ?? 0;
  }

  #addWhole(source: number): void {
    const whole = wholeImage(this.#state, source);
    if (whole) this.add(whole);
  }

  #nextGroup(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((waiting) => {
      bytes += waiting.bytes.length;
      return bytes > fullGroupBytes;
    });
    return this.#waiting.slice(0, end < 0 ? undefined : Math.max(1, end));
  }

  /** A log begins with one. Where the state is large, checkpoints take as much of a log as facts, at most. */
  #needsCheckpoint(): boolean {
    const since = this.#end - this.#checkpointEnd;
    return this.#end === 0 || since >= Math.max(this.#checkpointBytes, this.#checkpointLength);
  }

  #checkpoint(): Uint8Array {
    const fact: CheckpointFact = { kind: 'checkpoint', logs: this.#earlier, state: storeState(this.#state) };
    return packFact(fact);
  }
}

/**
 * The state that the logs make which count: it is that of the last checkpoint of the last of them, and the facts behind
 * it.
 */
async function readState(
  { place, shapes }: JobLogOptions,
  marks: readonly LogMark[],
): Promise<{ state: JobState; last: GroupPlace }> {
  const mark = marks.at(-1);
  if (!mark) throw new DamagedLogError('Nothing is known of the logs of a job');
  const { epoch, bytes } = mark;
  const last = (await place.last(epoch, bytes))!;
  let state = newState(shapes, 0);
  let isBehind = false;
  try {
    for await (const group of place.groups(epoch, last.checkpoint, bytes)) {
      const offsets = factOffsets(group.offset, group.facts);
      for (const packed of group.facts) {
        const fact = readFact(packed);
        const offset = offsets.next().value!;
        isBehind ||= fact.kind === 'checkpoint';
        // The first checkpoint knows the facts before it in its group.
        if (!isBehind) continue;
        state = fold(state, fact);
        placeFact(state, fact, { epoch, offset, length: packed.length });
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DamagedLogError(`The log of epoch ${epoch} makes no sense: ${error.message}`, { cause: error });
  }
  return { state, last };
}

/**
 * How much of the logs of a job counts where no registry says so, and one process after another leads it: all that is
 * whole of the last log that has something whole, and of the others what its checkpoint says. `torn` is told where the
 * end of a log was cut off. Undefined where there is nothing.
 */
export async function countLogs(
  place: LogPlace,
  torn: (epoch: number, offset: number) => void = () => {},
): Promise<LogMark[] | undefined> {
  for (const epoch of (await place.epochs()).reverse()) {
    const last = await place.last(epoch, undefined, (offset) => torn(epoch, offset));
    if (!last) continue;
    for await (const { facts } of place.groups(epoch, last.checkpoint, last.end)) {
      const checkpoint = facts.map(readFact).find(({ kind }) => kind === 'checkpoint') as CheckpointFact | undefined;
      if (checkpoint) return [...checkpoint.logs, { epoch, bytes: last.end }];
      break;
    }
    throw new DamagedLogError(`The log of epoch ${epoch} has no checkpoint where it says`);
  }
  return undefined;
}

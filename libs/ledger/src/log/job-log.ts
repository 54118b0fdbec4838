import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { HistogramShape } from '@halogrid/results/histogram-shape';
import { OlderLedgerError, registryFormat } from '../registry/ledger-errors.ts';
import type { LogMark } from '../registry/registry.ts';
import { storeState } from './checkpoint.ts';
import type { CheckpointFact, Fact, TileFact } from './fact.ts';
import { DamagedFactError, packFact, readFact } from './fact-codec.ts';
import type { FactPlace } from './fact-place.ts';
import { addTileCounts, fold, placeFact } from './fold.ts';
import { factOffsets, type GroupPlace, maxGroupBytes } from './group.ts';
import { type JobState, newState } from './job-state.ts';
import { DamagedLogError } from './log-file.ts';
import type { LogAppender, LogPlace } from './log-place.ts';

export interface JobLogOptions {
  place: LogPlace;
  /** The epoch of this leader, and of the log that it writes. */
  epoch: number;
  /** The histogram shapes of the job, one per pipeline. */
  shapes: readonly HistogramShape[];
  /** The fewest bytes of a log between two checkpoints; 64 MiB unless given. */
  checkpointBytes?: number;
  /** The most bytes of several facts in one group; 256 MiB unless given. */
  groupBytes?: number;
}

const mostBytesBetween = 2 ** 26;
/** A single fact may have more. */
const mostBytesOfGroup = maxGroupBytes / 4;

interface Waiting {
  fact: Fact;
  bytes: Uint8Array;
  /** Whether the state has its place, which does not change when its group is written again. */
  isPlaced: boolean;
}

/**
 * The facts of one job as its leader knows and writes them. A fact changes the state at once, and is durable with the
 * next append that succeeds. Each leader writes its own log, which begins with a checkpoint of the earlier ones: what
 * an earlier leader still writes later is never read. Earlier logs stay until the job has ended, because blocks of
 * sources and places of results are read from them.
 */
export class JobLog {
  #state: JobState;
  readonly #place: LogPlace;
  readonly #epoch: number;
  /** Created by the first append. */
  #log: LogAppender | undefined;
  /** The marks of earlier leaders' logs. */
  readonly #earlier: readonly LogMark[];
  readonly #checkpointBytes: number;
  readonly #groupBytes: number;
  readonly #waiting: Waiting[] = [];
  #checkpointEnd = 0;
  /** Bytes of the last checkpoint. */
  #checkpointLength = 0;

  /** The log of a new job. Nothing is written yet. */
  static create(options: JobLogOptions, submittedMs: number, owner?: string): JobLog {
    const log = new JobLog(options, newState(options.shapes, submittedMs, owner), []);
    log.#begin();
    return log;
  }

  /**
   * Reads a job's logs up to its `marks`, and goes on in a new log, or in the one that was begun with this epoch. Bytes
   * behind a mark were never acknowledged. Nothing is written yet. Rejects with DamagedLogError if counted bytes have
   * changed, and with OlderLedgerError if an older version wrote them.
   */
  static async takeOver(options: JobLogOptions, marks: readonly LogMark[]): Promise<JobLog> {
    const { state, last } = await readState(options, marks);
    const isOwn = marks.at(-1)!.epoch === options.epoch;
    const log = new JobLog(options, state, isOwn ? marks.slice(0, -1) : marks);
    if (isOwn) {
      log.#log = await options.place.goOn(options.epoch, last);
      log.#checkpointEnd = last.end;
    } else log.#begin();
    return log;
  }

  private constructor(
    { place, epoch, checkpointBytes = mostBytesBetween, groupBytes = mostBytesOfGroup }: JobLogOptions,
    state: JobState,
    earlier: readonly LogMark[],
  ) {
    this.#place = place;
    this.#epoch = epoch;
    this.#state = state;
    this.#earlier = earlier;
    this.#checkpointBytes = checkpointBytes;
    this.#groupBytes = groupBytes;
  }

  /** The state after all facts, also those not written yet. */
  get state(): JobState {
    return this.#state;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** How much of each log counts once the registry knows it. */
  get marks(): LogMark[] {
    return [...this.#earlier, { epoch: this.#epoch, bytes: this.#end }];
  }

  /** Whether this or an earlier leader has written anything for the job. */
  get isBegun(): boolean {
    return this.#end > 0 || this.#earlier.length > 0;
  }

  /** Throws RangeError for a fact that cannot follow. That is a programming error, and the job cannot go on then. */
  add(fact: Fact): void {
    // Packed first, because the caller may change its objects later.
    const bytes = packFact(fact);
    this.#state = fold(this.#state, fact);
    this.#waiting.push({ fact, bytes, isPlaced: false });
  }

  /**
   * Writes all added facts, in as many groups as needed, and resolves once they are durable. After a rejection the
   * unwritten groups do not count: the next call writes them in the same place. One call at a time.
   */
  async append(): Promise<void> {
    this.#log ??= await this.#place.begin(this.#epoch);
    for (let left = this.#waiting.length; left > 0; ) left -= await this.#appendGroup(this.#log);
  }

  /** Resolves with the number of facts in the group. */
  async #appendGroup(log: LogAppender): Promise<number> {
    const group = this.#nextGroup();
    const facts = group.map(({ bytes }) => bytes);
    const offsets = factOffsets(log.end, facts);
    for (const waiting of group) {
      const { fact, bytes, isPlaced } = waiting;
      const place = { epoch: this.#epoch, offset: offsets.next().value!, length: bytes.length };
      if (!isPlaced) placeFact(this.#state, fact, place);
      waiting.isPlaced = true;
    }
    let checkpoint = log.end === 0 ? facts[0] : undefined;
    // A checkpoint has the place of every fact.
    if (!checkpoint && group.length === this.#waiting.length && this.#needsCheckpoint()) {
      checkpoint = packFact(this.#checkpoint());
      facts.push(checkpoint);
    }
    const { end } = await log.append(facts, checkpoint !== undefined);
    this.#waiting.splice(0, group.length);
    if (checkpoint) {
      this.#checkpointEnd = end;
      this.#checkpointLength = checkpoint.length;
    }
    return group.length;
  }

  /** Whether the fact at that place is written. */
  isWritten({ epoch, offset }: FactPlace): boolean {
    return epoch !== this.#epoch || offset < this.#end;
  }

  /** Added facts that are not written yet, in order. */
  *waiting(): Generator<Fact> {
    for (const { fact } of this.#waiting) yield fact;
  }

  /**
   * The fact at that place, and its bytes; its binary parts share their memory. Blocks on the disk. Throws
   * DamagedLogError if the bytes have changed.
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

  /** The file of a log, for threads that read it. */
  file(epoch: number): string {
    return this.#place.file(epoch);
  }

  async close(): Promise<void> {
    await this.#log?.close();
  }

  /** How many bytes of this leader's log are written. */
  get #end(): number {
    return this.#log?.end ?? 0;
  }

  #nextGroup(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((waiting, i) => {
      bytes += waiting.bytes.length;
      return bytes > this.#groupBytes && i > 0;
    });
    return this.#waiting.slice(0, end < 0 ? undefined : end);
  }

  /** A log begins with a checkpoint, so a reader finds one whichever group is the last. */
  #begin(): void {
    const fact = this.#checkpoint();
    this.#waiting.push({ fact, bytes: packFact(fact), isPlaced: false });
  }

  /** Checkpoints of a large state take at most half of a log. */
  #needsCheckpoint(): boolean {
    return this.#end - this.#checkpointEnd >= Math.max(this.#checkpointBytes, this.#checkpointLength);
  }

  #checkpoint(): CheckpointFact {
    return { kind: 'checkpoint', format: registryFormat, logs: this.#earlier, state: storeState(this.#state) };
  }
}

/** The state that the counted logs lead to: the last checkpoint of the last log, and the facts behind it. */
async function readState(
  { place, shapes }: JobLogOptions,
  marks: readonly LogMark[],
): Promise<{ state: JobState; last: GroupPlace }> {
  const mark = marks.at(-1);
  if (!mark) throw new DamagedLogError('Nothing is known of the logs of a job');
  const { epoch, bytes } = mark;
  // Earlier logs are read later, and must not be missing then.
  for (const earlier of marks.slice(0, -1)) await place.last(earlier.epoch, earlier.bytes);
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
        // The first checkpoint already includes the facts before it in its group.
        if (!isBehind) continue;
        if (fact.kind === 'checkpoint') checkFormat(epoch, fact);
        state = fold(state, fact);
        if (fact.kind === 'checkpoint') await countTiles(place, state);
        placeFact(state, fact, { epoch, offset, length: packed.length });
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new DamagedLogError(`The log of epoch ${epoch} makes no sense: ${error.message}`, { cause: error });
  }
  return { state, last };
}

/** Throws OlderLedgerError if an older version wrote the log, and Error if a later one did. */
function checkFormat(epoch: number, { format = 5 }: CheckpointFact): void {
  const log = `The log of epoch ${epoch}`;
  if (format < registryFormat) throw new OlderLedgerError(log, format);
  if (format > registryFormat)
    throw new Error(`${log} is of format ${format} and this halogrid knows formats up to ${registryFormat}`);
}

/** Adds up the tiles of open images again, from the places in a checkpoint: one tile a turn of the event loop. */
async function countTiles(place: LogPlace, state: JobState): Promise<void> {
  for (const image of state.open.values()) {
    for (const { epoch, offset, length } of image.tiles) {
      addTileCounts(state, image, readFact(place.read(epoch, offset, length)) as TileFact);
      await endOfTurn();
    }
  }
}

/**
 * How much of a job's logs counts without a registry: the last log with a whole group counts up to its last whole
 * group, the others as far as its checkpoint says. `torn` is called if the end of a log was cut off. Undefined if no
 * log has a whole group.
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
      if (!checkpoint) break;
      checkFormat(epoch, checkpoint);
      return [...checkpoint.logs, { epoch, bytes: last.end }];
    }
    throw new DamagedLogError(`The log of epoch ${epoch} has no checkpoint where it says`);
  }
  return undefined;
}

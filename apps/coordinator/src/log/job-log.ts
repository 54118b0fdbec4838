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
  /** Of this leader: that of the log that it writes. */
  epoch: number;
  /** Of the job, one a pipeline. */
  shapes: readonly HistogramShape[];
  /** Bytes of a log between two checkpoints, at least; 64 MiB unless given. */
  checkpointBytes?: number;
  /** Bytes of facts in a group, at most, where there are several; 256 MiB unless given. */
  groupBytes?: number;
}

const mostBytesBetween = 2 ** 26;
/** One fact alone may have more. */
const mostBytesOfGroup = maxGroupBytes / 4;

interface Waiting {
  fact: Fact;
  bytes: Uint8Array;
  /** Whether the state knows where it lies: that stays, however often its group is written. */
  isPlaced: boolean;
}

/**
 * The facts of one job as its leader knows and writes them. A fact changes the state at once, and is durable with the
 * next append that succeeds. Each leader writes a log of its own, which begins with a checkpoint of what it read of the
 * others: nothing that an earlier leader still writes is ever read.
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
  readonly #groupBytes: number;
  readonly #waiting: Waiting[] = [];
  #checkpointEnd = 0;
  /** Bytes of the last one. */
  #checkpointLength = 0;

  /** That of a new job. Nothing is written yet. */
  static create(options: JobLogOptions, submittedMs: number): JobLog {
    const log = new JobLog(options, newState(options.shapes, submittedMs), []);
    log.#begin();
    return log;
  }

  /**
   * Goes on with a job up to its `marks`, in a log of its own, or in the one that it has begun with this epoch.
   * Nothing is written yet. Rejects with DamagedLogError where what counts is not as it was written, with
   * OlderLedgerError where an older version wrote it.
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

  /** Throws RangeError for a fact that cannot follow, which is an error of the caller: the job cannot go on then. */
  add(fact: Fact): void {
    // Packed first: what the caller holds of it may change later.
    const bytes = packFact(fact);
    this.#state = fold(this.#state, fact);
    this.#waiting.push({ fact, bytes, isPlaced: false });
  }

  /**
   * Writes what was added before, in as many groups as it takes, and resolves once all of them stay there. After a
   * rejection those that were not written do not count: the next call writes them in the same place. One call at a
   * time.
   */
  async append(): Promise<void> {
    this.#log ??= await this.#place.begin(this.#epoch);
    for (let left = this.#waiting.length; left > 0; ) left -= await this.#appendGroup(this.#log);
  }

  /** Resolves with how many facts it has. */
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
    // It knows where every fact lies.
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

  #nextGroup(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((waiting, i) => {
      bytes += waiting.bytes.length;
      return bytes > this.#groupBytes && i > 0;
    });
    return this.#waiting.slice(0, end < 0 ? undefined : end);
  }

  /** A log begins with a checkpoint: each reader finds one, whichever of its groups is the last. */
  #begin(): void {
    const fact = this.#checkpoint();
    this.#waiting.push({ fact, bytes: packFact(fact), isPlaced: false });
  }

  /** Where the state is large, checkpoints take as much of a log as facts, at most. */
  #needsCheckpoint(): boolean {
    return this.#end - this.#checkpointEnd >= Math.max(this.#checkpointBytes, this.#checkpointLength);
  }

  #checkpoint(): CheckpointFact {
    return { kind: 'checkpoint', format: registryFormat, logs: this.#earlier, state: storeState(this.#state) };
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
  // What is in the earlier ones is read later, and may not be missing then.
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
        // The first checkpoint knows the facts before it in its group.
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

/** Throws OlderLedgerError where another version knows what the log says, and Error where a later one does. */
function checkFormat(epoch: number, { format = 5 }: CheckpointFact): void {
  const log = `The log of epoch ${epoch}`;
  if (format < registryFormat) throw new OlderLedgerError(log, format);
  if (format > registryFormat)
    throw new Error(`${log} is of format ${format} and this halogrid knows formats up to ${registryFormat}`);
}

/** Counts the tiles of open images again, where a checkpoint says that they lie: one a turn of the event loop. */
async function countTiles(place: LogPlace, state: JobState): Promise<void> {
  for (const image of state.open.values()) {
    for (const { epoch, offset, length } of image.tiles) {
      addTileCounts(state, image, readFact(place.read(epoch, offset, length)) as TileFact);
      await endOfTurn();
    }
  }
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
      if (!checkpoint) break;
      checkFormat(epoch, checkpoint);
      return [...checkpoint.logs, { epoch, bytes: last.end }];
    }
    throw new DamagedLogError(`The log of epoch ${epoch} has no checkpoint where it says`);
  }
  return undefined;
}

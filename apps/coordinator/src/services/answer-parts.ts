import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import { type AnswerPart, maxAnswerParts, maxCountsBytes, type ShardCompleted } from '@halogrid/proto';
import type { Budget } from '@halogrid/threads';
import type { LeaseId } from '../scheduler/events.ts';

/** The most bytes of incomplete answers, of all nodes together. A longer answer waits until there is no other. */
export const maxPartsBytes = 2 ** 29;

export interface PartsListener {
  /** There is no room: no more messages of the node may be read before `goOn`. */
  wait(): void;
  goOn(): void;
  /** Called every `reportWithinMs / 3` of such a wait: the node is not silent, only its messages are not read. */
  stillWaiting(): void;
}

/**
 * Puts answers together that a node sends in parts. An answer that is incomplete when the conversation ends does not
 * count.
 */
export class AnswerParts {
  readonly #memory: Budget;
  readonly #listener: PartsListener;
  readonly #waitingMs: number;
  #lease: LeaseId | undefined;
  #total = 0;
  #counts: Uint8Array[] = [];
  /** Releases the memory of the answer under way: now, or as soon as it is granted. */
  #release: () => void = () => {};

  constructor(memory: Budget, reportWithinMs: number, listener: PartsListener) {
    this.#memory = memory;
    this.#listener = listener;
    this.#waitingMs = reportWithinMs / 3;
  }

  /**
   * Takes the next part. Throws Refusal for a part that is out of order, or whose lease or total differs from the parts
   * before.
   */
  add(part: AnswerPart): void {
    const { number, total, counts } = part;
    if (total < 1 || total > maxAnswerParts) refuseValue('part.total', total, `1 to ${maxAnswerParts}`);
    const next = this.#counts.length + 1;
    if (number !== next || number > total) {
      refuseValue('part.number', number, next > total ? 'completed after all parts instead' : `${next}`);
    }
    if (next === 1) this.#begin(part);
    else this.#check(part, total);
    this.#counts.push(counts);
  }

  /**
   * The counts of an answer, after the counts of its parts. Throws Refusal if parts are missing or belong to another
   * answer.
   */
  take(answer: ShardCompleted): Uint8Array[] {
    const { parts = 0, counts } = answer;
    if (parts !== this.#counts.length) refuseValue('completed.parts', parts, `${this.#counts.length} as they came`);
    if (parts > 0) this.#check(answer, parts);
    const all = counts ? [...this.#counts, counts] : this.#counts;
    this.drop();
    return all;
  }

  /** Forgets the parts so far. */
  drop(): void {
    this.#release();
    this.#release = () => {};
    this.#lease = undefined;
    this.#counts = [];
  }

  #begin({ jobId, shard, attempt, epoch, total }: AnswerPart): void {
    this.#lease = { jobId, shard, attempt, epoch };
    this.#total = total;
    const bytes = total * maxCountsBytes;
    let isGranted = false;
    let isOver = false;
    this.#listener.wait();
    const timer = setInterval(() => this.#listener.stillWaiting(), this.#waitingMs);
    this.#release = () => {
      isOver = true;
      clearInterval(timer);
      if (isGranted) this.#memory.release(bytes);
    };
    void this.#memory.acquire(bytes).then(() => {
      if (isOver) return this.#memory.release(bytes);
      isGranted = true;
      clearInterval(timer);
      this.#listener.goOn();
    });
  }

  #check({ jobId, shard, attempt, epoch }: LeaseId, total: number): void {
    const lease = this.#lease!;
    const isSame = lease.jobId === jobId && lease.shard === shard && lease.attempt === attempt && lease.epoch === epoch;
    if (isSame && total === this.#total) return;
    throw new Refusal('invalid', 'Expected all parts of one answer before the next answer but received parts of two');
  }
}

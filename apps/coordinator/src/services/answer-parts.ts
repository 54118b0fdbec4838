import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import { type AnswerPart, maxAnswerParts, maxCountsBytes, type ShardCompleted } from '@halogrid/proto';
import type { Budget } from '@halogrid/threads';
import type { LeaseId } from '../scheduler/events.ts';

/**
 * Bytes of answers that have not come as a whole, of all nodes together; one that is longer waits until there is no
 * other.
 */
export const maxPartsBytes = 2 ** 29;

export interface PartsListener {
  /** There is no room: nothing more of the node is to be read before `goOn`. */
  wait(): void;
  goOn(): void;
  /** Every `reportWithinMs / 3` of such a wait: the node is not silent, it is not listened to. */
  stillWaiting(): void;
}

/**
 * What a conversation says in parts, put together. What there is of an answer when the conversation ends was never
 * said.
 */
export class AnswerParts {
  readonly #memory: Budget;
  readonly #listener: PartsListener;
  readonly #waitingMs: number;
  #lease: LeaseId | undefined;
  #total = 0;
  #counts: Uint8Array[] = [];
  /** Gives back what the answer under way has of the memory, now or once it has it. */
  #release: () => void = () => {};

  constructor(memory: Budget, reportWithinMs: number, listener: PartsListener) {
    this.#memory = memory;
    this.#listener = listener;
    this.#waitingMs = reportWithinMs / 3;
  }

  /**
   * Takes the next part. Throws Refusal for one that is out of its order, or has another lease or total than those
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
   * The counts of an answer, with those of its parts before. Throws Refusal where some are missing or are of another
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

  /** Forgets what came of an answer. */
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
    throw new Refusal('invalid', 'Expected the parts of one answer after another but received those of two');
  }
}

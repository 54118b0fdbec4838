import { noZone } from '@halogrid/proto/frame-table';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { SourceOutcome, SourceOutcomes } from './ledger.ts';

const blockSources = 1024;

/** 10 bytes a source. */
class Block {
  /** NaN where no time is known. */
  readonly localMs = new Float64Array(blockSources).fill(Number.NaN);
  readonly offsetMinutes = new Int16Array(blockSources);
}

/** What is stated of when the sources of a job were captured, by index; sources of which nothing is stated take no memory. */
export class CapturedTimes {
  readonly #blocks: (Block | undefined)[] = [];

  set(index: number, { localMs, offsetMinutes = noZone }: CaptureTime): void {
    const number = Math.floor(index / blockSources);
    this.#blocks[number] ??= new Block();
    this.#blocks[number].localMs[index % blockSources] = localMs;
    this.#blocks[number].offsetMinutes[index % blockSources] = offsetMinutes;
  }

  get(index: number): CaptureTime | undefined {
    const block = this.#blocks[Math.floor(index / blockSources)];
    const localMs = block?.localMs[index % blockSources] ?? Number.NaN;
    if (Number.isNaN(localMs)) return undefined;
    const offsetMinutes = block!.offsetMinutes[index % blockSources]!;
    return offsetMinutes === noZone ? { localMs } : { localMs, offsetMinutes };
  }
}

/** When a source was captured, where that is known. */
export type CapturedOf = (index: number) => CaptureTime | undefined;

/** Outcomes with what is known of when sources were captured. */
export function withTimes(outcomes: SourceOutcomes, capturedOf: CapturedOf): SourceOutcomes {
  const { length } = outcomes;
  const timed = (outcome: SourceOutcome): SourceOutcome => {
    if (outcome.state !== 'done') return outcome;
    const captured = capturedOf(outcome.index);
    return captured ? { ...outcome, captured } : outcome;
  };
  return {
    length,
    at(index) {
      const outcome = outcomes.at(index);
      return outcome && timed(outcome);
    },
    [Symbol.iterator]: () => outcomes[Symbol.iterator]().map(timed),
  };
}

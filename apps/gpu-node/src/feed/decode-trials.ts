import type { Decoder } from './earliest-finish.ts';

/** The decoders that get JPEGs: one alone, or both. */
export type DecodePlan = Decoder | 'both';

/**
 * Turns of a plan before the other one is tried, at first. The number doubles after each trial without a gain, up to
 * the most.
 */
export const turnsBeforeTrial = 2;
const mostTurnsBeforeTrial = 128;
/** A plan replaces another one only if it is faster by this factor: turns of equal plans differ by a few percent. */
const worthwhile = 1.03;

/** The bytes a second of each decoder, measured separately. */
export type DecoderRates = Readonly<Record<Decoder, number>>;

/**
 * Decides whether both decoders work or the faster one alone, by the bytes that the node decodes in a turn of each
 * plan. The separate rates do not show it: cores that decode cannot read for the device meanwhile, and a frame that
 * they decode takes ten times as long on the main thread. So the other plan is tried for a turn now and then, more and
 * more rarely.
 */
export class DecodeTrials {
  #plan: DecodePlan = 'both';
  /** During a trial: the plan before it, and the median rate of that plan's turns since the last trial. */
  #before: { plan: DecodePlan; rate: number } | undefined;
  #rates: number[] = [];
  #pause = turnsBeforeTrial;

  get plan(): DecodePlan {
    return this.#plan;
  }

  /**
   * Takes the bytes a second of a turn of the present plan, and the rates of the decoders. Chooses the plan of the next
   * turn.
   */
  measured(rate: number, rates: DecoderRates): void {
    const before = this.#before;
    this.#before = undefined;
    if (before) {
      const isBetter = rate > worthwhile * before.rate;
      if (!isBetter) this.#plan = before.plan;
      this.#pause = isBetter ? turnsBeforeTrial : Math.min(2 * this.#pause, mostTurnsBeforeTrial);
      this.#rates = [];
    } else if (this.#rates.push(rate) >= this.#pause) {
      this.#before = { plan: this.#plan, rate: median(this.#rates) };
      this.#plan = this.#plan === 'both' ? fasterOf(rates) : 'both';
    }
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const fasterOf = ({ device, cores }: DecoderRates): Decoder => (device >= cores ? 'device' : 'cores');

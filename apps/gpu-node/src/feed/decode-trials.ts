import type { Decoder } from './earliest-finish.ts';

/** Who gets JPEGs: one decoder alone, or both. */
export type DecodePlan = Decoder | 'both';

/** Turns of a plan before another one is tried, at first; twice as many after each trial in vain, up to the most. */
export const turnsBeforeTrial = 2;
const mostTurnsBeforeTrial = 128;
/** A plan replaces another one where it is faster by that factor: equal turns differ by a few percent. */
const worthwhile = 1.03;

/** Bytes a second of each decoder, as it was measured by itself. */
export type DecoderRates = Readonly<Record<Decoder, number>>;

/**
 * Decides whether both decoders work or the faster one alone, by the bytes that the node then decodes in a turn. The rates of the decoders
 * do not tell: cores that decode cannot read for the device meanwhile, and a frame that they decode takes ten times as long on the
 * thread that all frames pass. So the other plan is tried for a turn now and then, ever more rarely.
 */
export class DecodeTrials {
  #plan: DecodePlan = 'both';
  /** The plan before the trial that goes on, and what its turns since the last trial brought. */
  #before: { plan: DecodePlan; rate: number } | undefined;
  #rates: number[] = [];
  #pause = turnsBeforeTrial;

  get plan(): DecodePlan {
    return this.#plan;
  }

  /** Takes what a turn of the plan brought, in bytes a second, and the rates of the decoders; chooses the plan of the next turn. */
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

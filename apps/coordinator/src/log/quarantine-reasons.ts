import type { QuarantineReason } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources/redact-uri';
import { kindOfSentence } from './kind-of-sentence.ts';

/** Reasons that are told of a job, at most: where there are more, the last stands for all others. */
export const maxReasons = 20;

/** Kinds of reasons that are told apart: more than are told, so that a frequent one that comes late is still counted. */
export const maxKinds = 256;

/** Characters of a sentence that are kept. What nodes say may be longer; errors.jsonl has all of it. */
const maxSentence = 1000;

interface Kind {
  stage: string;
  /** That of the lowest source. */
  error: string;
  inputs: number;
  /** Index of the lowest source. */
  source: number;
}

/**
 * Quarantined sources by what is wrong with them, in memory that does not grow with their number. What it tells does not depend
 * on the order in which they came, as long as there are no more than `maxKinds` kinds; sources of later ones count among the
 * others.
 */
export class QuarantineReasons {
  readonly #kinds = new Map<string, Kind>();
  #others: Kind | undefined;

  /** Counts a source, once; true where it is the example of its kind from now on, whose URI will be asked for. */
  add(source: number, reason: { stage: string; error: string }): boolean {
    const { stage } = reason;
    const error = reason.error.length > maxSentence ? `${reason.error.slice(0, maxSentence - 1)}…` : reason.error;
    const key = `${stage}\n${kindOfSentence(error)}`;
    const kind = this.#kinds.get(key);
    if (kind) return count(kind, source, error);
    if (this.#kinds.size < maxKinds) this.#kinds.set(key, { stage, error, inputs: 1, source });
    else if (this.#others) return count(this.#others, source, this.#others.error);
    else this.#others = { ...nameless, inputs: 1, source };
    return true;
  }

  /** The most frequent first. `uriOf` gives the URI of a source; what may be secret in it is left out. */
  list(uriOf: (source: number) => string): QuarantineReason[] {
    const sorted = [...this.#kinds.values()].sort((a, b) => b.inputs - a.inputs || a.source - b.source);
    const isTooLong = sorted.length > maxReasons || this.#others !== undefined;
    const rest = isTooLong ? sorted.splice(maxReasons - 1) : [];
    if (this.#others) rest.push(this.#others);
    const told = rest.length > 0 ? [...sorted, rest.reduce(together)] : sorted;
    return told.map(({ stage, error, inputs, source }) => ({
      stage,
      error,
      inputs,
      example: redactUri(uriOf(source)),
    }));
  }
}

/** The sentence for reasons that are not told one by one. */
const nameless = { stage: '', error: 'Other reasons' };

function count(kind: Kind, source: number, error: string): boolean {
  kind.inputs++;
  const isLowest = source < kind.source;
  if (isLowest) Object.assign(kind, { source, error });
  return isLowest;
}

const together = (a: Kind, b: Kind): Kind => ({
  ...nameless,
  inputs: a.inputs + b.inputs,
  source: Math.min(a.source, b.source),
});

import type { QuarantineReason } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources/redact-uri';
import { kindOfSentence } from './kind-of-sentence.ts';

/** The most reasons that are reported for a job: if there are more, the last stands for all others. */
export const maxReasons = 20;

/**
 * The most kinds of reasons that are counted separately: more than are reported, so that a frequent one that comes late
 * is still counted.
 */
export const maxKinds = 256;

/** The most characters that are kept of a sentence. errors.jsonl has the whole sentence. */
const maxSentence = 1000;

interface Kind {
  stage: string;
  /** The sentence of the source with the lowest index. */
  error: string;
  inputs: number;
  /** The lowest index of a source. */
  source: number;
}

/**
 * Counts quarantined sources by reason, in memory that does not grow with their number. The result does not depend on
 * their order, unless there are more than `maxKinds` kinds; sources of later kinds count among the others.
 */
export class QuarantineReasons {
  readonly #kinds = new Map<string, Kind>();
  #others: Kind | undefined;

  /** Counts a source. Returns whether it becomes the example of its kind: `list` asks for no other URIs. */
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

  /** The reasons, the most frequent first. `uriOf` returns the URI of a source; it is redacted here. */
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

/** The sentence for reasons that are not reported separately. */
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

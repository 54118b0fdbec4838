import { nearestWord, shortened } from '@halogrid/kernels';
import type { FieldError } from '@halogrid/proto/json';
import { named, type Sentence, sentence } from '@halogrid/proto/sentence';

/**
 * Says what is wrong with the JSON that a caller sent, in a sentence short enough to show. It suggests the allowed name
 * that is nearest to the received one.
 */
export function fieldSentence({ what, allowed, received, names }: FieldError): Sentence {
  const near = nearestWord(received, names);
  const given = names.length > 0 ? named(shortened(received)) : shortened(received);
  const hint = near === undefined ? '' : sentence` (did you mean ${named(near)}?)`;
  return sentence`Expected ${allowed} for ${what.naming(shortened)} but received '${given}'${hint}`;
}

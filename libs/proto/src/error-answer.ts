import type { ErrorAnswer } from './gen/halogrid/v1/api.ts';
import { Sentence } from './sentence.ts';

/** Why there is no answer, as a program is told. `field` is the first that the sentence names unless given. */
export function errorAnswer(code: string, why: string | Sentence, field?: string): ErrorAnswer {
  const { parts, field: first } = typeof why === 'string' ? new Sentence([why]) : why;
  const wrong = field ?? first;
  return { error: parts.join(''), code, ...(wrong && { field: wrong }), parts: [...parts] };
}

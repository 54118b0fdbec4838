import type { ErrorAnswer } from './gen/halogrid/v1/api.ts';
import { Sentence } from './sentence.ts';

/**
 * The message that tells a program why its request failed. `field` defaults to the first field that the sentence names.
 */
export function errorAnswer(code: string, why: string | Sentence, field?: string): ErrorAnswer {
  const { parts, field: first } = typeof why === 'string' ? new Sentence([why]) : why;
  const wrong = field ?? first;
  return { error: parts.join(''), code, ...(wrong && { field: wrong }), parts: [...parts] };
}

import type { Sentence } from '@halogrid/proto/sentence';

/** Options that say when inputs were captured, and are none. */
export class CaptureOptionsError extends Error {
  readonly sentence: Sentence;

  constructor(sentence: Sentence) {
    super(String(sentence));
    this.name = 'CaptureOptionsError';
    this.sentence = sentence;
  }
}

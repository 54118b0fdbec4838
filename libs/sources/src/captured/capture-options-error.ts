import type { Sentence } from '@halogrid/proto/sentence';

/** Invalid options of capture times. */
export class CaptureOptionsError extends Error {
  readonly sentence: Sentence;

  constructor(sentence: Sentence) {
    super(String(sentence));
    this.name = 'CaptureOptionsError';
    this.sentence = sentence;
  }
}

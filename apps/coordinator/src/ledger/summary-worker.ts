// Runs in a worker thread: summarises the frames of answers, one after another.
import { serveOrders } from '@halogrid/threads';
import { InvalidResultError } from './check-answer.ts';
import { type Frames, summarise } from './frame-summary.ts';
import type { SummaryAnswer } from './summary-thread.ts';

serveOrders(
  (frames: Frames): SummaryAnswer => {
    try {
      return { summary: summarise(frames) };
    } catch (error) {
      if (error instanceof InvalidResultError) return { refused: error.message };
      throw error;
    }
  },
  {
    moved: (answer) => {
      if ('refused' in answer) return [];
      const { digests, sums, packed, lengths, checksums } = answer.summary;
      return [digests, sums, packed, lengths, checksums].map(({ buffer }) => buffer as ArrayBuffer);
    },
  },
);

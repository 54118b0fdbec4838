// Runs in a worker thread: summarises the frames of answers, one after another.
import { serveOrders } from '@halogrid/threads';
import { InvalidResultError } from './check-answer.ts';
import { type FrameOrder, summarise } from './frame-summary.ts';
import type { SummaryAnswer } from './summaries.ts';

serveOrders(
  (order: FrameOrder): SummaryAnswer => {
    try {
      return { summary: summarise(order) };
    } catch (error) {
      if (error instanceof InvalidResultError) return { refused: error.message };
      throw error;
    }
  },
  {
    moved: (answer) => {
      if ('refused' in answer) return [];
      return answer.summary.parts.flatMap(({ sums, stored }) =>
        [sums, stored].map(({ buffer }) => buffer as ArrayBuffer),
      );
    },
  },
);

/** How long the thread of waiting-worker.ts sleeps before each item. */
export const waitedMs = 1000;

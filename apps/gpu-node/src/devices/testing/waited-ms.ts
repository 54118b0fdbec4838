/** How long the thread of waiting-worker.ts waits for nothing before each item. */
export const waitedMs = 1000;

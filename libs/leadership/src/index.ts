// Decides which coordinator leads a registry or, if several lead it, each of its jobs.
export { Leadership } from './leadership.ts';
export { askEveryMs, leaseMs } from './lease-keeping.ts';
export type { AnswerQuestion, Questions } from './questions.ts';
export { SharedJobs } from './shared-jobs.ts';

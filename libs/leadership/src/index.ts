// Which coordinator leads a registry, or each of its jobs where several lead.
export { Leadership } from './leadership.ts';
export { askEveryMs, leaseMs } from './lease-keeping.ts';
export type { AnswerQuestion, Questions } from './questions.ts';
export { SharedJobs } from './shared-jobs.ts';

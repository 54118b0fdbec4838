// What a job would come to, for programs that only ask: loads nothing of the server.
export { itemBytes, mostOf, type NodeBytes, type PlanTotals } from './plan-totals.ts';
export type { PlanWork, SourceKind, SourceWork } from './plan-work.ts';
export { checkedSpec, type JobSurvey, type PassThrough, surveyJob } from './survey-job.ts';

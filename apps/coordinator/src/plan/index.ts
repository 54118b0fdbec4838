// What a plan comes to, for those who only ask: nothing that serves is loaded.
export { itemBytes, mostOf, type NodeBytes, type PlanTotals } from './plan-totals.ts';
export type { PlanWork, SourceKind, SourceWork } from './plan-work.ts';
export { type JobSurvey, surveyJob } from './survey-job.ts';

// Plans that several runs share, and one output of their parts: loads nothing of the server.

export { mergeShares } from './merge-shares.ts';
export { PlanRecorder } from './plan-recorder.ts';
export { readPlan } from './read-plan.ts';

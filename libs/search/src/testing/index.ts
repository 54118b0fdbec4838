// Helpers for tests of other packages.

export { byDefinition, makeIndex, type Scored, tiedFrames, vectorOf } from './made-index.ts';
export { type MadeFrame, type MadeJob, madeBins, noise } from './make-job.ts';
export { searchedQueries, searchedRows } from './searched.ts';

import { resultEntries } from '@halogrid/results/output-entries';

const entries = new Set(resultEntries);

/** Whether the name of an object is one that jobs write, besides what they need while they run. */
export const isOfOutput = (name: string): boolean => entries.has(name.split('/', 1)[0]!);

import { resultEntries } from '@halogrid/results/output-entries';

const entries = new Set(resultEntries);

/** Objects of `.halogrid` that say what becomes of an output, or that a job needs while it runs. */
const passing = /^\.halogrid\/(?:$|claims\/|jobs\/|publication-|try-)/;

/**
 * Whether an object has one of the files that a job leaves. A plan and a part leave theirs in `.halogrid`, as in a
 * folder.
 */
export const isOfOutput = (name: string): boolean => entries.has(name.split('/', 1)[0]!) || isOfLogged(name);

/** Whether an object has the log of a plan or part, or some of its results. */
export const isOfLogged = (name: string): boolean => name.startsWith('.halogrid/') && !passing.test(name);

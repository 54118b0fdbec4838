import { resolve } from 'node:path';

/** Tells this process, and its threads and children, what --scratch says. */
export function setScratch(folder: string | undefined): void {
  if (folder !== undefined) process.env.HALOGRID_SCRATCH = resolve(folder);
}

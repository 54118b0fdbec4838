import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { forReading, quickFiles } from '../files/quick-files.ts';

/**
 * The most bytes that are read of a job.json. A larger one, of a job with many sources, is known by its beginning,
 * because the sources come last.
 */
const headBytes = 2 ** 20;

/** Whether a name is one that the coordinator gives a job.json while it takes over an output folder. */
const isHalfway = (name: string): boolean => /^\.(job\.json|claim)\.[0-9a-f-]{36}$/.test(name);

/**
 * The id of the job that has its output in a folder, finished or not: pictures there are results, and not inputs of the
 * next job. Undefined for every other folder, also if another program wrote its job.json. Never rejects.
 */
export async function jobIn(folder: string): Promise<string | undefined> {
  const id = await jobIdOf(join(folder, 'job.json'));
  if (id !== undefined || !(await isThere(join(folder, '.halogrid')))) return id;
  // A process was killed while it took the folder; then its job.json has another name.
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of ['.halogrid/earlier.json', ...names.filter(isHalfway)]) {
    const id = await jobIdOf(join(folder, name));
    if (id !== undefined) return id;
  }
  return undefined;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await quickFiles.stat(path);
    return true;
  } catch {
    return false;
  }
}

/** The id in a job.json; undefined if it is missing or not ours. */
async function jobIdOf(path: string): Promise<string | undefined> {
  if (!(await isThere(path))) return undefined;
  try {
    const file = await open(path, forReading);
    try {
      const { size } = await file.stat();
      const head = Buffer.alloc(Math.min(size, headBytes));
      const { bytesRead } = await file.read(head, 0, head.length, 0);
      const text = head.toString('utf8', 0, bytesRead);
      return size > headBytes ? idInHead(text) : idInWhole(text);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

const states = ['running', 'complete', 'failed', 'cancelled', 'planned', 'part'];

/** The id in a whole job.json; undefined if it is not ours. Throws SyntaxError if it is not JSON. */
function idInWhole(text: string): string | undefined {
  const job: unknown = JSON.parse(text);
  if (!(job instanceof Object && 'id' in job && 'state' in job && 'specification' in job)) return undefined;
  const { id, state, specification } = job;
  const isOurs = typeof id === 'string' && states.includes(String(state)) && specification instanceof Object;
  return isOurs && id !== '' ? id : undefined;
}

/** The id in the beginning of a job.json, whose first fields are written in this order. */
function idInHead(text: string): string | undefined {
  const [, id, state] = /^\{\s*"id": "([^"\\]+)",\s*"state": "([^"\\]+)",/.exec(text) ?? [];
  return states.includes(state ?? '') && /\n {2}"specification": \{/.test(text) ? id : undefined;
}

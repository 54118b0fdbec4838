import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { BucketPrefix, type ListedObject, TransferError } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import { requestsAtOnce } from './requests-at-once.ts';

/** Where all jobs of an output keep their objects. */
const jobsFolder = '.halogrid/jobs/';

/** Larger files are sent in parts. */
const mostBytesAtOnce = 2 ** 26;

/**
 * Parts and chunks of a job, as objects with the names of their files in its scratch folder. Each is an object before
 * the result that it belongs to counts, so the scratch folder is only a copy, which another coordinator can bring to
 * its own machine. Groups of logs are beside them (see BucketLogs).
 */
export class JobObjects {
  /** The objects of jobs that run here, by URI. */
  static readonly #open = new Map<string, JobObjects>();

  readonly #prefix: BucketPrefix;
  readonly #folder: string;
  /** Files of this process, which are not brought; undefined once all others are here. */
  #own: Set<string> | undefined = new Set();
  #bringing: Promise<void> | undefined;
  readonly #ended = new AbortController();

  /** The objects of a job that runs here; undefined if no other coordinator needs them. */
  static of({ objects, scratch }: Pick<AcceptedJob, 'objects' | 'scratch'>): JobObjects | undefined {
    if (objects === undefined) return undefined;
    const known = JobObjects.#open.get(objects) ?? new JobObjects(objects, fileURLToPath(scratch));
    JobObjects.#open.set(objects, known);
    return known;
  }

  /** The job does not run here any more. Resolves when no file is being brought. */
  static async end({ objects = '' }: Pick<AcceptedJob, 'objects'>): Promise<void> {
    const known = JobObjects.#open.get(objects);
    JobObjects.#open.delete(objects);
    await known?.end();
  }

  private constructor(uri: string, folder: string) {
    this.#prefix = new BucketPrefix(uri);
    this.#folder = folder;
  }

  /** Keeps a file of the scratch folder. `name`: its path there; `file`: where it is, if not there yet. */
  async keep(name: string, file = join(this.#folder, name)): Promise<void> {
    this.#own?.add(name);
    const { size } = await stat(file);
    if (size <= mostBytesAtOnce) return await this.#prefix.put(name, await readFile(file));
    const { uploads } = this.#prefix;
    const whole = await uploads.sendFile(await uploads.begin(name, randomUUID()), file, false);
    if (whole && (await uploads.complete(whole))) return;
    throw new TransferError(`The store has forgotten the upload of '${this.#prefix.uriOf(name)}'`);
  }

  /** Resolves when all files that an earlier leader kept are here. After a rejection the next call tries again. */
  brought(): Promise<void> {
    this.#bringing ??= this.#bringMissing(this.#ended.signal).catch((error) => {
      this.#bringing = undefined;
      throw error;
    });
    return this.#bringing;
  }

  private async end(): Promise<void> {
    this.#ended.abort();
    await this.#bringing?.catch(() => {});
  }

  async #bringMissing(signal: AbortSignal): Promise<void> {
    const missing: ListedObject[] = [];
    for await (const listed of this.#prefix.list()) {
      signal.throwIfAborted();
      if (listed.name.startsWith('log-') || this.#own?.has(listed.name)) continue;
      if ((await this.#sizeOf(listed.name)) !== listed.sizeBytes) missing.push(listed);
    }
    // Tables need parts first.
    missing.sort((a, b) => Number(isOfPart(b)) - Number(isOfPart(a)));
    await forEachLimited(missing, requestsAtOnce, async (listed) => {
      signal.throwIfAborted();
      await this.#bring(listed);
    });
    this.#own = undefined;
  }

  async #bring(listed: ListedObject): Promise<void> {
    const path = join(this.#folder, ...listed.name.split('/'));
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(temporary, this.#prefix.readListed(listed));
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  #sizeOf(name: string): Promise<number | undefined> {
    return stat(join(this.#folder, ...name.split('/'))).then(
      ({ size }) => size,
      () => undefined,
    );
  }
}

const isOfPart = ({ name }: ListedObject): boolean => name.startsWith('parts/');

/** Removes what jobs kept for other coordinators; of one job, if `jobId` is given. */
export async function removeJobObjects(prefix: BucketPrefix, jobId?: string): Promise<void> {
  const folder = jobId === undefined ? jobsFolder : `${jobsFolder}${jobId}/`;
  await forEachLimited(prefix.list(folder), requestsAtOnce, ({ name }) => prefix.remove(name));
}

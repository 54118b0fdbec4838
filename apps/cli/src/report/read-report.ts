import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobSpec, MendedInputs, QuarantineReason } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';

/** The fields of job.json that the page shows. */
export interface WrittenJob {
  id: string;
  state: string;
  error?: string;
  version?: string;
  resultsVersion?: number;
  digest?: string;
  convention?: string;
  pipelines?: { name: string; convention: string; digest: string }[];
  submitted?: string;
  finished?: string;
  counts: { sources: number; frames: number; shards: number; attempts: number; pixels: number; quarantined: number };
  quarantine?: QuarantineReason[];
  mended?: MendedInputs[];
  notes?: string[];
  wallSeconds?: number;
  seconds?: Record<string, number>;
  nodes?: { name: string; device: string; shards: number }[];
  specification: JobSpec;
  sources?: { uri: string; name: string }[];
}

export interface Preview {
  name: string;
  /** The PNG of the map and the JPEG of the source; each is undefined if the job has no such file. */
  map: Buffer | undefined;
  source: Buffer | undefined;
}

/** The results of one pipeline. The name of an only pipeline may be empty. */
export interface ReportPart {
  name: string;
  /** SVG. */
  chart: Buffer | undefined;
  previews: Preview[];
  /** The number of pictures without room. */
  leftOut: number;
  /** URIs of sources by name. */
  uris: ReadonlyMap<string, string>;
}

export interface QuarantinedInput {
  uri: string;
  stage: string;
  error: string;
}

export interface JobReport {
  job: WrittenJob;
  parts: ReportPart[];
  /** The first quarantined inputs. */
  quarantined: QuarantinedInput[];
}

/** Bytes of pictures on the page at most: a larger page would open slowly. */
const maxPictureBytes = 32 * 2 ** 20;
/** Bytes of errors.jsonl that are read at most: the file may have millions of lines. */
const maxErrorBytes = 2 ** 18;

/**
 * Reads what a page shows of an output folder. Rejects with UsageError if it is not the folder of a job that has ended.
 */
export async function readReport(folder: string): Promise<JobReport> {
  const job = await readJob(folder);
  const room = { bytes: maxPictureBytes };
  const names = job.pipelines?.map(({ name }) => name) ?? [''];
  const parts: ReportPart[] = [];
  for (const name of names) {
    const own = name === '' ? folder : join(folder, 'pipelines', name);
    const { sources } = name === '' ? job : await readJob(own);
    parts.push({
      name,
      uris: new Map((sources ?? []).map((source) => [source.name, source.uri])),
      chart: await take(join(own, 'histogram.svg'), room),
      ...(await readPreviews(join(own, 'preview'), room)),
    });
  }
  return { job, parts, quarantined: await readErrors(join(folder, 'errors.jsonl')) };
}

async function readJob(folder: string): Promise<WrittenJob> {
  const text = await readFile(join(folder, 'job.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `Expected the output folder of a job but '${folder}' has no job.json that can be read (${error.code})`,
    );
  });
  const job = parsed(text) as WrittenJob | undefined;
  if (typeof job?.id !== 'string' || !job.counts || !Array.isArray(job.specification?.sources)) {
    // The job.json of a running job has no counts.
    const isRunning = (job as { state?: unknown } | undefined)?.state === 'running';
    throw new UsageError(
      isRunning
        ? `Expected a job that has ended but that of '${folder}' is running or was interrupted: run the same command to continue it`
        : `Expected the job.json of a job but that of '${folder}' is not one`,
    );
  }
  if ((job.pipelines ?? []).some(({ name }) => /[/\\]|^\.*$/.test(name))) {
    throw new UsageError(`Expected names of pipelines but job.json of '${folder}' has others`);
  }
  return job;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readPreviews(
  folder: string,
  room: { bytes: number },
): Promise<Pick<ReportPart, 'previews' | 'leftOut'>> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const names = [...new Set(files.map((file) => file.replace(/(\.source\.jpg|\.png)$/, '')))].sort();
  const previews: Preview[] = [];
  for (const name of names) {
    const of = async (file: string) => (files.includes(file) ? await take(join(folder, file), room) : undefined);
    const [map, source] = [await of(`${name}.png`), await of(`${name}.source.jpg`)];
    if (map || source) previews.push({ name, map, source });
  }
  return { previews, leftOut: names.length - previews.length };
}

/** The bytes of a file; undefined if it does not exist, or there is no room for it. */
async function take(path: string, room: { bytes: number }): Promise<Buffer | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    const { size = Number.POSITIVE_INFINITY } = (await file?.stat()) ?? {};
    if (!file || size > room.bytes) return undefined;
    room.bytes -= size;
    return await file.readFile();
  } finally {
    await file?.close();
  }
}

/** The first whole lines of errors.jsonl. */
async function readErrors(path: string): Promise<QuarantinedInput[]> {
  const file = await open(path).catch(() => undefined);
  if (!file) return [];
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxErrorBytes), 0, maxErrorBytes, 0);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    if (bytesRead === maxErrorBytes) lines.pop();
    return lines
      .map(parsed)
      .filter((line): line is QuarantinedInput => typeof (line as QuarantinedInput)?.uri === 'string');
  } finally {
    await file.close();
  }
}

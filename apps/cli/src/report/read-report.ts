import type { JobSpec, MendedInputs, QuarantineReason } from '@halogrid/proto';
import type { Place } from '@halogrid/results/place';
import { wholeFile } from '@halogrid/results/whole-file';
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

/** Reads what a page shows of an output. Rejects with UsageError if it is not the output of a job that has ended. */
export async function readReport(out: Place): Promise<JobReport> {
  const job = await readJob(out);
  const room = { bytes: maxPictureBytes };
  const names = job.pipelines?.map(({ name }) => name) ?? [''];
  const parts: ReportPart[] = [];
  for (const name of names) {
    const own = name === '' ? out : out.in('pipelines', name);
    const { sources } = name === '' ? job : await readJob(own);
    parts.push({
      name,
      uris: new Map((sources ?? []).map((source) => [source.name, source.uri])),
      chart: await take(own.in('histogram.svg'), room),
      ...(await readPreviews(own.in('preview'), room)),
    });
  }
  return { job, parts, quarantined: await readErrors(out.in('errors.jsonl')) };
}

async function readJob(out: Place): Promise<WrittenJob> {
  const bytes = await wholeFile(out.in('job.json')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    throw new UsageError(
      `Expected the output of a job but '${out.at}' has a job.json that cannot be read (${error.code})`,
    );
  });
  if (!bytes) throw new UsageError(`Expected the output of a job but '${out.at}' has no job.json`);
  const job = parsed(bytes.toString()) as WrittenJob | undefined;
  if (typeof job?.id !== 'string' || !job.counts || !Array.isArray(job.specification?.sources)) {
    // The job.json of a running job has no counts.
    const isRunning = (job as { state?: unknown } | undefined)?.state === 'running';
    throw new UsageError(
      isRunning
        ? `Expected a job that has ended but that of '${out.at}' is running or was interrupted: run the same command to continue it`
        : `Expected the job.json of a job but that of '${out.at}' is not one`,
    );
  }
  if ((job.pipelines ?? []).some(({ name }) => /[/\\]|^\.*$/.test(name))) {
    throw new UsageError(`Expected names of pipelines but job.json of '${out.at}' has others`);
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

async function readPreviews(place: Place, room: { bytes: number }): Promise<Pick<ReportPart, 'previews' | 'leftOut'>> {
  const files = ((await place.entries()) ?? []).filter(({ isFolder }) => !isFolder).map(({ name }) => name);
  const names = [...new Set(files.map((file) => file.replace(/(\.source\.jpg|\.png)$/, '')))].sort();
  const previews: Preview[] = [];
  for (const name of names) {
    const of = async (file: string) => (files.includes(file) ? await take(place.in(file), room) : undefined);
    const [map, source] = [await of(`${name}.png`), await of(`${name}.source.jpg`)];
    if (map || source) previews.push({ name, map, source });
  }
  return { previews, leftOut: names.length - previews.length };
}

/** The bytes of a file; undefined if it does not exist, or there is no room for it. */
async function take(place: Place, room: { bytes: number }): Promise<Buffer | undefined> {
  const file = await place.file();
  if (!file || file.sizeBytes > room.bytes) return undefined;
  room.bytes -= file.sizeBytes;
  return file.read(0, file.sizeBytes);
}

/** The first whole lines of errors.jsonl. */
async function readErrors(place: Place): Promise<QuarantinedInput[]> {
  const bytes = await (await place.file())?.read(0, maxErrorBytes);
  if (!bytes) return [];
  const lines = bytes.toString().split('\n');
  if (bytes.length === maxErrorBytes) lines.pop();
  return lines
    .map(parsed)
    .filter((line): line is QuarantinedInput => typeof (line as QuarantinedInput)?.uri === 'string');
}

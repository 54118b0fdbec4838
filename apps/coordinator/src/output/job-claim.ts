import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Counts, JobSpec } from '@halogrid/proto';
import { redactUri } from '@halogrid/sources';

/** The fields of job.json for a job that has not ended, and the fields that another job reads. */
export interface JobClaim {
  id: string;
  /** `planned`: the folder has only a plan; `part`: the results of a share. */
  state: 'running' | 'complete' | 'failed' | 'cancelled' | 'planned' | 'part';
  /** Parts of its sources' URIs that may be secret are left out. */
  specification: JobSpec;
  /** The hash of the whole specification, if something is left out. */
  specificationSha256?: string;
  /** The process that runs it, while it does. */
  coordinator?: { host: string; pid: number };
  /** What a job that has ended has done. */
  counts?: Omit<Counts, 'shardsDone'>;
  /** Only a complete job has one. */
  digest?: string;
  /** Only a failed job has one. */
  error?: string;
  /**
   * For a failed job: its results so far are in the scratch folder, and a job of the same specification goes on with
   * them.
   */
  canGoOn?: true;
  /** In a bucket: the job whose output is being removed. Then the claim's id names the removal, not a job. */
  removes?: string;
}

/** The claim of a job.json; undefined for a text that is not one of ours. */
export function parseClaim(text: string): JobClaim | undefined {
  try {
    const claim = JSON.parse(text) as JobClaim;
    return claim?.id && claim.state && claim.specification ? claim : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the folder's job may go on, if no process runs it. A share that is done goes on to its end at once. */
export const isUnfinished = ({ state, canGoOn }: JobClaim): boolean =>
  state === 'running' || state === 'part' || (state === 'failed' && canGoOn === true);

/**
 * The specification without secrets, for a file. If something is left out, it comes with the hash of the whole, by
 * which the same specification is recognised.
 */
export function describeSpec(spec: JobSpec): Pick<JobClaim, 'specification' | 'specificationSha256'> {
  const sources = spec.sources.map(redactUri);
  const isWhole = sources.every((uri, index) => uri === spec.sources[index]);
  return { specification: { ...spec, sources }, specificationSha256: isWhole ? undefined : hashSpec(spec) };
}

/** Whether a folder's job has this specification, except for options that decide no result. */
export function isSameJob({ specification, specificationSha256 }: JobClaim, spec: JobSpec): boolean {
  if (specificationSha256) return specificationSha256 === hashSpec(spec);
  return isDeepStrictEqual(lasting(specification), JSON.parse(JSON.stringify(lasting(spec))));
}

/** Whether a plan or a part is of a job with this specification, but for its folder and its share. */
export function isSameWork({ specification }: Pick<JobClaim, 'specification'>, spec: JobSpec): boolean {
  const workOf = ({ out: _, share: __, sources, ...rest }: JobSpec): unknown =>
    JSON.parse(JSON.stringify(lasting({ ...rest, sources: sources.map(redactUri), out: '' })));
  return isDeepStrictEqual(workOf(specification), workOf(spec));
}

const hashSpec = (spec: JobSpec): string =>
  createHash('sha256')
    .update(canonicalJson(lasting(spec)))
    .digest('hex');

/** The fields that must be equal for a job to follow another in its folder: the other fields decide no result. */
function lasting(spec: JobSpec): Omit<JobSpec, 'checksum' | 'fresh' | 'maxQuarantined' | 'waitForNode'> {
  const { checksum: _, fresh: __, maxQuarantined: ___, waitForNode: ____, ...rest } = spec;
  return rest;
}

/** The same text whatever the order of keys. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item instanceof Object && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

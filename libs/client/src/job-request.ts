import type { JobSpec, JobState, NamedPipeline, VideoOptions } from '@halogrid/proto';

/** The states of a job, in the order in which it has them. */
export type StateName = 'pending' | 'running' | 'finalising' | 'complete' | 'failed' | 'cancelled';

/** The state of that name, as messages have it. */
export const stateOf = (name: StateName): JobState => `JOB_STATE_${name.toUpperCase() as Uppercase<StateName>}`;

/** The name of a state. */
export const nameOfState = (state: JobState): StateName => state.replace('JOB_STATE_', '').toLowerCase() as StateName;

type Given<Message> = { [Field in keyof Message]?: Message[Field] | undefined };

/**
 * A job as it is submitted: of a specification, only `sources` must be given. The coordinator has a default for all
 * else.
 */
export interface JobRequest extends Given<Omit<JobSpec, 'sources' | 'maxQuarantined' | 'pipelines' | 'video'>> {
  /** Absolute paths and URIs (file:, http:, https:, s3:), as the coordinator sees them. */
  sources: string[];
  /** The job fails as soon as more inputs than that are quarantined; it never does unless this is given. */
  maxQuarantined?: { inputs: number } | { percent: number } | undefined;
  /** Several pipelines in place of `op`. */
  pipelines?: { named: (Given<NamedPipeline> & { name: string })[] } | undefined;
  /** Which frames of videos count. */
  video?: Given<VideoOptions> | undefined;
}

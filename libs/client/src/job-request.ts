import type {
  BandOptions,
  JobSpec,
  JobState,
  NamedPipeline,
  ScaleOptions,
  SourceFilter,
  VideoOptions,
} from '@halogrid/proto';

/** The states of a job, in order. */
export type StateName = 'pending' | 'running' | 'finalising' | 'complete' | 'failed' | 'cancelled';

/** The state with that name, as in messages. */
export const stateOf = (name: StateName): JobState => `JOB_STATE_${name.toUpperCase() as Uppercase<StateName>}`;

/** The name of a state. */
export const nameOfState = (state: JobState): StateName => state.replace('JOB_STATE_', '').toLowerCase() as StateName;

type Given<Message> = { [Field in keyof Message]?: Message[Field] | undefined };

/** A job to submit. Only `sources` must be given: the coordinator has a default for everything else. */
export interface JobRequest
  extends Given<Omit<JobSpec, 'sources' | 'maxQuarantined' | 'pipelines' | 'video' | 'filter' | 'band' | 'scale'>> {
  /** Absolute paths and URIs (file:, http:, https:, s3:, gs:, az:), as the coordinator sees them. */
  sources: string[];
  /** The job fails as soon as more inputs than this are quarantined; absent: it never fails for that. */
  maxQuarantined?: { inputs: number } | { percent: number } | undefined;
  /** Several pipelines in place of `op`. */
  pipelines?: { named: (Given<NamedPipeline> & { name: string })[] } | undefined;
  /** Which frames of videos are processed. */
  video?: Given<VideoOptions> | undefined;
  /** Which of the sources' inputs count: globs. */
  filter?: Given<SourceFilter> | undefined;
  /** Which bands of TIFFs are read, each as gray. */
  band?: Given<BandOptions> | undefined;
  /** How samples of TIFFs become pixels. */
  scale?: Given<ScaleOptions> | undefined;
}

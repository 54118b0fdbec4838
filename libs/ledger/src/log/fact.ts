import type { Size } from '@halogrid/geometry';
import type { PlannedSources } from '@halogrid/jobs/planned-sources';
import type { ShardWork } from '@halogrid/jobs/shard';
import type { JobPause } from '@halogrid/proto';
import type { PartSums } from '@halogrid/results/part-sums';
import type { FoundInPart } from '@halogrid/results/part-writer';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { LogMark } from '../registry/registry.ts';

/**
 * Something that happened to a job. Its log holds its facts, and its state follows from them alone. Facts are plain
 * objects of JSON and binary parts. Sources and shards of a job are numbered from 0 without gaps, nodes from 1.
 */
export type Fact =
  | PlannedFact
  | { kind: 'attempt'; shard: number; attempt: number }
  /** A node does its first shard of the job. It gets the next number. */
  | { kind: 'node'; name: string; device: string }
  | AnswerFact
  | TileFact
  | WholeFact
  | GivenUpFact
  /** The shard is done without a result: its source is quarantined already. */
  | { kind: 'skipped'; shard: number }
  | WithdrawnFact
  /** All notes for people about the sources. */
  | { kind: 'notes'; notes: readonly string[] }
  /** When the job first reached that moment. */
  | { kind: 'time'; moment: 'leasedMs' | 'listedMs' | 'computedMs'; atMs: number }
  | StateFact
  | PausedFact
  | CheckpointFact;

/** Sources of a plan, and the shards that follow in the plan. A shard is of these sources or of earlier ones. */
export interface PlannedFact {
  kind: 'planned';
  /** Absent if there are only shards. */
  sources?: PlannedBlock;
  /** Number of the first shard. */
  firstShard: number;
  shards: readonly PlannedShard[];
  /** Whether this is the last fact of the plan. */
  isLast: boolean;
}

/** Sources as in PlannedSources; `runs` as in SourceRuns. */
export interface PlannedBlock extends Omit<PlannedSources, 'runs' | 'count'> {
  runs: readonly number[];
}

/** A shard as it was planned. It has all sources of a block. */
export interface PlannedShard {
  /** Index of its first source. */
  first: number;
  work: DistributiveOmit<ShardWork, 'sources'>;
  costBytes: number;
  /** As Shard.elsewhere. */
  elsewhere?: true;
}

type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

/** An input that cannot be processed, and why. */
export interface SourceFault {
  source: number;
  uri: string;
  stage: string;
  error: string;
}

/** What all answers have in common. */
interface Answered {
  shard: number;
  attempt: number;
  /** Number of the node; 0: the coordinator, for kept sources. */
  node: number;
  /** Sources of the shard that the node could not process. */
  errors: readonly SourceFault[];
  /** Sentences about bytes that were removed from files, each with the number of files and one of them. */
  mended: readonly { mended: string; sources: number; source: number; uri: string }[];
  stageSeconds: Readonly<Record<string, number>>;
  busySeconds: Readonly<Record<string, number>>;
}

/** The answer to a shard of frames, or of kept sources: all sources without an error were found, in order. */
export interface AnswerFact extends Answered, FoundInPart {
  kind: 'answer';
}

/** A node's answer to a tile of an image. It counts nothing if the image is no longer open. */
export interface TileFact extends Answered {
  kind: 'tile';
  source: number;
  /** Size of the whole image in pixels. */
  size: Size;
  rect: { x: number; y: number; width: number; height: number };
  captured?: CaptureTime;
  /** One per pipeline; absent if the source has an error. */
  parts?: readonly { counted: number; binCount: number; bins: Uint8Array }[];
}

/** An image whose tiles have all arrived, with its counts. */
export interface WholeFact extends FoundInPart {
  kind: 'whole';
  source: number;
}

/** The shard was tried too often: its open sources are quarantined. */
export interface GivenUpFact {
  kind: 'given-up';
  shard: number;
  attempts: number;
  errors: readonly SourceFault[];
}

/** An AnswerFact is taken back, with all that it counted: the shard is to be done again. */
export interface WithdrawnFact {
  kind: 'withdrawn';
  shard: number;
  /** As in the answer. */
  attempt: number;
  node: number;
  found: number;
  pixels: number;
  parts: readonly PartSums[];
  errors: readonly Pick<SourceFault, 'source'>[];
  mended: AnswerFact['mended'];
}

export type LedgerState = 'pending' | 'running' | 'finalising' | 'complete' | 'failed' | 'cancelled';

/** Whether a job in that state has ended. */
export const isEnd = (state: LedgerState): state is 'complete' | 'failed' | 'cancelled' =>
  state === 'complete' || state === 'failed' || state === 'cancelled';

export interface StateFact {
  kind: 'state';
  state: LedgerState;
  /** When it ended; 0 before. */
  finishedMs: number;
  error: string;
  digest: string;
  /** It failed because something outside it was missing, and can go on from its results. */
  canGoOn: boolean;
}

/** The job is paused, or goes on if `paused` is absent. */
export interface PausedFact {
  kind: 'paused';
  paused?: JobPause | undefined;
}

/** The state that all facts before it lead to. A log begins with a checkpoint. */
export interface CheckpointFact {
  kind: 'checkpoint';
  /** The registryFormat of the log; absent in logs of format 5. */
  format?: number;
  /** The logs of earlier leaders, in order of epoch, and how much of each counts. */
  logs: readonly LogMark[];
  /** The state as checkpoint.ts stores it. */
  state: object;
}

import type { GpuPin } from '@halogrid/gpu-node/gpus';
import type { JobStatus, NodeStatus } from '@halogrid/proto';

/** A coordinator and nodes on this machine, in processes of their own. Benchmarks give it frames. */
export interface FrameCluster {
  /** Resolves when every node serves, or a while after the first one serves. Rejects as `broken` does. */
  readonly ready: Promise<unknown>;
  /** Rejects when it cannot go on. Never resolves. */
  readonly broken: Promise<never>;
  /** Runs a job over the files in a folder, with the default kernel unless `job` says another. Resolves at its end. */
  process(source: string, out: string, job?: FrameJob): Promise<JobStatus>;
  /** The attached nodes. */
  nodes(): Promise<NodeStatus[]>;
  stop(): Promise<void>;
}

/** What a job computes, in the words of the options of `run`. */
export interface FrameJob {
  op?: string[];
  /** Frames of a shard. */
  batch?: number;
  /** `--hwaccel`, which decodes recordings. */
  hwaccel?: string;
}

export interface FrameClusterOptions {
  nodes: number;
  /** Device of all nodes, or one for each node: auto, gpu, software or cpu. */
  device: string | readonly string[];
  /** `--decode` of the nodes: auto, gpu or cpu (auto). */
  decode?: string;
  /** Cards for the nodes, one each. */
  gpus?: readonly GpuPin[];
  /** Threads on which a node reads and decodes. Unless given, the nodes share the number of this process. */
  threads?: number;
  /** Called with lines for people about what happens to processes. */
  note: (line: string) => void;
}

/**
 * Starts a cluster and resolves when its coordinator serves. Callers of benchmarks give it, because it is of the CLI.
 */
export type StartFrameCluster = (options: FrameClusterOptions) => Promise<FrameCluster>;

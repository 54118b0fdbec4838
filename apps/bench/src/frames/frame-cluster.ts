import type { GpuPin } from '@halogrid/gpu-node/gpus';
import type { JobStatus, NodeStatus } from '@halogrid/proto';

/** A coordinator and nodes on this machine, in processes of their own, that benchmarks give frames to. */
export interface FrameCluster {
  /** Resolves when every node serves, or a while after the first does; rejects as `broken` does. */
  readonly ready: Promise<unknown>;
  /** Rejects when it cannot go on. Never resolves. */
  readonly broken: Promise<never>;
  /**
   * Runs a job over the files in a folder, of the default kernel unless told, and resolves with it when it has ended.
   */
  process(source: string, out: string, job?: FrameJob): Promise<JobStatus>;
  /** The nodes that are attached. */
  nodes(): Promise<NodeStatus[]>;
  stop(): Promise<void>;
}

/** What a job computes, as the options of `run` say it. */
export interface FrameJob {
  op?: string[];
  /** Frames of a shard. */
  batch?: number;
  /** What decodes recordings. */
  hwaccel?: string;
}

export interface FrameClusterOptions {
  nodes: number;
  /** Device of the nodes, auto, gpu, software or cpu; or one for each of them. */
  device: string | readonly string[];
  /** Who decodes JPEGs, as of `node`: auto, gpu or cpu (auto). */
  decode?: string;
  /** Cards for the nodes, one each. */
  gpus?: readonly GpuPin[];
  /** Threads on which a node reads and decodes; the nodes share this process's number unless given. */
  threads?: number;
  /** Told what happens to processes, in lines for people. */
  note: (line: string) => void;
}

/** Starts a cluster and resolves when its coordinator serves. Benchmarks are given it: they start no programs. */
export type StartFrameCluster = (options: FrameClusterOptions) => Promise<FrameCluster>;

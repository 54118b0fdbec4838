import type { StageSpan, TracedShard, TraceResponse } from '@halogrid/proto';

/** The most shards that are kept for a job: a chart cannot show more. They take 256 KiB at most. */
const mostShards = 4096;

const stages = ['shard', 'read', 'decode', 'device', 'encode'] as const;
/**
 * The numbers kept for each shard: node, shard, attempt, leased, answered, merged, and a begin and an end for each
 * stage.
 */
const words = 6 + 2 * stages.length;

/** A shard that was merged; times are seconds since the job began here. */
export interface MergedTimes extends Pick<TracedShard, 'shard' | 'attempt' | 'leased' | 'answered' | 'merged'> {
  /** The node's name. */
  node: string;
  spans: readonly StageSpan[];
}

/** Which node worked on which shard of a job, and when. */
export type ShardTimesView = Pick<TraceResponse, 'nodes' | 'shards' | 'every'>;

/**
 * When each shard of a job was on which node, in bounded memory: if there are too many, every second one is dropped.
 */
export class ShardTimes {
  readonly #most: number;
  #every = 1;
  #seen = 0;
  #kept = 0;
  #times = new Float32Array(0);
  /** Nodes in the order in which their first shard was merged. */
  readonly #nodes = new Map<string, number>();

  constructor(most = mostShards) {
    this.#most = most;
  }

  add({ node, shard, attempt, leased, answered, merged, spans }: MergedTimes): void {
    const number = this.#seen++;
    if (number % this.#every === 0 && this.#kept === this.#most) this.#thin();
    if (number % this.#every !== 0) return;
    if ((this.#kept + 1) * words > this.#times.length) this.#grow();
    const of = (name: string) => spans.find(({ stage }) => stage === name);
    const pairs = stages.flatMap((stage) => [of(stage)?.from ?? Number.NaN, of(stage)?.to ?? Number.NaN]);
    const known = this.#nodes.get(node) ?? this.#nodes.size;
    this.#nodes.set(node, known);
    this.#times.set([known, shard, attempt, leased, answered, merged, ...pairs], this.#kept++ * words);
  }

  view(): ShardTimesView {
    const shards = Array.from({ length: this.#kept }, (_, i) =>
      toShard(this.#times.subarray(i * words, (i + 1) * words)),
    );
    return { nodes: [...this.#nodes.keys()], shards, every: this.#every };
  }

  #thin(): void {
    this.#every *= 2;
    this.#kept = Math.ceil(this.#kept / 2);
    for (let i = 1; i < this.#kept; i++) this.#times.copyWithin(i * words, 2 * i * words, (2 * i + 1) * words);
  }

  #grow(): void {
    const more = new Float32Array(Math.min(this.#most * words, Math.max(64 * words, 2 * this.#times.length)));
    more.set(this.#times);
    this.#times = more;
  }
}

function toShard(times: Float32Array): TracedShard {
  const at = (word: number): number => times[word]!;
  const spans = stages.flatMap((stage, i) => {
    const [from, to] = [at(6 + 2 * i), at(7 + 2 * i)];
    return Number.isNaN(from) ? [] : [{ stage, from, to }];
  });
  const [leased, answered] = [at(3), at(4)];
  const begun = begunSeconds(leased, answered, spans);
  return { node: at(0), shard: at(1), attempt: at(2), leased, answered, merged: at(5), begun, spans };
}

/**
 * When a node began with a shard, by the coordinator's clock. Assumes that lease and answer took equally long to
 * arrive.
 */
export function begunSeconds(leased: number, answered: number, spans: readonly StageSpan[]): number {
  const whole = spans.find(({ stage }) => stage === 'shard');
  return leased + Math.max(0, answered - leased - (whole?.to ?? 0)) / 2;
}

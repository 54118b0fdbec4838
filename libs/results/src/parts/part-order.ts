import type { HistogramShape } from '../counts/histogram-shape.ts';
import type { EarlierPipeline } from './earlier-counts.ts';
import type { EarlierShard } from './earlier-reader.ts';
import type { FoundShard, ShardSummary } from './found-shard.ts';
import type { DurableShard, PartTask } from './part-buffer.ts';

/** An order of a PartThread to its thread. */
export type PartOrder =
  | { kind: 'add'; task: PartTask; shard: FoundShard }
  | { kind: 'keep'; task: PartTask; earlier: readonly EarlierPipeline[]; shards: readonly EarlierShard[] }
  | { kind: 'flush' | 'forget'; folder: string }
  | { kind: 'summarise'; shapes: readonly HistogramShape[]; shard: FoundShard };

export type PartAnswer = DurableShard | DurableShard[] | ShardSummary | undefined;

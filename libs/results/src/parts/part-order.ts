import type { HistogramShape } from '../counts/histogram-shape.ts';
import type { FoundShard, ShardSummary } from './found-shard.ts';
import type { PartTask } from './part-buffer.ts';
import type { FoundInPart } from './part-writer.ts';

/** What a PartThread has its thread do. */
export type PartOrder =
  | { kind: 'add'; task: PartTask; shard: FoundShard; share: number }
  | { kind: 'flush' | 'forget'; folder: string }
  | { kind: 'summarise'; shapes: readonly HistogramShape[]; shard: FoundShard };

export type PartAnswer = FoundInPart | ShardSummary | undefined;

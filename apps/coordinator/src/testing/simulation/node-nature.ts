import { protocolVersion } from '@halogrid/proto';
import type { Blindness } from './simulated-files.ts';

/** What a node is like. */
export interface NodeNature {
  name: string;
  creditBytes: number;
  bytesPerMs: number;
  /** One way, at least; up to twice as long, so that reports overtake one another. */
  latencyMs: number;
  /** Part of its reports that arrive twice. */
  duplicates: number;
  /** Its device finds wrong results for this part of the shards. */
  lies: number;
  /** It fails this part of the shards at once. */
  failures: number;
  /** Its device is lost, or hangs until it is given up, over the first of so many shards. */
  deviceLosses: number;
  /** How long results wait in a part for those of other shards; 0: not at all. */
  partMs: number;
  /** What a hung device takes until it is given up. */
  hangMs: number;
  /** Shards of a job that take it this much longer. */
  stragglers: ReadonlyMap<number, number>;
  protocol: number;
  /** Shards that end its process, which has too little memory for them, and no other's. */
  dies: ReadonlySet<number>;
  /** What it cannot see or write, and when. */
  blind: readonly Blindness[];
}

export const soundNature = {
  creditBytes: 1000,
  bytesPerMs: 1,
  latencyMs: 1,
  duplicates: 0,
  lies: 0,
  failures: 0,
  deviceLosses: 0,
  partMs: 0,
  hangMs: 1,
  stragglers: new Map<number, number>(),
  protocol: protocolVersion,
  dies: new Set<number>(),
  blind: [],
} satisfies Omit<NodeNature, 'name'>;

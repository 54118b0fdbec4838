import { protocolVersion } from '@halogrid/proto';
import type { Blindness } from './simulated-files.ts';

/** The properties of a simulated node. */
export interface NodeNature {
  name: string;
  creditBytes: number;
  bytesPerMs: number;
  /** The least latency, one way; it may be up to twice as long, so that reports overtake one another. */
  latencyMs: number;
  /** The share of its reports that arrive twice. */
  duplicates: number;
  /** The share of shards for which its device has wrong results. */
  lies: number;
  /** The share of shards that it fails at once. */
  failures: number;
  /** For this many shards, its device is lost, or hangs until it is given up, the first time. */
  deviceLosses: number;
  /** How long results wait in a part for the results of other shards; 0: not at all. */
  partMs: number;
  /** How long a hung device takes until it is given up. */
  hangMs: number;
  /** How many times longer it takes for certain shards. */
  stragglers: ReadonlyMap<number, number>;
  protocol: number;
  /** Shards that end its process, because only it has too little memory for them. */
  dies: ReadonlySet<number>;
  /** Where it cannot read or write, and when. */
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

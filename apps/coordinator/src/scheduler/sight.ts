/** What a node has shown of something that shards need. It is given no shard that needs what it has not shown. */
export type Sight =
  /** It was asked, and has not answered. */
  | { kind: 'asked'; sinceMs: number }
  /** It can. `waitMs` is how long it was last waited before it was asked again. */
  | { kind: 'shown'; waitMs: number }
  /** It cannot, and is asked again at `askAtMs`. */
  | { kind: 'lacking'; reason: string; sinceMs: number; askAtMs: number; waitMs: number; isAsked: boolean };

/** As a LostPartError says it, for another thread. */
export interface LostPart {
  message: string;
  shard: number | undefined;
  isFalse: boolean;
}

/** What was found of some sources is not in their part any more, or is not what its writer said. */
export class LostPartError extends Error {
  override readonly name = 'LostPartError';
  /** The shard that is to be done again; undefined for what no node wrote. */
  readonly shard: number | undefined;
  /** As that of PartError. */
  readonly isFalse: boolean;

  constructor({ message, shard, isFalse }: LostPart) {
    super(message);
    this.shard = shard;
    this.isFalse = isFalse;
  }
}

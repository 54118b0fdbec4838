/** The fields of a LostPartError, for another thread. */
export interface LostPart {
  message: string;
  shard: number | undefined;
  isFalse: boolean;
}

/** A part is missing or damaged, or differs from the answer of its writer. */
export class LostPartError extends Error {
  override readonly name = 'LostPartError';
  /** The shard that must be done again; undefined for the part of an image in tiles. */
  readonly shard: number | undefined;
  /** As in PartError. */
  readonly isFalse: boolean;

  constructor({ message, shard, isFalse }: LostPart) {
    super(message);
    this.shard = shard;
    this.isFalse = isFalse;
  }
}

/** What was found of some sources is not in their part any more, or is not what its writer said. */
export class LostPartError extends Error {
  override readonly name = 'LostPartError';
  /** The shard that is to be done again; undefined for what no node wrote. */
  readonly shard: number | undefined;

  constructor(message: string, shard: number | undefined, options?: ErrorOptions) {
    super(message, options);
    this.shard = shard;
  }
}

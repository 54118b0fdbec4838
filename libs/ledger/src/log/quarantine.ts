/** Why a source counts nothing. */
export interface Quarantine {
  stage: string;
  error: string;
  attempts: number;
  /** The shard that failed; -1 for the planner. */
  shard: number;
}

/** The place of a fact: the epoch of its log, and its first byte there. */
export interface FactPlace {
  epoch: number;
  offset: number;
  length: number;
}

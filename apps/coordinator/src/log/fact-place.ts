/** Where a fact lies: in the log of that epoch, from that byte on. */
export interface FactPlace {
  epoch: number;
  offset: number;
  length: number;
}

/** What a node knows of a coordinator's credit: what it may lease by now, though it may have been told less since. */
export class CreditAccount {
  /** The most that it had leased to the node lately. */
  peakBytes = 0;
  /** What it was told and has not taken yet, oldest first. */
  #told: number[] = [];
  /** What it goes by. */
  #takenBytes = 0;

  /** It was told that much in a hello, or is gone where that is 0. */
  begin(bytes: number): void {
    this.#told = [];
    this.#takenBytes = bytes;
  }

  tell(bytes: number): void {
    this.#told.push(bytes);
  }

  /** It has taken the oldest that it was told. */
  taken(bytes: number): void {
    this.#told.shift();
    this.#takenBytes = bytes;
  }

  /** The most that it may have leased when all is heard that is on its way, where it holds `heldBytes`. */
  claim(heldBytes: number): number {
    return Math.max(this.#takenBytes, heldBytes, ...this.#told);
  }
}

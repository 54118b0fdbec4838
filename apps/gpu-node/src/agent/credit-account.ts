/**
 * How much of the node's credit a coordinator may be using. It may have been told to use less and not have heard it
 * yet.
 */
export class CreditAccount {
  /** A recent maximum of the decoded bytes that it had leased to the node. */
  peakBytes = 0;
  /** Credits sent that the coordinator has not confirmed, oldest first. */
  #told: number[] = [];
  /** The credit that the coordinator goes by. */
  #takenBytes = 0;

  /** Starts a conversation, whose hello stated `bytes`; 0: the coordinator is gone. */
  begin(bytes: number): void {
    this.#told = [];
    this.#takenBytes = bytes;
  }

  tell(bytes: number): void {
    this.#told.push(bytes);
  }

  /** The coordinator has confirmed the oldest of them. */
  taken(bytes: number): void {
    this.#told.shift();
    this.#takenBytes = bytes;
  }

  /**
   * The most that it may have leased by the time all messages under way have arrived; `heldBytes` is what it has leased
   * now.
   */
  claim(heldBytes: number): number {
    return Math.max(this.#takenBytes, heldBytes, ...this.#told);
  }
}

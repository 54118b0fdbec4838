/** Seconds with work under way that are measured in a turn, and pieces of work that end in them, at least. */
const turnSeconds = 0.5;
const turnPieces = 16;

/** A span of time in which work is given out in one way. */
export interface WorkTurn {
  underWay: number;
}

/**
 * Measures how much is done a second while work is given out in one way. A turn is measured once all work of the turns before it has
 * ended, and while some work is under way.
 */
export class WorkTurns {
  readonly #nowMs: () => number;
  readonly #measured: (rate: number) => 'same' | 'other';
  #turn: WorkTurn = { underWay: 0 };
  /** Pieces of work under way, of all turns. */
  #underWay = 0;
  #sinceMs = 0;
  #seconds = 0;
  #pieces = 0;
  #done = 0;

  /** `measured` takes how much a second of a turn brought, and tells whether work is now given out in another way. */
  constructor(nowMs: () => number, measured: (rate: number) => 'same' | 'other') {
    this.#nowMs = nowMs;
    this.#measured = measured;
  }

  /** A piece of work begins; `end` takes the turn that it belongs to. */
  begin(): WorkTurn {
    this.#pass();
    this.#underWay++;
    this.#turn.underWay++;
    return this.#turn;
  }

  /** A piece of work of that turn has ended, and that much of it is done. */
  end(turn: WorkTurn, done: number): void {
    this.#pass();
    this.#underWay--;
    turn.underWay--;
    if (turn !== this.#turn || !this.#isAlone) return;
    this.#done += done;
    this.#pieces++;
    if (this.#seconds < turnSeconds || this.#pieces < turnPieces) return;
    if (this.#measured(this.#done / this.#seconds) === 'other') this.#turn = { underWay: 0 };
    this.#seconds = this.#pieces = this.#done = 0;
  }

  /** No work of earlier turns is under way. */
  get #isAlone(): boolean {
    return this.#underWay === this.#turn.underWay;
  }

  #pass(): void {
    const nowMs = this.#nowMs();
    if (this.#underWay > 0 && this.#isAlone) this.#seconds += (nowMs - this.#sinceMs) / 1000;
    this.#sinceMs = nowMs;
  }
}

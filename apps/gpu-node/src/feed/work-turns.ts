/** A turn is measured over at least this many seconds with work under way, and this many finished pieces of work. */
const turnSeconds = 0.5;
const turnPieces = 16;

/** A span of time in which work is given out under one plan. */
export interface WorkTurn {
  underWay: number;
}

/**
 * Measures how much work is done a second under one plan. A turn is measured only after all work of earlier turns has
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

  /** `measured` takes the work done a second in a turn, and says whether the plan stays the same. */
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

  /** A piece of work of that turn has ended; `done` is its amount. */
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

import type { Token } from './ask-token.ts';

/** When a token is renewed, before its end: clouds advise some minutes. */
const renewedBeforeMs = 240_000;
/** After a search that found none, the next one is this much later: it asks a host that may not be there. */
const searchesAgainMs = 300_000;

/** Keeps the token of this process until shortly before it ends. All who wait for it share one request. */
export class KeptToken {
  readonly #nowMs: () => number;
  /** What the settings were, the token for them, and until when it counts; until that is known, forever. */
  #kept: { of: string; token: Promise<Token | undefined>; untilMs: number } | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** `of` tells settings apart; `find` resolves with undefined if there is no token. A failure is not kept. */
  async get(of: string, find: () => Promise<Token | undefined>): Promise<string | undefined> {
    if (this.#kept?.of !== of || this.#nowMs() >= this.#kept.untilMs) {
      const kept = { of, token: find(), untilMs: Number.POSITIVE_INFINITY };
      this.#kept = kept;
      kept.token.then(
        (token) => {
          // A token that is valid only shortly is used once.
          kept.untilMs = this.#nowMs() + (token ? token.seconds * 1000 - renewedBeforeMs : searchesAgainMs);
        },
        () => {
          if (this.#kept === kept) this.#kept = undefined;
        },
      );
    }
    return (await this.#kept.token)?.text;
  }
}

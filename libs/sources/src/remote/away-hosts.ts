import { redactUri } from '../access/redact-uri.ts';
import type { Patience } from './patience.ts';
import type { RemoteTarget } from './remote-target.ts';
import type { TransferError } from './transfer-error.ts';

/** Before a host that is away is asked again, and at most: twice as long each time. */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Requests to it then, of all that wait for it: two that are of different objects tell that it is not one of these. */
const askedAtOnce = 2;
/** Failures of one object while others of its host are there, after which it is the object's fault. */
const mostFailures = 3;

/** A host that is away, as one who waits for it sees it. */
export interface AwayHost {
  /** As URI. */
  place: string;
  /** Why, in one sentence, with what was asked for. */
  reason: string;
}

export interface AwayHostsOptions {
  /** How long a host is waited for. */
  graceMs: number;
  nowMs: () => number;
  /** Resolves so much later; rejects where nobody waits any more. */
  pause: (ms: number) => Promise<void>;
  /** Told of a host that is waited for, and with nothing once none is. */
  tell: (away: AwayHost | undefined) => void;
  /** What is thrown where it was waited for long enough. */
  giveUp: (away: AwayHost) => Error;
}

interface Away extends AwayHost {
  sinceMs: number;
  pauseMs: number;
  requests: number;
  /** Who waits for the next moment to ask. */
  waiting: { ask: () => void; fail: (reason: unknown) => void }[];
  isPausing: boolean;
}

/**
 * Waits for hosts and buckets that are away, for so long each, and has some of those who wait ask again after ever longer pauses. A host is
 * away once two requests say so, unless another object of it can be had meanwhile.
 */
export class AwayHosts implements Patience {
  readonly #options: AwayHostsOptions;
  readonly #away = new Map<string, Away>();
  /** What was had last of each. */
  readonly #had = new Map<string, RemoteTarget>();
  /** By URI of what failed while another object was there. */
  readonly #failures = new Map<string, number>();

  constructor(options: AwayHostsOptions) {
    this.#options = options;
  }

  answered(target: RemoteTarget, isHad: boolean): void {
    if (isHad) this.#had.set(target.place, target);
    this.#failures.delete(target.uri);
    this.#isBack(target.place);
  }

  async outlasts(
    target: RemoteTarget,
    error: TransferError,
    look: Parameters<Patience['outlasts']>[2],
  ): Promise<boolean> {
    const { uri, place } = target;
    const had = this.#had.get(place);
    // Of one that was never had, nobody knows whether it is closed as a whole.
    if (error.fault === 'closed' && !had) return false;
    if (had && (error.fault === 'closed' || had.uri !== uri)) {
      const fault = await look(had);
      if (fault !== 'away' && fault !== 'closed') {
        this.#isBack(place);
        const failures = (this.#failures.get(uri) ?? 0) + 1;
        if (error.fault === 'closed' || failures >= mostFailures) return false;
        this.#failures.set(uri, failures);
        await this.#options.pause(firstPauseMs);
        return true;
      }
    }
    await this.#turn(this.#noted(place, `${error.message} (${redactUri(uri)})`));
    return true;
  }

  /** One more request has failed. Throws where it was waited for long enough. */
  #noted(place: string, reason: string): Away {
    const { nowMs, graceMs, tell, giveUp } = this.#options;
    const known = this.#away.get(place);
    const waited = { sinceMs: nowMs(), pauseMs: firstPauseMs, requests: 0, waiting: [], isPausing: false };
    const away: Away = known ?? { place, reason, ...waited };
    this.#away.set(place, away);
    away.reason = reason;
    if (++away.requests < 2) return away;
    if (nowMs() - away.sinceMs >= graceMs) {
      const error = giveUp(plain(away));
      for (const { fail } of away.waiting.splice(0)) fail(error);
      throw error;
    }
    if (away.requests === 2) tell(plain(away));
    return away;
  }

  #turn(away: Away): Promise<void> {
    return new Promise((ask, fail) => {
      away.waiting.push({ ask, fail });
      if (!away.isPausing) void this.#pause(away);
    });
  }

  async #pause(away: Away): Promise<void> {
    const { pause, nowMs, graceMs } = this.#options;
    const leftMs = Math.max(firstPauseMs, graceMs - (nowMs() - away.sinceMs));
    away.isPausing = true;
    try {
      await pause(Math.min(away.pauseMs, leftMs));
    } catch (reason) {
      for (const { fail } of away.waiting.splice(0)) fail(reason);
    }
    away.isPausing = false;
    away.pauseMs = Math.min(longestPauseMs, away.pauseMs * 2);
    for (const { ask } of away.waiting.splice(0, askedAtOnce)) ask();
  }

  #isBack(place: string): void {
    const away = this.#away.get(place);
    if (!away) return;
    this.#away.delete(place);
    for (const { ask } of away.waiting.splice(0)) ask();
    const [other] = [...this.#away.values()].filter(({ requests }) => requests >= 2);
    if (away.requests >= 2) this.#options.tell(other && plain(other));
  }
}

const plain = ({ place, reason }: AwayHost): AwayHost => ({ place, reason });

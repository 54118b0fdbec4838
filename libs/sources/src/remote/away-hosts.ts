import { redactUri } from '../access/redact-uri.ts';
import type { Patience } from './patience.ts';
import type { RemoteTarget } from './remote-target.ts';
import type { TransferError } from './transfer-error.ts';

/** The first pause before a host that is away is asked again, and the longest: pauses double each time. */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Requests sent after a pause, of all that wait: if two for different objects fail, neither object is at fault. */
const askedAtOnce = 2;
/** After this many failures of one object, while another of its host can be read, the object is at fault. */
const mostFailures = 3;

/** A host or bucket that is away. */
export interface AwayHost {
  /** The URI of the host or bucket. */
  place: string;
  /** Why it is away, in one sentence, with the URI that was requested. */
  reason: string;
}

export interface AwayHostsOptions {
  /** How long to wait for a host. */
  graceMs: number;
  nowMs: () => number;
  /** Resolves after `ms`; rejects if the wait is given up. */
  pause: (ms: number) => Promise<void>;
  /** Called with a host that requests wait for, and with undefined once they wait for none. */
  tell: (away: AwayHost | undefined) => void;
  /** Makes the error to throw after `graceMs`. */
  giveUp: (away: AwayHost) => Error;
}

interface Away extends AwayHost {
  sinceMs: number;
  pauseMs: number;
  requests: number;
  /** The requests that wait until the host may be asked again. */
  waiting: { ask: () => void; fail: (reason: unknown) => void }[];
  isPausing: boolean;
}

/**
 * Waits for hosts and buckets that are away, for `graceMs` each. After longer and longer pauses, a few of the waiting
 * requests are sent again. A host is away once two requests have failed, unless another of its objects can be read
 * meanwhile.
 */
export class AwayHosts implements Patience {
  readonly #options: AwayHostsOptions;
  readonly #away = new Map<string, Away>();
  /** The last object that was read, by host. */
  readonly #had = new Map<string, RemoteTarget>();
  /** Failures of an object while another of its host could be read, by URI. */
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
    // A host that never gave an object may refuse this one alone.
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

  /** Counts one more failed request. Throws after `graceMs`. */
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

import { InputError } from '../input-error.ts';

/** After this many files in a row have failed because their host is away, the next is not requested. */
const mostInRow = 8;

/**
 * Counts failures in a row by host. A file of a host that does not answer takes half a minute, and a shard has
 * thousands.
 */
class AwayInRow {
  readonly #hosts = new Map<string, { failures: number; last: InputError }>();

  /** Why the file is not worth requesting; undefined if it is. */
  whyNot(uri: string): InputError | undefined {
    const host = this.#hosts.get(hostOf(uri));
    return host && host.failures >= mostInRow ? host.last : undefined;
  }

  /** The file could not be opened, because of `error`. */
  failed(uri: string, error: unknown): void {
    const host = hostOf(uri);
    if (!(error instanceof InputError && error.fault === 'away')) this.#hosts.delete(host);
    else this.#hosts.set(host, { failures: (this.#hosts.get(host)?.failures ?? 0) + 1, last: error });
  }

  had(uri: string): void {
    this.#hosts.delete(hostOf(uri));
  }
}

const hostOf = (uri: string): string => /^[^:]+:\/\/[^/]*/.exec(uri)?.[0] ?? '';

/** As `open`, but it fails at once for a file that is not worth requesting. */
export function quickToGiveUp<Opened, Options extends unknown[]>(
  open: (uri: string, ...options: Options) => Promise<Opened>,
): (uri: string, ...options: Options) => Promise<Opened> {
  const away = new AwayInRow();
  return async (uri, ...options) => {
    const why = away.whyNot(uri);
    if (why) throw why;
    try {
      const opened = await open(uri, ...options);
      away.had(uri);
      return opened;
    } catch (error) {
      away.failed(uri, error);
      throw error;
    }
  };
}

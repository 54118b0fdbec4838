import { InputError } from '../input-error.ts';

/** Files of a host that failed one after another because it is away, after which the next is not asked for. */
const mostInRow = 8;

/** Counts files of hosts that are away: each takes half a minute where a host does not answer, and a shard has thousands. */
class AwayInRow {
  readonly #hosts = new Map<string, { failures: number; last: InputError }>();

  /** Why the file is not worth asking for; undefined where it is. */
  whyNot(uri: string): InputError | undefined {
    const host = this.#hosts.get(hostOf(uri));
    return host && host.failures >= mostInRow ? host.last : undefined;
  }

  /** The file could not be had because of that. */
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

/** The same, which fails at once for what is not worth asking for. */
export function quickToGiveUp<Opened>(open: (uri: string) => Promise<Opened>): (uri: string) => Promise<Opened> {
  const away = new AwayInRow();
  return async (uri) => {
    const why = away.whyNot(uri);
    if (why) throw why;
    try {
      const opened = await open(uri);
      away.had(uri);
      return opened;
    } catch (error) {
      away.failed(uri, error);
      throw error;
    }
  };
}

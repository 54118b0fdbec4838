/** Time is summed for at most this many hosts; the time of further hosts is dropped. */
const mostHosts = 8;

/** Sums the seconds in which a job waited for hosts that were away, by host. */
export class HostTime {
  #lookedMs: number | undefined;
  #place: string | undefined;
  #seconds = new Map<string, number>();

  /** From now on, the job waits for the host or bucket `place`, or for none. `nowMs` never decreases. */
  look(nowMs: number, place: string | undefined): void {
    const known = this.#place === undefined ? undefined : this.#seconds.get(this.#place);
    if (this.#place !== undefined && (known !== undefined || this.#seconds.size < mostHosts)) {
      this.#seconds.set(this.#place, (known ?? 0) + (nowMs - this.#lookedMs!) / 1000);
    }
    this.#lookedMs = nowMs;
    this.#place = place;
  }

  /** Returns the seconds since the last call, each under a name of JobTimes.busy_seconds. */
  take(): Record<string, number> {
    const seconds = Object.fromEntries([...this.#seconds].map(([place, sum]) => [`away ${place}`, sum]));
    this.#seconds.clear();
    return seconds;
  }
}

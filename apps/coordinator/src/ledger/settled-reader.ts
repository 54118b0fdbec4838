import type { JobCaptures } from './job-captures.ts';
import type { JobSums } from './job-sums.ts';
import type { FramesRun, SettledRow, SettledRun, SettledSources } from './ledger.ts';

/** Reads in order what became of the sources of a job, as far as files have it. Frames of a shard stay where they are. */
export class SettledReader {
  readonly #parts: readonly [JobSums, ...JobSums[]];
  readonly #captures: JobCaptures;

  constructor(parts: readonly [JobSums, ...JobSums[]], captures: JobCaptures) {
    this.#parts = parts;
    this.#captures = captures;
  }

  /** By the pipeline at that place: those from `from` on, up to the first that is open or waits for the disk. */
  read(from: number, atMost: number, part: number): SettledSources {
    const sums = this.#parts[part]!;
    const runs: SettledRun[] = [];
    let next = from;
    while (next - from < atMost) {
      const frames = this.#settledFrames(next, from + atMost - next, sums);
      if (frames) {
        runs.push(frames);
        next += frames.count;
        continue;
      }
      const source = this.#settledRow(next, sums);
      if (!source) break;
      const last = runs.at(-1);
      if (last?.kind === 'sources') last.sources.push(source);
      else runs.push({ kind: 'sources', sources: [source], file: sums.spool.path });
      next++;
    }
    return { next, runs };
  }

  /** Undefined where there are no frames that were planned and answered together, or something of them waits for the disk. */
  #settledFrames(index: number, atMost: number, { merge, spool, hasHistograms }: JobSums): FramesRun | undefined {
    const [first] = this.#parts;
    const stored = merge.stored(index);
    const planned = merge.plannedPlace(index);
    if (!stored || !planned) return undefined;
    const { offset, length } = planned.sources.place;
    if (!spool.isWritten(stored.frames.end) || !first.spool.isWritten(offset + length)) return undefined;
    const times = merge === first.merge ? undefined : first.merge.stored(index);
    if (times && !first.spool.isWritten(times.frames.end)) return undefined;
    return {
      ...{ kind: 'frames', file: spool.path, first: index, count: Math.min(stored.left, planned.left, atMost) },
      planned: { file: first.spool.path, offset, length, nth: planned.nth },
      ...{ stored: stored.frames.place, row: stored.row },
      ...(times?.frames.place.isTimed && { times: { file: first.spool.path, stored: times.frames.place } }),
      ...{ goesByMtime: this.#captures.goesByMtime, hasHistograms },
    };
  }

  /** Undefined while the source is open, or its histograms wait for the disk. */
  #settledRow(index: number, sums: JobSums): SettledRow | undefined {
    const { merge, hasHistograms } = sums;
    if (!merge.settled(index)) return undefined;
    const { uri, name, video, version } = merge.planned(index);
    const planned = { index, uri, name, ...(video && { video }), ...(version !== undefined && { version }) };
    const source = merge.outcome(index)!;
    if (source.state === 'quarantined') {
      const { state, stage, error, attempts } = source;
      return { ...planned, state, stage, error, attempts };
    }
    const place = hasHistograms ? sums.written(index) : undefined;
    if (hasHistograms && !place) return undefined;
    const { state, size, counted, digest } = source;
    const captured = this.#captures.of(index);
    const more = { ...(captured && { captured }), ...(place && { place }) };
    return { ...planned, state, ...size, counted, digest: Buffer.from(digest).toString('hex'), ...more };
  }
}

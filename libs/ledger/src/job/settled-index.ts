import type { AnsweredShards, FoundRun, QuarantinedRow, SettledRun, SettledSources } from '../ledger/ledger.ts';
import type { AnswerFact, WholeFact } from '../log/fact.ts';
import type { FactPlace } from '../log/fact-place.ts';
import { HeldFacts } from '../log/held-facts.ts';
import type { JobLog } from '../log/job-log.ts';
import { isOpen } from '../log/job-state.ts';
import type { LoggedPlan } from './logged-plan.ts';

type FoundFact = AnswerFact | WholeFact;

/** Reads from a job's log which sources are settled: which are quarantined, and in which parts the others are. */
export class SettledIndex {
  readonly #log: JobLog;
  readonly #plan: LoggedPlan;
  readonly #held: HeldFacts<FoundFact>;

  constructor(log: JobLog, plan: LoggedPlan) {
    this.#log = log;
    this.#plan = plan;
    this.#held = new HeldFacts((place) => log.read(place).fact as FoundFact);
  }

  /** Up to `atMost` sources from `from` on, before the first that is open or not written yet. Blocks on the disk. */
  settled(from: number, atMost: number): SettledSources {
    const { state } = this.#log;
    const runs: SettledRun[] = [];
    let next = from;
    while (next - from < atMost && !isOpen(state, next)) {
      if (state.quarantined.has(next)) {
        const last = runs.at(-1);
        const row = this.#quarantinedRow(next);
        if (last?.kind === 'quarantined') last.sources.push(row);
        else runs.push({ kind: 'quarantined', sources: [row] });
        next++;
        continue;
      }
      const run = this.#foundRun(next, from + atMost - next);
      if (!run) break;
      runs.push(run);
      next += run.count;
    }
    return { next, runs };
  }

  /** As Ledger.answered. Blocks on the disk. */
  answered(from: number, atMost: number): AnsweredShards {
    const { index } = this.#log.state;
    const next = Math.max(from, Math.min(from + atMost, index.shards));
    const shards: AnsweredShards['shards'] = [];
    for (let shard = from; shard < next; shard++) {
      const found = index.isDone(shard) ? this.#found(index.answer(shard)) : undefined;
      if (found && found.found > 0) shards.push({ shard, found });
    }
    return { next, shards };
  }

  /** The quarantined sources so far, in no order. Blocks on the disk. */
  *quarantined(): Generator<QuarantinedRow> {
    for (const source of [...this.#log.state.quarantined.keys()]) yield this.#quarantinedRow(source);
  }

  /** The answer to a done shard; undefined if it has none. Blocks on the disk. */
  answer(shard: number): AnswerFact | undefined {
    const { index } = this.#log.state;
    if (!index.isDone(shard)) return undefined;
    const place = index.answer(shard);
    if (place && this.#log.isWritten(place)) return this.#held.at(place) as AnswerFact;
    for (const fact of this.#log.waiting()) if (fact.kind === 'answer' && fact.shard === shard) return fact;
    return undefined;
  }

  /** Done sources of a block, from `first` on; undefined if they are not written yet. */
  #foundRun(first: number, atMost: number): FoundRun | undefined {
    const { index, quarantined } = this.#log.state;
    const { place, nth, left } = this.#plan.source(first);
    if (!place) return undefined;
    const { shard } = index.planned(first)!;
    const found = this.#found(index.isWhole(first) ? index.whole(first) : index.answer(shard!));
    if (!found) return undefined;
    let count = 1;
    while (count < Math.min(left, atMost) && !quarantined.has(first + count)) count++;
    const { epoch, offset, length } = place;
    const { part, places, digest, parts, pixels } = found;
    return {
      kind: 'found',
      first,
      count,
      planned: { file: this.#log.file(epoch), offset, length, nth },
      found: { part, places, digest, parts, pixels, found: found.found },
      ...(shard !== undefined && { shard }),
    };
  }

  #found(place: FactPlace | undefined): FoundFact | undefined {
    return place && this.#log.isWritten(place) ? this.#held.at(place) : undefined;
  }

  #quarantinedRow(index: number): QuarantinedRow {
    const { block, nth } = this.#plan.source(index);
    const { uri, stage, error, attempts } = this.#log.state.quarantined.get(index)!;
    const video = block.video(nth);
    const version = block.version(nth);
    return { index, uri, ...(video && { video }), ...(version !== undefined && { version }), stage, error, attempts };
  }
}

import { outputPath } from '@halogrid/jobs/output-paths';
import { WantError } from '@halogrid/jobs/want-error';
import type { AnsweredShards, Ledger, Withdrawn } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { LostPartError } from '../output/lost-part-error.ts';
import type { UntilWritten } from '../output/output-wait.ts';

/** How often the results of one shard may be lost in this process before the job fails: that often is hardly chance. */
export const mostLosses = 4;

/** A shard whose results are lost, so that it must be done again. */
export interface LostShard {
  withdrawn: Withdrawn;
  /** Names of all nodes whose results for it were lost; for kept sources, the name of the coordinator. */
  inVain: readonly string[];
  /** Whether its rows were being read. If several shards are lost together, only the node of this one is blamed. */
  isMet: boolean;
  isFalse: boolean;
  /** Why, in a sentence. */
  error: string;
}

export interface LostPartsOptions {
  jobId: string;
  spec: Pick<JobSpec, 'out'>;
  ledger: Pick<Ledger, 'answered' | 'withdraw'>;
  /** Done shards whose parts are missing. */
  lostShards(answered: (from: number, atMost: number) => Promise<AnsweredShards>): Promise<readonly number[]>;
  until: UntilWritten;
  log: Log;
}

/** Withdraws answers whose parts are lost, and remembers which nodes gave them. */
export class LostParts {
  readonly #options: LostPartsOptions;
  /** Names of the nodes whose results of a shard were lost, by its number. */
  readonly #lostBy = new Map<number, string[]>();

  constructor(options: LostPartsOptions) {
    this.#options = options;
  }

  /**
   * Withdraws a shard and all others whose parts are missing, and resolves with the shards that must be done again.
   * Rejects if no node can do the shard again, and with WantError if one was lost too often.
   */
  async withdraw({ message: error, shard: met, isFalse }: LostPartError): Promise<LostShard[]> {
    if (met === undefined) throw new Error(`${error}; the results in it are lost: run the job again`);
    const { jobId, ledger, lostShards, until, log } = this.#options;
    const others = await until(() => lostShards((from, atMost) => ledger.answered(jobId, from, atMost)));
    const shards = [...new Set([met, ...others])];
    const withdrawn = await Promise.all(shards.map((shard) => ledger.withdraw(jobId, shard)));
    const lost = withdrawn.flatMap((its): LostShard[] => {
      if (!its) return [];
      const isMet = its.open.shard.shard === met;
      return [{ withdrawn: its, inVain: this.#inVain(its), isMet, isFalse: isFalse && isMet, error }];
    });
    const [first, ...more] = lost;
    if (!first) return [];
    const also = more.length > 0 ? `, and ${more.length} others whose parts are not there` : '';
    log.warn({ shard: met, node: first.inVain.at(-1) }, `${error}; its shard is computed again${also}`);
    const often = lost.find(({ inVain }) => inVain.length >= mostLosses);
    if (often) throw this.#lostTooOften(often.inVain, error);
    return lost;
  }

  #inVain({ open, node = 'the coordinator' }: Withdrawn): readonly string[] {
    const { shard } = open.shard;
    const inVain = [...(this.#lostBy.get(shard) ?? []), node];
    this.#lostBy.set(shard, inVain);
    return inVain;
  }

  #lostTooOften(nodes: readonly string[], last: string): WantError {
    const who = [...new Set(nodes)].join(', ');
    return new WantError(
      `Results of one shard were lost ${nodes.length} times, written by ${who}: ${last}; see to it that all nodes and the coordinator have the same folder '${outputPath(this.#options.spec.out)}', and that its disk keeps what is written; then run the same command again`,
    );
  }
}

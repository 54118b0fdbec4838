import type { PartFound, SearchPart } from '@halogrid/proto';

/** The node that searches. */
export interface SearchedNode {
  session: number;
  search(part: SearchPart): void;
}

interface Pending {
  session: number;
  answer: PromiseWithResolvers<PartFound>;
}

/** Has nodes search parts of indexes, and matches their answers to orders. */
export class PartSearches {
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  /** Resolves with the node's answer; rejects with one sentence if its conversation ends before that. */
  ask({ session, search }: SearchedNode, part: Omit<SearchPart, 'search'>): Promise<PartFound> {
    const number = ++this.#last;
    const answer = Promise.withResolvers<PartFound>();
    this.#pending.set(number, { session, answer });
    search({ ...part, search: number });
    return answer.promise;
  }

  /** Takes an answer; ignores an answer without an order in that conversation. */
  answered(session: number, found: PartFound): void {
    const pending = this.#pending.get(found.search);
    if (pending?.session !== session) return;
    this.#pending.delete(found.search);
    pending.answer.resolve(found);
  }

  /** The conversation is over. */
  left(session: number): void {
    for (const [number, pending] of this.#pending) {
      if (pending.session !== session) continue;
      this.#pending.delete(number);
      pending.answer.reject(new Error('The node is gone'));
    }
  }
}

import { pathToFileURL } from 'node:url';
import type { PartFound, SearchPart } from '@halogrid/proto';
import { type Catalog, hitsOf, indexVersion, type PartNode, wantedMessage } from '@halogrid/search';
import type { PartQuestion, PartReply, SearchNode } from './orders.ts';

/** Asks nodes through the coordinator, because the process of retrieval has no connection to nodes. */
export class NodeCourier {
  /** The nodes that may take part in the current search. */
  nodes: readonly SearchNode[] = [];
  readonly #send: (question: PartQuestion) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<PartFound>>();
  #last = 0;

  constructor(send: (question: PartQuestion) => void) {
    this.#send = send;
  }

  /** Takes the coordinator's reply to a question. */
  replied({ part, ...reply }: PartReply): void {
    const waiting = this.#waiting.get(part);
    this.#waiting.delete(part);
    if ('found' in reply) waiting?.resolve(reply.found);
    else waiting?.reject(new Error(reply.why));
  }

  /** Returns a function that lists the present nodes as searchers of the index in `folder`. */
  forIndex(folder: string, catalog: Catalog): () => PartNode[] {
    const [index, version] = [pathToFileURL(folder).href, indexVersion(catalog)];
    const toNode = ({ session, id, device }: SearchNode): PartNode => ({
      id,
      device,
      find: async ({ first, end }, wanted) => {
        const blocks = { firstBlock: first, endBlock: end };
        const found = await this.#ask(session, { index, version, ...blocks, ...wantedMessage(wanted) });
        if (found.error !== '') throw new Error(found.error);
        if (found.version !== version) throw new Error('It answered for another index');
        return hitsOf(found);
      },
    });
    return () => this.nodes.map(toNode);
  }

  #ask(session: number, order: Omit<SearchPart, 'search'>): Promise<PartFound> {
    const part = ++this.#last;
    const waiting = Promise.withResolvers<PartFound>();
    this.#waiting.set(part, waiting);
    this.#send({ part, session, order });
    return waiting.promise;
  }
}

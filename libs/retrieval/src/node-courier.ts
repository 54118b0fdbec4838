import { pathToFileURL } from 'node:url';
import type { PartFound, SearchPart } from '@halogrid/proto';
import { type Catalog, hitsOf, indexVersion, type PartNode, wantedMessage } from '@halogrid/search';
import type { PartQuestion, PartReply, SearchNode } from './orders.ts';

/** Has nodes asked by the coordinator, from the process of retrieval, which knows none. */
export class NodeCourier {
  /** Those of the search that goes on. */
  nodes: readonly SearchNode[] = [];
  readonly #send: (question: PartQuestion) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<PartFound>>();
  #last = 0;

  constructor(send: (question: PartQuestion) => void) {
    this.#send = send;
  }

  /** The coordinator's reply to a question. */
  replied({ part, ...reply }: PartReply): void {
    const waiting = this.#waiting.get(part);
    this.#waiting.delete(part);
    if ('found' in reply) waiting?.resolve(reply.found);
    else waiting?.reject(new Error(reply.why));
  }

  /** The nodes that there are now, for the index in that folder. */
  forIndex(folder: string, catalog: Catalog): () => PartNode[] {
    const [index, version] = [pathToFileURL(folder).href, indexVersion(catalog)];
    const toNode = ({ session, id, device }: SearchNode): PartNode => ({
      ...{ id, device },
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

import { type MessagePort, parentPort, type Transferable } from 'node:worker_threads';
import { endWhenAsked } from './end-thread.ts';

/** An order on its way to a thread. Those of one turn of the event loop come in one message. */
export interface SentOrder<Order> {
  id: number;
  order: Order;
}

/** What becomes of the order of that id; so are those of one turn sent together. */
export type SentAnswer<Answer> = { id: number } & ({ answer: Answer } | { failure: unknown });

export interface ServeOptions<Answer> {
  /** Memory of an answer that changes hands instead of being copied. */
  moved?(answer: Answer): Transferable[];
  /** An error in a form that messages can carry, for the `unpack` of the client; its message alone unless given. */
  pack?(error: unknown): unknown;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * For the program of a thread whose ThreadClient sends orders: obeys them as they come, several at a time where `obey`
 * waits, and sends what they give. Ends the thread when it is asked to, between two tasks.
 */
export function serveOrders<Order, Answer>(
  obey: (order: Order) => Answer | Promise<Answer>,
  { moved = () => [], pack = messageOf }: ServeOptions<Answer> = {},
  port: MessagePort = parentPort!,
): void {
  endWhenAsked(port);
  let answers: SentAnswer<Answer>[] = [];
  let transferred: Transferable[] = [];
  const flush = (): void => {
    const sent = [answers, transferred] as const;
    answers = [];
    transferred = [];
    port.postMessage(...sent);
  };
  const serve = async ({ id, order }: SentOrder<Order>): Promise<void> => {
    let sent: SentAnswer<Answer>;
    try {
      const answer = await obey(order);
      transferred.push(...moved(answer));
      sent = { id, answer };
    } catch (error) {
      sent = { id, failure: pack(error) };
    }
    if (answers.push(sent) === 1) setImmediate(flush);
  };
  port.on('message', (orders: SentOrder<Order>[] | string) => {
    if (typeof orders !== 'string') for (const order of orders) void serve(order);
  });
}

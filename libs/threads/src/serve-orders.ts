import { type MessagePort, parentPort, type Transferable } from 'node:worker_threads';
import { endWhenAsked } from './end-thread.ts';

/** An order on its way to a thread. Orders of one turn of the event loop are sent in one message. */
export interface SentOrder<Order> {
  id: number;
  order: Order;
}

/** The outcome of the order with that id. Answers of one turn are sent together, too. */
export type SentAnswer<Answer> = { id: number } & ({ answer: Answer } | { failure: unknown });

export interface ServeOptions<Answer> {
  /** Memory of an answer that is moved instead of being copied. */
  moved?(answer: Answer): Transferable[];
  /** Converts an error to a form that messages can carry, for the client's `unpack`. Default: its message alone. */
  pack?(error: unknown): unknown;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * For the program of a thread whose ThreadClient sends orders: calls `obey` for each order as it comes, several at a
 * time if `obey` waits, and sends the answers. Ends the thread when asked to, between two tasks.
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

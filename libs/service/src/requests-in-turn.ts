import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** At most this many requests of one connection wait for earlier answers. Browsers and libraries send none ahead. */
export const maxAhead = 64;

/**
 * Answers the requests of a connection one after another, each once the answer before it is sent. So a client that
 * sends many ahead and reads no answer causes only one. A connection with more than `maxAhead` waiting requests is
 * closed.
 */
export function inTurn(answer: Listener): Listener {
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const begin = (): void => {
      response.once('close', next);
      answer(request, response);
    };
    const next = (): void => {
      const following = socket.destroyed ? undefined : queues.get(socket)?.shift();
      if (following) following();
      else queues.delete(socket);
    };
    const queue = queues.get(socket);
    if (!queue) {
      queues.set(socket, []);
      begin();
    } else if (queue.length < maxAhead) queue.push(begin);
    else socket.destroy();
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Requests of one connection that wait for the answers before theirs, at most; browsers and libraries send none ahead.
 */
export const maxAhead = 64;

/**
 * Answers the requests of a connection one after another, each once the answer before it is on its way: who sends many
 * ahead and takes no answer has one made for it, and not all. A connection with more than `maxAhead` of them is closed.
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

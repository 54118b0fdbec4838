import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendBody } from './send-body.ts';

/** Cache-Control of an answer that is valid only at this moment. */
export const noStore = 'no-store';

/** Sends an object as JSON that must not be cached. */
export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  statusCode: number,
  body: object,
): Promise<void> {
  response.statusCode = statusCode;
  response.setHeader('cache-control', noStore);
  await sendBody(request, response, 'application/json; charset=utf-8', Buffer.from(JSON.stringify(body)));
}

import type { IncomingMessage } from 'node:http';
import { Refusal } from '../job/refusal.ts';

/** A form has hundreds of sources at most; a list of more is a manifest. */
const maxBytes = 2 ** 20;

/** The JSON that comes with a request. Rejects with Refusal where it is none, or too long. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > maxBytes) throw new Refusal('invalid', `Expected at most ${maxBytes} bytes but received more`);
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts, length).toString('utf8'));
  } catch {
    throw new Refusal('invalid', 'Expected JSON but received something else');
  }
}

import type { IncomingMessage } from 'node:http';
import { Refusal } from '@halogrid/jobs/refusal';
import { BodyReceiver, bodyTimes } from './receive-body.ts';

/** A form has hundreds of sources at most; a list of more is a manifest. */
const forms = new BodyReceiver(32, { ...bodyTimes, bytes: 2 ** 20 });

/** The JSON in the body of a request. Rejects with Refusal if it is not JSON, or too long. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const body = await forms.receive(request);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    const why = body.length === 0 ? 'nothing' : `something else: ${(error as Error).message}`;
    throw new Refusal('invalid', `Expected JSON for the body but received ${why}`);
  }
}

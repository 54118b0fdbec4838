import type { IncomingHttpHeaders } from 'node:http';
import { InputError } from '../input-error.ts';
import { ask, type HttpAnswer } from '../remote/ask.ts';
import { refusal, tryAgain } from '../remote/get.ts';
import { defaultRemoteLimits, type RemoteLimits } from '../remote/remote-limits.ts';
import { s3Place } from '../remote/s3-target.ts';
import { findCredentials } from '../s3/s3-credentials.ts';

/** A store that asks for fewer requests gets some more time than a server of sources. */
export const storeLimits: RemoteLimits = { ...defaultRemoteLimits, attempts: 6 };

/** The most bytes of an answer that is kept in memory. */
const maxAnswerBytes = 2 ** 28;

/** A request about an object or, if the key is empty, about its bucket. */
export interface StoreRequest {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  bucket: string;
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** Statuses that are no errors besides 200, 204 and 206. */
  accepts?: readonly number[];
}

export interface StoreAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * Sends a request to an object store, again after failures that may pass: 5xx, SlowDown, 429 and dropped connections.
 * So it may take effect twice. Rejects with TransferError, or with InputError if the credentials are missing.
 */
export async function send(request: StoreRequest, limits: RemoteLimits = storeLimits): Promise<StoreAnswer> {
  const { method, bucket, key, query = {}, headers = {}, body, accepts = [] } = request;
  return await tryAgain(limits, async () => {
    const { settings, url } = s3Place(bucket, key, query);
    const credentials = await findCredentials(settings);
    // Signing and XML are loaded only for S3: they take 30 ms of a start (measured).
    const { signS3 } = await import('../s3/s3-sign.ts');
    const sized = { ...headers, ...(method !== 'GET' && { 'content-length': String(body?.length ?? 0) }) };
    const signed = await signS3({ method, url, headers: sized, body }, credentials, settings.region);
    const answer = await ask({ method, url, headers: signed, body }, limits);
    const { status } = answer;
    try {
      if ([200, 204, 206, ...accepts].includes(status)) {
        return { status, headers: answer.headers, body: await readBody(answer) };
      }
      const explain = async (...refused: [number, IncomingHttpHeaders, string]): Promise<string> => {
        const { explainS3Refusal } = await import('../s3/s3-refusal.ts');
        const isWrite = method !== 'GET' && method !== 'HEAD';
        return explainS3Refusal(
          { bucket, key, region: settings.region, isSigned: credentials !== undefined, isWrite },
          ...refused,
        );
      };
      throw await refusal({ explain }, answer);
    } finally {
      answer.drop();
    }
  });
}

async function readBody({ body }: HttpAnswer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes)
      throw new InputError('read', `The store answers with more than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

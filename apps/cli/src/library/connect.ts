import {
  type Client,
  connect as connectHttp,
  createClient,
  HalogridError,
  type HttpClient,
  type JobRequest,
} from '@halogrid/client';
import { fieldSentence } from '@halogrid/jobs/field-sentence';
import type { JobSpec, SubmitRequest } from '@halogrid/proto';
import { FieldError, messageOf, readMessage } from '@halogrid/proto/json';
import { jsonName } from '@halogrid/proto/json-name';
import { createClientSecurity } from '@halogrid/service';
import { grpcTransport } from '../client/coordinator-client.ts';
import { nodeFetch } from '../results/node-fetch.ts';
import { typedError } from './typed-error.ts';

/** Files of certificates (PEM). */
export interface TlsFiles {
  /** The authority that signed the coordinator's certificate. */
  ca: string;
  /** Certificate for coordinators that ask for one, and its key. */
  cert?: string;
  key?: string;
}

export interface ConnectOptions {
  /** The token for the coordinator. A function is called for each request. */
  token?: string | (() => string | undefined);
  tls?: TlsFiles;
}

/**
 * A client of a coordinator: by its HTTP API at http(s)://HOST:PORT, or by gRPC at HOST:PORT, or at
 * HOST:PORT,HOST:PORT… for several coordinators with one ledger. It connects at the first call. Throws HalogridError
 * for another form of address.
 */
export function connect(address: `http${'s' | ''}://${string}`, options?: ConnectOptions): HttpClient;
export function connect(address: string, options?: ConnectOptions): Client;
export function connect(address: string, { token, tls: files }: ConnectOptions = {}): Client {
  try {
    const { tls } = createClientSecurity({ tlsCa: files?.ca, tlsCert: files?.cert, tlsKey: files?.key });
    if (/^https?:\/\//.test(address)) return connectHttp(address, { token, fetch: tls && nodeFetch(tls) });
    const transport = grpcTransport(
      address,
      { tls, token: typeof token === 'function' ? token : () => token },
      { nameOf: jsonName },
    );
    return createClient({
      ...transport,
      submit: async (request: JobRequest) => transport.submit(submitRequest(request)),
    });
  } catch (error) {
    throw typedError(error);
  }
}

/** The request as a message of the protocol. Throws HalogridError for an unknown field or a value of the wrong type. */
function submitRequest(request: JobRequest): SubmitRequest {
  try {
    return { spec: readMessage<JobSpec>(messageOf('JobSpec'), request), nameOutByJob: false };
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    throw new HalogridError('INVALID_ARGUMENT', String(fieldSentence(error)), {
      field: error.field || undefined,
      cause: error,
    });
  }
}

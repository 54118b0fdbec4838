import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { hostname } from 'node:os';
import type { TLSSocket } from 'node:tls';
import { errorAnswer } from '@halogrid/proto/error-answer';
import type { Registry } from 'prom-client';
import type { ListenAddress } from './listen-address.ts';
import { listenOn } from './listen-on.ts';
import { openMetrics, openMetricsType } from './open-metrics.ts';
import { inTurn } from './requests-in-turn.ts';
import { type Access, type Denial, openAccess } from './security/access.ts';
import { httpCredentials, nobody } from './security/credentials.ts';
import {
  ConnectionGate,
  type ConnectionLimits,
  defaultConnectionLimits,
  peerAddress,
} from './security/limit-connections.ts';
import { answerOrigin } from './security/other-origins.ts';
import { whyForeignName } from './security/own-name.ts';
import type { Tls } from './security/tls-files.ts';

/**
 * Not imported: an import would also load the modules behind `fetch` and WebSocket, 25 to 35 ms of processor time
 * (measured).
 */
const { createServer } = process.getBuiltinModule('node:http');

export interface HttpServerOptions extends ListenAddress {
  registry: Registry;
  /** Why the process cannot serve yet, in one sentence; undefined when it can. */
  notReady: () => string | undefined;
  /** Pages by path. Everyone may read them, because they say nothing about this cluster. */
  pages?: { get(path: string): Page | undefined };
  /** Answers further paths, for callers that may read; returns false for a path that it does not know. */
  route?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** As `route`, for paths that check the caller themselves. */
  openRoute?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Called for each connection; undefined: HTTP without TLS. */
  tls?: () => Tls;
  /** Decides who may read; undefined: everyone may. */
  access?: Access;
  /** Called when a request is refused for want of a known caller or its role. */
  onRefused?: (request: IncomingMessage, denial: Denial) => void;
  /** Origins of other sites whose pages may use paths below /api/. */
  allowedOrigins?: readonly string[];
  limits?: HttpLimits;
}

export interface Page {
  /** Media type. */
  type: string;
  body: Uint8Array;
}

/**
 * Restricts a page to content from this server. Pictures may also be ones that the page has fetched or that its user
 * gave it.
 */
const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

export interface HttpLimits extends ConnectionLimits {
  /** Time limit from the connection, or the answer before, to the end of a request's headers. */
  headersMs: number;
  /** Time limit to the end of a request. */
  requestMs: number;
  /** Time limit without a byte in either direction while there is something to send or to answer. */
  stalledMs: number;
}

/**
 * Headers here are few, so 10 s and 16 KiB are ample; a chunk of a map may be large and the network slow. A client that
 * takes no byte of an answer for a minute is gone, or malicious.
 */
export const defaultHttpLimits: HttpLimits = {
  ...defaultConnectionLimits,
  headersMs: 10_000,
  requestMs: 600_000,
  stalledMs: 60_000,
};
const maxHeaderBytes = 2 ** 14;
/** The time to receive the rest of a request after its answer. */
const afterAnswerMs = 2_000;

export interface HttpServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Serves /metrics (with exemplars if the caller accepts OpenMetrics), /healthz (alive) and /readyz (able to serve). The
 * last two are open, because probes have no secrets, and so are pages; everything else needs the role `read`. If
 * everyone may read, requests to host names that another site may have pointed here are refused. Rejects when the
 * address is taken.
 */
export async function startHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { access = openAccess, limits = defaultHttpLimits, allowedOrigins = [] } = options;
  const gate = new ConnectionGate(limits);
  const { registry } = options;
  const text = { type: registry.contentType, collect: togetherWhileUnderWay(() => registry.metrics()) };
  const open = { type: openMetricsType, collect: togetherWhileUnderWay(() => openMetrics(registry)) };
  // A caller with a token or a certificate cannot be a page of another site, and with TLS the browser checks our
  // certificate.
  const isJudgedByName = !options.tls && access.admit(nobody, 'read').denial === undefined;
  const own = [hostname(), options.host];
  const serve = inTurn((request, response) => {
    endAfterAnswer(request, response);
    const path = (request.url ?? '/').split('?')[0]!;
    const isApi = path.startsWith('/api/');
    /** Refuses a request; below /api/ in JSON. */
    const refuse = (status: number, sentence: string, code: string): void =>
      isApi ? sendRefusal(response, status, sentence, code) : send(response, status, sentence);
    if (options.openRoute?.(request, response)) return gate.spoke(peerAddress(request.socket), false);
    const foreign = isJudgedByName && whyForeignName(request.headers.host, own);
    if (foreign) return refuse(403, foreign, 'PERMISSION_DENIED');
    if (isApi && answerOrigin(request, response, allowedOrigins)) return gate.spoke(peerAddress(request.socket), false);
    const page = options.pages?.get(path);
    const isOpen = page !== undefined || path === '/healthz' || path === '/readyz';
    const isAllowed = isOpen || allow(request, response, { ...options, access }, refuse);
    gate.spoke(peerAddress(request.socket), isAllowed && !isOpen);
    if (!isAllowed) return;
    if ((isOpen || path === '/metrics') && !isRead(request, response)) return;
    if (page) return sendPage(request, response, page);
    if (path === '/healthz') return send(response, 200, 'ok');
    if (path === '/readyz') {
      const reason = options.notReady();
      return send(response, reason ? 503 : 200, reason ?? 'ok');
    }
    if (path === '/metrics') {
      const format = request.headers.accept?.includes('application/openmetrics-text') ? open : text;
      sendMetrics(format, response).catch((error: Error) => send(response, 500, error.message));
      return;
    }
    if (!options.route?.(request, response)) refuse(404, `Nothing at ${path}`, 'NOT_FOUND');
  });
  const prepared = (request: IncomingMessage, response: ServerResponse): void => {
    const preparing = access.prepare?.(httpCredentials(request));
    if (preparing) void preparing.then(() => serve(request, response));
    else serve(request, response);
  };
  const server = createHttpServer(options.tls, limits, prepared);
  gate.watch(server);
  const port = await listenOn(server, options, '--http');
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        gate.close();
      }),
  };
}

function createHttpServer(
  tls: (() => Tls) | undefined,
  { headersMs, requestMs, stalledMs }: HttpLimits,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const options: ServerOptions = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs),
    maxHeaderSize: maxHeaderBytes,
  };
  if (!tls) return closingStalled(createServer(options, listener), stalledMs);
  let current = tls();
  // Probes have no certificate, so a connection without one is accepted, and is refused only when it asks for more than
  // probes do.
  const asked = { requestCert: current.ca !== undefined, rejectUnauthorized: false, handshakeTimeout: headersMs };
  const server = createSecureServer({ ...options, ...current, ...asked }, listener);
  // Must run before the server's own listener, which begins the handshake.
  server.prependListener('connection', () => {
    const now = tls();
    if (now === current) return;
    current = now;
    server.setSecureContext(current);
  });
  return closingStalled(server, stalledMs);
}

/** Makes the server close connections without traffic. */
function closingStalled(server: Server, stalledMs: number): Server {
  server.timeout = stalledMs;
  return server;
}

/** If a client goes on sending after its answer, closes its connection a moment later. */
function endAfterAnswer(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete) return;
    setTimeout(() => request.complete || request.socket.destroy(), afterAnswerMs).unref();
  });
}

/** Whether the caller may read; if not, sends it the reason. */
function allow(
  request: IncomingMessage,
  response: ServerResponse,
  { tls, access, onRefused }: Pick<HttpServerOptions, 'tls' | 'onRefused'> & { access: Access },
  refuse: (status: number, sentence: string, code: string) => void,
): boolean {
  if (tls?.().ca && !(request.socket as TLSSocket).authorized) {
    refuse(403, 'Expected a client certificate that the authority of this server signed', 'PERMISSION_DENIED');
    return false;
  }
  const { denial } = access.admit(httpCredentials(request), 'read');
  if (!denial) return true;
  onRefused?.(request, denial);
  // Asks for a token, because another one may be accepted.
  const isUnknown = denial.kind === 'unauthenticated';
  response.setHeader('www-authenticate', isUnknown ? challenge : `${challenge}, error="insufficient_scope"`);
  if (isUnknown) refuse(401, denial.sentence, 'UNAUTHENTICATED');
  else refuse(403, denial.sentence, 'PERMISSION_DENIED');
  return false;
}

/** Whether the request only reads, as every path of this server does; if not, refuses it. */
function isRead({ method }: IncomingMessage, response: ServerResponse): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  response.setHeader('allow', 'GET, HEAD');
  send(response, 405, `Expected GET or HEAD but received ${method}`);
  return false;
}

function sendPage(request: IncomingMessage, response: ServerResponse, { type, body }: Page): void {
  response.writeHead(200, { ...pageHeaders, 'content-type': type, 'content-length': body.length });
  response.end(request.method === 'GET' ? body : undefined);
}

/** A format of metrics: its media type, and a function that gives all metrics in it. */
interface MetricsFormat {
  type: string;
  collect: () => Promise<string>;
}

async function sendMetrics({ type, collect }: MetricsFormat, response: ServerResponse): Promise<void> {
  const body = await collect();
  response.writeHead(200, { 'content-type': type }).end(body);
}

/**
 * Collecting takes milliseconds. Callers that ask while a collection is under way share its answer, so that many
 * callers cost no more than one.
 */
function togetherWhileUnderWay<T>(act: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= act().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

const challenge = 'Bearer realm="halogrid"';

function sendRefusal(response: ServerResponse, status: number, error: string, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(errorAnswer(code, error)));
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

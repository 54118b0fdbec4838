import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export interface HttpOptions {
  /** Address to listen on; of IPv6 in brackets, as in a URL. */
  host: string;
  /** 0: any free port. */
  port: number;
  registry: Registry;
  /** Why the process cannot serve yet, in one sentence; undefined when it can. */
  notReady: () => string | undefined;
  /** Answers further paths; returns false for a path that is not its own. */
  route?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface HttpServer {
  port: number;
  close(): Promise<void>;
}

/** Serves /metrics, /healthz (alive) and /readyz (able to serve). Rejects when the address is taken. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/metrics') {
      sendMetrics(options.registry, response).catch((error: Error) => send(response, 500, error.message));
      return;
    }
    if (path === '/healthz') return send(response, 200, 'ok');
    if (path === '/readyz') {
      const reason = options.notReady();
      return send(response, reason ? 503 : 200, reason ?? 'ok');
    }
    if (!options.route?.(request, response)) send(response, 404, `Nothing at ${path}`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host.replace(/^\[(.*)\]$/, '$1'), resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function sendMetrics(registry: Registry, response: ServerResponse): Promise<void> {
  const body = await registry.metrics();
  response.writeHead(200, { 'content-type': registry.contentType }).end(body);
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

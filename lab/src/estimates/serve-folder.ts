import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sendFile, startServer, type TestServer } from '../../../libs/sources/src/testing/servers.ts';

/** Serves the files of a folder over HTTP on this machine. Requested files stay in memory. */
export function serveFolder(folder: string): Promise<TestServer> {
  const files = new Map<string, Promise<Uint8Array>>();
  return startServer(async (request, response) => {
    const path = new URL(request.url!, 'http://localhost').pathname;
    const read = files.get(path) ?? readFile(join(folder, decodeURIComponent(path)));
    files.set(path, read);
    sendFile({ bytes: await read, etag: `"${path}"` }, request, response);
  });
}

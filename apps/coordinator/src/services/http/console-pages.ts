import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Page } from '@halogrid/service';

const folder = new URL('.', import.meta.resolve('@halogrid/console/index.html'));

/** A library that the viewer loads as it is. */
const deepZoom = new URL('openseadragon.min.js', import.meta.resolve('openseadragon'));

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The console, by path: the page at /, that of each job at /jobs/ID, and what they are made of below /console/. */
export function consolePages(): { get(path: string): Page | undefined } {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types);
  const pages = new Map<string, Page>(
    files.map((name) => {
      const page = { type: types[extname(name)]!, body: readFileSync(new URL(name, folder)) };
      return [name === 'index.html' ? '/' : `/console/${name}`, page];
    }),
  );
  pages.set('/console/openseadragon.js', { type: types['.js']!, body: readFileSync(deepZoom) });
  // Whether there is such a job is for the page to find out, by who reads it.
  return { get: (path) => pages.get(/^\/jobs\/[^/]+$/.test(path) ? '/console/job.html' : path) };
}

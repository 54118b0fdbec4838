import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Page } from '@halogrid/service';

const folder = new URL('.', import.meta.resolve('@halogrid/console/index.html'));

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The console, by path: the page at /, and what it is made of below /console/. */
export function consolePages(): Map<string, Page> {
  const files = readdirSync(folder).filter((name) => extname(name) in types);
  return new Map(
    files.map((name) => {
      const page = { type: types[extname(name)]!, body: readFileSync(new URL(name, folder)) };
      return [name === 'index.html' ? '/' : `/console/${name}`, page];
    }),
  );
}

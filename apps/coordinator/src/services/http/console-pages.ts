import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { Page } from '@halogrid/service';

const folder = new URL('.', import.meta.resolve('@halogrid/console/layout.html'));

/** The deep zoom library, which the viewer loads from its own file. */
const deepZoom = new URL('openseadragon.min.js', import.meta.resolve('openseadragon'));

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The files of the console by path: the cluster page at /, the page of each job at /jobs/ID, all others below
 * /console/.
 */
export function consolePages(): { get(path: string): Page | undefined } {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types);
  const read = (name: string): Buffer => readFileSync(new URL(name, folder));
  const layout = read(layoutName).toString();
  const pages = new Map<string, Page>(
    files.map((name) => {
      const isPage = extname(name) === '.html';
      const body = isPage ? Buffer.from(wholePage(name, read(name).toString(), layout)) : read(name);
      return [pathOf(name), { type: types[extname(name)]!, body }];
    }),
  );
  pages.delete(pathOf(layoutName));
  pages.set('/console/openseadragon.js', { type: types['.js']!, body: readFileSync(deepZoom) });
  // The page itself asks whether the job exists, with the rights of the reader.
  return { get: (path) => pages.get(/^\/jobs\/[^/]+$/.test(path) ? '/console/job.html' : path) };
}

const pathOf = (name: string): string => (name === 'index.html' ? '/' : `/console/${name}`);

const layoutName = 'layout.html';

/**
 * A whole page: the layout with the page's own elements in the head, and with its `<main>`. Links are relative. They
 * begin with `../`, because every page but the one at / is in a folder; at / they begin with `./`.
 */
function wholePage(name: string, text: string, layout: string): string {
  const start = text.indexOf('<main>');
  const link = `href="..${pathOf(name)}"`;
  const page = layout
    .replace('<!-- head of the page -->', () => text.slice(0, start))
    .replace('<!-- main of the page -->', () => text.slice(start))
    .replace(link, `${link} aria-current="page"`);
  return pathOf(name) === '/' ? page.replaceAll('="../', '="./') : page;
}

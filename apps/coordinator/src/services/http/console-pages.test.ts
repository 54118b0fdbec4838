import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consolePages } from './console-pages.ts';

const host = 'http://console';
const named = {
  'text/html; charset=utf-8': /<(?:link|script|a)\b[^>]*?(?:href|src)="([^"]+)"/g,
  'text/javascript; charset=utf-8': /^import\s[^;]*?'(\.[^']+)'/gm,
};

test('the console serves each file that its pages and their modules name', () => {
  const pages = consolePages();
  const seen = new Set(['/', '/jobs/1', '/console/viewer.html']);
  for (const path of seen) {
    const page = pages.get(path);
    assert.ok(page, `${path} is not served`);
    const links = named[page.type as keyof typeof named];
    for (const [, to] of links ? page.body.toString().matchAll(links) : [])
      seen.add(new URL(to!, host + path).pathname);
  }
  for (const path of ['/console/words/sentences.js', '/console/styles/chart.css', '/console/openseadragon.js'])
    assert.ok(seen.has(path), `${path} is found`);
});

test('each page is complete, and marks its own link in the header', () => {
  const pages = consolePages();
  const current = new Map([
    ['/', './'],
    ['/jobs/1', undefined],
    ['/console/nodes.html', '../console/nodes.html'],
    ['/console/search.html', '../console/search.html'],
    ['/console/changes.html', '../console/changes.html'],
    ['/console/submit.html', '../console/submit.html'],
    ['/console/viewer.html', undefined],
  ]);
  for (const [path, link] of current) {
    const text = pages.get(path)!.body.toString();
    assert.match(text, /^<!doctype html>\n<html lang="en">\n {2}<head>.*<title>[^<]+<\/title>.*<\/head>/s, path);
    assert.match(text, /<\/header>\s*<main>.*<\/main>\s*<\/body>\n<\/html>\n$/s, path);
    assert.doesNotMatch(text, /<!--/, path);
    const marked = [...text.matchAll(/href="([^"]+)" aria-current="page"/g)].map(([, href]) => href);
    assert.deepEqual(marked, link === undefined ? [] : [link], path);
  }
  assert.equal(pages.get('/console/layout.html'), undefined);
});

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

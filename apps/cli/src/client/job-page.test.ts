import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobPage } from './job-page.ts';

test("a job's page has the address at which the caller reaches the coordinator", () => {
  const pages = { host: '127.0.0.1', port: 9464, tls: false };
  assert.equal(jobPage(pages, '127.0.0.1:7070', 'j1'), 'http://127.0.0.1:9464/jobs/j1');
  assert.equal(jobPage({ ...pages, host: '[::]', tls: true }, 'rack:7070', 'j1'), 'https://rack:9464/jobs/j1');
  assert.equal(jobPage({ ...pages, host: '0.0.0.0' }, '10.0.0.2:7070', 'a/b'), 'http://10.0.0.2:9464/jobs/a%2Fb');
  assert.equal(jobPage({ ...pages, host: 'console.rack' }, '10.0.0.2:7070', 'j1'), 'http://console.rack:9464/jobs/j1');
});

test('a page that only the machine of the coordinator can show is not mentioned', () => {
  assert.equal(jobPage({ host: '127.0.0.1', port: 9464, tls: false }, 'rack:7070', 'j1'), undefined);
  assert.equal(jobPage(undefined, 'rack:7070', 'j1'), undefined);
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Tickets } from './tickets.ts';

const frame = {
  uri: 'file:///archive/ä b.mp4',
  frame: 17,
  isVideo: true,
  read: { level: { number: 2 } },
  out: 'file:///results',
};

test('a ticket names its frame, and cannot be turned into one for another frame', () => {
  const tickets = new Tickets(randomBytes(32));
  const ticket = tickets.sign(frame);
  assert.match(ticket, /^[\w.-]+$/, 'it is part of a path as it is');
  assert.deepEqual(tickets.read(ticket), frame);
  const [text, signature] = ticket.split('.') as [string, string];
  const other = Buffer.from(JSON.stringify({ ...frame, uri: 'file:///etc/passwd' })).toString('base64url');
  for (const wrong of [
    '',
    '.',
    text,
    `${other}.${signature}`,
    `${text}.`,
    `${ticket}.`,
    `${text}.${signature.slice(1)}`,
  ]) {
    assert.equal(tickets.read(wrong), undefined, wrong);
  }
  assert.equal(new Tickets(randomBytes(32)).read(ticket), undefined);
});

test('a URI that is too long for a path has no ticket', () => {
  assert.equal(new Tickets(randomBytes(32)).sign({ ...frame, uri: `file:///${'x'.repeat(8_000)}` }), '');
});

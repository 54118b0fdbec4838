import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATUS_CODES } from '../node-http.ts';
import { TransferError } from './transfer-error.ts';
import { isTemporary, type TransferFailure, type TransferFault, transferFault } from './transfer-fault.ts';

const table: [failure: TransferFailure, fault: TransferFault, isTemporary: boolean][] = [
  [{ code: 'ECONNREFUSED' }, 'away', false],
  [{ code: 'EHOSTUNREACH' }, 'away', false],
  [{ code: 'ENETUNREACH' }, 'away', false],
  [{ code: 'ENOTFOUND' }, 'away', false],
  [{ code: 'EAI_AGAIN' }, 'away', true],
  [{ code: 'ETIMEDOUT' }, 'away', true],
  [{ code: 'ECONNRESET' }, 'away', true],
  [{ code: 'EPIPE' }, 'away', true],
  // A handshake that is cut, another protocol, a certificate that is not valid any more.
  [{ code: 'EPROTO' }, 'away', false],
  [{ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, 'away', false],
  [{ code: 'CERT_HAS_EXPIRED' }, 'away', false],
  [{ code: 'HPE_INVALID_CONSTANT' }, 'away', false],
  ['late', 'away', false],
  ['cut', 'away', true],
  [{ status: 408 }, 'away', true],
  [{ status: 429 }, 'away', true],
  [{ status: 500 }, 'away', true],
  [{ status: 501 }, 'away', false],
  [{ status: 502 }, 'away', true],
  [{ status: 503 }, 'away', true],
  [{ status: 504 }, 'away', true],
  [{ status: 505 }, 'away', false],
  [{ status: 599 }, 'away', true],
  [{ status: 401 }, 'closed', false],
  [{ status: 403 }, 'closed', false],
  [{ status: 407 }, 'closed', false],
  [{ status: 400 }, 'access', false],
  [{ status: 404 }, 'access', false],
  [{ status: 410 }, 'access', false],
  [{ status: 412 }, 'access', false],
  [{ status: 416 }, 'access', false],
  [{ status: 451 }, 'access', false],
];

for (const [failure, fault, temporary] of table) {
  test(`${JSON.stringify(failure)}: ${fault}${temporary ? ', perhaps for a moment' : ''}`, () => {
    assert.deepEqual([transferFault(failure), isTemporary(failure)], [fault, temporary]);
    const error = new TransferError('No', failure);
    assert.deepEqual([error.fault, error.isTemporary], [fault, temporary]);
  });
}

test('every status that is not a success has a fault, and no status below 400 is the fault of the host', () => {
  for (const status of Object.keys(STATUS_CODES).map(Number)) {
    if (status < 400) assert.equal(transferFault({ status }), 'access', String(status));
    else assert.ok(['access', 'away', 'closed'].includes(transferFault({ status })), String(status));
  }
});

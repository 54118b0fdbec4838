import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { UsageError } from '../usage-error.ts';
import { readSecretFile } from './secret-file.ts';

/** PEM texts: of one's own certificate, and of the authority that the other side's must be signed by. */
export interface Tls {
  cert: string | undefined;
  key: string | undefined;
  ca: string | undefined;
}

export interface TlsOptions {
  /** Files. */
  tlsCert?: string;
  tlsKey?: string;
  tlsCa?: string;
}

/** Reads what --tls-cert, --tls-key and --tls-ca name; undefined where none is given. Throws UsageError. */
export function readTls({ tlsCert, tlsKey, tlsCa }: TlsOptions): Tls | undefined {
  if (!tlsCert !== !tlsKey) {
    throw new UsageError(
      `Expected --tls-cert and --tls-key together but received ${tlsCert ? '--tls-cert' : '--tls-key'} only`,
    );
  }
  if (!tlsCert && !tlsCa) return undefined;
  const tls = {
    cert: tlsCert && readPem('--tls-cert', tlsCert),
    key: tlsKey && readSecretFile('--tls-key', tlsKey),
    ca: tlsCa && readPem('--tls-ca', tlsCa),
  };
  try {
    createSecureContext(tls);
  } catch (error) {
    // OpenSSL names what is wrong with the files, never what is in them.
    throw new UsageError(
      `The certificate, the key or the authority of --tls-… is not good: ${(error as Error).message}`,
    );
  }
  return tls;
}

function readPem(option: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`The file '${path}' (${option}) cannot be read: ${(error as Error).message}`);
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new UsageError(`Expected a certificate in PEM for ${option} but '${path}' holds none`);
}

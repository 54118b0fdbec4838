import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { UsageError } from '../usage-error.ts';
import { readSecretFile } from './secret-file.ts';
import { type Warn, WatchedFiles } from './watched-files.ts';

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

/** What these files hold; where they are replaced, connections that are made later have the new. */
export class WatchedTls {
  readonly #files: WatchedFiles<Tls>;

  /** Throws UsageError where they are wrong now. */
  constructor(options: TlsOptions) {
    const { tlsCert, tlsKey, tlsCa } = options;
    const paths = [tlsCert, tlsKey, tlsCa].filter((path) => path !== undefined);
    this.#files = new WatchedFiles('The certificates', paths, () => readTls(options), performance.now());
  }

  /** The same object until they change. `nowMs` is of a clock that never goes back. */
  current(warn: Warn = () => {}, nowMs: number = performance.now()): Tls {
    return this.#files.current(nowMs, warn);
  }
}

/** The files that --tls-cert, --tls-key and --tls-ca name; undefined where none is given. Throws UsageError. */
export function openTls(options: TlsOptions): WatchedTls | undefined {
  const { tlsCert, tlsKey, tlsCa } = options;
  if (!tlsCert !== !tlsKey) {
    throw new UsageError(
      `Expected --tls-cert and --tls-key together but received ${tlsCert ? '--tls-cert' : '--tls-key'} only`,
    );
  }
  return tlsCert || tlsCa ? new WatchedTls(options) : undefined;
}

/**
 * A certificate with the key of another is refused, too: one of the two files may have been replaced so far. Throws
 * UsageError.
 */
function readTls({ tlsCert, tlsKey, tlsCa }: TlsOptions): Tls {
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

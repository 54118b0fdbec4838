import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { UsageError } from '../usage-error.ts';
import { readSecretFile } from './secret-file.ts';
import { type Warn, WatchedFiles } from './watched-files.ts';

/** PEM texts: the own certificate and its key, and the authority that must have signed the other side's certificate. */
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

/** The contents of certificate files. If the files are replaced, later connections use the new contents. */
export class WatchedTls {
  readonly #files: WatchedFiles<Tls>;

  /** Throws UsageError if the files are wrong now. */
  constructor(options: TlsOptions) {
    const { tlsCert, tlsKey, tlsCa } = options;
    const paths = [tlsCert, tlsKey, tlsCa].filter((path) => path !== undefined);
    this.#files = new WatchedFiles('The certificates', paths, () => readTls(options), performance.now());
  }

  /** The present contents: the same object until the files change. `nowMs` is from a clock that never goes back. */
  current(warn: Warn = () => {}, nowMs: number = performance.now()): Tls {
    return this.#files.current(nowMs, warn);
  }
}

/** Opens the files that --tls-cert, --tls-key and --tls-ca name; undefined if none is given. Throws UsageError. */
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
 * Reads the files. Throws UsageError, also if a certificate does not match its key: only one of the two files may have
 * been replaced so far.
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
    // OpenSSL says what is wrong with the files, and never shows their contents.
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

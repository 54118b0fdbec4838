import { UsageError } from '../usage-error.ts';
import { readSecretFile } from './secret-file.ts';
import { openTls, type TlsOptions, type WatchedTls } from './tls-files.ts';

export interface ClientSecurityOptions extends TlsOptions {
  /** File that holds only a token. */
  tokenFile?: string;
}

/** How a client authenticates. */
export interface ClientSecurity {
  /** Undefined: without TLS. */
  tls: WatchedTls | undefined;
  /**
   * The present token, read again each time because it may be rotated; undefined without a token. Throws UsageError.
   */
  token: () => string | undefined;
}

/**
 * Reads and checks the files that the options and the environment (HALOGRID_TOKEN_FILE, HALOGRID_TOKEN) name. A token
 * cannot be given as an option on the command line, because every user of the machine could see it. Throws UsageError.
 */
export function createClientSecurity(
  options: ClientSecurityOptions,
  env: Record<string, string | undefined> = {},
): ClientSecurity {
  const file = options.tokenFile || env.HALOGRID_TOKEN_FILE;
  const option = options.tokenFile ? '--token-file' : 'HALOGRID_TOKEN_FILE';
  const token = (): string | undefined =>
    file
      ? oneWord(readSecretFile(option, file), option)
      : env.HALOGRID_TOKEN && oneWord(env.HALOGRID_TOKEN, 'HALOGRID_TOKEN');
  token();
  return { tls: openTls(options), token };
}

function oneWord(text: string, where: string): string {
  const word = text.trim();
  // The characters that a header can carry.
  if (/^[\x21-\x7e]+$/.test(word)) return word;
  throw new UsageError(`Expected one token in ${where} but it holds none, or more than one word`);
}

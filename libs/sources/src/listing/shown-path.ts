import { fileURLToPath } from 'node:url';
import { redactUri } from '../access/redact-uri.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';

/** The path of a file, or the URI of one on a server, for people. */
export const shownPath = (uri: string): string => (isRemoteUri(uri) ? redactUri(uri) : fileURLToPath(uri));

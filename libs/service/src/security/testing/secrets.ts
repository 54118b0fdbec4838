// For tests: an authority and certificates, made by openssl, and files of secrets.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface Certificates {
  /** Paths of PEM files. */
  ca: string;
  cert: string;
  key: string;
}

/** A folder that is gone when the test ends. */
export function secretFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-secrets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

export function writeSecret(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** Makes an authority and a certificate that it signed, for this machine or for `names` in OpenSSL's format. */
export function makeCertificates(folder: string, name: string, names = 'DNS:localhost,IP:127.0.0.1'): Certificates {
  const path = (suffix: string) => join(folder, `${name}-${suffix}.pem`);
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const openssl = (args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  openssl([...request, '-keyout', path('ca-key'), '-out', path('ca'), '-subj', `/CN=${name} CA`]);
  const extensions = ['-addext', `subjectAltName=${names}`, '-addext', 'basicConstraints=CA:FALSE'];
  const signed = ['-CA', path('ca'), '-CAkey', path('ca-key'), '-keyout', path('key'), '-out', path('cert')];
  openssl([...request, ...signed, '-subj', `/CN=${name}`, ...extensions]);
  return { ca: path('ca'), cert: path('cert'), key: path('key') };
}

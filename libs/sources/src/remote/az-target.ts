import { azSettings, azUrl } from '../az/az-settings.ts';
import type { RemoteTarget } from './target.ts';
import { withToken } from './with-token.ts';

/**
 * A blob of Azure Blob Storage, or with a query, what a container says about its blobs. Throws InputError if the
 * settings are wrong.
 */
export function azTarget(container: string, key: string, query: Record<string, string>): RemoteTarget {
  const settings = azSettings(process.env);
  const { account, key: secret, sas } = settings;
  const url = azUrl(settings, container, key);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  if (!secret) for (const [name, value] of new URLSearchParams(sas)) url.searchParams.set(name, value);
  let isSigned = Boolean(secret ?? sas);
  return {
    uri: `az://${container}/${key}`,
    place: `az://${container}`,
    followsRedirects: false,
    // Loaded only for these containers, as for S3.
    async request(headers) {
      const { azVersion, signAz } = await import('../az/az-sign.ts');
      if (secret) return { url, headers: signAz(url, headers, { account, key: secret }) };
      const versioned = { ...headers, 'x-ms-version': azVersion };
      if (sas) return { url, headers: versioned };
      const { findAzToken } = await import('../az/az-token.ts');
      const signed = await withToken(() => findAzToken(settings), versioned);
      isSigned = signed !== versioned;
      return { url, headers: signed };
    },
    async explain(status, headers) {
      const { explainAzRefusal } = await import('../az/az-refusal.ts');
      return explainAzRefusal({ account, container, key, isSigned }, status, headers);
    },
  };
}

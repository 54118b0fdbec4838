import { parseXml, textOf } from '../s3/parse-xml.ts';
import type { ListPage } from '../s3/s3-xml.ts';
import { surelyVersionName } from '../version-name.ts';

/** Reads an answer to List Blobs; undefined if the text is not one. */
export function parseAzPage(xml: string): ListPage | undefined {
  const page = parseXml(xml)?.EnumerationResults;
  if (page === undefined) return undefined;
  const { Blob: blobs = [], BlobPrefix: folders = [] } = page.Blobs ?? {};
  return {
    objects: blobs.map(({ Name, Properties }: { Name: unknown; Properties?: Record<string, unknown> }) => {
      const sizeBytes = Number(textOf(Properties?.['Content-Length'])) || 0;
      const etag = textOf(Properties?.Etag);
      // A list has it without the quotes that it has elsewhere.
      const quoted = etag && `"${etag.replaceAll('"', '')}"`;
      const version = surelyVersionName({
        etag: quoted,
        lastModified: textOf(Properties?.['Last-Modified']),
        sizeBytes,
      });
      return { key: textOf(Name), sizeBytes, ...(version && { version }) };
    }),
    folders: folders.map(({ Name }: { Name: unknown }) => textOf(Name)),
    next: textOf(page.NextMarker) || undefined,
  };
}

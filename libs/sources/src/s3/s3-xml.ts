import { surelyVersionName } from '../version-name.ts';
import { parseXml as parse, textOf as text } from './parse-xml.ts';

/** One page of the names in a bucket, in the order of their UTF-8 bytes. */
export interface ListPage {
  objects: { key: string; sizeBytes: number; version?: string; changedMs?: number }[];
  /** Beginnings that several names share, up to and including a '/'. */
  folders: string[];
  /** The token of the next page; undefined on the last page. */
  next: string | undefined;
}

/** Reads an answer to ListObjectsV2; undefined if the text is not one. */
export function parseListPage(xml: string): ListPage | undefined {
  const page = parse(xml)?.ListBucketResult;
  // A bucket without anything in it may be an empty element.
  if (page === undefined) return undefined;
  const decode = text(page.EncodingType) === 'url' ? decodeUrl : (key: string) => key;
  return {
    objects: (page.Contents ?? []).map((entry: Record<string, unknown>) => {
      const sizeBytes = Number(text(entry.Size)) || 0;
      const [etag, lastModified] = [text(entry.ETag), text(entry.LastModified)];
      const version = surelyVersionName({ etag, lastModified, sizeBytes });
      const changedMs = Date.parse(lastModified);
      return { key: decode(text(entry.Key)), sizeBytes, ...(version && { version }), ...(changedMs && { changedMs }) };
    }),
    folders: (page.CommonPrefixes ?? []).map((entry: Record<string, unknown>) => decode(text(entry.Prefix))),
    next: text(page.IsTruncated) === 'true' ? text(page.NextContinuationToken) || undefined : undefined,
  };
}

/** The id of an upload in parts that has begun; undefined if the text says none. */
export function parseUploadId(xml: string): string | undefined {
  return text(parse(xml)?.InitiateMultipartUploadResult?.UploadId) || undefined;
}

/** The ETag of a part that was copied; undefined if it was not. */
export function parseCopied(xml: string): string | undefined {
  return text(parse(xml)?.CopyPartResult?.ETag) || undefined;
}

/** One page of the parts of an upload; `next`: what the next page begins after. */
export function parseParts(xml: string): {
  parts: { number: number; etag: string; sizeBytes: number }[];
  next: string | undefined;
} {
  const page = parse(xml)?.ListPartsResult;
  return {
    parts: (page?.Part ?? []).map((part: Record<string, unknown>) => {
      return { number: Number(text(part.PartNumber)), etag: text(part.ETag), sizeBytes: Number(text(part.Size)) };
    }),
    next: text(page?.IsTruncated) === 'true' ? text(page.NextPartNumberMarker) || undefined : undefined,
  };
}

/** One page of the uploads of a bucket; `next`: the parameters of the next page. */
export function parseUploads(xml: string): {
  uploads: { key: string; id: string; begunMs: number }[];
  next: Record<string, string> | undefined;
} {
  const page = parse(xml)?.ListMultipartUploadsResult;
  const next = { 'key-marker': text(page?.NextKeyMarker), 'upload-id-marker': text(page?.NextUploadIdMarker) };
  return {
    uploads: (page?.Upload ?? []).map((upload: Record<string, unknown>) => {
      const begunMs = Date.parse(text(upload.Initiated)) || 0;
      return { key: text(upload.Key), id: text(upload.UploadId), begunMs };
    }),
    next: text(page?.IsTruncated) === 'true' && next['key-marker'] ? next : undefined,
  };
}

/** The code and the region in an error of S3. Its sentences are left out, because they may quote credentials. */
export function parseS3Error(xml: string): { code: string; region: string } {
  const error = parse(xml)?.Error;
  const word = (value: unknown): string => /^[\w-]{1,64}$/.exec(text(value))?.[0] ?? '';
  return { code: word(error?.Code), region: word(error?.Region) };
}

/** Decodes text as forms encode it, with + for a space. */
function decodeUrl(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return encoded;
  }
}

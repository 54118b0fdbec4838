import { InputError } from '../input-error.ts';
import { bucketTarget } from '../remote/bucket-target.ts';
import { get } from '../remote/get.ts';
import { defaultRemoteLimits } from '../remote/remote-limits.ts';
import type { BucketScheme } from '../remote/remote-uri.ts';
import { TransferError } from '../remote/transfer-error.ts';
import type { ListPage } from '../s3/s3-xml.ts';

/** The most bytes of a page: it has 1000 names at most, of 1024 bytes each, which escapes make three times as long. */
const maxPageBytes = 2 ** 24;

/** What a list is of. */
export interface Listed {
  scheme: BucketScheme;
  bucket: string;
  prefix: string;
  /** Keys that go on with this after the prefix share an entry: `folders`. */
  delimiter?: string;
}

/** The query for a page; `after`: the token of the page before. Google's lists are as S3's. */
function queryOf({ scheme, prefix, delimiter }: Listed, after: string | undefined): Record<string, string> {
  const common = { prefix, ...(delimiter && { delimiter }) };
  if (scheme === 'az') return { restype: 'container', comp: 'list', ...common, ...(after && { marker: after }) };
  // Names may hold characters that XML cannot carry.
  const query = { 'list-type': '2', 'encoding-type': 'url', ...common };
  return after === undefined ? query : { ...query, 'continuation-token': after };
}

/** One page of names; `after`: the token of the page before. Rejects with InputError. */
export async function listPage(of: Listed, after: string | undefined): Promise<ListPage> {
  const { scheme, bucket } = of;
  const target = bucketTarget[scheme](bucket, '', queryOf(of, after));
  return await get(target, {}, defaultRemoteLimits, async ({ body }) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxPageBytes) throw new InputError('read', `A list of the bucket '${bucket}' has no end`);
      chunks.push(chunk);
    }
    const xml = Buffer.concat(chunks).toString();
    const page = await (scheme === 'az' ? readAzPage(xml) : readS3Page(xml));
    if (!page) throw new TransferError(`The server does not list the bucket '${bucket}' as ${makers[scheme]} does`);
    return page;
  });
}

const makers: Record<BucketScheme, string> = { s3: 'S3', gs: 'Google Cloud Storage', az: 'Azure Blob Storage' };
const readS3Page = async (xml: string) => (await import('../s3/s3-xml.ts')).parseListPage(xml);
const readAzPage = async (xml: string) => (await import('../az/az-xml.ts')).parseAzPage(xml);

/** All pages of a list. */
export async function* listPages(of: Listed): AsyncGenerator<ListPage, void, undefined> {
  let next: string | undefined;
  do {
    const page = await listPage(of, next);
    yield page;
    next = page.next;
  } while (next !== undefined);
}

import { InputError } from '../input-error.ts';
import { get } from '../remote/get.ts';
import { defaultRemoteLimits } from '../remote/remote-limits.ts';
import { s3Target } from '../remote/remote-target.ts';
import { TransferError } from '../remote/transfer-error.ts';
import type { ListPage } from '../s3/s3-xml.ts';

/** The most bytes of a page: it has 1000 names at most, of 1024 bytes each, which escapes make three times as long. */
const maxPageBytes = 2 ** 24;

/** What a list is of. */
export interface Listed {
  bucket: string;
  prefix: string;
  /** Keys that go on with this after the prefix share an entry: `folders`. */
  delimiter?: string;
}

/** One page of names; `after`: the token of the page before. Rejects with InputError. */
export async function listPage({ bucket, prefix, delimiter }: Listed, after: string | undefined): Promise<ListPage> {
  const query = {
    'list-type': '2',
    ...(delimiter && { delimiter }),
    // Names may hold characters that XML cannot carry.
    'encoding-type': 'url',
    prefix,
    ...(after !== undefined && { 'continuation-token': after }),
  };
  return await get(s3Target(bucket, '', query), {}, defaultRemoteLimits, async ({ body }) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxPageBytes) throw new InputError('read', `A list of the bucket '${bucket}' has no end`);
      chunks.push(chunk);
    }
    const { parseListPage } = await import('../s3/s3-xml.ts');
    const page = parseListPage(Buffer.concat(chunks).toString());
    if (!page) throw new TransferError(`The server does not list the bucket '${bucket}' as S3 does`);
    return page;
  });
}

/** All pages of a list. */
export async function* listPages(of: Listed): AsyncGenerator<ListPage, void, undefined> {
  let next: string | undefined;
  do {
    const page = await listPage(of, next);
    yield page;
    next = page.next;
  } while (next !== undefined);
}

import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import type { PixelRegion, SearchQuery, SearchRequest } from '@halogrid/proto';

/** The search that a query asks for; `image`: the body of the request. Throws Refusal. */
export function readSearch({ row, uri, frame, region, ...asked }: SearchQuery, image?: Uint8Array): SearchRequest {
  return { ...asked, region: regionOf(region), query: queryOf({ row, uri, frame }, image) };
}

function queryOf(
  { row, uri, frame }: Pick<SearchQuery, 'row' | 'uri' | 'frame'>,
  image: Uint8Array | undefined,
): SearchRequest['query'] {
  const kinds = [image && 'the image that is sent', row !== undefined && 'row', uri !== undefined && 'uri'];
  const named = kinds.filter(Boolean);
  if (named.length !== 1) {
    throw new Refusal(
      'invalid',
      `Expected row, uri, or an image by POST, but received ${named.join(' and ') || 'none'}`,
    );
  }
  if (image) return { $case: 'image', value: image };
  if (row !== undefined) return { $case: 'row', value: row };
  return { $case: 'frame', value: { uri: uri!, frame } };
}

function regionOf(text: string): PixelRegion | undefined {
  if (text === '') return undefined;
  const numbers = /^(\d{1,9}),(\d{1,9}),(\d{1,9})x(\d{1,9})$/.exec(text)?.slice(1).map(Number);
  if (!numbers) refuseValue('region', text, 'X,Y,WxH');
  const [x, y, width, height] = numbers as [number, number, number, number];
  return { x, y, width, height };
}

/** The side of a picture in pixels, 16 to 1024; by default 256. Throws Refusal. */
export function readSide(given: number): number {
  const side = given || 256;
  if (side < 16 || side > 1024) refuseValue('side', side, '16 to 1024 pixels');
  return side;
}

import type { ServerResponse } from 'node:http';
import type { PngPicture } from '@halogrid/retrieval';
import type { OtherAnswer } from './route.ts';

export const pictureAnswer: OtherAnswer = {
  type: 'image/png',
  words: 'A PNG; halogrid-size is the size of what it shows',
};

/**
 * Answers with a PNG that a browser may keep for `ageSeconds`. The header `halogrid-size` has the size of the frame, so
 * that callers can name its pixels.
 */
export function sendPicture(response: ServerResponse, { png, width, height }: PngPicture, ageSeconds: number): void {
  response.writeHead(200, {
    'content-type': 'image/png',
    'content-length': png.length,
    'cache-control': `private, max-age=${ageSeconds}`,
    'x-content-type-options': 'nosniff',
    'halogrid-size': `${width}x${height}`,
  });
  response.end(png);
}

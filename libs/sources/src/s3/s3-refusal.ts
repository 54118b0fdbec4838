import type { IncomingHttpHeaders } from 'node:http';
import { STATUS_CODES } from '../node-http.ts';
import { parseS3Error } from './s3-xml.ts';

/** What was asked for. `isSigned`: with credentials. `isWrite`: the object was to be written, not read. */
interface Asked {
  bucket: string;
  key: string;
  /** The region that was asked, if stores of this kind have regions. */
  region?: string;
  isSigned: boolean;
  isWrite?: boolean;
}

/** One sentence about an answer of S3 that is not a success. It names the bucket and the key, but no secret. */
export function explainS3Refusal(
  { bucket, key, region: asked, isSigned, isWrite = false }: Asked,
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
): string {
  const error = parseS3Error(body);
  const answer = `${status} ${error.code || STATUS_CODES[status] || ''}`.trim();
  const what = key ? `'${key}' in the bucket '${bucket}'` : `the bucket '${bucket}'`;
  const region = String(headers['x-amz-bucket-region'] ?? error.region);
  if (error.code === 'NoSuchBucket') return `The bucket '${bucket}' does not exist: ${answer}`;
  if (status === 404) return `There is no ${what}: ${answer}`;
  if (asked && region && region !== asked && [301, 307, 308, 400].includes(status)) {
    return `The bucket '${bucket}' is in the region ${region}, not ${asked}: set AWS_REGION (${answer})`;
  }
  if (status === 401 || status === 403) {
    const how = isSigned ? '' : ', asked for without credentials';
    return `Access to ${what} is denied${how}: ${answer}`;
  }
  const verb = isWrite ? 'take' : 'send';
  if (status >= 500) return `The server failed to ${verb} ${what}: ${answer}`;
  return `The server did not ${verb} ${what}: ${answer}`;
}

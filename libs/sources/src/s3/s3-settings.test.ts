import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainS3Refusal } from './s3-refusal.ts';
import { objectUrl, s3Settings } from './s3-settings.ts';
import { parseListPage } from './s3-xml.ts';

test('the environment says where buckets are and who asks', () => {
  assert.deepEqual(s3Settings({}), { endpoint: undefined, region: 'us-east-1', credentials: undefined });
  const all = s3Settings({
    AWS_ENDPOINT_URL: 'http://other',
    AWS_ENDPOINT_URL_S3: 'http://minio:9000/s3/',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'key',
    AWS_SESSION_TOKEN: 'token',
  });
  assert.equal(all.endpoint?.href, 'http://minio:9000/s3/');
  assert.deepEqual(all.credentials, { accessKeyId: 'id', secretAccessKey: 'key', sessionToken: 'token' });
  assert.equal(s3Settings({ AWS_DEFAULT_REGION: 'eu-west-2' }).region, 'eu-west-2');
  assert.throws(() => s3Settings({ AWS_ENDPOINT_URL: 'minio:9000' }), { name: 'InputError', message: /'minio:9000'/ });
  assert.throws(() => s3Settings({ AWS_SECRET_ACCESS_KEY: 'key' }), { message: /AWS_ACCESS_KEY_ID is not set$/ });
});

test('buckets are hosts at Amazon where their names can be, and paths elsewhere', () => {
  const amazon = s3Settings({ AWS_REGION: 'eu-west-1' });
  assert.equal(objectUrl(amazon, 'bucket', 'a/b').href, 'https://bucket.s3.eu-west-1.amazonaws.com/a/b');
  assert.equal(objectUrl(amazon, 'my.bucket', 'a').href, 'https://s3.eu-west-1.amazonaws.com/my.bucket/a');
  const own = s3Settings({ AWS_ENDPOINT_URL: 'http://minio:9000/s3/' });
  assert.equal(objectUrl(own, 'b', "a +%?#'(é)//c").pathname, '/s3/b/a%20%2B%25%3F%23%27%28%C3%A9%29//c');
  assert.equal(objectUrl(own, 'b', '').href, 'http://minio:9000/s3/b/');
});

test('a bucket in another region is reported', () => {
  const what = { bucket: 'b', key: 'k', region: s3Settings({}).region, isSigned: false };
  const sentence = "The bucket 'b' is in the region eu-west-1, not us-east-1: set AWS_REGION (301 PermanentRedirect)";
  const body = '<Error><Code>PermanentRedirect</Code></Error>';
  assert.equal(explainS3Refusal(what, 301, { 'x-amz-bucket-region': 'eu-west-1' }, body), sentence);
  assert.equal(
    explainS3Refusal(what, 400, {}, '<Error><Code>AuthorizationHeaderMalformed</Code><Region>x-1</Region></Error>'),
    "The bucket 'b' is in the region x-1, not us-east-1: set AWS_REGION (400 AuthorizationHeaderMalformed)",
  );
  assert.equal(
    explainS3Refusal(what, 503, {}, '<html>'),
    "The server failed to send 'k' in the bucket 'b': 503 Service Unavailable",
  );
  assert.equal(
    explainS3Refusal({ ...what, isWrite: true }, 503, {}, '<Error><Code>SlowDown</Code></Error>'),
    "The server failed to take 'k' in the bucket 'b': 503 SlowDown",
  );
});

test('lists whose names are not escaped as in URLs are escaped as XML', () => {
  const xml =
    '<ListBucketResult><Contents><Key> a&amp;b+&#x41;%20&lt;</Key><Size>12</Size></Contents></ListBucketResult>';
  assert.deepEqual(parseListPage(xml)?.objects, [{ key: ' a&b+A%20<', sizeBytes: 12 }]);
  assert.deepEqual(parseListPage('<ListBucketResult/>'), { objects: [], folders: [], next: undefined });
  assert.equal(parseListPage('<html><body>'), undefined);
  assert.equal(parseListPage('{}'), undefined);
});

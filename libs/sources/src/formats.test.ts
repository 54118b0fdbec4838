import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatOfName,
  hasImageExtension,
  isCompressedTarName,
  isTarName,
  mostPixels,
  supportedExtensions,
  usualExtensions,
  usualPixels,
} from './formats.ts';

test('a file holds no more pixels than its compression can', () => {
  assert.equal(mostPixels('file:///a.JPG', 100), 51_200);
  assert.equal(mostPixels('file:///a.pgm', 100), 100);
  assert.equal(mostPixels('file:///a.tif', 100), Number.POSITIVE_INFINITY);
  assert.equal(mostPixels('file:///noextension', 1), 1);
  assert.equal(mostPixels('file:///empty.tif', 0), 0);
});

test('a file counts as a photograph in its number of pixels if nothing else is known', () => {
  assert.equal(usualPixels('file:///a.jpg', 100), 800);
  assert.equal(usualPixels('file:///a.ppm', 100), 100);
  assert.equal(usualPixels('file:///a', 100), 200);
});

test('names tell which files are listed as inputs, and what is known of one before it is opened', () => {
  assert.equal(
    supportedExtensions.join(', '),
    'jpg, jpeg, jpe, jfif, mpo, insp, png, webp, tif, tiff, btf, tf2, tf8, svs, ndpi, qptiff, pgm, ppm, pnm, ' +
      'bmp, dib, gif, avif, jp2, j2k, j2c, jpc, jpf, jpx, zarr, mrxs, vms, vmu, svslide, scn, bif, ' +
      'mp4, m4v, mov, qt, 3gp, 3g2, insv, mkv, mk3d, webm, avi, divx, ts, m2ts, mts, m2t, tp, trp, tod, mpg, mpeg, ' +
      'vob, ps, m2p, mod, mpe, evo, vro, dav, h264, 264, avc, h265, 265, hevc, tar, parquet',
  );
  assert.equal(usualExtensions, 'jpg, png, webp, tif, pgm, mp4 and the like (docs/inputs.md lists all)');
  for (const name of ['a.JPG', 'b/c.tiff', 'x.mp4', 'x.heic', 'x.dng', 'a.b.svg', 'x.WMV', 'x.flv', 'x.mpg', 'x.webm'])
    assert.ok(hasImageExtension(name), name);
  for (const name of ['x.dav', 'x.NEF', 'x.cr2', 'x.ps', 'x.mxf', 'x.insv', 'x.svs', 'x.ndpi', 'x.btf', 'x.tf8'])
    assert.ok(hasImageExtension(name), name);
  assert.equal(formatOfName('x.BTF'), 'tiff');
  for (const name of ['jpg', 'a.jpg/b', 'a.txt', 'a.jpg.txt', '']) assert.ok(!hasImageExtension(name), name);
  assert.equal(formatOfName('s3://bucket/key.JFIF'), 'jpeg');
  assert.equal(formatOfName('x.heic'), undefined);
});

test('a tar holds inputs, and a compressed one is refused by its name', () => {
  for (const name of ['a.tar', 'a.b.TAR']) assert.ok(isTarName(name) && hasImageExtension(name), name);
  // In this order, because the extension of the name before is tried first.
  for (const name of ['a.tar.gz', 'b.gz', 'a.Tar.XZ', 'b.xz', 'a.tgz', 'tar.gz', 'a.tar.jpg']) {
    const isCompressed = /\.t/i.test(name) && !name.endsWith('jpg');
    assert.equal(isCompressedTarName(name), isCompressed, name);
    assert.equal(hasImageExtension(name), isCompressed || name.endsWith('.jpg'), name);
    assert.ok(!isTarName(name), name);
  }
});

import { findTurboJpeg } from '@halogrid/imaging/turbojpeg';

/** Whether JPEGs can be read here: the library for it, or the reason in one sentence. */
export type JpegFinding = { works: true; version: string; path: string } | { works: false; reason: string };

export function probeJpegs(): JpegFinding {
  try {
    return { works: true, ...findTurboJpeg() };
  } catch (error) {
    return { works: false, reason: (error as Error).message };
  }
}

export const describeJpegs = (found: JpegFinding): string =>
  found.works ? `work: libjpeg-turbo ${found.version}, ${found.path}` : `no: ${found.reason}`;

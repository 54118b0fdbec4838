import { isRemoteUri } from '@halogrid/sources';
import { openImage } from '../open-image.ts';
import type { OpenImage } from '../planes/image.ts';
import { ImageThreads } from './image-threads.ts';

/** Opens images for as long as it is not closed. */
export interface ImageOpener {
  openImage(uri: string): Promise<OpenImage>;
  close(): Promise<void>;
}

/** Decoders that one thread keeps at work. */
const decodersAThread = 4;
const maxThreads = 8;

/**
 * Opens images on as many threads as keep that many decoders (the threads of libuv's pool) at work: on the caller's own
 * where those are few, and remote ones always, because connections and trusted authorities are a thread's own. Measured
 * on 16 cores with an H200, frames of 1080p a second: 2,266 JPEGs of 115 kB and 3,953 PGMs on the caller's thread;
 * 2,823 and 4,528 on four, 2,675 and 5,035 on eight.
 */
export function imageOpener(decoders: number): ImageOpener {
  const threads = Math.min(maxThreads, Math.floor(decoders / decodersAThread));
  if (threads < 2) return { openImage, close: async () => {} };
  const local = new ImageThreads(threads, decoders);
  return {
    openImage: (uri) => (isRemoteUri(uri) ? openImage(uri) : local.openImage(uri)),
    close: () => local.close(),
  };
}

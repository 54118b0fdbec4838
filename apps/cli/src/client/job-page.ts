import type { PagesAddress } from '@halogrid/proto';
import { isLoopback } from '@halogrid/service';

/**
 * The address of a job's page, which is valid as long as its coordinator knows the job. Undefined if it cannot be
 * reached from here, because the pages are on the loopback of another machine. `dialled` is HOST:PORT of the
 * coordinator.
 */
export function jobPage(pages: PagesAddress | undefined, dialled: string, jobId: string): string | undefined {
  if (!pages) return undefined;
  const { port, tls } = pages;
  const asked = dialled.replace(/:\d+$/, '');
  const isEvery = pages.host === '0.0.0.0' || pages.host === '[::]';
  if (!isEvery && isLoopback({ host: pages.host, port }) && !isLoopback({ host: asked, port })) return undefined;
  return `${tls ? 'https' : 'http'}://${isEvery ? asked : pages.host}:${port}/jobs/${encodeURIComponent(jobId)}`;
}

/** What a path below /api/v1/jobs/ID names: the job, and a word about it; empty for the job itself. */
export interface JobPath {
  jobId: string;
  word: string;
}

/** Undefined for a path of another form, and for an id that is no text. */
export function parseJobPath(path: string): JobPath | undefined {
  const [, id, word = ''] = /^\/api\/v1\/jobs\/([^/]+)(?:\/([a-z]+))?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  try {
    return { jobId: decodeURIComponent(id), word };
  } catch {
    return undefined;
  }
}

import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The URI of what lies at a path, which has no '..', below a folder, whose URI has no '/' at its end. */
export function below(folder: string, path: string): string {
  if (folder.startsWith('file:')) return pathToFileURL(join(fileURLToPath(folder), path)).href;
  if (!/^https?:/i.test(folder)) return `${folder}/${path}`;
  const url = new URL(folder);
  // A query may hold a signature for all files of the folder.
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path.split('/').map(encodeURIComponent).join('/')}`;
  return url.href;
}

/** The same, beside a file. */
export function beside(file: string, path: string): string {
  const [, place, query] = /^([^?]*)(.*)$/s.exec(file)!;
  if (/^https?:/i.test(file)) return below(place!.slice(0, place!.lastIndexOf('/')) + query, path);
  return below(file.slice(0, file.lastIndexOf('/')), path);
}

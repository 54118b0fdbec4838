import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('..', import.meta.url));

/**
 * The paths that `COPY . .` of a Dockerfile copies: files of the checkout that its ignore file does not exclude, by
 * Docker's rules.
 */
export function contextPaths(dockerfile: string): string[] {
  const lines = readFileSync(join(checkout, `${dockerfile}.dockerignore`), 'utf8').split('\n');
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'));
  /** The last rule that matches the path, or a folder above it, decides. */
  const isIgnored = (path: string): boolean => {
    const last = rules.findLast((rule) => {
      const pattern = rule.replace(/^!/, '');
      return matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`);
    });
    return last !== undefined && !last.startsWith('!');
  };
  const found: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(checkout, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === 'node_modules' || entry.name === '.git') continue;
      if (entry.isDirectory()) walk(path);
      else if (!isIgnored(path)) found.push(path);
    }
  };
  walk('');
  return found;
}

export function copyContext(dockerfile: string, to: string): void {
  for (const path of contextPaths(dockerfile)) cpSync(join(checkout, path), join(to, path));
}

import type { Route } from './route.ts';

/** The routes of a path by their methods, and what the path names. */
export interface FoundRoutes {
  byMethod: ReadonlyMap<string, Route>;
  path: Record<string, string>;
}

/** Finds the routes of a path; undefined if no route has the path. */
export function findRoutes(routes: readonly Route[], root: string): (path: string) => FoundRoutes | undefined {
  const patterns = [...Map.groupBy(routes, ({ path }) => path)].map(([path, of]) => ({
    pattern: patternOf(root + path),
    byMethod: new Map(of.map((route): [string, Route] => [route.method, route])),
  }));
  return (path) => {
    for (const { pattern, byMethod } of patterns) {
      const match = pattern.exec(path);
      if (!match) continue;
      const named = decodeAll(match.groups ?? {});
      return named && { byMethod, path: named };
    }
    return undefined;
  };
}

/** `{name}` is a part between slashes, and `{name...}` is all that follows. A slash at the end changes nothing. */
function patternOf(path: string): RegExp {
  const pattern = path
    .replaceAll(/[.]/g, '\\.')
    .replaceAll(/\{(\w+)\\\.\\\.\\\.\}/g, '(?<$1_rest>.*)')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${pattern}/?$`, 's');
}

/** Undefined if a part cannot be decoded. */
function decodeAll(groups: Record<string, string>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(
      Object.entries(groups).map(([name, text]) =>
        name.endsWith('_rest') ? [name.slice(0, -'_rest'.length), text] : [name, decodeURIComponent(text)],
      ),
    );
  } catch {
    return undefined;
  }
}

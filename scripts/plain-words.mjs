// npm run plain-words [-- PATH…]: names every word of comments, docs and messages that has a plainer one, and every
// comment line over 120 columns, in the files that git knows below PATH; ends with 1 if there are any.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The longest line of a comment, in characters. */
export const columns = 120;

/** What a sentence here does without, and what it says instead. */
const words = [
  [/\bwhoever\b/gi, 'name who does it: the caller, a node, the user'],
  [/\bof (which|whom)\b/gi, 'begin a sentence of its own, or write whose'],
  [/\bfor who(m?)\b/gi, 'name them'],
  [/\bof those\b/gi, 'name the things'],
  [/\bthose of\b/gi, 'repeat the noun'],
  [/\bwhere (there|it|that) (is|are|was|were) (none|no one)\b/gi, 'without …, or if … is missing'],
  [/\bwhat is of\b/gi, 'name the thing'],
  [/(?<!\bthere )\bis no (?!longer|more|less|fewer|other\b|better|worse)[a-z]+/gi, 'is not a …'],
  [/\bas ever\b/gi, 'as usual'],
  [/\bso long\b(?! as)/gi, 'this long, or until then'],
  [/\banew\b/gi, 'again'],
  [/\b(look|looks|looked|do|does|did|think|thinks|say|says) otherwise\b/gi, 'differently'],
];
/** A sentence that begins with what it is of: `Of a tile, its number`. */
const beginsWithOf = /(?:^[\s>*/#|-]*|[.:!?] )Of (?!course\b)/;

const comment = /^\s*(\/\/|\/\*|\*|#(?!!))/;

/** The faults of `text`: `line` from 1, `word` as it stands there, and `say`, what to write. */
export function findWords(text, isCode = true) {
  return text.split('\n').flatMap((line, index) => {
    const found = words.flatMap(([word, say]) => [...line.matchAll(word)].map(([match]) => ({ word: match, say })));
    if (beginsWithOf.test(line)) found.push({ word: 'Of', say: 'begin with the noun' });
    if (line.length > columns && isCode && comment.test(line))
      found.push({ word: `${line.length} columns`, say: `${columns}` });
    return found.map((fault) => ({ line: index + 1, ...fault }));
  });
}

/** Which files have prose of this project in them. */
const isRead = (path) =>
  /\.(ts|mjs|js|proto|wgsl|md|css|html|sh|py|ya?ml|tmpl)$|\.ci\/run$/.test(path) &&
  !/(^|\/)gen\/|^licenses\/|^THIRD-PARTY-NOTICES\.md$|^scripts\/plain-words/.test(path);

/** Every fault in the files of git below `paths`, as lines. */
function faultsIn(paths) {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 };
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...paths], options);
  const files = listed.split('\n').filter((path) => isRead(path) && existsSync(join(root, path)));
  return files.flatMap((path) =>
    findWords(readFileSync(join(root, path), 'utf8'), !path.endsWith('.md')).map(
      ({ line, word, say }) => `${path}:${line}: '${word}': ${say}`,
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = faultsIn(process.argv.slice(2));
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) process.exitCode = 1;
}

// Writes the types of a package: the exports of its entry, and all types that they name.
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parse } from 'yaml';
import { root } from './install.mjs';

/** The file from which the declarations of a package import messages: it has only their types, without encoders. */
const messages = 'libs/messages/index.d.ts';
const homes = { '@halogrid/client': 'libs/client/src/index.d.ts', '@halogrid/proto': messages };

/**
 * Writes the declarations of a source, and of the sources that they name, into a folder, at the same paths. Throws if
 * they name something that users of the package do not have.
 *
 * @param {string} entry path in the checkout
 * @param {string} folder
 */
export function declareTypes(entry, folder) {
  const scratch = mkdtempSync(join(tmpdir(), 'halogrid-types-'));
  try {
    // Modules that are found as packages, and what they import, are not declared unless they are listed here.
    const client = globSync('libs/client/src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] });
    const globals = globSync('{apps,libs}/*/src/**/*.d.ts', { cwd: root });
    const sources = [entry, ...client, ...globals].map((path) => join(root, path));
    declare([...new Set(sources)], root, scratch);
    const left = [entry.replace(/\.ts$/, '.d.ts')];
    for (const path of left) {
      const text = readFileSync(join(scratch, path), 'utf8').replaceAll(
        /(\bfrom |\bimport\()(['"])([^'"]+)\2/g,
        (_, before, quote, name) => {
          const named =
            homes[name] ??
            (name.startsWith('.') ? join(dirname(path), name.replace(/(\.d)?\.ts$/, '.d.ts')) : undefined);
          if (!named) throw new Error(`${path} names ${name}, which users of the package do not have`);
          if (named === messages && !left.includes(named)) declareMessages(scratch);
          if (!left.includes(named)) left.push(named);
          const to = relative(dirname(path), named).replace(/\.d\.ts$/, '.js');
          return `${before}${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`;
        },
      );
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function declareMessages(scratch) {
  const proto = join(root, 'libs/proto');
  const { plugins, ...template } = parse(readFileSync(join(proto, 'buf.gen.yaml'), 'utf8'));
  const [{ opt, ...plugin }] = plugins;
  const types = [...opt.filter((one) => !one.startsWith('outputServices=')), 'outputServices=none', 'onlyTypes=true'];
  const out = join(scratch, 'generated');
  run(
    'buf',
    ['generate', '--template', JSON.stringify({ ...template, plugins: [{ ...plugin, out, opt: types }] })],
    proto,
  );
  const files = globSync('**/*.ts', { cwd: out });
  writeFileSync(join(out, 'index.ts'), files.map((file) => `export * from './${file}';\n`).join(''));
  writeFileSync(join(out, 'package.json'), JSON.stringify({ type: 'module' }));
  declare([join(out, 'index.ts')], out, join(scratch, dirname(messages)));
}

function declare(files, rootDir, outDir) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const options = { ...compilerOptions, noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir, outDir };
  const config = join(outDir, 'tsconfig.json');
  mkdirSync(outDir, { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({
      compilerOptions: {
        ...options,
        types: compilerOptions.types.map((name) => join(root, 'node_modules', name === 'node' ? '@types/node' : name)),
      },
      files,
    }),
  );
  run('tsc', ['--project', config], root);
}

function run(program, args, cwd) {
  const PATH = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`;
  const { status, stdout } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, PATH },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  });
  if (status !== 0) throw new Error(`${program} failed: ${stdout}`);
}

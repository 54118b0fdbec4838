import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, CommanderError } from 'commander';
import { type JobOptions, parseJob } from '../options/job-options.ts';
import { createProgram, noSettings } from '../program.ts';
import { examples } from './examples.ts';

/** Commands whose action parses a job. */
const takingJobs = ['run', 'plan', 'submit'];

/** The program and all its commands by name. Their output goes to `print`, and no action runs. */
async function commandsByName(print: (text: string) => void, acted: (name: string) => void) {
  const found = new Map<string, Command>();
  const collect = (command: Command, name: string): void => {
    found.set(name, command);
    command.configureOutput({ writeOut: print, getOutHelpWidth: () => 80 });
    for (const each of command.commands) collect(each, `${name} ${each.name()}`.trim());
    if (command.commands.length > 0) return;
    command.action((...given: unknown[]) => {
      acted(name);
      if (takingJobs.includes(name)) parseJob(given[0] as string[], given[1] as JobOptions, '/data');
    });
  };
  collect(await createProgram(noSettings), '');
  return found;
}

test('the program and each of its commands shows examples that a terminal of 80 columns has room for', async () => {
  let help = '';
  const commands = await commandsByName((text) => {
    help += text;
  }, assert.fail);
  assert.deepEqual(Object.keys(examples).sort(), [...commands.keys()].sort());
  for (const [name, command] of commands) {
    help = '';
    command.outputHelp();
    for (const line of help.split('\n')) assert.ok(line.length <= 80, line);
    for (const [line, purpose] of examples[name]!) assert.ok(help.includes(`\n  # ${purpose}\n  ${line}\n`), line);
  }
});

const lines = Object.entries(examples).flatMap(([name, all]) => all.map(([line]) => ({ name, line })));

for (const { name, line } of lines) {
  test(`'${line}' can be typed`, async () => {
    const reached: string[] = [];
    const show = (text: string) => reached.push(text);
    const commands = await commandsByName(show, (acted) => reached.push(acted));
    const [program, ...words] = line.split(' ').map((word) => word.replaceAll("'", ''));
    assert.equal(program, 'halogrid');
    assert.ok(words.join(' ').startsWith(name), `${line} is of ${name}`);
    await commands
      .get('')!
      .parseAsync(words, { from: 'user' })
      .catch((error) => {
        if (!(error instanceof CommanderError && error.code === 'commander.helpDisplayed')) throw error;
      });
    assert.ok(reached.length > 0, 'a command is reached, or its help');
  });
}

// Measures coordinators that lead side by side by one PostgreSQL, each a job of FRAMES frames as `answers` has it.
//   HALOGRID_TEST_POSTGRES=/usr/lib/postgresql/15/bin npm run lab -- leaders [FRAMES] [COORDINATORS …]
// Prints for each number of COORDINATORS the lines of each coordinator, and the frames a second of all together: their
// sum, because all work at the same time. Nodes and PostgreSQL are processes that share the cores; microseconds do not
// include theirs.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PostgresServer } from '@halogrid/ledger/testing-postgres-server';

const [frames = 200_000, ...counts] = process.argv.slice(2).map(Number);
const program = new URL('./answers.ts', import.meta.url).pathname;
const server = await PostgresServer.start();

/** Runs a coordinator and its nodes. Resolves with frames a second until the end of its job. */
async function lead(url: string, number: number): Promise<number> {
  const env = { ...process.env, HALOGRID_LEDGER: url };
  const child = spawn(process.execPath, [program, String(frames), '4', '1'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let rate = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`  ${number}: ${line}`);
    rate = frames / Number(/([\d.]+) s; \d+ MB/.exec(line)![1]);
  }
  return rate;
}

for (const count of counts.length > 0 ? counts : [1, 2, 4]) {
  const url = await server.createDatabase();
  console.log(`${count} of one PostgreSQL`);
  const rates = await Promise.all(Array.from({ length: count }, (_, i) => lead(url, i + 1)));
  console.log(`  all: ${Math.round(rates.reduce((sum, rate) => sum + rate, 0))} frames/s`);
}
await server.remove();

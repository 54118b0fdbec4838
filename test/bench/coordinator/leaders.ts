// What coordinators cost that lead side by side by one PostgreSQL, each a job of so many frames, as answers.ts has it:
//   HALOGRID_TEST_POSTGRES=/usr/lib/postgresql/15/bin node test/bench/coordinator/leaders.ts [FRAMES] [COORDINATORS …]
// Prints for each number of coordinators what each of them says, and the frames a second of all together: the sum, as
// all work at the same time. Nodes, which are processes of their own, and PostgreSQL share the cores, and are not
// counted in microseconds.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { PostgresServer } from '@halogrid/ledger/testing-postgres-server';

const [frames = 200_000, ...counts] = process.argv.slice(2).map(Number);
const program = new URL('./answers.ts', import.meta.url).pathname;
const server = await PostgresServer.start();

/** Runs a coordinator and its nodes; resolves with frames a second until the end of its job. */
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

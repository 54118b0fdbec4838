// npm run lab -- [COMMAND …]: measures and compares. Without a command it lists all commands.
import { environment } from 'halogrid/launch';
import { runScript, scripts } from './scripts.ts';

const [name = '', ...words] = process.argv.slice(2);
if (Object.hasOwn(scripts, name)) process.exitCode = await runScript(scripts[name]!, words);
else {
  // Benchmarks run as the program does. libuv reads the size of its pool at its first use, which is still to come.
  Object.assign(process.env, environment());
  const { runLab } = await import('./program.ts');
  process.exitCode = await runLab(process.argv.slice(2));
  await new Promise((resolve) => process.stdout.write('', resolve));
  // Otherwise WebGPU would keep the process alive.
  process.exit();
}

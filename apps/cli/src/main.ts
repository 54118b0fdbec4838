import { exitCodes } from './process/exit-code.ts';
import { endWithParent } from './process/parent.ts';
import { runProgram } from './program.ts';

tolerateClosedOutput();
endWithParent();
await runProgram(process.argv.slice(2));
await printed();
// Otherwise WebGPU would keep the process alive.
process.exit();

/** Resolves when a slow reader has taken everything that was printed, or has gone. */
function printed(): Promise<unknown> {
  return new Promise((resolve) => process.stdout.write('', resolve));
}

/**
 * Ignores that a reader of the output is gone, as behind `head`: the work goes on. If results cannot be written for
 * another reason, such as a full disk, the program ends with one sentence.
 */
function tolerateClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    console.error(`halogrid: The results cannot be printed: ${error.message}`);
    process.exit(exitCodes.failed);
  });
  process.stderr.on('error', () => {});
}

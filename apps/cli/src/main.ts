import { exitCodes } from './process/exit-code.ts';
import { endWithParent } from './process/parent.ts';
import { runProgram } from './program.ts';

tolerateClosedOutput();
endWithParent();
await runProgram(process.argv.slice(2));
await printed();
// WebGPU would keep the process alive.
process.exit();

/** Resolves when a reader that is slower than the program has taken all that was printed, or has gone. */
function printed(): Promise<unknown> {
  return new Promise((resolve) => process.stdout.write('', resolve));
}

/**
 * Output that nobody reads any more, as behind `head`, is no error: the work goes on. Results that cannot be written
 * for another reason, such as a full disk, end the program with one sentence.
 */
function tolerateClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    console.error(`halogrid: The results cannot be printed: ${error.message}`);
    process.exit(exitCodes.failed);
  });
  process.stderr.on('error', () => {});
}

import { exitCodes } from './process/exit-code.ts';

/**
 * Output that nobody reads any more, as behind `head`, is no error: the work goes on. Results that cannot be written for
 * another reason, such as a full disk, end the program with one sentence.
 */
export function tolerateClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    console.error(`halogrid: The results cannot be printed: ${error.message}`);
    process.exit(exitCodes.failed);
  });
  process.stderr.on('error', () => {});
}

import { endWithParent } from './process/parent.ts';
import { runProgram } from './program.ts';
import { tolerateClosedOutput } from './tolerate-closed-output.ts';

tolerateClosedOutput();
endWithParent();
await runProgram(process.argv.slice(2));
// WebGPU would keep the process alive.
process.exit();

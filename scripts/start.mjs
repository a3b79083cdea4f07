// `npm start`: whatever is missing is installed and built, then `posthorn dev` runs.
import { prepare } from './prepare.mjs';
import { runNode } from './steps.mjs';

await prepare();
process.exitCode = await runNode('dist/cli/main.js', ['dev', ...process.argv.slice(2)]);

// `npm run bench`: whatever is missing is installed and built, then the measurements run. Arguments go to bench/run.mjs.
import { prepare } from './prepare.mjs';
import { runNode } from './steps.mjs';

await prepare();
process.exitCode = await runNode('bench/run.mjs', process.argv.slice(2));

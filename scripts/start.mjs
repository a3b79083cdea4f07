// `npm start`: whatever is missing is installed and built, then `posthorn dev` runs.
import { build } from './build.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { ensureNode } from './ensure-node.mjs';
import { fail, runNode } from './steps.mjs';

ensureNode();
await ensureInstalled();
const built = await build();
if (built !== 0) fail('the build failed: see the messages above.', built);
process.exitCode = await runNode('dist/cli/main.js', ['dev', ...process.argv.slice(2)]);

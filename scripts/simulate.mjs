// `npm run simulate`: whatever is missing is installed, the simulation is compiled and runs. Arguments go to it.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './ensure-installed.mjs';
import { ensureNode } from './ensure-node.mjs';
import { bin, fail, root, runNode } from './steps.mjs';

const FOLDER = 'test/simulation';
const BUILT = `${FOLDER}/.built`;
const MIGRATIONS = 'src/store/sqlite/migrations';

ensureNode();
await ensureInstalled();
const exitCode = await runNode(bin('typescript/bin/tsc'), ['-p', FOLDER]);
if (exitCode !== 0) fail('the simulation does not compile: see the messages above.', exitCode);
cpSync(join(root, MIGRATIONS), join(root, BUILT, MIGRATIONS), { recursive: true });
process.exitCode = await runNode(`${BUILT}/${FOLDER}/main.js`, process.argv.slice(2));

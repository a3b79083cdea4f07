import { build } from './build.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { ensureNode } from './ensure-node.mjs';
import { fail } from './steps.mjs';

/** A Node that is new enough, dependencies as the lock file has them, dist/ as src/ has it. Quick when all is there. */
export async function prepare() {
  ensureNode();
  await ensureInstalled();
  const exitCode = await build();
  if (exitCode !== 0) fail('the build failed: see the messages above.', exitCode);
}

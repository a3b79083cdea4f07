import type { NextConfig } from 'next';

/** Not bundled: Posthorn starts a thread from a file of its own, and reads its migrations from others. */
const config: NextConfig = { serverExternalPackages: ['posthorn'] };

export default config;

import { nextRoute } from 'posthorn';
import { openHooks } from '../../../../lib/hooks';

/** Not on the edge: Posthorn keeps events in a database and handles them in this process. */
export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

export const { POST } = nextRoute(async () => (await openHooks()).stripe);

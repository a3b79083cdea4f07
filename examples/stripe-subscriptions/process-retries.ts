/** For a cron: works off what is due, 100 at most, and ends. The servers run with ROLE=api then, on PostgreSQL. */
import { startService } from './start.ts';

const service = await startService({ role: 'api' });
try {
  console.log(JSON.stringify(await service.hooks.processPendingRetries(100)));
} finally {
  await service.close();
}

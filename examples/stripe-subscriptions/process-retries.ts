/** For a cron: works off what is due, and ends. The servers run with ROLE=api then, on PostgreSQL. */
import { createService } from './service.ts';
import { settings } from './settings.ts';

const service = await createService({ ...settings(), role: 'api' });
try {
  console.log(JSON.stringify(await service.hooks.processPendingRetries(100)));
} finally {
  await service.close();
}

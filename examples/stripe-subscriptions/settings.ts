/** The settings of the service and of its cron job, from the environment. */
import { pino } from 'pino';
import type { ServiceOptions } from './service.ts';

export function settings(): ServiceOptions {
  const { STRIPE_WEBHOOK_SECRET, DATABASE_URL, DATA_DIR = '.', OPERATOR_TOKEN } = process.env;
  const { MAX_RETRIES = '3', ROLE = 'all' } = process.env;
  if (!/^\d{1,2}$/.test(MAX_RETRIES))
    throw new Error(`MAX_RETRIES must be a whole number from 0 to 99, not ${MAX_RETRIES}`);
  if (!STRIPE_WEBHOOK_SECRET) throw new Error('Set STRIPE_WEBHOOK_SECRET: `stripe listen` prints one, whsec_…');
  return {
    stripeSecret: STRIPE_WEBHOOK_SECRET,
    database: DATABASE_URL ?? DATA_DIR,
    operatorToken: OPERATOR_TOKEN,
    maxRetries: Number(MAX_RETRIES),
    role: ROLE,
    logger: pino(),
  };
}

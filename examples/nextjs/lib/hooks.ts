/**
 * Posthorn and the source, opened once and when first asked for: `next build` loads every route without serving it, and a
 * development server loads changed modules again, while a SQLite file has one owner.
 */
import { createPosthorn, type DeclaredSource, type EventsByType, type Posthorn } from 'posthorn';
import type Stripe from 'stripe';

interface Hooks {
  readonly posthorn: Posthorn;
  readonly stripe: DeclaredSource<EventsByType<Stripe.Event>>;
}

const kept = globalThis as typeof globalThis & { hooks?: Promise<Hooks> };

export function openHooks(): Promise<Hooks> {
  // A failure is not kept: the next request tries again.
  kept.hooks ??= open().catch((error: unknown) => {
    delete kept.hooks;
    throw error;
  });
  return kept.hooks;
}

async function open(): Promise<Hooks> {
  const { POSTHORN_STORE: store = 'sqlite:./nextjs-posthorn.db', STRIPE_WEBHOOK_SECRET: secret } = process.env;
  if (!secret) throw new Error('Set STRIPE_WEBHOOK_SECRET: `stripe listen` prints one, whsec_…');
  const posthorn = await createPosthorn({ store });
  const stripe = posthorn.source<EventsByType<Stripe.Event>>('stripe', { secret }).on('invoice.paid', (event) => {
    console.log(`${event.id}: invoice ${event.data.object.id} paid`);
  });
  // `npm start` leaves the signals to us (NEXT_MANUAL_SIG_HANDLE): Next.js would end the process in the middle of a handler.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(posthorn));
  return { posthorn, stripe };
}

async function stop(posthorn: Posthorn): Promise<void> {
  await posthorn.close().catch(console.error);
  process.exit();
}

/**
 * The five handlers. An error that is thrown here is retried after 30 s, 1 min and 2 min, and then a dead letter; a
 * PermanentError is a dead letter at once. On PostgreSQL, what they write commits together with "processed".
 */
import { type DeclaredSource, type EventsByType, type HandlerContext, PermanentError, RetryableError } from 'posthorn';
import type Stripe from 'stripe';
import type { Database } from './database.ts';
import { idOf, readEnded, readSubscription, subscriptionOf, time } from './read-event.ts';
import {
  cancelSubscription,
  lockUser,
  savePayment,
  saveSubscription,
  settle,
  type User,
  userIdOf,
} from './subscriptions.ts';

export type StripeEvents = EventsByType<Stripe.Event>;
type Event<T extends keyof StripeEvents> = StripeEvents[T];

export function handleSubscriptions(source: DeclaredSource<StripeEvents>, database: Database): void {
  const sqlOf = (context: HandlerContext) => context.transaction ?? database;
  const inOneCommit = { transaction: database.canShareCommit };

  async function userOf(
    event: Event<`customer.subscription.${'created' | 'updated' | 'deleted'}`>,
    ctx: HandlerContext,
  ) {
    const customer = idOf(event.data.object.customer);
    ctx.logger.info({ eventId: ctx.eventId, customer, subscription: event.data.object.id }, `processing ${event.type}`);
    const user = await lockUser(sqlOf(ctx), 'stripe_customer_id', customer);
    if (user === undefined) throw new PermanentError(`no user has the Stripe customer ${customer}`);
    return user;
  }

  async function save(
    event: Event<'customer.subscription.created' | 'customer.subscription.updated'>,
    user: User,
    ctx: HandlerContext,
  ) {
    const subscription = readSubscription(event.data.object, user.id);
    const isFirst = event.type === 'customer.subscription.created';
    const isNewer = await saveSubscription(sqlOf(ctx), subscription, { asOf: time(event.created), isFirst });
    const tier = await settle(sqlOf(ctx), user.id);
    const { eventId } = ctx;
    const about = { eventId, user: user.id, subscription: subscription.id, tier, status: subscription.status };
    ctx.logger.info(about, isNewer ? 'subscription saved' : 'subscription left as it is: a newer event came before');
  }

  source
    .on('customer.subscription.created', async (event, ctx) => save(event, await userOf(event, ctx), ctx), inOneCommit)
    .on('customer.subscription.updated', async (event, ctx) => save(event, await userOf(event, ctx), ctx), inOneCommit)
    .on(
      'customer.subscription.deleted',
      async (event, ctx) => {
        const user = await userOf(event, ctx);
        const subscription = readEnded(event.data.object, user.id);
        await cancelSubscription(sqlOf(ctx), subscription, time(event.created));
        const tier = await settle(sqlOf(ctx), user.id);
        const about = { eventId: ctx.eventId, user: user.id, subscription: subscription.id, tier };
        ctx.logger.info(about, 'subscription canceled');
      },
      inOneCommit,
    )
    .on(
      'invoice.paid',
      async (event, ctx) => {
        const { amount_paid: amount } = event.data.object;
        const subscription = await takePayment(event, 'paid', amount, ctx);
        ctx.logger.info({ eventId: ctx.eventId, subscription, amount }, 'invoice paid');
      },
      inOneCommit,
    )
    .on(
      'invoice.payment_failed',
      async (event, ctx) => {
        const { amount_due: amount } = event.data.object;
        const subscription = await takePayment(event, 'failed', amount, ctx);
        ctx.logger.warn({ eventId: ctx.eventId, subscription, amount }, 'payment failed');
      },
      inOneCommit,
    );

  /** Answers the subscription that it was for. */
  async function takePayment(
    event: Event<'invoice.paid' | 'invoice.payment_failed'>,
    outcome: 'paid' | 'failed',
    amount: number,
    ctx: HandlerContext,
  ): Promise<string> {
    const sql = sqlOf(ctx);
    const { id: invoiceId, currency } = event.data.object;
    const subscriptionId = subscriptionOf(event.data.object);
    const userId = await userIdOf(sql, subscriptionId);
    // The invoice of a new subscription often comes before the subscription.
    if (userId === undefined) throw new RetryableError(`the subscription ${subscriptionId} is not here yet`);
    await lockUser(sql, 'id', userId);
    await savePayment(sql, {
      event_id: event.id,
      subscription_id: subscriptionId,
      invoice_id: invoiceId ?? '',
      outcome,
      amount,
      currency,
      created_at: time(event.created),
    });
    await settle(sql, userId);
    return subscriptionId;
  }
}

/**
 * The five handlers. An error that is thrown here is retried after 30 s, 1 min and 2 min, and then a dead letter; a
 * PermanentError is a dead letter at once. On PostgreSQL, what they write commits together with "processed".
 */
import { type DeclaredSource, type EventsByType, type HandlerContext, PermanentError, RetryableError } from 'posthorn';
import type Stripe from 'stripe';
import type { Database } from './database.ts';
import {
  amountOf,
  idOf,
  need,
  objectOf,
  readEnded,
  readSubscription,
  subscriptionOf,
  textOf,
  timeOf,
} from './read-event.ts';
import {
  cancelSubscription,
  lockUser,
  type Payment,
  savePayment,
  saveSubscription,
  settle,
  type User,
  userIdOf,
} from './subscriptions.ts';

export type StripeEvents = EventsByType<Stripe.Event>;
type Event<T extends keyof StripeEvents> = StripeEvents[T];
type Changed = Event<'customer.subscription.created' | 'customer.subscription.updated'>;

export function handleSubscriptions(source: DeclaredSource<StripeEvents>, database: Database): void {
  const sqlOf = (context: HandlerContext) => context.transaction ?? database;
  const inOneCommit = { transaction: database.canShareCommit };

  async function userOf(event: Changed | Event<'customer.subscription.deleted'>, ctx: HandlerContext): Promise<User> {
    const subscription = need(idOf(objectOf(event)), 'subscription');
    const customer = need(idOf(objectOf(event).customer), 'customer');
    ctx.logger.info({ eventId: ctx.eventId, customer, subscription }, `processing ${event.type}`);
    // A user who has another Stripe customer now keeps what the former one bought.
    const known = await userIdOf(sqlOf(ctx), subscription);
    const user = await (known === undefined
      ? lockUser(sqlOf(ctx), 'stripe_customer_id', customer)
      : lockUser(sqlOf(ctx), 'id', known));
    if (user === undefined) throw new PermanentError(`no user has the Stripe customer ${customer}`);
    return user;
  }

  async function save(event: Changed, ctx: HandlerContext): Promise<void> {
    const user = await userOf(event, ctx);
    const subscription = readSubscription(objectOf(event), user.id);
    const isFirst = event.type === 'customer.subscription.created';
    const asOf = need(timeOf(event.created), 'created');
    const isNewer = await saveSubscription(sqlOf(ctx), subscription, { asOf, isFirst });
    const tier = await settle(sqlOf(ctx), user.id);
    const { eventId } = ctx;
    const about = { eventId, user: user.id, subscription: subscription.id, tier, status: subscription.status };
    ctx.logger.info(about, isNewer ? 'subscription saved' : 'subscription left as it is: a newer event came before');
  }

  async function end(event: Event<'customer.subscription.deleted'>, ctx: HandlerContext): Promise<void> {
    const user = await userOf(event, ctx);
    const asOf = timeOf(event.created) ?? new Date(ctx.receivedAt).toISOString();
    const subscription = readEnded(objectOf(event), user.id, asOf);
    await cancelSubscription(sqlOf(ctx), subscription, asOf);
    const tier = await settle(sqlOf(ctx), user.id);
    ctx.logger.info(
      { eventId: ctx.eventId, user: user.id, subscription: subscription.id, tier },
      'subscription canceled',
    );
  }

  async function takePayment(
    event: Event<'invoice.paid' | 'invoice.payment_failed'>,
    ctx: HandlerContext,
  ): Promise<void> {
    const sql = sqlOf(ctx);
    const { eventId } = ctx;
    const invoice = objectOf(event);
    const subscription = subscriptionOf(invoice);
    if (subscription === undefined) {
      ctx.logger.info({ eventId, invoice: invoice.id }, 'invoice of no subscription: nothing to do');
      return;
    }
    const isPaid = event.type === 'invoice.paid';
    const amount = need(amountOf(isPaid ? invoice.amount_paid : invoice.amount_due), 'amount');
    const payment: Payment = {
      event_id: eventId,
      subscription_id: subscription,
      invoice_id: need(idOf(invoice), 'invoice'),
      outcome: isPaid ? 'paid' : 'failed',
      amount,
      currency: need(textOf(invoice.currency), 'currency'),
      created_at: need(timeOf(event.created), 'created'),
    };
    const userId = await userIdOf(sql, subscription);
    // The invoice of a new subscription often comes before the subscription.
    if (userId === undefined) throw new RetryableError(`the subscription ${subscription} is not here yet`);
    await lockUser(sql, 'id', userId);
    await savePayment(sql, payment);
    await settle(sql, userId);
    if (isPaid) ctx.logger.info({ eventId, subscription, amount }, 'invoice paid');
    else ctx.logger.warn({ eventId, subscription, amount }, 'payment failed');
  }

  source
    .on('customer.subscription.created', save, inOneCommit)
    .on('customer.subscription.updated', save, inOneCommit)
    .on('customer.subscription.deleted', end, inOneCommit)
    .on('invoice.paid', takePayment, inOneCommit)
    .on('invoice.payment_failed', takePayment, inOneCommit);
}

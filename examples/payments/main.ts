import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { formatReport } from 'posthorn';
import { openLedger } from './ledger.ts';
import { createPayments } from './payments.ts';

const { STRIPE_WEBHOOK_SECRET, PAYPAL_WEBHOOK_ID, FULFILMENT_URL, ON_CALL_URL } = process.env;
const { DATA_DIR = '.', PORT = '3000' } = process.env;
if (!STRIPE_WEBHOOK_SECRET || !PAYPAL_WEBHOOK_ID || !FULFILMENT_URL || !ON_CALL_URL) {
  throw new Error('Set STRIPE_WEBHOOK_SECRET, PAYPAL_WEBHOOK_ID, FULFILMENT_URL and ON_CALL_URL.');
}

const ledger = openLedger(`${DATA_DIR}/ledger.db`);
const { hooks, stripe, paypal } = await createPayments({
  stripeSecret: STRIPE_WEBHOOK_SECRET,
  paypalWebhookId: PAYPAL_WEBHOOK_ID,
  fulfilmentUrl: FULFILMENT_URL,
  onCallUrl: ON_CALL_URL,
  ledger,
  store: `sqlite:${DATA_DIR}/payments-posthorn.db`,
  logger: pino(),
});

const receivers = new Map([
  ['/webhooks/stripe', stripe.node()],
  ['/webhooks/paypal', paypal.node()],
]);
// Only what the providers call belongs on a public address: let a proxy pass /webhooks on and nothing else.
const server = createServer((request, response) => {
  const receive = receivers.get(request.url ?? '');
  if (receive !== undefined) return receive(request, response);
  if (request.url === '/health/webhooks') {
    return void hooks.webhookHealth().then((health) => {
      const status = health.status === 'unhealthy' ? 503 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(health));
    });
  }
  if (request.url !== '/reports/dead-letters') return response.writeHead(404).end();
  hooks.deadLetters.report().then(
    (report) => response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(formatReport(report)),
    () => response.writeHead(500).end(),
  );
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

async function stop(): Promise<void> {
  server.close();
  server.closeAllConnections();
  await hooks.close();
  ledger.close();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());

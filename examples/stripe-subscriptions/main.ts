import type { AddressInfo } from 'node:net';
import { startService } from './start.ts';

const service = await startService();
service.server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = service.server.address() as AddressInfo;
  console.log(`Stripe's webhooks go to http://127.0.0.1:${port}/webhooks/stripe`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void service.close());

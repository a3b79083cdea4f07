import { MessageChannel } from 'node:worker_threads';

/** Keeps the process while nothing but a timer is pending, which does not. Gives the way to let go. */
export function stayAlive(): () => void {
  const { port1 } = new MessageChannel();
  port1.on('message', () => {});
  return () => port1.close();
}

/**
 * Opens one connection to a target: resolve every address of the name, refuse if any is out of bounds, dial exactly a
 * checked address, then TLS with the host's name. undici's own `lookup` option is not enough: it never sees IP literals,
 * and a resolver that is asked twice can answer differently the second time.
 */
import { lookup } from 'node:dns/promises';
import { isIP, connect as netConnect, type Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext, connect as tlsConnect } from 'node:tls';
import type { Clock, Timer } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { AddressGuard } from './address-guard.ts';
import { closedInHandshake, dnsFailure, tcpFailure, tlsFailure } from './connect-failure.ts';
import { durationText, Failure } from './failure.ts';
import type { Target } from './target.ts';

export interface ResolvedAddress {
  readonly address: string;
}

export interface DialOptions {
  /** An IP address that has passed the guard. */
  readonly address: string;
  readonly port: number;
}

export interface ConnectorOptions {
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly ca?: string | undefined;
  readonly resolve?: ((hostname: string) => Promise<readonly ResolvedAddress[]>) | undefined;
  readonly connect?: ((options: DialOptions) => Socket) | undefined;
}

export type ConnectResult = (failure: Failure | null, socket: Socket | null) => void;

export interface Connector {
  /** Calls `done` once, unless the answered function is called before: that gives up and closes what is open. */
  open(target: Target, timeoutMs: number, done: ConnectResult): () => void;
}

export function createConnector(options: ConnectorOptions): Connector {
  const { clock, guard } = options;
  const resolve = options.resolve ?? ((hostname) => lookup(hostname, { all: true }));
  const dial = options.connect ?? dialTcp;
  const lookups = new Map<string, Promise<readonly ResolvedAddress[]>>();
  const sessions = new WeakMap<Target, Buffer>();
  // Made here when there is an authority to read, so that a broken one fails at start and not in a delivery.
  let secureContext: SecureContext | undefined =
    options.ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, options.ca] });

  /** One lookup under way per name: a burst of new connections must not fill the resolver's few threads. */
  function resolveOnce(hostname: string): Promise<readonly ResolvedAddress[]> {
    let pending = lookups.get(hostname);
    if (pending === undefined) {
      pending = resolve(hostname).finally(() => lookups.delete(hostname));
      lookups.set(hostname, pending);
    }
    return pending;
  }

  async function checkedAddresses(hostname: string): Promise<readonly string[]> {
    const answers =
      isIP(hostname) !== 0
        ? [{ address: hostname }]
        : await resolveOnce(hostname).catch((error: unknown) => {
            throw dnsFailure(error, hostname);
          });
    if (answers.length === 0) throw new Failure('dns', `${hostname} cannot be resolved: it has no address`);
    for (const { address } of answers) {
      const verdict = guard.checkAddress(address);
      if (!verdict.ok) throw new Failure('blocked_address', `${hostname} is not sent to: ${verdict.reason}`);
    }
    return answers.map(({ address }) => address);
  }

  function open(target: Target, timeoutMs: number, done: ConnectResult): () => void {
    const startedAt = clock.now();
    let doing = `the lookup of ${target.hostname} did not finish`;
    let socket: Socket | undefined;
    let shareTimer: Timer | undefined;
    let finished = false;

    const finish = (): boolean => {
      if (finished) return false;
      finished = true;
      timer.cancel();
      shareTimer?.cancel();
      return true;
    };
    const fail = (failure: Failure): void => {
      if (!finish()) return;
      socket?.destroy();
      done(failure, null);
    };
    const timer = clock.after(timeoutMs, () =>
      fail(new Failure('connect_timeout', `${doing} within ${durationText(timeoutMs)}`)),
    );

    const tryAddress = (addresses: readonly string[], index: number): void => {
      const address = addresses[index] ?? '';
      const peer = isIP(address) === 6 ? `[${address}]:${target.port}` : `${address}:${target.port}`;
      doing = `no connection to ${peer}`;
      const tcp = dial({ address, port: target.port });
      socket = tcp;
      const next = (error: unknown): void => {
        if (finished || socket !== tcp) return;
        shareTimer?.cancel();
        tcp.destroy();
        if (index + 1 < addresses.length) tryAddress(addresses, index + 1);
        else fail(tcpFailure(error, peer));
      };
      const left = addresses.length - index;
      if (left > 1) {
        // A dead first address gets its share of the time, so that the others are tried within the limit.
        const share = (startedAt + timeoutMs - clock.now()) / left;
        shareTimer = clock.after(share, () => next(new Error('no answer in its share of the time')));
      }
      tcp.on('error', next);
      tcp.once('connect', () => {
        if (finished || socket !== tcp) return;
        shareTimer?.cancel();
        if (!target.secure) {
          succeed(tcp);
          return;
        }
        try {
          secure(tcp, peer);
        } catch (error) {
          // Thrown inside an event handler it would end the process.
          fail(tlsFailure(error, target.hostname, peer));
        }
      });
    };

    const secure = (tcp: Socket, peer: string): void => {
      doing = `the TLS handshake with ${target.hostname} (${peer}) did not finish`;
      secureContext ??= createSecureContext();
      const session = sessions.get(target);
      const tls = tlsConnect({
        socket: tcp,
        secureContext,
        // Without this an IP literal would be checked against "localhost"; SNI carries names only.
        host: target.hostname,
        ...(isIP(target.hostname) === 0 ? { servername: target.hostname.replace(/\.$/, '') } : {}),
        ...(session === undefined ? {} : { session }),
        ALPNProtocols: ['http/1.1'],
      });
      socket = tls;
      tls.on('error', (error) => fail(tlsFailure(error, target.hostname, peer)));
      tls.once('close', () => fail(new Failure('connection_reset', closedInHandshake(peer))));
      let latest: Buffer | undefined;
      tls.on('session', (ticket) => {
        latest = ticket;
        // A session skips the check of the host name when it is resumed: only a checked connection may leave one.
        if (tls.authorized) sessions.set(target, ticket);
      });
      tls.once('secureConnect', () => {
        if (latest !== undefined && tls.authorized) sessions.set(target, latest);
        succeed(tls);
      });
    };

    const succeed = (connected: Socket): void => {
      if (finish()) done(null, connected);
    };

    checkedAddresses(target.hostname)
      .then((addresses) => {
        if (!finished) tryAddress(addresses, 0);
      })
      .catch((error: unknown) =>
        fail(error instanceof Failure ? error : new Failure('unexpected', describeError(error))),
      );

    return () => {
      if (finish()) socket?.destroy();
    };
  }

  return { open };
}

function dialTcp({ address, port }: DialOptions): Socket {
  return netConnect({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
}

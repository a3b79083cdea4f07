import type { Connector } from './connector.ts';
import { OriginPool } from './origin-pool.ts';
import type { Target } from './target.ts';

/** All origins with connections. Beyond `maxOrigins`, idle ones are closed, least recently used first. */
export class OriginPools {
  private readonly pools = new Map<string, OriginPool>();
  /** In the order in which they became idle. */
  private readonly idle = new Set<OriginPool>();
  private readonly connector: Connector;
  private readonly maxConnections: number;
  private readonly maxOrigins: number;

  constructor(connector: Connector, maxConnectionsPerOrigin: number, maxOrigins: number) {
    this.connector = connector;
    this.maxConnections = maxConnectionsPerOrigin;
    this.maxOrigins = maxOrigins;
  }

  of(target: Target): OriginPool {
    if (target.pool !== undefined && !target.pool.closed) return target.pool;
    target.pool = this.pools.get(target.origin) ?? this.add(target);
    return target.pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.close()));
    this.pools.clear();
    this.idle.clear();
  }

  private add(target: Target): OriginPool {
    const pool = new OriginPool({
      target,
      connector: this.connector,
      maxConnections: this.maxConnections,
      onBusy: (busy) => this.idle.delete(busy),
      onIdle: (idle) => this.becameIdle(idle),
    });
    this.pools.set(target.origin, pool);
    this.shrink();
    return pool;
  }

  private becameIdle(pool: OriginPool): void {
    if (pool.closed) return;
    if (pool.size === 0) {
      this.remove(pool);
      return;
    }
    this.idle.add(pool);
    this.shrink();
  }

  private shrink(): void {
    for (const pool of this.idle) {
      if (this.pools.size <= this.maxOrigins) return;
      this.remove(pool);
    }
  }

  private remove(pool: OriginPool): void {
    this.idle.delete(pool);
    this.pools.delete(pool.options.target.origin);
    void pool.close();
  }
}

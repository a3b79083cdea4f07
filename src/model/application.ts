import type { PolicyRef } from './policy.ts';

/** One of your customers; owns endpoints. */
export interface Application {
  readonly id: string;
  readonly uid?: string;
  readonly name: string;
  readonly rateLimit?: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly policy?: PolicyRef;
  readonly createdAt: number;
  readonly updatedAt: number;
}

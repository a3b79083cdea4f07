/**
 * admin: everything. application: one application's resources. read-only: reads, in one application or everywhere, but no
 * signing secrets.
 */
export type TokenScope = 'admin' | 'application' | 'read-only';

/** A bearer token. Only its SHA-256 is kept. */
export interface Token {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scope: TokenScope;
  /** Set for scope `application`, and for a `read-only` token that is limited to one application. */
  readonly applicationId?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt?: number;
}

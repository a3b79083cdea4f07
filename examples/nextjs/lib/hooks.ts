/** One Posthorn for the process: Next.js loads a module again when it changes, and a SQLite file has one owner. */
import { createPosthorn, type Posthorn } from 'posthorn';

const kept = globalThis as typeof globalThis & { hooks?: Promise<Posthorn> };

export function openHooks(): Promise<Posthorn> {
  kept.hooks ??= createPosthorn({ store: process.env.POSTHORN_STORE ?? 'sqlite:./nextjs-posthorn.db' });
  return kept.hooks;
}

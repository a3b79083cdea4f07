/**
 * The engine: accept → lanes → claim → deliver → record, and the duties around it (lease, reap, sweep). It knows the
 * store's port and never an adapter, decides nothing itself (policy/decide does), and throws nothing for what a receiver
 * did. Promises: no publish resolves before its commit is durable; an attempt that ended is recorded or its lease is
 * lost; no lane exceeds its limit, and a slow one takes nothing from the others. The engine's Clock counts everywhere.
 */
export { callListener } from './call-listener.ts';
export { createEngine, type EngineOptions } from './create-engine.ts';
export { type DeadLetterNotice, onDeadLetter } from './dead-letters.ts';
export type { Engine, EngineEvent, Publication, Published } from './engine.ts';
export type { HandlerCall, Handlers, Received } from './handling.ts';
export type { LeaderDuty } from './lead.ts';
export { type Logger, logEvent } from './log-events.ts';
export type { WorkedOff } from './work-due.ts';

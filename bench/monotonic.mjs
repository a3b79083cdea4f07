/** Milliseconds on the system's monotonic clock: one and the same for all processes of the bench. */
export function monotonicMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Next.js calls this when the server starts: what waited for its retry does not wait for the next request too. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return;
  const { openHooks } = await import('./lib/hooks');
  await openHooks();
}

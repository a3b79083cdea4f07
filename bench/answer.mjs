// The child's side of the calls that processes.mjs makes.

/** Answers the parent's calls with the methods of that name, one reply per call, and ends when the parent is gone. */
export function answer(methods) {
  process.on('message', async ({ id, method, args }) => {
    try {
      const output = await methods[method](args ?? {});
      process.send({ id, output });
    } catch (error) {
      process.send({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
  // Ctrl-C reaches the whole group of processes; the parent is the one that ends it, in order.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit());
}

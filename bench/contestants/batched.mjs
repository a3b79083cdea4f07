/**
 * Turns a function that stores many into one that stores one: what is asked for while a call is under way goes into the
 * next. Several calls may be under way, for stores that work on more than one at once.
 */
export function batched(storeMany, { atOnce = 1, most = 1000 } = {}) {
  const waiting = [];
  let underWay = 0;

  function next() {
    while (underWay < atOnce && waiting.length > 0) void flush(waiting.splice(0, most));
  }

  async function flush(batch) {
    underWay += 1;
    try {
      await storeMany(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    underWay -= 1;
    next();
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // Callers of the same moment share a call, rather than the first of them going alone.
      if (waiting.length === 1) setImmediate(next);
    });
}

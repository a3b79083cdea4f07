/** The store, watched for operations that lease and fail: whether they were done nobody can say. */
import type { Store } from '../store/index.ts';

export function doubtingStore(store: Store, onDoubt: () => void): Store {
  const doubted = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error) => {
      onDoubt();
      throw error;
    });
  return new Proxy(store, {
    get(target, name: keyof Store) {
      switch (name) {
        case 'accept':
          return (input: Parameters<Store['accept']>[0]) => doubted(target.accept(input));
        case 'claim':
          return (input: Parameters<Store['claim']>[0]) => doubted(target.claim(input));
        case 'lease':
          return (input: Parameters<Store['lease']>[0]) => doubted(target.lease(input));
        case 'takeOver':
          return (input: Parameters<Store['takeOver']>[0]) => doubted(target.takeOver(input));
        default: {
          const method = target[name];
          return typeof method === 'function' ? method.bind(target) : method;
        }
      }
    },
  });
}

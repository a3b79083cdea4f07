export const QUEUE = 'webhooks';
/** The policy of document 002, which all contestants follow: 6 attempts. */
export const RETRIES = { retryLimit: 5, retryDelay: 1, retryBackoff: true };

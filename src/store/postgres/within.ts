/**
 * Which of the rows with `bytes` and `bytes_so_far` fit: all without a limit, and the first however large it is.
 */
export function within(maxBytes: string): string {
  return `(${maxBytes}::bigint IS NULL OR bytes_so_far <= ${maxBytes}::bigint OR bytes_so_far = bytes)`;
}

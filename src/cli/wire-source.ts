/** What commands read of a source. */
import type { SourceOut } from '../api/index.ts';

export type ShownSource = SourceOut;
